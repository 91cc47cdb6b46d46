/// From the words of a revision to a commit.
#include "sources/git/revision.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "sources/git/abbreviation.hpp"
#include "sources/git/commit_store.hpp"
#include "sources/git/named_reference.hpp"
#include "sources/git/quotation.hpp"
#include "sources/git/revision_words.hpp"
#include "sources/git/tag_object.hpp"

namespace hondana::git {
namespace {

/// Commits that may be walked over by `~N`.
constexpr std::size_t most_steps_back = 100'000;
/// Of objects that begin alike, how many are looked at.
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

  /// In the order of git: tags before branches, both before beginnings of ids.
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
