#include "reply.hpp"

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

// The fields of `data` that have to be there, by the kind of the event: one that is asked for and missing is an error.
struct Fields {
  explicit Fields(std::string_view data, Said &said) {
    Json json(data);
    json.object([&](const std::string &key) {
      try {
        read(json, key, said);
      } catch (const Unexpected &error) {
        throw Unexpected("'" + key + "': " + error.what());
      }
    });
  }

  void read(Json &json, const std::string &key, Said &said) {
    const auto text = [&](std::string &to) { to = json.string(), found.push_back(key); };
    const auto skip = [&] { json.raw(), found.push_back(key); };
    const auto nothing = [&] { return json.is_null() ? (json.raw(), true) : false; };
    const Kind kind = said.kind;
    if (kind == Kind::Answer) return said.names.push_back(key), skip();
    if (key == "job_id" && kind != Kind::KillJob && kind != Kind::Notify && kind != Kind::Query) return text(said.job);
    if (key == "alloc" && kind == Kind::ExecuteJob) return text(said.what);
    if (key == "mapping" && kind == Kind::ExecuteJob) {
      if (nothing()) return;
      said.mapping.emplace();
      return json.object([&](const std::string &executor) {
        said.mapping->emplace_back(executor, json.is_string() ? json.string() : std::string(json.raw()));
      });
    }
    if (key == "storage_mapping" && kind == Kind::ExecuteJob) {
      if (nothing()) return;
      return json.object([&](const std::string &) { json.real(); });
    }
    if (key == "additional_io_job" && kind == Kind::ExecuteJob) return io_job(json);
    if (key == "job_ids" && kind == Kind::KillJob)
      return found.push_back(key), json.array([&] { said.names.push_back(json.string()); });
    if (key == "timestamp" && kind == Kind::CallMeLater) return found.push_back(key), void(said.call = json.real());
    if (key == "requests" && kind == Kind::Query)
      return found.push_back(key),
             json.object([&](const std::string &name) { said.names.push_back(name), object(json); });
    if (key == "resources" && kind == Kind::SetResourceState) return text(said.what);
    if (key == "state" && kind == Kind::SetResourceState) return void(json.string()), found.push_back(key);
    if (key == "metadata" && kind == Kind::SetJobMetadata) return text(said.what);
    if (key == "job_state" && kind == Kind::ChangeJobState) return text(said.what);
    if (key == "type" && kind == Kind::Notify) return text(said.what);
    if (key == "msg" && kind == Kind::ToJobMessage) return void(json.string()), found.push_back(key);
    if (kind == Kind::RegisterProfile && (key == "workload_name" || key == "profile_name"))
      return void(json.string()), found.push_back(key);
    if (kind == Kind::RegisterProfile && key == "profile") return object(json), found.push_back(key);
    skip();
  }

  static void object(Json &json) {
    json.object([&](const std::string &) { json.raw(); });
  }

  // Delays have no use for it.
  static void io_job(Json &json) {
    if (json.is_null()) return void(json.raw());
    int named = 0;
    json.object([&](const std::string &key) {
      if (key == "alloc" || key == "profile_name")
        json.string(), ++named;
      else
        json.raw();
    });
    if (named < 2) throw Unexpected("'alloc' or 'profile_name' is missing");
  }

  void need(std::initializer_list<std::string_view> wanted) const {
    for (const std::string_view name : wanted) {
      bool there = false;
      for (const std::string &key : found) there |= key == name;
      if (!there) throw Unexpected("'" + std::string(name) + "' is missing");
    }
  }

  std::vector<std::string> found;
};

void read_data(std::string_view data, Said &said) {
  const Fields fields(data, said);
  switch (said.kind) {
    case Kind::ExecuteJob:
      return fields.need({"job_id", "alloc"});
    case Kind::RejectJob:
      return fields.need({"job_id"});
    case Kind::KillJob:
      return fields.need({"job_ids"});
    case Kind::CallMeLater:
      return fields.need({"timestamp"});
    case Kind::RegisterJob:
      return fields.need({"job_id", "job"});
    case Kind::RegisterProfile:
      return fields.need({"workload_name", "profile_name", "profile"});
    case Kind::SetResourceState:
      return fields.need({"resources", "state"});
    case Kind::SetJobMetadata:
      return fields.need({"job_id", "metadata"});
    case Kind::ChangeJobState:
      return fields.need({"job_id", "job_state"});
    case Kind::Notify:
      return fields.need({"type"});
    case Kind::Query:
      return fields.need({"requests"});
    case Kind::ToJobMessage:
      return fields.need({"job_id", "msg"});
    case Kind::Answer:
      return;
  }
}

Said read_event(std::string_view text) {
  Said said{};
  said.text = text;
  std::string kind;
  std::string_view data;
  bool timed = false;
  Json json(text);
  json.object([&](const std::string &key) {
    if (key == "timestamp")
      said.timestamp = json.real(), timed = true;
    else if (key == "type")
      kind = json.string();
    else if (key == "data")
      data = json.raw();
    else
      json.raw();
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
    if (!valid_utf8(content)) throw NotJson("it is no UTF-8");
    Json json(content);
    bool timed = false, listed = false;
    json.object([&](const std::string &key) {
      if (key == "now") {
        reply.now = json.real(), timed = true;
      } else if (key == "events") {
        listed = true;
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
