// Workloads of Batsim whose jobs are delays: their text, and where each job stands in it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../types.hpp"

namespace schedlab::batsim {

struct Profile {
  std::string name, text;  // in one line
  double seconds;
  std::int32_t returns;  // exit code of its jobs
  bool wanted = false;   // some job has it
};

// A job as the file has it: where, and what of it is understood.
struct Line {
  std::uint64_t begin;
  std::uint32_t length, name_begin, name_length;  // the name, without the workload's, from `begin` on
  std::uint32_t profile;
  std::int32_t hosts;
  Time submit, limit;
};

struct Document {
  std::string name, path;  // w0, w1, …; absolute
  std::string content;
  std::vector<Line> jobs;
  std::vector<Profile> profiles;  // in the order of the file
};

// Where a job is: of which document, and which one there.
struct Place {
  std::uint32_t document, job;
};

class Workload {
 public:
  // Whatever is wrong with them, or no delay, is Unsupported.
  explicit Workload(const std::vector<std::string> &paths);

  const std::vector<Document> &documents() const { return documents_; }
  const std::vector<Place> &order() const { return order_; }  // in which they are submitted
  const Document &document(Place place) const { return documents_[place.document]; }
  const Line &line(Place place) const { return documents_[place.document].jobs[place.job]; }
  const Profile &profile(Place place) const { return document(place).profiles[line(place).profile]; }
  std::string_view name(Place place) const;    // without the workload's
  std::string full_name(Place place) const;    // w0!7
  std::string description(Place place) const;  // as the file has it, with the full name
  bool knows(const std::string &job);          // by its full name (asked of few jobs, so nothing is kept for it before)

 private:
  void sort();
  std::vector<Document> documents_;
  std::vector<Place> order_;
  std::vector<std::size_t> known_;  // hashes of all full names, in order; empty until somebody asks
};

}  // namespace schedlab::batsim
