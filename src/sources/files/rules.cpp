/// Deciding what is served.
#include "sources/files/rules.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii/characters.hpp"
#include "text/secrets/file_names.hpp"

namespace hondana::files {
namespace {

bool is_version_control(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 8> names{".git", ".hg", ".svn", ".jj", ".bzr", "_darcs", "CVS", ".sl"};
  // On a file system that ignores case, .GIT is .git.
  return std::any_of(names.begin(), names.end(), [name](std::string_view one) { return ascii::is_same(name, one); });
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
    case denial::kept_back:
      return std::string(disk::own_files::reason);
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
  if (!decision.fault.empty()) {
    std::string text(decision.source);
    text += " cannot be applied, so everything that it could exclude is left out: ";
    return text += decision.fault;
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
      return fail(errc::invalid_argument, "A pattern of `" + option + "` is empty or contains a line break or NUL: \"" +
                                              pattern + "\". Write one gitignore pattern per item.");
    }
    (text += pattern) += '\n';
  }
  auto list = ignore::pattern_list::parse(text, option);
  if (!list.warnings().empty() || !list.complete()) {
    return fail(errc::invalid_argument,
                "A pattern of `" + option + "` cannot be used: " +
                    (list.warnings().empty() ? std::string("there are too many") : list.warnings().front()) +
                    ". Use the syntax of .gitignore.");
  }
  return list;
}

result<rules> rules::make(const root_options& from, std::string_view root) {
  HONDANA_TRY(auto allow, compile_patterns(from.allow, "allow"));
  HONDANA_TRY(auto exclude, compile_patterns(from.exclude, "exclude"));
  rules made;
  made.allow_ = std::move(allow);
  made.exclude_ = std::move(exclude);
  made.own_ = disk::own_files(from.kept_back, root);
  made.show_hidden_ = from.show_hidden;
  made.obey_ignore_files_ = from.obey_ignore_files;
  return made;
}

bool rules::allows(std::string_view path, bool is_folder) const noexcept {
  return allow_.size() > 0 && allow_.match(path, is_folder).outcome == ignore::decision::ignored;
}

ruling rules::decide(std::string_view path, bool is_folder, const ignore::stack& ignored_by, std::uint64_t most_steps) const {
  if (!is_folder && own_.has_name(path)) return {denial::kept_back, {}, {}, {}, 0, {}, 0};
  auto decision = deny_name(path, is_folder);
  if (decision.is_served() && obey_ignore_files_) {
    const auto verdict = ignored_by.decide(path, is_folder, most_steps);
    decision.steps = verdict.steps;
    if (verdict.ignored()) {
      decision = {denial::ignored, verdict.pattern, {}, verdict.source, verdict.line, verdict.fault, verdict.steps};
    }
  }
  if (decision.is_served() || !allows(path, is_folder)) return decision;
  ruling allowed;
  allowed.steps = decision.steps;
  return allowed;
}

ruling rules::decide_name(std::string_view path, bool is_folder) const {
  if (!is_folder && own_.has_name(path)) return {denial::kept_back, {}, {}, {}, 0, {}, 0};
  const auto denied = deny_name(path, is_folder);
  return denied.is_served() || !allows(path, is_folder) ? denied : ruling{};
}

ruling rules::deny_name(std::string_view path, bool is_folder) const {
  const auto slash = path.rfind('/');
  const auto name = slash == std::string_view::npos ? path : path.substr(slash + 1);
  ruling denied;
  if (is_version_control(name)) {
    denied.why = denial::version_control;
    denied.pattern = name;
  } else if (const auto* secret = secrets::find_secret(path, is_folder)) {
    denied.why = denial::secret;
    denied.pattern = secret->pattern;
    denied.note = secret->reason;
  } else if (!show_hidden_ && name.front() == '.') {
    denied.why = denial::hidden;
  } else if (const auto hit = exclude_.match(path, is_folder); hit.outcome == ignore::decision::ignored) {
    denied.why = denial::excluded;
    denied.pattern = hit.pattern;
  }
  return denied;
}

}  // namespace hondana::files
