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
  id_search(git_odb* odb, std::size_t max_ids) noexcept : odb_(odb), max_ids_(max_ids) {}

  int find(const std::string& prefix) {
    if (ids_.size() == max_ids_) return 0;
    git_oid prefix_id{}, id{};
    if (const int code = git_oid_fromstrn(&prefix_id, prefix.data(), prefix.size()); code < 0) return code;
    const int code = git_odb_exists_prefix(&id, odb_, &prefix_id, prefix.size());
    if (code == GIT_ENOTFOUND) return 0;
    if (code == 0) ids_.push_back(id);
    if (code != GIT_EAMBIGUOUS) return code;
    for (const char digit : hex_digits)
      if (const int error = find(prefix + digit); error < 0) return error;
    return 0;
  }
  [[nodiscard]] std::vector<git_oid> finish() { return std::move(ids_); }

 private:
  git_odb* const odb_;
  const std::size_t max_ids_;
  std::vector<git_oid> ids_;
};

}  // namespace

bool is_abbreviation(std::string_view text) noexcept {
  return text.size() >= min_abbreviation_digits && text.size() <= GIT_OID_HEXSZ &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return hex_digits.find(ascii::to_lower(c)) != std::string_view::npos; });
}

result<std::vector<git_oid>> find_ids_by_prefix(git_odb* odb, std::string_view prefix, std::size_t max_ids) {
  id_search search(odb, max_ids);
  const int code = search.find(ascii::to_lower(prefix));
  git_error_clear();
  if (code < 0) return libgit2_failure("the repository's objects cannot be searched; run `git fsck` for details");
  return search.finish();
}

namespace {

constexpr std::size_t max_revision_bytes = 1024;
constexpr std::size_t max_ancestry_steps = 64;

/// Why a text is rejected, and what to write instead; empty: it is accepted.
std::string_view rejection_reason(std::string_view text) noexcept {
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

tl::unexpected<failure> revision_error(std::string_view text, std::string_view argument, std::string_view reason) {
  return fail(errc::invalid_argument,
              std::string(argument) + ": the revision " + (text.empty() ? "" : quote(text) + ' ') + std::string(reason) + '.');
}

/// Reads the digits after `~` or `^`; none: 1. False if the number is too large.
bool pop_count(std::string_view& remaining, std::size_t& count) noexcept {
  count = 1;
  if (remaining.empty() || remaining.front() < '0' || remaining.front() > '9') return true;
  const auto [end, error] = std::from_chars(remaining.data(), remaining.data() + remaining.size(), count);
  remaining.remove_prefix(static_cast<std::size_t>(end - remaining.data()));
  return error == std::errc();
}

/// Reads what follows the base. False if it is malformed.
bool parse_steps(std::string_view remaining, std::vector<ancestry_step>& steps) {
  constexpr std::string_view commit_suffix = "^{commit}";
  while (!remaining.empty() && steps.size() < max_ancestry_steps) {
    if (remaining.starts_with(commit_suffix)) {
      remaining.remove_prefix(commit_suffix.size());
      continue;
    }
    const char sign = remaining.front();
    remaining.remove_prefix(1);
    std::size_t count = 0;
    if ((sign != '~' && sign != '^') || !pop_count(remaining, count)) return false;
    steps.push_back(sign == '~' ? ancestry_step{1, count} : ancestry_step{count, 1});
  }
  return remaining.empty();
}

}  // namespace

result<parsed_revision> parse_revision(std::string_view text, std::string_view argument) {
  if (text.size() > max_revision_bytes) return revision_error(text, argument, "has more than 1024 bytes");
  if (const auto reason = rejection_reason(text); !reason.empty()) return revision_error(text, argument, reason);
  parsed_revision parsed;
  parsed.base = text.substr(0, text.find_first_of("~^"));
  if (parsed.base.empty())
    return revision_error(text, argument, "has no starting point. Give a commit id, a branch, a tag or HEAD");
  if (!parse_steps(text.substr(parsed.base.size()), parsed.steps))
    return revision_error(text, argument, "has an unsupported suffix: at most 64 of ~N, ^N and ^{commit} are allowed");
  return parsed;
}

result<void> check_revision(std::string_view text, std::string_view argument) {
  HONDANA_TRY(parse_revision(text, argument));
  return {};
}

namespace {

/// Commits that `~N` and `^N` may step over.
constexpr std::size_t max_steps_back = 100'000;
/// How many objects with the same beginning of their ids are examined.
constexpr std::size_t max_candidates = 256;

class revision_resolver {
 public:
  revision_resolver(git_repository* repo, odb_pointer odb, std::string_view argument, bool accepts_trees)
      : repo_(repo), odb_(std::move(odb)), argument_(argument), accepts_trees_(accepts_trees) {}

  result<revision> resolve(const parsed_revision& parsed) {
    const bool is_fixed = parsed.base.size() == GIT_OID_HEXSZ && is_abbreviation(parsed.base);
    HONDANA_TRY(auto id, is_fixed ? full_id(parsed.base) : resolve_name(parsed.base));
    auto commit = peel_tags(odb_.get(), id);
    if (!commit) return prefix_error(std::move(commit.error()));
    if (commit->kind == GIT_OBJECT_TREE && accepts_trees_ && parsed.steps.empty()) return revision{{}, commit->id, is_fixed};
    if (commit->kind != GIT_OBJECT_COMMIT)
      return reject(
          errc::resource_not_found, parsed.base,
          std::string("is a ") + git_object_type2string(commit->kind) + ", not a commit. Give a commit, or a reference to one");
    return walk_steps(parsed, commit->id, is_fixed);
  }

