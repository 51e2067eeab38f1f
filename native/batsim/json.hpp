// A reader of JSON that goes through a text once, without a tree of it: whoever reads takes what it expects and skips
// the rest. What is skipped is checked, too.
#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace schedlab::batsim {

struct NotJson : std::runtime_error {
  using std::runtime_error::runtime_error;
};
// It is JSON, but not what was expected there.
struct Unexpected : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Json {
 public:
  explicit Json(std::string_view text) : text_(text) {}

  // For each member `take(key)`, which reads its value.
  template <class Take>
  void object(Take take) {
    expect('{', "an object");
    if (next_is('}')) return;
    do {
      const std::string key = string();
      expect(':', "':'");
      take(key);
    } while (next_is(','));
    close('}');
  }
  // For each element `take()`, which reads it.
  template <class Take>
  void array(Take take) {
    expect('[', "an array");
    if (next_is(']')) return;
    do take();
    while (next_is(','));
    close(']');
  }

  std::string string();
  double real();
  std::string_view raw();           // any value, as it is written
  std::string_view plain_string();  // without quotes; nothing if there are escapes in it
  bool is_string() { return peek() == '"'; }
  bool is_null() { return peek() == 'n'; }
  // Whether there was a number of which nobody knows without a closer look that it is finite.
  bool has_odd_numbers() const { return odd_numbers_; }
  void end();  // nothing may follow

 private:
  char peek();  // the next character that is no space; 0 at the end
  void skip_spaces();
  bool next_is(char c);
  void expect(char c, const char *what);
  void close(char c);
  void skip(int depth);
  void skip_string();
  void skip_number();
  [[noreturn]] void fail(const char *what) const;

  static constexpr int kDeepest = 900;
  std::string_view text_;
  std::size_t at_ = 0;
  int depth_ = 0;
  bool odd_numbers_ = false;
};

std::string quoted(std::string_view text);                     // as a JSON string
void append_minified(std::string &to, std::string_view text);  // checked JSON, without spaces between its parts
bool valid_utf8(std::string_view text);

}  // namespace schedlab::batsim
