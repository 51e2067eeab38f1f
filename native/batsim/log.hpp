// Lines of a log as Batsim writes them to standard error; tools look for the messages in them.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include "../types.hpp"

namespace schedlab::batsim {

class Log {
 public:
  // `talks`: of messages; `tells`: of everything else that happens.
  Log(bool talks, bool tells) : talks_(talks), tells_(tells) { std::setvbuf(stderr, nullptr, _IOLBF, 1 << 16); }

  bool tells() const { return tells_; }
  // What was given, whatever the level.
  void always(const std::string &text) { std::fprintf(stderr, "[0.000000] [batsim/INFO] %s\n", text.c_str()); }
  void info(Time time, const std::string &text) {
    if (tells_) std::fprintf(stderr, "[%f] [server/INFO] %s\n", time, text.c_str());
  }
  void error(const std::string &text) { std::fprintf(stderr, "[0.000000] [batsim/ERROR] %s\n", text.c_str()); }
  void sending(Time time, std::string_view message) { network(time, "Sending", message); }
  void received(Time time, std::string_view message) { network(time, "Received", message); }

 private:
  void network(Time time, const char *what, std::string_view message) {
    if (!talks_) return;
    std::fprintf(stderr, "[master_host:Scheduler REQ-REP:(2) %f] [network/INFO] %s '", time, what);
    std::fwrite(message.data(), 1, message.size(), stderr);
    std::fputs("'\n", stderr);
  }

  bool talks_, tells_;
};

}  // namespace schedlab::batsim
