/// A reader of git's configuration syntax, one character after the other.
#include "sources/git/settings.hpp"
#include "base/ascii/characters.hpp"

#include <charconv>
#include <utility>

namespace hondana::git {
namespace {

constexpr std::size_t most_settings = 100'000;
constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";

bool is_key_letter(char c) noexcept { return ascii::is_letter(c) || (c >= '0' && c <= '9') || c == '-'; }

class settings_reader {
 public:
  explicit settings_reader(std::string_view bytes) noexcept : bytes_(bytes) {}

  tl::expected<std::vector<setting>, misread> read() {
    std::vector<setting> all;
    while (!is_over()) {
      const char c = next();
      if (ascii::is_json_space(c)) continue;
      if (c == '#' || c == ';') {
        skip_line();
      } else if (c == '[') {
        if (!read_section()) return misread_here();
      } else {
        setting one;
        if (!ascii::is_letter(c)) {
          refuse("a key must begin with a letter");
        } else if (read_setting(c, one)) {
          if (all.size() == most_settings) refuse("there are more than 100000 settings");
          all.push_back(std::move(one));
        }
        if (!why_.empty()) return misread_here();
      }
    }
    return all;
  }

 private:
  [[nodiscard]] bool is_over() const noexcept { return at_ == bytes_.size(); }

  /// The end of the file ends a line; CR before LF counts as nothing.
  char next() noexcept {
    if (is_over()) return '\n';
    if (bytes_[at_] == '\r' && at_ + 1 < bytes_.size() && bytes_[at_ + 1] == '\n') ++at_;
    const char c = bytes_[at_++];
    if (c == '\n') ++line_;
    return c;
  }
  void skip_line() noexcept {
    while (!is_over() && next() != '\n') {
    }
  }
  bool refuse(std::string_view why) {
    // A line that ended too early has been counted already.
    refused_at_ = at_ > 0 && bytes_[at_ - 1] == '\n' ? line_ - 1 : line_;
    why_ = why;
    return false;
  }
  tl::unexpected<misread> misread_here() { return tl::unexpected(misread{refused_at_, why_}); }

  bool read_section() {
    section_.clear();
    for (;;) {
      const char c = next();
      if (c == ']') return !section_.empty() || refuse("a section has no name");
      if (ascii::is_json_space(c)) return c == '\n' ? refuse("the line ends inside a section name") : read_subsection();
      if (!is_key_letter(c) && c != '.') return refuse("a section name may contain only letters, digits, '-' and '.'");
      section_ += ascii::lower(c);
    }
  }

  bool read_subsection() {
    char c = ' ';
    while (c != '\n' && ascii::is_json_space(c)) c = next();
    if (c != '"') return refuse("a subsection name must be in double quotes");
    section_ += '.';
    while ((c = next()) != '"') {
      if (c == '\\') c = next();
      if (c == '\n') return refuse("the line ends inside a subsection name");
      section_ += c;
    }
    return next() == ']' || refuse("a section name must end with ']'");
  }

  bool read_setting(char first, setting& into) {
    into.line = line_;
    if (!section_.empty()) into.name = section_ + '.';
    char c = first;
    for (; is_key_letter(c); c = next()) into.name += ascii::lower(c);
    while (c == ' ' || c == '\t') c = next();
    if (c == '\n') return true;
    if (c != '=') return refuse("a key must be followed by '=' or the end of the line");
    return read_value(into.value.emplace());
  }

  bool read_value(std::string& into) {
    bool is_quoted = false;
    for (std::size_t spaces = 0;;) {
      char c = next();
      if (c == '\n') return !is_quoted || refuse("a double quote is not closed on its line");
      if (!is_quoted && ascii::is_json_space(c)) {
        if (!into.empty()) ++spaces;
        continue;
      }
      if (!is_quoted && (c == '#' || c == ';')) {
        skip_line();
        return true;
      }
      into.append(std::exchange(spaces, 0), ' ');
      if (c == '"') {
        is_quoted = !is_quoted;
      } else if (c != '\\') {
        into += c;
      } else if (!read_escape(into)) {
        return refuse("'\\' must be followed by n, t, b, '\"', '\\' or the end of the line");
      }
    }
  }

  bool read_escape(std::string& into) {
    switch (const char c = next()) {
      case '\n':
        return true;
      case 'n':
        into += '\n';
        return true;
      case 't':
        into += '\t';
        return true;
      case 'b':
        into += '\b';
        return true;
      case '"':
      case '\\':
        into += c;
        return true;
      default:
        return false;
    }
  }

  std::string_view bytes_;
  std::size_t at_ = 0;
  std::size_t line_ = 1, refused_at_ = 1;
  std::string section_, why_;
};

}  // namespace

tl::expected<std::vector<setting>, misread> read_settings(std::string_view bytes) {
  if (const auto nul = bytes.find('\0'); nul != std::string_view::npos) {
    std::size_t line = 1;
    for (const char c : bytes.substr(0, nul)) line += c == '\n' ? 1 : 0;
    return tl::unexpected(misread{line, "the file contains a NUL byte"});
  }
  if (bytes.starts_with(utf8_mark)) bytes.remove_prefix(utf8_mark.size());
  return settings_reader(bytes).read();
}

std::optional<bool> truth_of(const setting& one) {
  if (!one.value) return true;
  const auto& text = *one.value;
  for (const std::string_view word : {"true", "yes", "on"})
    if (ascii::is_same(text, word)) return true;
  for (const std::string_view word : {"false", "no", "off", ""})
    if (ascii::is_same(text, word)) return false;
  long number = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (problem != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number != 0;
}

}  // namespace hondana::git
