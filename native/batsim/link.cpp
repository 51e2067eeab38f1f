#include "link.hpp"

#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <ctime>

#include "unsupported.hpp"

namespace schedlab::batsim {

namespace {

constexpr unsigned char kMore = 1, kLong = 2, kCommand = 4;
constexpr std::size_t kPiece = 1 << 16, kLongestQuote = 400;
constexpr std::uint64_t kLargest = std::uint64_t{1} << 32;  // bytes of a message; what claims to be more is none
constexpr long kTryEvery = 20'000'000;                      // nanoseconds after which it is tried again to connect
constexpr time_t kLastPatience = 10;                        // seconds for the answer to SIMULATION_ENDS

constexpr std::size_t kGreeting = 64;
std::string greeting() {
  std::string bytes(kGreeting, '\0');
  bytes[0] = '\xff', bytes[9] = '\x7f', bytes[10] = 3;
  bytes.replace(12, 4, "NULL");
  return bytes;
}

// The command that ends the handshake: who we are.
std::string ready() {
  using namespace std::string_literals;
  const std::string body = "\x05READY\x0bSocket-Type\0\0\0\x03REQ\x08Identity\0\0\0\0"s;
  return std::string{static_cast<char>(kCommand), static_cast<char>(body.size())} + body;
}

}  // namespace

std::string in_one_line(std::string_view message) {
  std::string text;
  bool space = false;
  for (const char c : message) {
    if (c == ' ' || (c >= '\t' && c <= '\r')) {
      space = !text.empty();
      continue;
    }
    if (space) text += ' ';
    space = false, text += c;
  }
  if (text.size() <= kLongestQuote) return text;
  return text.substr(0, kLongestQuote / 2) + " […] " + text.substr(text.size() - kLongestQuote / 2);
}

Link::Link(const std::string &endpoint, const volatile std::sig_atomic_t &stopped)
    : endpoint_(endpoint), stopped_(stopped) {
  if (endpoint.starts_with("ipc://")) {
    auto &local = reinterpret_cast<sockaddr_un &>(address_);
    const std::string path = endpoint.substr(6);
    if (path.empty() || path[0] == '@' || path.size() >= sizeof local.sun_path) throw Unsupported("an endpoint");
    local.sun_family = AF_UNIX;
    std::memcpy(local.sun_path, path.c_str(), path.size() + 1);
    address_size_ = sizeof local;
    return;
  }
  const std::size_t colon = endpoint.rfind(':');
  if (!endpoint.starts_with("tcp://") || colon < 7) throw Unsupported("an endpoint");
  std::string host = endpoint.substr(6, colon - 6), port = endpoint.substr(colon + 1);
  if (host == "*") host = "127.0.0.1";
  if (host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (port.empty() || port.size() > 5 || port.find_first_not_of("0123456789") != std::string::npos ||
      std::stoi(port) < 1 || std::stoi(port) > 65535)
    throw Unsupported("an endpoint");
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  if (getaddrinfo(host.c_str(), port.c_str(), &wanted, &found) != 0) throw Unsupported("an endpoint");
  // Schedulers that bind tcp://*: listen to IPv4 alone, unless they were told otherwise.
  const addrinfo *chosen = found;
  for (const addrinfo *one = found; one; one = one->ai_next)
    if (one->ai_family == AF_INET && chosen->ai_family != AF_INET) chosen = one;
  std::memcpy(&address_, chosen->ai_addr, chosen->ai_addrlen);
  address_size_ = chosen->ai_addrlen;
  freeaddrinfo(found);
}

Link::~Link() {
  if (socket_ >= 0) close(socket_);
}

std::string_view Link::exchange(std::string_view message) {
  asked_ = message;
  if (socket_ < 0) connect();
  if (taken_ < there_) not_understood("it has said something that it was not asked");
  taken_ = there_ = 0;
  // A REQ's envelope: an empty frame before the message.
  out_.assign({static_cast<char>(kMore), '\0'});
  if (message.size() < 256) {
    out_ += '\0', out_ += static_cast<char>(message.size());
  } else {
    out_ += static_cast<char>(kLong);
    for (int byte = 7; byte >= 0; --byte) out_ += static_cast<char>(message.size() >> (8 * byte));
  }
  out_ += message;
  send(out_);
  answer_.clear();
  int parts = 0;
  bool empty_first = true;
  for (;;) {
    const Frame next = frame();
    if (next.flags & kCommand) continue;  // a sign of life
    if (parts++ == 0)
      empty_first = next.body.empty();
    else
      answer_ = next.body;
    if (!(next.flags & kMore)) break;
  }
  if (parts != 2 || !empty_first)
    not_understood("its answer has " + std::to_string(parts) + " parts, expected one message");
  return answer_;
}

std::string_view Link::exchange_last(std::string_view message) {
  const timeval patience{kLastPatience, 0};
  try {
    if (socket_ >= 0) setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return exchange(message);
  } catch (const BatsimError &) {
    return {};
  }
}

// As soon as somebody listens.
void Link::connect() {
  for (;;) {
    socket_ = socket(address_.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0) lost(std::strerror(errno));
    if (::connect(socket_, reinterpret_cast<const sockaddr *>(&address_), address_size_) == 0) break;
    const int error = errno;
    close(socket_), socket_ = -1;
    look_for_signals();
    if (error != ECONNREFUSED && error != ECONNRESET && error != ENOENT && error != EINTR)
      throw BatsimError("cannot connect to " + endpoint_ + ": " + std::strerror(error));
    const timespec pause{0, kTryEvery};
    nanosleep(&pause, nullptr);
    look_for_signals();
  }
  const int yes = 1;
  if (address_.ss_family != AF_UNIX) setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  greet();
}

void Link::greet() {
  send(greeting());
  const std::string theirs(take(kGreeting));
  if (theirs[0] != '\xff' || theirs[9] != '\x7f') not_understood("it does not speak ZeroMQ's protocol");
  if (theirs[10] < 3 || theirs.compare(12, 5, std::string("NULL\0", 5)) != 0)
    not_understood("it speaks version " + std::to_string(theirs[10]) + " of ZeroMQ's protocol, or wants a password");
  send(ready());
  using namespace std::string_literals;
  const Frame meets = frame();
  if (!(meets.flags & kCommand) || !meets.body.starts_with("\x05READY")) not_understood("it does not want to talk");
  if (meets.body.find("\x0bSocket-Type\0\0\0\x03REP"s) == std::string_view::npos &&
      meets.body.find("\x0bSocket-Type\0\0\0\x06ROUTER"s) == std::string_view::npos)
    not_understood("it is not a REP socket");
}

void Link::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else {
      look_for_signals();
      if (errno != EINTR) lost(std::strerror(errno));
    }
  }
}

