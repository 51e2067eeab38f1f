#include "json.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace schedlab::batsim {

namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

void append_utf8(std::string &text, std::uint32_t code) {
  const auto byte = [&text](std::uint32_t value) { text += static_cast<char>(value); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) return byte(0xC0 | code >> 6), byte(0x80 | (code & 0x3F));
  if (code < 0x10000) return byte(0xE0 | code >> 12), byte(0x80 | (code >> 6 & 0x3F)), byte(0x80 | (code & 0x3F));
  byte(0xF0 | code >> 18), byte(0x80 | (code >> 12 & 0x3F)), byte(0x80 | (code >> 6 & 0x3F)),
      byte(0x80 | (code & 0x3F));
}

// Four hexadecimal digits.
std::optional<std::uint32_t> code_unit(std::string_view digits) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (digits.size() != 4 || error != std::errc() || end != digits.data() + 4) return std::nullopt;
  return value;
}

constexpr std::size_t kUsualNumber = 200;  // characters, more than which it could be infinite without an exponent

constexpr bool is_high(std::uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
constexpr bool is_low(std::uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

}  // namespace

void Json::fail(const char *what) const { throw NotJson(std::string(what) + " (byte " + std::to_string(at_) + ")"); }

void Json::skip_spaces() {
  while (at_ < text_.size() && is_space(text_[at_])) ++at_;
}

char Json::peek() {
  skip_spaces();
  return at_ < text_.size() ? text_[at_] : '\0';
}

bool Json::next_is(char c) {
  if (peek() != c) return false;
  ++at_;
  if (c == '}' || c == ']') --depth_;
  return true;
}

void Json::expect(char c, const char *what) {
  const char there = peek();
  if (there == c) {
    ++at_;
    if ((c == '{' || c == '[') && ++depth_ > kDeepest) fail("it is nested too deep");
    return;
  }
  if (c == ':') fail("':' is missing");
  raw();  // if it is nothing at all, that is said
  throw Unexpected(std::string("expected ") + what);
}

void Json::close(char c) {
  if (!next_is(c)) fail(at_ < text_.size() ? "',' or the end of a list is missing" : "it ends too early");
}

void Json::end() {
  skip_spaces();
  if (at_ < text_.size()) fail("something follows");
}

std::string Json::string() {
  if (!is_string()) {
    raw();
    throw Unexpected("expected a string");
  }
  const std::size_t begin = at_ + 1;
  skip_string();
  const std::string_view inside = text_.substr(begin, at_ - 1 - begin);
  if (!valid_utf8(inside)) fail("a string is no UTF-8");
  if (inside.find('\\') == std::string_view::npos) return std::string(inside);
  std::string found;
  for (std::size_t i = 0; i < inside.size(); ++i) {
    if (inside[i] != '\\') {
      found += inside[i];
      continue;
    }
    switch (const char c = inside[++i]) {
      case 'n':
        found += '\n';
        break;
      case 't':
        found += '\t';
        break;
      case 'r':
        found += '\r';
        break;
      case 'b':
        found += '\b';
        break;
      case 'f':
        found += '\f';
        break;
      case 'u': {
        const std::uint32_t unit = *code_unit(inside.substr(i + 1, 4));
        i += 4;
        if (!is_high(unit)) {
          append_utf8(found, unit);
          break;
        }
        append_utf8(found, 0x10000 + ((unit - 0xD800) << 10) + (*code_unit(inside.substr(i + 3, 4)) - 0xDC00));
        i += 6;
        break;
      }
      default:
        found += c;  // of the quote, the slash and the backslash
    }
  }
  return found;
}

std::string_view Json::plain_string() {
  if (!is_string()) return {};
  const std::size_t begin = at_ + 1;
  skip_string();
  const std::string_view inside = text_.substr(begin, at_ - 1 - begin);
  return inside.find('\\') == std::string_view::npos ? inside : std::string_view();
}

double Json::real() {
  const char c = peek();
  if (c != '-' && !is_digit(c)) {
    raw();
    throw Unexpected("expected a number");
  }
  const std::size_t begin = at_;
  skip_number();
  double value = 0;
  const auto [end, error] = std::from_chars(text_.data() + begin, text_.data() + at_, value);
  if (error == std::errc::result_out_of_range)
    value = std::strtod(std::string(text_.substr(begin, at_ - begin)).c_str(), nullptr);
  if (!std::isfinite(value)) fail("a number is too large");
  return value;
}

std::string_view Json::raw() {
  skip_spaces();
  const std::size_t begin = at_;
  skip(depth_);
  return text_.substr(begin, at_ - begin);
}

void Json::skip(int depth) {
  if (depth > kDeepest) fail("it is nested too deep");
  const auto literal = [this](std::string_view word) {
    if (text_.substr(at_, word.size()) != word) fail("a character is out of place");
    at_ += word.size();
  };
  const auto members = [this, depth](char closing, bool named) {
    ++at_;
    skip_spaces();
    if (at_ < text_.size() && text_[at_] == closing) return ++at_, void();
    for (;;) {
      if (named) {
        if (peek() != '"') fail("a name is missing");
        skip_string();
        if (peek() != ':') fail("':' is missing");
        ++at_;
      }
      skip(depth + 1);
      const char c = peek();
      ++at_;
      if (c == closing) return;
      if (c != ',') {
        --at_;
        fail(at_ < text_.size() ? "',' or the end of a list is missing" : "it ends too early");
      }
    }
  };
  switch (peek()) {
    case '{':
      return members('}', true);
    case '[':
      return members(']', false);
    case '"':
      return skip_string();
    case 't':
      return literal("true");
    case 'f':
      return literal("false");
    case 'n':
      return literal("null");
    case '\0':
      fail("it ends too early");
    default:
      return skip_number();
  }
}

void Json::skip_string() {
  for (++at_; at_ < text_.size(); ++at_) {
    const char c = text_[at_];
    if (c == '"') return ++at_, void();
    if (static_cast<unsigned char>(c) < 0x20) fail("a string has a control character");
    if (c != '\\') continue;
    if (++at_ >= text_.size()) break;
    if (text_[at_] == 'u') {
      const auto unit = code_unit(text_.substr(at_ + 1, 4));
      if (!unit || is_low(*unit)) fail("a \\u is no character");
      at_ += 4;
      if (!is_high(*unit)) continue;
      const auto low = text_.substr(at_ + 1, 2) == "\\u" ? code_unit(text_.substr(at_ + 3, 4)) : std::nullopt;
      if (!low || !is_low(*low)) fail("a \\u is half a character");
      at_ += 6;
    } else if (std::string_view("\"\\/bfnrt").find(text_[at_]) == std::string_view::npos) {
      fail("a string has an unknown escape");
    }
  }
  fail("a string has no end");
}

void Json::skip_number() {
  const auto digits = [this] {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_digit(text_[at_])) ++at_;
    if (at_ == begin) fail("a character is out of place");
  };
  if (at_ < text_.size() && text_[at_] == '-') ++at_;
  const bool zero = at_ < text_.size() && text_[at_] == '0';
  const std::size_t begin = at_;
  digits();
  if (zero && at_ > begin + 1) fail("a number begins with 0");
  if (at_ < text_.size() && text_[at_] == '.') ++at_, digits();
  if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
    ++at_;
    if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
    const std::size_t exponent = at_;
    digits();
    odd_numbers_ |= at_ - exponent > 2;
  }
  odd_numbers_ |= at_ - begin > kUsualNumber;
}

