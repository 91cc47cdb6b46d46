/// Escapes of what is not ASCII are decoded, composed and escaped again; all others stay.
#include "server/access/one_form.hpp"

#include <algorithm>

#include <hondana/uri.hpp>

#include "base/ascii/characters.hpp"
#include "text/language/language.hpp"

namespace hondana::access {
namespace {

int digit_of(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

/// The byte from 0x80 on whose escape stands at `at`; 0: none does.
unsigned char escaped_at(std::string_view text, std::size_t at) noexcept {
  if (text[at] != '%' || at + 2 >= text.size()) return 0;
  const int high = digit_of(text[at + 1]);
  const int low = digit_of(text[at + 2]);
  return high < 8 || low < 0 ? 0 : static_cast<unsigned char>(high * 16 + low);
}

bool is_ascii(char c) noexcept { return static_cast<unsigned char>(c) < 0x80; }

/// A mark follows the letter that it is composed with, which may be ASCII.
struct letters_and_marks {
  std::string text{};
  std::string_view first{};  ///< How its first character is written, where that is ASCII.
};

/// The ASCII character at `at`, raw or escaped, that marks may be composed with; 0: none. The signs are those that have a form
/// of their own when they are struck through.
char begins_run(std::string_view text, std::size_t at) noexcept {
  const auto escaped = text.substr(at, 3);
  if (ascii::is_letter(text[at]) || text[at] == '=') return text[at];
  return escaped == "%3C" ? '<' : escaped == "%3D" ? '=' : escaped == "%3E" ? '>' : '\0';
}

void flush(letters_and_marks& run, std::string& into) {
  const auto made = run.text.size() < 2 ? run.text : language::composed(run.text);
  std::string_view rest = made;
  if (!run.first.empty() && rest.front() == run.text.front()) {
    into += run.first;
    rest.remove_prefix(1);
  }
  for (const char c : rest) {
    if (is_ascii(c)) {
      into += c;
    } else {
      into += percent_encode({&c, 1});
    }
  }
  run = {};
}

std::string composed_escapes(std::string_view text, bool has_sets) {
  std::string out;
  letters_and_marks run;
  bool in_set = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const auto byte = escaped_at(text, at);
    if (has_sets && c == '[') in_set = true;
    if (in_set) {
      flush(run, out);
      out += c;
      in_set = c != ']';
    } else if (byte != 0) {
      run.text += static_cast<char>(byte);
      at += 2;
    } else if (!is_ascii(c)) {
      run.text += c;
    } else {
      flush(run, out);
      // Neither a separator nor a part of an escape takes part.
      const auto written = text.substr(at, c == '%' ? 3 : 1);
      if (const char first = begins_run(text, at); first != '\0') {
        run = {std::string(1, first), written};
      } else {
        out += written;
      }
      at += written.size() - 1;
    }
  }
  flush(run, out);
  return out;
}

}  // namespace

bool has_forms(std::string_view uri) noexcept {
  for (auto at = uri.find('%'); at != std::string_view::npos; at = uri.find('%', at + 1)) {
    if (escaped_at(uri, at) != 0) return true;
  }
  return !std::all_of(uri.begin(), uri.end(), is_ascii);
}

std::string in_one_form(std::string_view uri) { return has_forms(uri) ? composed_escapes(uri, false) : std::string(uri); }

std::string pattern_in_one_form(std::string_view pattern) {
  return has_forms(pattern) ? composed_escapes(pattern, true) : std::string(pattern);
}

}  // namespace hondana::access
