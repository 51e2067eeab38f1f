// Any bytes, any options: the SWF parser finds the same however the bytes are cut, and what it keeps is sound.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <unordered_set>

#include "swf.hpp"

using namespace schedlab;

extern "C" int LLVMFuzzerRunDriver(int *, char ***, int (*)(const std::uint8_t *, std::size_t));

namespace {

void expect(bool holds, const char *what) {
  if (holds) return;
  std::fprintf(stderr, "the parser broke its word: %s\n", what);
  std::abort();
}

// Not a number equals itself here.
bool same(const std::vector<double> &one, const std::vector<double> &other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); });
}

bool same(const swf::Columns &one, const swf::Columns &other) {
  return one.id == other.id && one.count == other.count && one.after == other.after && one.memory == other.memory &&
         same(one.submit, other.submit) && same(one.runtime, other.runtime) && same(one.limit, other.limit) &&
         same(one.wait, other.wait) && same(one.cancel, other.cancel) && same(one.think, other.think) &&
         one.user == other.user && one.group == other.group && one.queue == other.queue &&
         one.partition == other.partition && one.executable == other.executable && one.status == other.status &&
         one.names == other.names;
}

bool same(const std::vector<swf::BadRow> &one, const std::vector<swf::BadRow> &other) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                    [](const auto &a, const auto &b) { return a.line == b.line && a.problem == b.problem; });
}

bool same(const swf::Parser &one, const swf::Parser &other) {
  return one.records() == other.records() && one.kept() == other.kept() && one.named() == other.named() &&
         one.needs_names() == other.needs_names() && one.out_of_order() == other.out_of_order() &&
         one.dropped() == other.dropped() && one.filled() == other.filled() && one.odd() == other.odd() &&
         one.unkept() == other.unkept() && one.unknown() == other.unknown() && one.header() == other.header() &&
         one.failure().has_value() == other.failure().has_value() && same(one.bad_rows(), other.bad_rows());
}

// Pieces of `size` bytes; 0 for all in one.
swf::Columns parse(swf::Parser &parser, std::string_view text, std::size_t size) {
  bool going = true;
  for (; going && size != 0 && text.size() > size; text.remove_prefix(size)) going = parser.feed(text.substr(0, size));
  if (going && parser.feed(text)) parser.finish();
  return parser.take();
}

void check(const swf::Parser &parser, const swf::Columns &jobs) {
  expect(jobs.size() == parser.kept(), "as many jobs as it says");
  std::uint64_t dropped = 0;
  for (const std::uint64_t count : parser.dropped()) dropped += count;
  if (!parser.needs_names()) expect(parser.records() == parser.kept() + dropped, "every record is a job or dropped");
  expect(!parser.named() || jobs.names.size() == jobs.size(), "a name for each");
  std::unordered_set<std::int64_t> ids;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    expect(ids.insert(jobs.id[i]).second && jobs.id[i] >= 0, "each job once");
    expect(jobs.count[i] >= 1 && jobs.count[i] <= 1'000'000'000, "1 to 1e9 processors");
    for (const double seconds : {jobs.submit[i], jobs.runtime[i], jobs.limit[i], jobs.think[i]})
      expect(seconds >= 0 && seconds <= 1e12, "times from 0 to 1e12");
    expect(std::isnan(jobs.wait[i]) || (jobs.wait[i] >= 0 && jobs.wait[i] <= 1e12), "a wait, or none");
    expect(jobs.cancel[i] >= jobs.submit[i], "cancelled after it came");
    expect(jobs.user[i] >= -1 && jobs.group[i] >= -1 && jobs.queue[i] >= -1 && jobs.partition[i] >= -1, "labels");
  }
}

int one(const std::uint8_t *data, std::size_t size) {
  if (size < 2) return 0;
  const unsigned choice = data[0];
  const std::string_view text(reinterpret_cast<const char *>(data) + 2, size - 2);
  swf::Options options;
  options.clean = static_cast<swf::Clean>(choice % 3);
  options.prefer_allocated = choice & 4;
  options.drop_bad_rows = choice & 8;
  options.named = choice & 16;
  options.memory = choice & 32;
  options.missing_limit = choice & 64 ? 60 : -1;
  options.max_procs = choice & 128 ? 8 : 0;
  swf::Parser whole(options), pieces(options);
  const swf::Columns jobs = parse(whole, text, 0);
  check(whole, jobs);
  expect(same(parse(pieces, text, 1 + data[1]), jobs) && same(whole, pieces), "the same however it is cut");
  if (whole.named() && !options.named) {  // as when a log is read a second time
    options.named = true;
    swf::Parser again(options);
    expect(same(parse(again, text, 0), jobs) && same(whole, again), "the same when it is read again");
  }
  return 0;
}

}  // namespace

int main(int argc, char **argv) { return LLVMFuzzerRunDriver(&argc, &argv, one); }
