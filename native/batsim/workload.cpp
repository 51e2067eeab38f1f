#include "workload.hpp"

#include <algorithm>
#include <functional>
#include <limits>

#include "files.hpp"
#include "json.hpp"
#include "numbers.hpp"
#include "unsupported.hpp"

namespace schedlab::batsim {

namespace {

std::int64_t whole(std::string_view text, std::int64_t lowest, std::int64_t highest) {
  const bool negative = text.starts_with('-');
  const auto value = whole_number(text.substr(negative ? 1 : 0), 0, INT64_MAX);
  if (!value || (negative ? -*value : *value) < lowest || (negative ? -*value : *value) > highest)
    throw Unsupported("a number that is not whole, or too large");
  return negative ? -*value : *value;
}

constexpr std::size_t kExact = 15;  // digits of whole numbers that are sure to be read as they are

Profile read_profile(const std::string &name, std::string_view text) {
  Profile profile{name, {}, 0, 0};
  bool delay = false;
  Json json(text);
  json.object([&](const std::string &key) {
    if (key == "type")
      delay = json.string() == "delay";
    else if (key == "delay")
      profile.seconds = json.real();
    else if (key == "ret")
      profile.returns = static_cast<std::int32_t>(whole(json.raw(), INT32_MIN, INT32_MAX));
    else
      json.raw();
  });
  if (!delay || !(profile.seconds > 0)) throw Unsupported("a profile that is no delay");
  append_minified(profile.text, text);
  return profile;
}

using Profiles = std::unordered_map<std::string_view, std::uint32_t>;  // where they are in the document

Line read_job(const Document &document, const Profiles &profiles, std::string_view text) {
  Line line{};
  const std::uint64_t begin = static_cast<std::uint64_t>(text.data() - document.content.data());
  if (text.size() > std::numeric_limits<std::uint32_t>::max()) throw Unsupported("an endless job");
  line.begin = begin, line.length = static_cast<std::uint32_t>(text.size());
  line.submit = -1, line.limit = -1, line.hosts = -1;
  std::string_view name;
  bool has_profile = false;
  std::vector<std::string> keys;
  Json json(text);
  json.object([&](const std::string &key) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) throw Unsupported("a field twice");
    keys.push_back(key);
    if (key == "id") {
      if (!json.is_string()) {
        name = json.raw();
        if (name.starts_with('-')) throw Unsupported("an id below 0");
        whole(name, 0, std::numeric_limits<std::int64_t>::max());
        return;
      }
      name = json.plain_string();
      if (name.starts_with(document.name + "!")) name.remove_prefix(document.name.size() + 1);
      if (name.empty() || name.find('!') != std::string_view::npos) throw Unsupported("an id");
    } else if (key == "res") {
      line.hosts = static_cast<std::int32_t>(whole(json.raw(), 0, kMostHosts));
    } else if (key == "profile") {
      const std::string_view wanted = json.plain_string();
      const auto found = profiles.find(wanted);
      if (wanted.empty() || found == profiles.end()) throw Unsupported("a profile that is not there");
      line.profile = found->second, has_profile = true;
    } else if (key == "subtime") {
      const std::string_view written = json.raw();
      if (written.size() > kExact && written.find('.') == std::string_view::npos)
        throw Unsupported("a time that is rounded");
      line.submit = Json(written).real();
    } else if (key == "walltime") {
      line.limit = json.real();
    } else {
      json.raw();
    }
  });
  if (name.empty() || line.hosts < 0 || !has_profile || !(line.submit >= 0)) throw Unsupported("a job");
  if (line.limit == -1) line.limit = kNever;
  if (!(line.limit > 0)) throw Unsupported("a walltime");
  line.name_begin = static_cast<std::uint32_t>(name.data() - text.data());
  line.name_length = static_cast<std::uint32_t>(name.size());
  return line;
}

