// Bytes to lines, lines to records.
#include "swf.hpp"

#include <utility>

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
                                                     "user, group…: name or huge number, numbered from 2^30",
                                                     "preceding job: name not seen before, counts as none"};

const std::array<const char *, kUnkepts> kUnkeptNames = {"average CPU time (field 6)", "used memory (field 7)",
                                                         "the other number of processors (fields 5 and 8 differ)",
                                                         "requested memory (field 10)"};

namespace {

constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr std::size_t kHeaderLines = 10'000, kHeaderBytes = std::size_t{1} << 20;
constexpr std::size_t kBadRowSamples = 5;

}  // namespace

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
    if (separator_ != 0 && separator_ != ' ' && is_title(line, separator_)) return;
  }
  ++records_;
  Texts texts;
  const std::size_t columns = split(line, texts, separator_ == 0 ? ' ' : separator_);
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

bool Parser::is_new(const Record &record) {
  return named_ ? named_ids_.try_emplace(std::string(record.name), record.id).second : ids_.insert(record.id);
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
