#include "xml.hpp"

#include <algorithm>

#include "unsupported.hpp"

namespace schedlab::batsim {

namespace {

constexpr int kDeepest = 200;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_name(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.'; }

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {
    for (const char c : text)
      if (static_cast<unsigned char>(c) < 0x20 && !is_space(c)) throw Unsupported("a control character");
    for (const std::string_view none : {"\xEF\xBF\xBE", "\xEF\xBF\xBF"})
      if (text.find(none) != std::string_view::npos) throw Unsupported("what is no character");
  }

  Element document() {
    spaces();
    if (starts("<?xml")) declaration();
    misc();
    if (starts("<!DOCTYPE")) type(), misc();
    Element root = element(0);
    misc();
    if (at_ < text_.size()) throw Unsupported("more than one root");
    return root;
  }

 private:
  bool starts(std::string_view word) const { return text_.substr(at_, word.size()) == word; }
  bool spaces() {  // whether there were any
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
    return at_ > begin;
  }
  void expect(char c) {
    if (at_ >= text_.size() || text_[at_] != c) throw Unsupported("XML that is not well formed");
    ++at_;
  }

  // <?xml version='1.0' encoding="utf-8"?>
  void declaration() {
    at_ += std::string_view("<?xml").size();
    for (const std::string_view known : {"version", "encoding"}) {
      const bool apart = spaces();
      if (starts("?>") && known != "version") break;
      if (!apart || name() != known) throw Unsupported("an XML declaration");
      spaces(), expect('='), spaces();
      std::string said = value();
      std::transform(said.begin(), said.end(), said.begin(), [](unsigned char c) { return std::tolower(c); });
      if (said != "1.0" && said != "utf-8") throw Unsupported("an XML declaration");
      if ((said == "1.0") != (known == "version")) throw Unsupported("an XML declaration");
    }
    spaces(), expect('?'), expect('>');
  }

  // <!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
  void type() {
    at_ += std::string_view("<!DOCTYPE").size();
    gap(), name();
    const bool apart = spaces();
    if (apart && starts("SYSTEM")) at_ += std::string_view("SYSTEM").size(), gap(), value(), spaces();
    expect('>');
  }
  void gap() {
    if (!spaces()) throw Unsupported("no space");
  }

  // Spaces and comments between elements.
  void misc() {
    for (spaces(); starts("<!--"); spaces()) comment();
  }
  void comment() {
    const std::size_t end = text_.find("--", at_ + 4);
    if (end == std::string_view::npos || text_.substr(end, 3) != "-->") throw Unsupported("a comment");
    at_ = end + 3;
  }

  std::string name() {
    const std::size_t begin = at_;
    if (at_ >= text_.size() || !is_letter(text_[at_])) throw Unsupported("a name");
    while (at_ < text_.size() && is_name(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  std::string value() {
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '"' && quote != '\'') throw Unsupported("an attribute without quotes");
    const std::size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos) throw Unsupported("an attribute without an end");
    std::string found;
    while (at_ < end) {
      const char c = text_[at_];
      if (c == '<') throw Unsupported("a < in an attribute");
      if (c == '\r') throw Unsupported("ends of lines in an attribute");
      if (c != '&') {
        found += is_space(c) ? ' ' : c, ++at_;
        continue;
      }
      const std::size_t over = text_.find(';', at_);
      if (over == std::string_view::npos || over > end) throw Unsupported("an entity");
      found += entity(text_.substr(at_ + 1, over - at_ - 1));
      at_ = over + 1;
    }
    at_ = end + 1;
    return found;
  }

  static char entity(std::string_view name) {
    static constexpr std::pair<std::string_view, char> kKnown[] = {{"amp", '&'},  {"lt", '<'},    {"gt", '>'},
                                                                   {"quot", '"'}, {"apos", '\''}, {"#10", '\n'},
                                                                   {"#9", '\t'},  {"#13", '\r'}};
    for (const auto &[known, character] : kKnown)
      if (name == known) return character;
    throw Unsupported("an entity");
  }

  Element element(int depth) {
    if (depth >= kDeepest) throw Unsupported("elements nested too deep");
    expect('<');
    Element found;
    found.tag = name();
    for (;;) {
      const bool apart = spaces();
      if (starts("/>")) return at_ += 2, found;
      if (starts(">")) break;
      if (!apart) throw Unsupported("attributes without a space between them");
      std::string attribute = name();
      spaces(), expect('='), spaces();
      if (found.attribute(attribute)) throw Unsupported("an attribute twice");
      found.attributes.emplace_back(std::move(attribute), value());
    }
    ++at_;
    for (;;) {
      misc();
      if (starts("</")) break;
      if (!starts("<") || starts("<!") || starts("<?")) throw Unsupported("text between elements");
      found.children.push_back(element(depth + 1));
    }
    at_ += 2;
    if (name() != found.tag) throw Unsupported("an end of another element");
    spaces(), expect('>');
    return found;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

const std::string *Element::attribute(std::string_view name) const {
  for (const auto &[known, value] : attributes)
    if (known == name) return &value;
  return nullptr;
}

std::string Element::get(std::string_view name, std::string_view otherwise) const {
  const std::string *found = attribute(name);
  return found ? *found : std::string(otherwise);
}

Element read_xml(std::string_view text) { return Reader(text).document(); }

}  // namespace schedlab::batsim
