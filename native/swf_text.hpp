// Lines of an SWF file as pieces of text.
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace schedlab::swf {

constexpr std::size_t kColumns = 18;
using Texts = std::array<std::string_view, kColumns>;

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

// Without blanks around it, and without the CR of a CR LF.
std::string_view trim(std::string_view text);

// The columns of a line, at most 18; what is beyond them is not looked at. A separator ' ' means blanks and tabs.
std::size_t split(std::string_view line, Texts &texts, char separator);

// ' ', ';' or ','; 0 if the line is not a record at all.
char guess_separator(std::string_view line);

// Is this the row of column names with which tables of comma-separated values begin?
bool is_title(std::string_view line, char separator);

// For messages: short, on one line, printable.
std::string quoted(std::string_view text);

}  // namespace schedlab::swf
