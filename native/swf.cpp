#include "swf.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "swf_number.hpp"

namespace schedlab::swf {

const std::array<const char *, kFields> kFieldNames = {"job number",
                                                       "submit time",
                                                       "wait time",
                                                       "run time",
                                                       "allocated processors",
                                                       "average CPU time",
                                                       "used memory",
                                                       "requested processors",
                                                       "requested time",
                                                       "requested memory",
                                                       "status",
                                                       "user",
                                                       "group",
                                                       "executable",
                                                       "queue",
                                                       "partition",
                                                       "preceding job",
                                                       "think time"};

const std::array<const char *, kDrops> kDropNames = {"bad row",
                                                     "partial execution (status 2, 3, 4)",
                                                     "submit time unknown",
                                                     "processors unknown",
                                                     "larger than the machine",
                                                     "cancelled before it started",
                                                     "run time 0 or unknown",
                                                     "requested time 0 or unknown"};

const std::array<const char *, kFills> kFillNames = {"processors: the other of requested and allocated",
                                                     "limit: run time",
                                                     "limit: given number",
                                                     "limit: 0, run time unknown too",
                                                     "run time: unknown counts as 0",
                                                     "run time: cut to the requested time",
                                                     "status: not 0 to 5, counts as unknown",
                                                     "user, group…: name or huge number, numbered from 2^30",
                                                     "preceding job: name not seen before, counts as none"};

namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr std::size_t kHeaderLines = 10'000, kHeaderBytes = std::size_t{1} << 20;
constexpr std::size_t kBadRowSamples = 5;
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
constexpr Range kCode{1e9, true, "a whole number from 0 to 5, or -1 for unknown"};
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

bool is_blank(char c) { return c == ' ' || c == '\t'; }

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && (is_blank(text.back()) || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= kLongestName && std::ranges::all_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
}

// For messages: short, on one line, printable.
std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 40;
  constexpr char kHex[] = "0123456789abcdef";
  std::string shown = "\"";
  for (const char c : text.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      shown += c;
    } else {
      shown += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return shown + (text.size() > kShown ? "…\"" : "\"");
}

}  // namespace

void Columns::reserve(std::size_t size) {
  for (auto *column : {&id, &count, &after, &memory}) column->reserve(size);
  for (auto *column : {&submit, &runtime, &limit, &wait, &cancel, &think}) column->reserve(size);
  for (auto *column : {&user, &group, &queue, &partition, &executable}) column->reserve(size);
  status.reserve(size);
}

struct Parser::Record {
  std::array<double, kFields> value;  // -1: unknown
  std::int64_t id, after;
  std::string_view name;
};

bool Parser::feed(std::string_view bytes) {
  while (!bytes.empty() && !stopped()) {
    const std::size_t end = bytes.find('\n');
    const bool complete = end != std::string_view::npos;
    const std::string_view piece = bytes.substr(0, end);
    bytes.remove_prefix(complete ? end + 1 : bytes.size());
    if (skipping_) {
      skipping_ = !complete;
    } else if (complete && partial_.empty()) {
      take_line(piece);
    } else {
      partial_.append(piece);
      if (complete || partial_.size() > kLongestLine) {
        take_line(partial_);
        partial_.clear();
        skipping_ = !complete;
      }
    }
  }
  return !stopped();
}

bool Parser::finish() {
  if (!partial_.empty() && !stopped()) take_line(std::exchange(partial_, {}));
  return !stopped();
}

Columns Parser::take() {
  Columns taken = std::exchange(columns_, {});
  // The next lot is about as large: the vectors, which become arrays as they are, need not grow to twice of it.
  columns_.reserve(taken.size() + taken.size() / 4);
  return taken;
}

