/// Parses revisions such as `main~2` or an abbreviated id, and resolves them to commits.
#include "sources/git/revision.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "sources/git/commit_store.hpp"
#include "sources/git/object_parser.hpp"
#include "sources/git/reference_lookup.hpp"
#include "sources/git/text_escaping.hpp"

namespace hondana::git {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";

class id_search {
 public:
  id_search(git_odb* in, std::size_t most) noexcept : in_(in), most_(most) {}

  int find(const std::string& digits) {
    if (found_.size() == most_) return 0;
    git_oid wanted{}, id{};
    if (const int code = git_oid_fromstrn(&wanted, digits.data(), digits.size()); code < 0) return code;
    const int code = git_odb_exists_prefix(&id, in_, &wanted, digits.size());
    if (code == GIT_ENOTFOUND) return 0;
    if (code == 0) found_.push_back(id);
    if (code != GIT_EAMBIGUOUS) return code;
    for (const char digit : hex_digits)
      if (const int problem = find(digits + digit); problem < 0) return problem;
    return 0;
  }
  [[nodiscard]] std::vector<git_oid> take() { return std::move(found_); }

 private:
  git_odb* const in_;
  const std::size_t most_;
  std::vector<git_oid> found_;
};

}  // namespace

bool is_abbreviation(std::string_view text) noexcept {
  return text.size() >= shortest_abbreviation && text.size() <= GIT_OID_HEXSZ &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return hex_digits.find(ascii::lower(c)) != std::string_view::npos; });
}

result<std::vector<git_oid>> ids_beginning(git_odb* in, std::string_view digits, std::size_t most) {
  id_search search(in, most);
  const int code = search.find(ascii::in_lower_case(digits));
  git_error_clear();
  if (code < 0) return failed("the repository's objects cannot be searched; run `git fsck` for details");
  return search.take();
}

namespace {

constexpr std::size_t longest_revision = 1024;
constexpr std::size_t most_ancestry_steps = 64;

/// Why a text is rejected, and what to write instead; empty: it is accepted.
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

/// Reads the digits after `~` or `^`; none: 1. False if the number is too large.
bool take_count(std::string_view& rest, std::size_t& count) noexcept {
  count = 1;
  if (rest.empty() || rest.front() < '0' || rest.front() > '9') return true;
  const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return problem == std::errc();
}

/// Reads what follows the base. False if it is malformed.
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

namespace {

/// Commits that `~N` and `^N` may step over.
constexpr std::size_t most_steps_back = 100'000;
/// How many objects with the same beginning of their ids are examined.
constexpr std::size_t most_candidates = 256;

class resolution {
 public:
  resolution(git_repository* in, odb_pointer objects, std::string_view argument)
      : in_(in), objects_(std::move(objects)), argument_(argument) {}

  result<revision> find(const revision_words& words) {
    const bool is_fixed = words.base.size() == GIT_OID_HEXSZ && is_abbreviation(words.base);
    HONDANA_TRY(auto id, is_fixed ? whole_id(words.base) : named(words.base));
    auto commit = behind_tags(objects_.get(), id);
    if (!commit) return named_error(std::move(commit.error()));
    if (commit->kind != GIT_OBJECT_COMMIT)
      return refuse(
          errc::resource_not_found, words.base,
          std::string("is a ") + git_object_type2string(commit->kind) + ", not a commit. Give a commit, or a reference to one");
    return go_back(words, commit->id, is_fixed);
  }

 private:
  tl::unexpected<failure> refuse(errc code, std::string_view base, const std::string& why) const {
    return fail(code, std::string(argument_) + ": " + in_quotes(base) + ' ' + why + '.');
  }
  tl::unexpected<failure> named_error(failure from) const {
    from.public_text = std::string(argument_) + ": " + from.public_text;
    return tl::unexpected(std::move(from));
  }

  result<git_oid> whole_id(const std::string& digits) const {
    git_oid id{};
    if (const int code = git_oid_fromstr(&id, digits.c_str()); code < 0) return failed("not an id");
    if (git_odb_exists(objects_.get(), &id) == 0)
      return refuse(errc::resource_not_found, digits, "is not the id of an object in this repository");
    return id;
  }