 private:
  tl::unexpected<failure> reject(errc code, std::string_view base, const std::string& reason) const {
    return fail(code, std::string(argument_) + ": " + quote(base) + ' ' + reason + '.');
  }
  tl::unexpected<failure> prefix_error(failure error) const {
    error.public_text = std::string(argument_) + ": " + error.public_text;
    return tl::unexpected(std::move(error));
  }

  result<git_oid> full_id(const std::string& hex) const {
    git_oid id{};
    if (const int code = git_oid_fromstr(&id, hex.c_str()); code < 0) return libgit2_failure("not an id");
    if (git_odb_exists(odb_.get(), &id) == 0)
      return reject(errc::resource_not_found, hex, "is not the id of an object in this repository");
    return id;
  }

  /// In git's order: tags before branches, and both before beginnings of ids.
  result<git_oid> resolve_name(const std::string& base) const {
    if (base == "HEAD") {
      HONDANA_TRY(auto target, read_reference("HEAD", base));
      if (!target) return reject(errc::invalid_argument, base, "points to a branch without commits. Name another branch");
      return *target;
    }
    const std::array<std::string, 6> names{base.starts_with("refs/") ? base : std::string(),
                                           "refs/" + base,
                                           "refs/tags/" + base,
                                           "refs/heads/" + base,
                                           "refs/remotes/" + base,
                                           "refs/remotes/" + base + "/HEAD"};
    for (const auto& name : names) {
      int is_valid = 0;
      if (name.empty() || git_reference_name_is_valid(&is_valid, name.c_str()) < 0 || is_valid == 0) continue;
      HONDANA_TRY(auto target, read_reference(name, base));
      if (target) return *target;
    }
    if (is_abbreviation(base)) return resolve_abbreviation(base);
    return unknown_revision(base);
  }

  tl::unexpected<failure> unknown_revision(std::string_view base) const {
    return reject(
        errc::invalid_argument, base,
        "is not a branch, a tag or a commit id. See the branches, the tags and the log; write a slash in a name as %2F");
  }

  result<std::optional<git_oid>> read_reference(const std::string& name, std::string_view base) const {
    const auto target = resolve_reference(repo_, name);
    git_error_clear();
    if (target) return target->id;
    if (target.error() == reference_error::invalid) return std::optional<git_oid>();
    if (target.error() == reference_error::circular)
      return reject(errc::resource_not_found, base, "is part of a cycle of references. Name another branch");
    return reject(errc::source_unavailable, base,
                  "is a broken reference, which git cannot read either. Run `git fsck` for details");
  }

  result<git_oid> resolve_abbreviation(const std::string& digits) const {
    auto matches = find_ids_by_prefix(odb_.get(), digits, max_candidates);
    if (!matches) return prefix_error(std::move(matches.error()));
    if (matches->empty()) return unknown_revision(digits);
    if (matches->size() == 1) return matches->front();
    std::vector<git_oid> commits;
    for (const auto& id : *matches) {
      const auto peeled = peel_tags(odb_.get(), id);
      if (peeled && peeled->kind == GIT_OBJECT_COMMIT) commits.push_back(id);
    }
    if (commits.size() == 1) return commits.front();
    constexpr std::size_t max_listed = 5;
    const auto& candidates = commits.empty() ? *matches : commits;
    std::string listed;
    for (std::size_t i = 0; i < std::min(max_listed, candidates.size()); ++i)
      listed += (i == 0 ? "" : ", ") + to_hex(candidates[i]);
    if (candidates.size() > max_listed) listed += " and others";
    return reject(errc::invalid_argument, digits, "is ambiguous, it is the beginning of " + listed + ". Give more digits");
  }

  result<revision> walk_steps(const parsed_revision& parsed, git_oid start, bool is_fixed) const {
    const auto store = commit_store::open_without_people(repo_);
    if (!store) return prefix_error(store.error());
    std::size_t steps_left = max_steps_back;
    auto node = store->read(start);
    for (const auto& step : parsed.steps) {
      for (std::size_t i = 0; node && i < step.times && step.parent > 0; ++i) {
        if (steps_left-- == 0)
          return reject(errc::invalid_argument, parsed.base,
                        "is followed by more than 100000 steps back. Give an id from the log");
        if (step.parent > node->parents.size())
          return reject(errc::resource_not_found, parsed.base,
                        "has no such ancestor: " + to_hex(node->id) + " has " +
                            (node->parents.empty() ? "no parent in this repository"
                                                   : std::to_string(node->parents.size()) + " parent(s)"));
        node = store->read(node->parents[step.parent - 1]);
      }
    }
    if (!node) return prefix_error(std::move(node.error()));
    return revision{node->id, node->tree, is_fixed && store->history_stamp().empty()};
  }

  git_repository* const repo_;
  const odb_pointer odb_;
  const std::string_view argument_;
  const bool accepts_trees_;
};

}  // namespace

result<revision> resolve_revision(git_repository* repo, std::string_view text, std::string_view argument) {
  HONDANA_TRY(auto parsed, parse_revision(text, argument));
  HONDANA_TRY(auto odb, open_odb(repo));
  return revision_resolver(repo, std::move(odb), argument, false).resolve(parsed);
}

result<revision> resolve_tree(git_repository* repo, std::string_view text, std::string_view argument) {
  HONDANA_TRY(auto parsed, parse_revision(text, argument));
  HONDANA_TRY(auto odb, open_odb(repo));
  return revision_resolver(repo, std::move(odb), argument, true).resolve(parsed);
}

}  // namespace hondana::git
