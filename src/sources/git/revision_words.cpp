/// The grammar of revisions that are taken, and what to say about others.
#include "sources/git/revision_words.hpp"

#include <charconv>
#include <string_view>
#include <system_error>
#include <utility>

#include "sources/git/quotation.hpp"
#include "sources/git/revision.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t longest_revision = 1024;
constexpr std::size_t most_ancestry_steps = 64;

/// Why it is not taken, and what to write instead; empty: it may be.
std::string_view objection_to(std::string_view text) noexcept {
  if (text.empty()) return "is empty. Give a commit id, a branch, a tag or HEAD";
  if (text.find('\0') != std::string_view::npos) return "contains a NUL byte. Give a commit id, a branch, a tag or HEAD";
  if (text.starts_with('-')) return "looks like an option. Write the name of such a reference in full, as in refs/heads/-x";
  if (text.find("@{") != std::string_view::npos)
    return "refers to a reflog, which is not served. Find the commit in the log, for example with since and until, and give "
           "its id";
  if (text.find("..") != std::string_view::npos)
    return "is a range, but one commit is expected. Give one commit, or read a diff of two";
  if (text.starts_with(":/") || text.find("^{/") != std::string_view::npos)
    return "searches commit messages. Search the log with grep instead, and give the id that it finds";
  if (text.find(':') != std::string_view::npos) return "contains a path. Give the revision alone, and the path separately";
  if (text.starts_with('^')) return "excludes commits. Give one commit: its id, a branch, a tag or HEAD";
  for (const char c : text)
    if ((c >= 0 && c <= ' ') || c == '\x7f' || std::string_view("?*[\\").find(c) != std::string_view::npos)
      return "has characters that a revision cannot have. Give a commit id, a branch, a tag or HEAD";
  return {};
}

tl::unexpected<failure> no_revision(std::string_view text, std::string_view argument, std::string_view why) {
  return fail(errc::invalid_argument,
              std::string(argument) + ": the revision " + (text.empty() ? "" : in_quotes(text) + ' ') + std::string(why) + '.');
}

/// Digits behind `~` and `^`; none: 1. Nothing: a number beyond counting.
bool take_count(std::string_view& rest, std::size_t& count) noexcept {
  count = 1;
  if (rest.empty() || rest.front() < '0' || rest.front() > '9') return true;
  const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return problem == std::errc();
}

/// What follows the base. False: it is not understood.
bool take_steps(std::string_view rest, std::vector<ancestry_step>& steps) {
  constexpr std::string_view as_commit = "^{commit}";
  while (!rest.empty() && steps.size() < most_ancestry_steps) {
    if (rest.starts_with(as_commit)) {
      rest.remove_prefix(as_commit.size());
      continue;
    }
    const char sign = rest.front();
    rest.remove_prefix(1);
    std::size_t count = 0;
    if ((sign != '~' && sign != '^') || !take_count(rest, count)) return false;
    steps.push_back(sign == '~' ? ancestry_step{1, count} : ancestry_step{count, 1});
  }
  return rest.empty();
}

}  // namespace

result<revision_words> parse_revision(std::string_view text, std::string_view argument) {
  if (text.size() > longest_revision) return no_revision(text, argument, "has more than 1024 bytes");
  if (const auto why = objection_to(text); !why.empty()) return no_revision(text, argument, why);
  revision_words words;
  words.base = text.substr(0, text.find_first_of("~^"));
  if (words.base.empty())
    return no_revision(text, argument, "has no starting point. Give a commit id, a branch, a tag or HEAD");
  if (!take_steps(text.substr(words.base.size()), words.steps))
    return no_revision(text, argument, "has an unsupported suffix: at most 64 of ~N, ^N and ^{commit} are allowed");
  return words;
}

result<void> check_revision(std::string_view text, std::string_view argument) {
  HONDANA_TRY(parse_revision(text, argument));
  return {};
}

}  // namespace hondana::git