std::string quoted(std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string found = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      found += '\\', found += c;
    } else if (byte >= 0x20) {
      found += c;
    } else if (const auto named = std::string_view("\b\f\n\r\t").find(c); named != std::string_view::npos) {
      found += '\\', found += "bfnrt"[named];
    } else {
      found += "\\u00", found += kHex[byte >> 4], found += kHex[byte & 15];
    }
  }
  return found += '"';
}

void append_minified(std::string &to, std::string_view text) {
  bool inside = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside && c == '\\') {
      to += c, to += text[++i];
      continue;
    }
    if (c == '"') inside = !inside;
    if (inside || !is_space(c)) to += c;
  }
}

bool valid_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
    const unsigned char lead = byte(i);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const std::size_t more = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : 1;
    if (lead < 0xC2 || lead > 0xF4 || i + more >= text.size()) return false;
    std::uint32_t code = lead & (0x3F >> more);
    for (std::size_t k = 1; k <= more; ++k) {
      if ((byte(i + k) & 0xC0) != 0x80) return false;
      code = code << 6 | (byte(i + k) & 0x3F);
    }
    if ((more == 2 && code < 0x800) || (more == 3 && (code < 0x10000 || code > 0x10FFFF)) ||
        (code >= 0xD800 && code < 0xE000))
      return false;
    i += more + 1;
  }
  return true;
}

}  // namespace schedlab::batsim
