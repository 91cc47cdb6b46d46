/// Compiling and matching.
#include "providers/docs/patterns.hpp"

#include <utility>

namespace hondana::docs {

result<patterns> patterns::compile(const std::vector<std::string>& all, const std::string& what) {
  std::string text;
  for (const auto& one : all) {
    if (one.empty() || one.starts_with('#') || one.find_first_of("\r\n") != std::string::npos ||
        one.find('\0') != std::string::npos) {
      return fail(errc::invalid_argument, what + ": \"" + one + "\" is no pattern. Write it as in .gitignore.");
    }
    (text += one) += '\n';
  }
  patterns made;
  made.list_ = ignore::pattern_list::parse(text, what);
  if (!made.list_.complete()) return fail(errc::invalid_argument, what + ": " + made.list_.fault());
  if (!made.list_.warnings().empty()) return fail(errc::invalid_argument, made.list_.warnings().front());
  return made;
}

bool patterns::match_folder(std::string_view path) const noexcept {
  return list_.match(path, true).outcome == ignore::decision::ignored;
}

bool patterns::match(std::string_view path) const noexcept {
  for (auto slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/', slash + 1)) {
    if (match_folder(path.substr(0, slash))) return true;
  }
  return list_.match(path, false).outcome == ignore::decision::ignored;
}

}  // namespace hondana::docs
