/// Deciding what is served.
#include "providers/files/rules.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "providers/files/secrets.hpp"

namespace hondana::files {
namespace {

bool is_version_control(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 8> names{".git", ".hg", ".svn", ".jj", ".bzr", "_darcs", "CVS", ".sl"};
  const auto same = [name](std::string_view other) {
    // On a file system that ignores case, .GIT is .git.
    return name.size() == other.size() && std::equal(name.begin(), name.end(), other.begin(), [](char a, char b) {
             return (a >= 'A' && a <= 'Z' ? a + ('a' - 'A') : a) == (b >= 'A' && b <= 'Z' ? b + ('a' - 'A') : b);
           });
  };
  return std::any_of(names.begin(), names.end(), same);
}

}  // namespace

std::string to_text(const ruling& decision) {
  const auto with_pattern = [&decision](std::string text) {
    text += '`';
    text += decision.pattern;
    text += '`';
    return text;
  };
  switch (decision.why) {
    case denial::none:
      return "served";
    case denial::version_control:
      return "version control data";
    case denial::secret:
      return with_pattern("secret: ").append(" (").append(decision.note).append(")");
    case denial::hidden:
      return "hidden";
    case denial::excluded:
      return with_pattern("excluded by the configuration: ");
    case denial::ignored:
      break;
  }
  std::string where = "ignored by ";
  where += decision.source;
  where += ':';
  where += std::to_string(decision.line);
  where += ' ';
  return with_pattern(std::move(where));
}

result<ignore::pattern_list> compile_patterns(const std::vector<std::string>& patterns, const std::string& option) {
  std::string text;
  for (const auto& pattern : patterns) {
    if (pattern.empty() || pattern.find_first_of("\n\r") != std::string::npos || pattern.find('\0') != std::string::npos) {
      return fail(errc::invalid_argument, "A pattern of `" + option + "` is empty or has a line break or NUL in it: \"" +
                                              pattern + "\". Write one gitignore pattern per item.");
    }
    (text += pattern) += '\n';
  }
  auto list = ignore::pattern_list::parse(text, option);
  if (!list.warnings().empty() || !list.complete()) {
    return fail(errc::invalid_argument,
                "A pattern of `" + option + "` cannot be used: " +
                    (list.warnings().empty() ? std::string("there are too many") : list.warnings().front()) +
                    ". Patterns are written as in .gitignore.");
  }
  return list;
}

result<rules> rules::make(const root_options& from) {
  auto allow = compile_patterns(from.allow, "allow");
  if (!allow) return tl::unexpected(std::move(allow.error()));
  auto exclude = compile_patterns(from.exclude, "exclude");
  if (!exclude) return tl::unexpected(std::move(exclude.error()));
  rules made;
  made.allow_ = std::move(*allow);
  made.exclude_ = std::move(*exclude);
  made.show_hidden_ = from.show_hidden;
  made.obey_ignore_files_ = from.obey_ignore_files;
  return made;
}

ruling rules::decide(std::string_view path, bool is_folder, const ignore::stack& ignored_by) const {
  const auto denied = deny(path, is_folder, ignored_by);
  if (denied.is_served() || allow_.size() == 0) return denied;
  if (allow_.match(path, is_folder).outcome == ignore::decision::ignored) return {};
  return denied;
}

ruling rules::deny(std::string_view path, bool is_folder, const ignore::stack& ignored_by) const {
  const auto slash = path.rfind('/');
  const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  if (is_version_control(name)) return {denial::version_control, name, {}, {}, 0};
  if (const auto* secret = find_secret(path, is_folder)) return {denial::secret, secret->pattern, secret->reason, {}, 0};
  if (!show_hidden_ && name.front() == '.') return {denial::hidden, {}, {}, {}, 0};
  if (const auto hit = exclude_.match(path, is_folder); hit.outcome == ignore::decision::ignored) {
    return {denial::excluded, hit.pattern, {}, {}, 0};
  }
  if (!obey_ignore_files_) return {};
  const auto verdict = ignored_by.decide(path, is_folder);
  if (!verdict.ignored()) return {};
  return {denial::ignored, verdict.pattern, {}, verdict.source, verdict.line};
}

}  // namespace hondana::files