  /// In git's order: tags before branches, and both before beginnings of ids.
  result<git_oid> named(const std::string& base) const {
    if (base == "HEAD") {
      HONDANA_TRY(auto found, reference("HEAD", base));
      if (!found) return refuse(errc::invalid_argument, base, "points to a branch without commits. Name another branch");
      return *found;
    }
    const std::array<std::string, 6> names{base.starts_with("refs/") ? base : std::string(),
                                           "refs/" + base,
                                           "refs/tags/" + base,
                                           "refs/heads/" + base,
                                           "refs/remotes/" + base,
                                           "refs/remotes/" + base + "/HEAD"};
    for (const auto& one : names) {
      int is_valid = 0;
      if (one.empty() || git_reference_name_is_valid(&is_valid, one.c_str()) < 0 || is_valid == 0) continue;
      HONDANA_TRY(auto found, reference(one, base));
      if (found) return *found;
    }
    if (is_abbreviation(base)) return abbreviated(base);
    return no_commit(base);
  }

  tl::unexpected<failure> no_commit(std::string_view base) const {
    return refuse(
        errc::invalid_argument, base,
        "is not a branch, a tag or a commit id. See the branches, the tags and the log; write a slash in a name as %2F");
  }

  result<std::optional<git_oid>> reference(const std::string& name, std::string_view base) const {
    const auto found = follow_reference(in_, name);
    git_error_clear();
    if (found) return found->id;
    if (found.error() == lost::invalid) return std::optional<git_oid>();
    if (found.error() == lost::circular)
      return refuse(errc::resource_not_found, base, "is part of a cycle of references. Name another branch");
    return refuse(errc::source_unavailable, base,
                  "is a broken reference, which git cannot read either. Run `git fsck` for details");
  }

  result<git_oid> abbreviated(const std::string& digits) const {
    auto alike = ids_beginning(objects_.get(), digits, most_candidates);
    if (!alike) return named_error(std::move(alike.error()));
    if (alike->empty()) return no_commit(digits);
    if (alike->size() == 1) return alike->front();
    std::vector<git_oid> commits;
    for (const auto& one : *alike) {
      const auto what = behind_tags(objects_.get(), one);
      if (what && what->kind == GIT_OBJECT_COMMIT) commits.push_back(one);
    }
    if (commits.size() == 1) return commits.front();
    constexpr std::size_t most_named = 5;
    const auto& candidates = commits.empty() ? *alike : commits;
    std::string some;
    for (std::size_t i = 0; i < std::min(most_named, candidates.size()); ++i)
      some += (i == 0 ? "" : ", ") + text_of(candidates[i]);
    if (candidates.size() > most_named) some += " and others";
    return refuse(errc::invalid_argument, digits, "is ambiguous, it is the beginning of " + some + ". Give more digits");
  }

  result<revision> go_back(const revision_words& words, git_oid at, bool is_fixed) const {
    const auto store = commit_store::open(in_);
    if (!store) return named_error(store.error());
    std::size_t left = most_steps_back;
    auto node = store->read(at);
    for (const auto& step : words.steps) {
      for (std::size_t i = 0; node && i < step.times && step.parent > 0; ++i) {
        if (left-- == 0)
          return refuse(errc::invalid_argument, words.base,
                        "is followed by more than 100000 steps back. Give an id from the log");
        if (step.parent > node->parents.size())
          return refuse(errc::resource_not_found, words.base,
                        "has no such ancestor: " + text_of(node->id) + " has " +
                            (node->parents.empty() ? "no parent in this repository"
                                                   : std::to_string(node->parents.size()) + " parent(s)"));
        node = store->read(node->parents[step.parent - 1]);
      }
    }
    if (!node) return named_error(std::move(node.error()));
    return revision{node->id, node->tree, is_fixed};
  }

  git_repository* const in_;
  const odb_pointer objects_;
  const std::string_view argument_;
};

}  // namespace

result<revision> resolve(git_repository* in, std::string_view text, std::string_view argument) {
  HONDANA_TRY(auto words, parse_revision(text, argument));
  HONDANA_TRY(auto objects, objects_of(in));
  return resolution(in, std::move(objects), argument).find(words);
}

}  // namespace hondana::git
