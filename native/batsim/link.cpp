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

#include "numbers.hpp"
#include "unsupported.hpp"

namespace schedlab::batsim {

namespace {

constexpr unsigned char kMore = 1, kLong = 2, kCommand = 4;
constexpr std::size_t kPiece = 1 << 16, kLongestQuote = 400;
constexpr std::uint64_t kLargest = std::uint64_t{1} << 32;  // bytes of a message; what claims to be more is none
constexpr long kTryEvery = 20'000'000;                      // nanoseconds after which it is tried again to connect
constexpr suseconds_t kLookEvery = 200'000;                 // microseconds of silence after which it is looked around
constexpr std::chrono::seconds kLastPatience(10);           // for the answer to SIMULATION_ENDS

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

std::string folded(std::string_view message) {
  std::string text;
  bool space = false;
  for (const char c : message) {
    if (c == ' ' || (c >= '\t' && c <= '\r') || c == '\0') {
      space = !text.empty();
      continue;
    }
    if (space) text += ' ';
    space = false, text += c;
  }
  return text;
}

std::string in_one_line(std::string_view message) {
  const std::string text = folded(message);
  if (text.size() <= kLongestQuote) return text;
  const auto inside = [&](std::size_t at) { return (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80; };
  std::size_t first = kLongestQuote / 2, last = text.size() - kLongestQuote / 2;
  while (first > 0 && inside(first)) --first;  // no half characters
  while (last < text.size() && inside(last)) ++last;
  return text.substr(0, first) + " […] " + text.substr(last);
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
  if (!whole_number(port, 1, 65535)) throw Unsupported("an endpoint");
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

std::string Link::exchange(std::string_view message) {
  asked_ = message;
  look();
  if (socket_ < 0) connect();
  if (taken_ < there_) not_understood("it has said something that it was not asked");
  taken_ = there_ = 0;
  // A REQ's envelope: an empty frame before the message.
  std::string bytes{static_cast<char>(kMore), '\0'};
  if (message.size() < 256) {
    bytes += '\0', bytes += static_cast<char>(message.size());
  } else {
    bytes += static_cast<char>(kLong);
    for (int byte = 7; byte >= 0; --byte) bytes += static_cast<char>(message.size() >> (8 * byte));
  }
  send(bytes.append(message));
  std::string answer;
  int parts = 0;
  bool empty_first = true;
  for (;;) {
    const Frame next = frame();
    if (next.flags & kCommand) continue;  // a sign of life
    if (parts++ == 0)
      empty_first = next.body.empty();
    else
      answer = next.body;
    if (!(next.flags & kMore)) break;
  }
  if (parts != 2 || !empty_first)
    not_understood("its answer has " + std::to_string(parts) + " parts, expected one message");
  return answer;
}

std::string Link::exchange_last(std::string_view message) {
  until_ = std::chrono::steady_clock::now() + kLastPatience;
  try {
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
    if (error != ECONNREFUSED && error != ECONNRESET && error != ENOENT && error != EINTR)
      throw BatsimError("cannot connect to " + endpoint_ + ": " + std::strerror(error));
    const timespec pause{0, kTryEvery};
    nanosleep(&pause, nullptr);
    look();
  }
  const int yes = 1;
  const timeval patience{0, kLookEvery};
  for (const int direction : {SO_RCVTIMEO, SO_SNDTIMEO})
    setsockopt(socket_, SOL_SOCKET, direction, &patience, sizeof patience);
  if (address_.ss_family != AF_UNIX) setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  greet();
}

void Link::greet() {
  send(greeting());
  const std::string theirs(take(kGreeting));
  const int version = static_cast<unsigned char>(theirs[10]);
  if (theirs[0] != '\xff' || theirs[9] != '\x7f') no_scheduler("it does not speak ZeroMQ's protocol");
  if (version < 3 || theirs.compare(12, 5, std::string("NULL\0", 5)) != 0)
    no_scheduler("it speaks version " + std::to_string(version) + " of ZeroMQ's protocol, or wants a password");
  send(ready());
  using namespace std::string_literals;
  const Frame meets = frame();
  if (!(meets.flags & kCommand) || !meets.body.starts_with("\x05READY"))
    no_scheduler("it does not want to talk: " + in_one_line(meets.body));
  if (meets.body.find("\x0bSocket-Type\0\0\0\x03REP"s) == std::string_view::npos &&
      meets.body.find("\x0bSocket-Type\0\0\0\x06ROUTER"s) == std::string_view::npos)
    no_scheduler("it is not a REP socket");
}

void Link::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    } else {
      const int error = errno;
      look();
      if (error != EINTR && error != EAGAIN) lost(std::strerror(error));
    }
  }
}

void Link::read() {
  if (in_.size() < there_ + kPiece) in_.resize(2 * there_ + kPiece);
  for (;;) {
    const ssize_t came = recv(socket_, in_.data() + there_, in_.size() - there_, 0);
    if (came > 0) return there_ += static_cast<std::size_t>(came), void();
    const int error = errno;
    if (came == 0 || (error != EINTR && error != EAGAIN)) lost(came == 0 ? "it is closed" : std::strerror(error));
    look();
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
  if (size > kLargest) not_understood("its answer has " + grouped(static_cast<std::int64_t>(size)) + " bytes");
  return {flags, take(size)};
}

void Link::fail(const std::string &said) const { throw BatsimError(said + "; it was asked " + in_one_line(asked_)); }

void Link::lost(const std::string &why) const {
  fail("the connection to the scheduler at " + endpoint_ + " broke: " + why);
}

void Link::not_understood(const std::string &why) const {
  fail("the scheduler at " + endpoint_ + " cannot be understood: " + why);
}

void Link::no_scheduler(const std::string &why) const {
  throw BatsimError("there is no scheduler at " + endpoint_ + ": " + why);
}

void Link::look() const {
  if (stopped_ != 0) throw Interrupted("interrupted");
  if (std::chrono::steady_clock::now() > until_) throw BatsimError("the scheduler has not answered");
}

}  // namespace schedlab::batsim