void Link::read() {
  if (in_.size() < there_ + kPiece) in_.resize(2 * there_ + kPiece);
  for (;;) {
    const ssize_t came = recv(socket_, in_.data() + there_, in_.size() - there_, 0);
    if (came > 0) return there_ += static_cast<std::size_t>(came), void();
    if (came < 0 && errno == EINTR) {
      look_for_signals();
      continue;
    }
    lost(came == 0 ? "it is closed" : std::strerror(errno));
  }
}

std::string_view Link::take(std::size_t size) {
  while (there_ - taken_ < size) read();
  taken_ += size;
  return {in_.data() + taken_ - size, size};
}

Link::Frame Link::frame() {
  const auto byte = [](char c) { return static_cast<unsigned char>(c); };
  const unsigned char flags = byte(take(1)[0]);
  std::uint64_t size = 0;
  for (const char c : take(flags & kLong ? 8 : 1)) size = size << 8 | byte(c);
  if (size > kLargest) not_understood("its answer has " + std::to_string(size) + " bytes");
  return {flags, take(size)};
}

void Link::lost(const std::string &why) const {
  throw BatsimError("the connection to the scheduler at " + endpoint_ + " broke: " + why + "; it was asked " +
                    in_one_line(asked_));
}

void Link::not_understood(const std::string &why) const {
  throw BatsimError("the scheduler at " + endpoint_ + " cannot be understood: " + why + "; it was asked " +
                    in_one_line(asked_));
}

void Link::look_for_signals() const {
  if (stopped_ != 0) throw Interrupted("interrupted");
}

}  // namespace schedlab::batsim
