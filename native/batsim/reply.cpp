#include "reply.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "json.hpp"
#include "link.hpp"

namespace schedlab::batsim {

namespace {

constexpr std::pair<std::string_view, Kind> kKinds[] = {{"EXECUTE_JOB", Kind::ExecuteJob},
                                                        {"REJECT_JOB", Kind::RejectJob},
                                                        {"KILL_JOB", Kind::KillJob},
                                                        {"CALL_ME_LATER", Kind::CallMeLater},
                                                        {"REGISTER_JOB", Kind::RegisterJob},
                                                        {"REGISTER_PROFILE", Kind::RegisterProfile},
                                                        {"SET_RESOURCE_STATE", Kind::SetResourceState},
                                                        {"SET_JOB_METADATA", Kind::SetJobMetadata},
                                                        {"CHANGE_JOB_STATE", Kind::ChangeJobState},
                                                        {"NOTIFY", Kind::Notify},
                                                        {"QUERY", Kind::Query},
                                                        {"ANSWER", Kind::Answer},
                                                        {"TO_JOB_MSG", Kind::ToJobMessage}};

Kind kind_of(const std::string &name) {
  for (const auto &[known, kind] : kKinds)
    if (name == known) return kind;
  throw Unexpected("'" + name + "' is no type of events");
}

// What a field has to be.
enum class Is { Text, Texts, Time, Object, Anything, Questions, Mapping, Numbers, IoJob };

struct Field {
  Kind kind;  // of event
  std::string_view name;
  Is is;
  std::string Said::*text = nullptr;  // where it goes; null: nobody wants to know
  bool needed = true;
};

constexpr Field kFields[] = {
    {Kind::ExecuteJob, "job_id", Is::Text, &Said::job},
    {Kind::ExecuteJob, "alloc", Is::Text, &Said::what},
    {Kind::ExecuteJob, "mapping", Is::Mapping, nullptr, false},
    {Kind::ExecuteJob, "storage_mapping", Is::Numbers, nullptr, false},
    {Kind::ExecuteJob, "additional_io_job", Is::IoJob, nullptr, false},
    {Kind::RejectJob, "job_id", Is::Text, &Said::job},
    {Kind::KillJob, "job_ids", Is::Texts},
    {Kind::CallMeLater, "timestamp", Is::Time},
    {Kind::RegisterJob, "job_id", Is::Text, &Said::job},
    {Kind::RegisterJob, "job", Is::Anything},
    {Kind::RegisterProfile, "workload_name", Is::Text},
    {Kind::RegisterProfile, "profile_name", Is::Text},
    {Kind::RegisterProfile, "profile", Is::Object},
    {Kind::SetResourceState, "resources", Is::Text},
    {Kind::SetResourceState, "state", Is::Text},
    {Kind::SetJobMetadata, "job_id", Is::Text, &Said::job},
    {Kind::SetJobMetadata, "metadata", Is::Text, &Said::what},
    {Kind::ChangeJobState, "job_id", Is::Text, &Said::job},
    {Kind::ChangeJobState, "job_state", Is::Text, &Said::what},
    {Kind::Notify, "type", Is::Text, &Said::what},
    {Kind::Query, "requests", Is::Questions},
    {Kind::ToJobMessage, "job_id", Is::Text, &Said::job},
    {Kind::ToJobMessage, "msg", Is::Text},
};

void read_object(Json &json) {
  json.object([&](const std::string &) { json.raw(); });
}

// Delays have no use for it.
void read_io_job(Json &json) {
  bool placed = false, named = false;
  json.object([&](const std::string &key) {
    if (key == "alloc")
      json.string(), placed = true;
    else if (key == "profile_name")
      json.string(), named = true;
    else if (key == "profile" && !json.is_null())
      read_object(json);
    else
      json.raw();
  });
  if (!placed || !named) throw Unexpected("'alloc' or 'profile_name' is missing");
}

// Of a field that is there twice, the last one counts.
void read_field(const Field &field, Json &json, Said &said) {
  if (!field.needed && json.is_null()) {
    if (field.is == Is::Mapping) said.mapping.reset();
    return void(json.raw());
  }
  switch (field.is) {
    case Is::Text: {
      std::string text = json.string();
      if (field.text) said.*field.text = std::move(text);
      return;
    }
    case Is::Texts:
      said.names.clear();
      return json.array([&] { said.names.push_back(json.string()); });
    case Is::Time:
      return void(said.call = json.real());
    case Is::Object:
      return read_object(json);
    case Is::Anything:
      return void(json.raw());
    case Is::Questions:
      said.names.clear();
      return json.object([&](const std::string &name) { said.names.push_back(name), read_object(json); });
    case Is::Mapping:
      said.mapping.emplace();
      return json.object([&](const std::string &executor) {
        (*said.mapping)[executor] = json.is_string() ? json.string() : std::string(json.raw());
      });
    case Is::Numbers:
      return json.object([&](const std::string &) {
        if (const double value = json.real(); value != std::floor(value)) throw Unexpected("expected whole numbers");
      });
    case Is::IoJob:
      return read_io_job(json);
  }
}

void read_data(std::string_view data, Said &said) {
  std::array<bool, std::size(kFields)> found{};
  Json json(data);
  json.object([&](const std::string &key) {
    if (said.kind == Kind::Answer) said.names.push_back(key);
    const auto *field = std::find_if(std::begin(kFields), std::end(kFields),
                                     [&](const Field &one) { return one.kind == said.kind && one.name == key; });
    if (field == std::end(kFields)) return void(json.raw());
    found[static_cast<std::size_t>(field - kFields)] = true;
    try {
      read_field(*field, json, said);
    } catch (const Unexpected &error) {
      throw Unexpected("'" + key + "': " + error.what());
    }
  });
  for (const Field &field : kFields)
    if (field.kind == said.kind && field.needed && !found[static_cast<std::size_t>(&field - kFields)])
      throw Unexpected("'" + std::string(field.name) + "' is missing");
}

Said read_event(std::string_view text) {
  Said said{};
  said.text = text;
  std::string kind;
  std::string_view data;
  bool timed = false;
  Json json(text);
  json.object([&](const std::string &key) {
    if (key == "timestamp") {
      said.timestamp = json.real(), timed = true;
    } else if (key == "type") {
      const std::string name = json.string();
      if (!kind.empty() && name != kind) throw Unexpected("it has two types");
      kind = name;
    } else if (key == "data") {
      data = json.raw();
    } else {
      json.raw();
    }
  });
  if (!timed || kind.empty() || data.empty()) throw Unexpected("an event has a timestamp, a type and data");
  said.kind = kind_of(kind);
  read_data(data, said);
  return said;
}

}  // namespace

Reply read_reply(std::string_view content) {
  Reply reply{};
  std::size_t number = 0;
  try {
    Json json(content);
    bool timed = false, listed = false;
    json.object([&](const std::string &key) {
      if (key == "now") {
        reply.now = json.real(), timed = true;
      } else if (key == "events") {
        listed = true, reply.events.clear();
        json.array([&] { reply.events.push_back(read_event(json.raw())), ++number; });
      } else {
        json.raw();
      }
    });
    json.end();
    if (!timed || !listed) throw Unexpected("it has 'now' and 'events'");
  } catch (const NotJson &error) {
    throw BatsimError("the scheduler's reply is not JSON (" + std::string(error.what()) + "): " + in_one_line(content));
  } catch (const Unexpected &error) {
    throw BatsimError("the scheduler's reply is not as the protocol has it: " + std::string(error.what()) + " (event " +
                      std::to_string(number) + "): " + in_one_line(content));
  }
  return reply;
}

}  // namespace schedlab::batsim
