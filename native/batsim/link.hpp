// Our end of the socket: the simulator asks (REQ) and connects, the scheduler answers (REP) and binds. The wire of
// ZeroMQ, ZMTP 3.0 (rfc.zeromq.org/spec/23), as far as a REQ socket without security needs it.
#pragma once

#include <sys/socket.h>

#include <chrono>
#include <csignal>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace schedlab::batsim {

// The scheduler died, kept silent, or said what cannot be done; the error quotes it.
struct BatsimError : std::runtime_error {
  using std::runtime_error::runtime_error;
};
struct Interrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string folded(std::string_view text);          // in one line
std::string in_one_line(std::string_view message);  // as errors show it: not longer than a person wants to read

class Link {
 public:
  // `stopped` is the number of a signal that wants us to end; 0: none does.
  Link(const std::string &endpoint, const volatile std::sig_atomic_t &stopped);
  ~Link();
  Link(const Link &) = delete;
  Link &operator=(const Link &) = delete;

  // Say something and wait for the answer, however long that takes.
  std::string exchange(std::string_view message);
  // The same where nothing depends on the answer: none if there is none in some seconds.
  std::string exchange_last(std::string_view message);

 private:
  void connect();
  void greet();
  void send(std::string_view bytes);
  void read();                              // what has come, at least one byte
  std::string_view take(std::size_t size);  // so many bytes, which are there until more is read
  struct Frame {
    unsigned char flags;
    std::string_view body;
  };
  Frame frame();
  [[noreturn]] void fail(const std::string &said) const;  // and what was asked
  [[noreturn]] void lost(const std::string &why) const;
  [[noreturn]] void not_understood(const std::string &why) const;
  [[noreturn]] void no_scheduler(const std::string &why) const;
  void look() const;  // whether it is time to end

  std::string endpoint_;
  std::string_view asked_;
  std::chrono::steady_clock::time_point until_ = std::chrono::steady_clock::time_point::max();
  std::vector<char> in_;  // what has come is in it from `taken_` to `there_`
  std::size_t taken_ = 0, there_ = 0;
  sockaddr_storage address_{};
  socklen_t address_size_ = 0;
  int socket_ = -1;
  const volatile std::sig_atomic_t &stopped_;
};

}  // namespace schedlab::batsim
