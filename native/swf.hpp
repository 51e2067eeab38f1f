// The Standard Workload Format (Feitelson et al., Parallel Workloads Archive): bytes in, columns of clean jobs out.
// Knows nothing of files, compression or Python; docs/swf.md states the rules.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "swf_ids.hpp"
#include "swf_text.hpp"

namespace schedlab::swf {

// The 18 fields in the order of the file.
enum Field : std::size_t {
  kJob,
  kSubmit,
  kWait,
  kRun,
  kAllocated,
  kCpuTime,
  kUsedMemory,
  kRequested,
  kLimit,
  kMemory,
  kStatus,
  kUser,
  kGroup,
  kExecutable,
  kQueue,
  kPartition,
  kAfter,
  kThink,
  kFields
};
static_assert(kFields == kColumns);
extern const std::array<const char *, kFields> kFieldNames;

enum class Clean { None, Pwa, Strict };

struct Options {
  Clean clean = Clean::Pwa;
  bool prefer_allocated = false;  // processors: allocated before requested
  double missing_limit = -1;      // seconds for an unknown requested time; negative: the run time
  bool drop_bad_rows = false;     // count and sample bad rows instead of stopping at the first
  std::int64_t max_procs = 0;     // machine size for Clean::Strict; 0: unknown
  bool named = false;             // job ids are names, even those that look like numbers
  bool memory = false;            // requested memory counts
};

// Why a record did not become a job; the first that applies.
enum Drop : std::size_t {
  kBadRow,
  kPartial,
  kNoSubmit,
  kNoProcessors,
  kTooLarge,
  kCancelled,
  kNoRun,
  kNoLimit,
  kDrops
};
extern const std::array<const char *, kDrops> kDropNames;

// What was put in the place of something missing.
enum Fill : std::size_t {
  kOtherProcessors,
  kRunAsLimit,
  kGivenLimit,
  kZeroLimit,
  kZeroRun,
  kRunCut,
  kNewLabel,
  kLostPredecessor,
  kFills
};
extern const std::array<const char *, kFills> kFillNames;

// What records say and the columns have no place for.
enum Unkept : std::size_t { kCpuTimeUnkept, kUsedMemoryUnkept, kOtherUnkept, kMemoryUnkept, kUnkepts };
extern const std::array<const char *, kUnkepts> kUnkeptNames;

struct BadRow {
  std::uint64_t line = 0;
  std::string problem;
};

// Jobs in the order of the file; the columns of schedlab.model.workload.JobBatch, and the memory of one processor in
// bytes.
struct Columns {
  std::vector<std::int64_t> id, count, after, memory;
  std::vector<double> submit, runtime, limit, wait, cancel, think;
  std::vector<std::int32_t> user, group, queue, partition, executable;
  std::vector<std::int8_t> status;
  std::vector<std::string> names;  // empty unless ids are names
  std::size_t size() const { return id.size(); }
  void reserve(std::size_t size);
};

class Parser {
 public:
  explicit Parser(const Options &options) : options_(options), named_(options.named) {}

  // The next piece of the file, cut anywhere. False: stopped for good, see `failure` and `needs_names`.
  bool feed(std::string_view bytes);
  // The file is over: its last line may lack a line end.
  bool finish();
  // The jobs since the last call.
  Columns take();

  std::size_t ready() const { return columns_.size(); }
  const std::optional<BadRow> &failure() const { return failure_; }
  // Ids turned out to be names after some had been taken for numbers: parse the file again with `named`.
  bool needs_names() const { return needs_names_; }
  bool named() const { return named_; }

  std::uint64_t records() const { return records_; }
  std::uint64_t kept() const { return kept_; }
  std::uint64_t out_of_order() const { return out_of_order_; }
  const std::array<std::uint64_t, kDrops> &dropped() const { return dropped_; }
  const std::array<std::uint64_t, kFills> &filled() const { return filled_; }
  // Jobs with a value in a field that nothing needs, which makes no sense and counts as unknown; by field.
  const std::array<std::uint64_t, kFields> &odd() const { return odd_; }
  const std::array<std::uint64_t, kUnkepts> &unkept() const { return unkept_; }
  const std::array<std::uint64_t, kFields> &unknown() const { return unknown_; }  // records with -1, by field
  const std::vector<BadRow> &bad_rows() const { return bad_rows_; }               // the first few
  const std::vector<std::string> &header() const { return header_; }

 private:
  struct Record {
    std::array<double, kFields> value;  // -1: unknown
    std::uint32_t odd;                  // a bit for each field whose value makes no sense
    std::int64_t id, after;
    std::string_view name;
  };

  bool stopped() const { return failure_ || needs_names_; }
  void take_line(std::string_view line);
  void take_record(std::string_view line);
  // These are false for a bad row, which they have rejected, and if ids turn out to be names.
  bool read_fields(const Texts &texts, Record &record);
  bool reject_odd(const Texts &texts, const Record &record);
  bool read_id(std::string_view text, Record &record);
  bool read_label(Field field, std::string_view text, Record &record);
  bool read_predecessor(std::string_view text, Record &record);
  bool is_new(const Record &record);
  void clean(const Record &record);
  bool needs(std::size_t field, const Record &record) const;
  void keep(const Record &record, double processors);
  void note(const Record &record);
  void reject(std::string problem);
  void reject(Field field, std::string_view text, const char *expected);
  void drop(Drop reason) { ++dropped_[reason]; }
  void fill(Fill reason) { ++filled_[reason]; }

  Options options_;
  bool named_;
  char separator_ = 0;     // 0 until it is clear, then ' ' (blanks and tabs), ';' or ','
  std::string partial_;    // the beginning of a line whose end has not come yet
  bool skipping_ = false;  // inside a line that is too long
  std::string_view line_text_;
  std::uint64_t line_ = 0, records_ = 0, kept_ = 0, out_of_order_ = 0;
  double last_submit_ = -1;
  std::array<std::uint64_t, kDrops> dropped_{};
  std::array<std::uint64_t, kFills> filled_{};
  std::array<std::uint64_t, kFields> unknown_{}, odd_{};
  std::array<std::uint64_t, kUnkepts> unkept_{};
  std::optional<BadRow> failure_;
  bool needs_names_ = false;
  std::vector<BadRow> bad_rows_;
  std::vector<std::string> header_;
  std::size_t header_bytes_ = 0;
  IdSet ids_;
  std::unordered_map<std::string, std::int64_t> named_ids_;
  // Names and huge numbers of users, queues…
  std::array<std::unordered_map<std::string, std::int32_t>, kFields> labels_;
  Columns columns_;
};

}  // namespace schedlab::swf
