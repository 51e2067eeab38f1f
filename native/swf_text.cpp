#include "swf_text.hpp"

#include <algorithm>

#include "swf_number.hpp"

namespace schedlab::swf {

std::string_view trim(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && (is_blank(text.back()) || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::size_t split(std::string_view line, Texts &texts, char separator) {
  std::size_t columns = 0;
  const char *p = line.data();
  const char *const end = p + line.size();
  if (separator == ' ') {
    while (columns < kColumns) {
      while (p != end && is_blank(*p)) ++p;
      if (p == end) break;
      const char *const start = p;
      while (p != end && !is_blank(*p)) ++p;
      texts[columns++] = {start, static_cast<std::size_t>(p - start)};
    }
    return columns;
  }
  while (columns < kColumns) {
    const char *const start = p;
    p = std::find(p, end, separator);
    texts[columns++] = trim({start, static_cast<std::size_t>(p - start)});
    if (p == end) break;
    ++p;
  }
  return columns;
}

// Tables of SWF columns separated by semicolons or commas are read too. Such characters also occur in what some tools
// add to the right of the 18 columns, hence the second condition.
char guess_separator(std::string_view line) {
  Texts texts, words;
  for (const char separator : {';', ','}) {
    if (split(line, texts, separator) == kColumns && split(texts[0], words, ' ') < kColumns) return separator;
  }
  return split(line, words, ' ') == kColumns ? ' ' : 0;
}

bool is_title(std::string_view line, char separator) {
  Texts texts;
  const auto is_word = [](std::string_view text) {
    double value;
    return !text.empty() && !parse_real(text, value);
  };
  return split(line, texts, separator) == kColumns && is_word(texts[1]) && is_word(texts[3]);
}

std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 40;
  constexpr char kHex[] = "0123456789abcdef";
  std::string shown = "\"";
  for (const char c : text.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f) {
      shown += c;
    } else {
      shown += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return shown + (text.size() > kShown ? "…\"" : "\"");
}

}  // namespace schedlab::swf
