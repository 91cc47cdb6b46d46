/// Compiling and matching.
#include "sources/docs/patterns.hpp"

#include <algorithm>
#include <utility>

#include "sources/docs/naming.hpp"
#include "text/language/language.hpp"

namespace hondana::docs {
namespace {

bool is_ascii(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

result<patterns> patterns::compile(const std::vector<std::string>& all, const std::string& what) {
  std::string text;
  for (const auto& one : all) {
    if (one.empty() || one.starts_with('#') || one.find_first_of("\r\n") != std::string::npos ||
        one.find('\0') != std::string::npos) {
      return fail(errc::invalid_argument, what + ": \"" + one + "\" is not a pattern. Write it as in .gitignore.");
    }
    (text += language::composed(one)) += '\n';
  }
  patterns made;
  made.list_ = ignore::pattern_list::parse(text, what);
  if (!made.list_.complete()) return fail(errc::invalid_argument, what + ": " + made.list_.fault());
  if (!made.list_.warnings().empty()) return fail(errc::invalid_argument, made.list_.warnings().front());
  return made;
}

bool patterns::matches(std::string_view path, bool is_folder) const noexcept {
  return list_.match(path, is_folder).outcome == ignore::decision::ignored;
}

bool patterns::match_folder(std::string_view path) const {
  if (is_empty()) return false;
  return is_ascii(path) ? matches(path, true) : matches(readable(path), true);
}

bool patterns::match(std::string_view path) const {
  if (is_empty()) return false;
  return is_ascii(path) ? reaches(path) : reaches(readable(path));
}

bool patterns::reaches(std::string_view path) const noexcept {
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    if (matches(path.substr(0, slash), true)) return true;
  }
  return matches(path, false);
}

}  // namespace hondana::docs