void Parser::take_line(std::string_view line) {
  ++line_;
  if (line_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.remove_prefix(3);
  line_text_ = line;
  const bool too_long = line.size() > kLongestLine;
  line = trim(line);
  if (line.empty()) return;
  if (line.front() != ';') {
    if (!too_long) return take_record(line);
    ++records_;
    return reject("the line is longer than 1 MiB");
  }
  if (!too_long && header_.size() < kHeaderLines && header_bytes_ + line.size() <= kHeaderBytes) {
    header_bytes_ += line.size();
    header_.emplace_back(line);
  }
}

void Parser::take_record(std::string_view line) {
  if (separator_ == 0) {
    separator_ = guess_separator(line);
    if (separator_ != 0 && separator_ != ' ' && is_title(line)) return;
  }
  ++records_;
  Texts texts;
  const std::size_t columns = split(line, texts, separator_);
  if (columns < kFields) {
    return reject(std::to_string(columns) + (columns == 1 ? " column" : " columns") + ", expected at least 18");
  }
  Record record;
  if (!read_fields(texts, record)) return;
  for (std::size_t field = 0; field < kFields; ++field) unknown_[field] += record.value[field] < 0;
  const double status = record.value[kStatus];
  // The parts of a job that was stopped and continued; the job itself has a record of its own, with the same number.
  if (status >= 2 && status <= 4) return drop(kPartial);
  if (!is_new(record)) return reject("job number (column 1) " + quoted(texts[kJob]) + " occurs a second time");
  clean(record);
}

// Tables of SWF columns separated by semicolons or commas are read too. Such characters also occur in what some tools
// add to the right of the 18 columns, hence the second condition. 0: not a record at all, the next one may tell.
char Parser::guess_separator(std::string_view line) {
  Texts texts, words;
  for (const char separator : {';', ','}) {
    if (split(line, texts, separator) == kFields && split(texts[0], words, ' ') < kFields) return separator;
  }
  return split(line, words, ' ') == kFields ? ' ' : 0;
}

// The row of column names with which tables of comma-separated values begin.
bool Parser::is_title(std::string_view line) const {
  Texts texts;
  const auto is_word = [](std::string_view text) {
    double value;
    return !text.empty() && !parse_real(text, value);
  };
  return split(line, texts, separator_) == kFields && is_word(texts[kSubmit]) && is_word(texts[kRun]);
}

// Up to 18 columns; what is beyond them is not looked at.
std::size_t Parser::split(std::string_view line, Texts &texts, char separator) {
  std::size_t columns = 0;
  const char *p = line.data();
  const char *const end = p + line.size();
  if (separator == ' ' || separator == 0) {
    while (columns < kFields) {
      while (p != end && is_blank(*p)) ++p;
      if (p == end) break;
      const char *const start = p;
      while (p != end && !is_blank(*p)) ++p;
      texts[columns++] = {start, static_cast<std::size_t>(p - start)};
    }
    return columns;
  }
  for (bool more = true; more && columns < kFields; ++p) {
    const char *const start = p;
    p = std::find(p, end, separator);
    texts[columns++] = trim({start, static_cast<std::size_t>(p - start)});
    more = p != end;
    if (!more) break;
  }
  return columns;
}

bool Parser::read_fields(const Texts &texts, Record &record) {
  if (!read_id(texts[kJob], record)) return false;
  for (const auto &[field, range] : kNumbers) {
    double value = -1;
    const std::string_view text = texts[field];
    // `!(value <= most)` and not `value > most`: this way round it catches nan too.
    if (!text.empty() && (!parse_real(text, value) || !(value <= range->most) || (value < 0 && value != -1) ||
                          (range->whole && value != std::floor(value)))) {
      reject(field, text, range->expected);
      return false;
    }
    record.value[field] = value;
  }
  for (const Field field : {kUser, kGroup, kExecutable, kQueue, kPartition}) {
    if (!read_label(field, texts[field], record)) return false;
  }
  return read_predecessor(texts[kAfter], record);
}

bool Parser::read_id(std::string_view text, Record &record) {
  record.value[kJob] = 0;
  if (!named_ && parse_digits(text, record.id)) return true;
  double value;
  if (!is_name(text) || (parse_real(text, value) && !(value >= 0))) {
    reject(kJob, text, kIdExpected);
    return false;
  }
  if (!named_ && !ids_.empty()) {
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
      reject(field, text, kLabelExpected);
      return false;
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

bool Parser::is_new(const Record &record) {
  return named_ ? named_ids_.try_emplace(std::string(record.name), record.id).second : ids_.insert(record.id);
}

void Parser::clean(const Record &record) {
  const auto &[job, submit, wait, run, allocated, cpu, used, requested, limit, memory, status, user, group, executable,
               queue, partition, after, think] = record.value;
  out_of_order_ += submit < last_submit_;
  last_submit_ = submit;
  const double first = options_.prefer_allocated ? allocated : requested;
  const double second = options_.prefer_allocated ? requested : allocated;
  const double processors = first > 0 ? first : second;
  const bool strict = options_.clean == Clean::Strict;
  const auto largest = static_cast<double>(options_.max_procs);
  if (submit < 0) return drop(kNoSubmit);
  if (processors <= 0) return drop(kNoProcessors);
  if (strict && largest > 0 && (allocated > largest || requested > largest)) return drop(kTooLarge);
  if (options_.clean != Clean::None && run <= 0) return drop(status == 5 ? kCancelled : kNoRun);
  if (strict && limit <= 0) return drop(kNoLimit);
  if (first <= 0) fill(kOtherProcessors);
  keep(record, processors);
}

void Parser::keep(const Record &record, double processors) {
  const auto &value = record.value;
  const double never = std::numeric_limits<double>::infinity();
  double runtime = value[kRun], limit = value[kLimit];
  const bool cancelled = value[kStatus] == 5 && runtime <= 0;
  if (runtime < 0) {
    runtime = 0;
    fill(kZeroRun);
  }
  if (limit <= 0) {
    limit = options_.missing_limit >= 0 ? options_.missing_limit : runtime;
    fill(options_.missing_limit >= 0 ? kGivenLimit : runtime > 0 ? kRunAsLimit : kZeroLimit);
  } else if (options_.clean == Clean::Strict && runtime > limit) {
    runtime = limit;
    fill(kRunCut);
  }
  if (value[kStatus] > 5) fill(kNoStatus);

  Columns &to = columns_;
  to.id.push_back(record.id);
  to.submit.push_back(value[kSubmit]);
  to.runtime.push_back(runtime);
  to.limit.push_back(limit);
  to.count.push_back(static_cast<std::int64_t>(processors));
  to.user.push_back(static_cast<std::int32_t>(value[kUser]));
  to.group.push_back(static_cast<std::int32_t>(value[kGroup]));
  to.queue.push_back(static_cast<std::int32_t>(value[kQueue]));
  to.partition.push_back(static_cast<std::int32_t>(value[kPartition]));
  to.executable.push_back(static_cast<std::int32_t>(value[kExecutable]));
  to.status.push_back(static_cast<std::int8_t>(value[kStatus] > 5 ? -1 : value[kStatus]));
  to.wait.push_back(value[kWait] < 0 ? std::numeric_limits<double>::quiet_NaN() : value[kWait]);
  to.cancel.push_back(cancelled ? value[kSubmit] + std::max(value[kWait], 0.0) : never);
  to.after.push_back(record.after);
  to.think.push_back(std::max(value[kThink], 0.0));
  to.memory.push_back(static_cast<std::int64_t>(std::max(value[kMemory], 0.0) * 1024));
  if (named_) to.names.emplace_back(record.name);
  ++kept_;
}

void Parser::reject(std::string problem) {
  if (line_text_.find('\0') != std::string_view::npos) problem = "binary data (zero bytes) where a record should be";
  drop(kBadRow);
  if (!options_.drop_bad_rows) failure_ = BadRow{line_, problem};
  if (bad_rows_.size() < kBadRowSamples) bad_rows_.push_back({line_, std::move(problem)});
}

void Parser::reject(Field field, std::string_view text, const char *expected) {
  reject(std::string(kFieldNames[field]) + " (column " + std::to_string(field + 1) + ") is " + quoted(text) +
         ", expected " + expected);
}

}  // namespace schedlab::swf
