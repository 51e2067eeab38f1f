// The 18 texts of a record as values, checked.
#include <algorithm>
#include <cmath>
#include <utility>

#include "swf.hpp"
#include "swf_number.hpp"

namespace schedlab::swf {

namespace {

constexpr std::size_t kLongestName = 256;
constexpr std::int64_t kFirstNewLabel = std::int64_t{1} << 30;

// What a field that is a number may be, besides -1 for unknown.
struct Range {
  double most;
  bool whole;
  const char *expected;
};
constexpr Range kSeconds{1e12, false, "seconds from 0 to 1e12, or -1 for unknown"};
constexpr Range kProcessors{1e9, true, "a whole number from 0 to 1e9, or -1 for unknown"};
constexpr Range kKilobytes{1e15, false, "kilobytes from 0 to 1e15, or -1 for unknown"};
constexpr Range kCode{5, true, "a whole number from 0 to 5, or -1 for unknown"};
constexpr const char *kIdExpected = "a number from 0 up, or a name of at most 256 characters";
constexpr const char *kLabelExpected = "a number from 0 up, a name of at most 256 characters, or -1 for unknown";
constexpr const char *kAfterExpected = "the number of a job, or -1 for none";

constexpr std::array<std::pair<Field, const Range *>, 11> kNumbers = {{{kSubmit, &kSeconds},
                                                                       {kWait, &kSeconds},
                                                                       {kRun, &kSeconds},
                                                                       {kAllocated, &kProcessors},
                                                                       {kCpuTime, &kSeconds},
                                                                       {kUsedMemory, &kKilobytes},
                                                                       {kRequested, &kProcessors},
                                                                       {kLimit, &kSeconds},
                                                                       {kMemory, &kKilobytes},
                                                                       {kStatus, &kCode},
                                                                       {kThink, &kSeconds}}};

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
}

}  // namespace

bool Parser::read_fields(const Texts &texts, Record &record) {
  record.odd = 0;
  if (!read_id(texts[kJob], record)) return false;
  for (const auto &[field, range] : kNumbers) {
    double value = -1;
    const std::string_view text = texts[field];
    // `!(value <= most)` and not `value > most`: this way round it catches nan too.
    if (!text.empty() && (!parse_real(text, value) || !(value <= range->most) || (value < 0 && value != -1) ||
                          (range->whole && value != std::floor(value)))) {
      record.odd |= 1u << field;
      value = -1;
    }
    record.value[field] = value;
  }
  for (const Field field : {kUser, kGroup, kExecutable, kQueue, kPartition}) {
    if (!read_label(field, texts[field], record)) return false;
  }
  return read_predecessor(texts[kAfter], record) && (record.odd == 0 || !reject_odd(texts, record));
}

// Whether the record is rejected for a value that makes no sense in a field that its job needs.
bool Parser::reject_odd(const Texts &texts, const Record &record) {
  for (const auto &[field, range] : kNumbers) {
    if ((record.odd >> field & 1) == 0 || !needs(field, record)) continue;
    reject(field, texts[field], range->expected);
    return true;
  }
  return false;
}

bool Parser::needs(std::size_t field, const Record &record) const {
  const Field first = options_.prefer_allocated ? kAllocated : kRequested;
  switch (field) {
    case kWait:
    case kCpuTime:
    case kUsedMemory:
    case kStatus:
    case kMemory:  // whether it counts is known only with the machine
      return false;
    case kAllocated:
    case kRequested:
      return field == first || record.value[first] <= 0;
    case kThink:
      return record.after >= 0;
    default:
      return true;
  }
}

bool Parser::read_id(std::string_view text, Record &record) {
  record.value[kJob] = 0;
  if (!named_ && parse_digits(text, record.id)) return true;
  double value;
  if (!is_name(text) || (parse_real(text, value) && !(value >= 0))) {
    reject(kJob, text, kIdExpected);
    return false;
  }
  if (!named_ && records_ > 1) {  // those above were read by other rules
    needs_names_ = true;
    return false;
  }
  named_ = true;
  record.id = static_cast<std::int64_t>(records_);
  record.name = text;
  return true;
}

// Small numbers stand for themselves. Names, and numbers that do not fit, get numbers of their own, out of the way of
// the others.
bool Parser::read_label(Field field, std::string_view text, Record &record) {
  std::int64_t number;
  if (parse_digits(text, number) && number < kFirstNewLabel) {
    record.value[field] = static_cast<double>(number);
    return true;
  }
  double value = -1;
  if (text.empty() || parse_real(text, value)) {
    if (value == -1 || (value >= 0 && value < kFirstNewLabel && value == std::floor(value))) {
      record.value[field] = value;
      return true;
    }
    if (!(value >= 0 && std::isfinite(value))) {
      record.odd |= 1u << field;
      record.value[field] = -1;
      return true;
    }
  }
  if (!is_name(text)) {
    reject(field, text, kLabelExpected);
    return false;
  }
  auto &labels = labels_[field];
  const auto next = static_cast<std::int32_t>(kFirstNewLabel + static_cast<std::int64_t>(labels.size()));
  const auto [found, added] = labels.try_emplace(std::string(text), next);
  if (added) fill(kNewLabel);
  record.value[field] = static_cast<double>(found->second);
  return true;
}

bool Parser::read_predecessor(std::string_view text, Record &record) {
  double value = -1;
  record.after = -1;
  if (named_) {
    const auto found = named_ids_.find(std::string(text));
    if (found != named_ids_.end()) {
      record.after = found->second;
    } else if (!text.empty() && !(parse_real(text, value) && value == -1)) {
      fill(kLostPredecessor);
    }
  } else if (!text.empty() && !parse_digits(text, record.after)) {
    if (!parse_real(text, value) || !(value <= 1e15) || (value < 0 && value != -1) || value != std::floor(value)) {
      reject(kAfter, text, kAfterExpected);
      return false;
    }
    record.after = static_cast<std::int64_t>(value);
  }
  record.value[kAfter] = record.after < 0 ? -1 : 0;
  return true;
}

}  // namespace schedlab::swf