void read_document(Document &document) {
  document.content = read_file(document.path);
  Json json(document.content);
  std::string_view jobs, profiles;
  std::int64_t hosts = -1;
  json.object([&](const std::string &key) {
    const std::string_view value = json.raw();
    std::string_view *part = key == "jobs" ? &jobs : key == "profiles" ? &profiles : nullptr;
    if (part && !part->empty()) throw Unsupported("jobs or profiles twice");
    if (part) *part = value;
    if (key == "nb_res") hosts = whole(value, 1, std::numeric_limits<std::int64_t>::max());
  });
  json.end();
  if (hosts < 1 || jobs.empty() || profiles.empty() || json.has_odd_numbers()) throw Unsupported("no usual workload");
  Json of_profiles(profiles);
  of_profiles.object(
      [&](const std::string &name) { document.profiles.push_back(read_profile(name, of_profiles.raw())); });
  Profiles known;
  for (std::uint32_t i = 0; i < document.profiles.size(); ++i)
    if (!known.emplace(document.profiles[i].name, i).second) throw Unsupported("a profile twice");
  Json of_jobs(jobs);
  of_jobs.array([&] {
    document.jobs.push_back(read_job(document, known, of_jobs.raw()));
    document.profiles[document.jobs.back().profile].wanted = true;
  });
}

}  // namespace

Workload::Workload(const std::vector<std::string> &paths) {
  documents_.reserve(paths.size());
  for (const std::string &path : paths) {
    documents_.push_back({"w" + std::to_string(documents_.size()), path, {}, {}, {}});
    try {
      read_document(documents_.back());
    } catch (const NotJson &error) {
      throw Unsupported(error.what());
    } catch (const Unexpected &error) {
      throw Unsupported(error.what());
    }
  }
  sort();
}

// By time, then file by file, then by their names as texts.
void Workload::sort() {
  for (std::uint32_t document = 0; document < documents_.size(); ++document) {
    const std::vector<Line> &jobs = documents_[document].jobs;
    for (std::uint32_t job = 0; job < jobs.size(); ++job) order_.push_back({document, job});
    std::vector<std::uint32_t> by_name(jobs.size());
    for (std::uint32_t job = 0; job < jobs.size(); ++job) by_name[job] = job;
    const auto name_of = [&](std::uint32_t job) { return name({document, job}); };
    std::sort(by_name.begin(), by_name.end(), [&](auto a, auto b) { return name_of(a) < name_of(b); });
    for (std::size_t i = 1; i < by_name.size(); ++i)
      if (name_of(by_name[i]) == name_of(by_name[i - 1])) throw Unsupported("an id twice");
  }
  std::sort(order_.begin(), order_.end(), [this](Place a, Place b) {
    const Time first = line(a).submit, second = line(b).submit;
    if (first != second) return first < second;
    return a.document != b.document ? a.document < b.document : name(a) < name(b);
  });
}

std::string_view Workload::name(Place place) const {
  const Line &job = line(place);
  return std::string_view(document(place).content).substr(job.begin + job.name_begin, job.name_length);
}

std::string Workload::full_name(Place place) const { return document(place).name + "!" + std::string(name(place)); }

std::string Workload::description(Place place) const {
  const Line &job = line(place);
  const std::string_view text = std::string_view(document(place).content).substr(job.begin, job.length);
  std::string found = "{";
  Json json(text);
  json.object([&](const std::string &key) {
    const std::string_view value = json.raw();
    if (found.size() > 1) found += ',';
    found += quoted(key) + ":";
    if (key == "id")
      found += quoted(full_name(place));
    else
      append_minified(found, value);
  });
  return found += '}';
}

bool Workload::knows(const std::string &job) {
  constexpr std::hash<std::string> kHash;
  if (known_.empty()) {
    for (const Place place : order_) known_.push_back(kHash(full_name(place)));
    std::sort(known_.begin(), known_.end());
  }
  return std::binary_search(known_.begin(), known_.end(), kHash(job));
}

}  // namespace schedlab::batsim
