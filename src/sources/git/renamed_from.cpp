/// Leaves to the search for renames only the one file that matters.
#include "sources/git/renamed_from.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sources/git/copied_from.hpp"
#include "sources/git/renames.hpp"
#include "sources/git/side_content.hpp"

namespace hondana::git {
namespace {

// Of a tree, that are looked at for copies; beyond that only those that went are.
constexpr std::size_t most_copied = 20'000;

result<tree_pointer> tree_at(git_repository* in, const git_oid& id) {
  git_tree* raw = nullptr;
  if (const int code = git_tree_lookup(&raw, in, &id); code != 0)
    return failed("tree " + text_of(id) + " cannot be read; run `git fsck` for details");
  return tree_pointer(raw);
}

/// All files of a tree; of `gone`, which are in the same order, it is known that they went.
result<std::vector<earlier_file>> files_of(git_repository* in, git_tree* tree, const std::vector<change>& gone,
                                           const compare_options& options) {
  auto all = compare(in, nullptr, tree, options);
  if (!all) return tl::unexpected(std::move(all.error()));
  std::vector<earlier_file> files;
  auto next = gone.begin();
  for (auto& one : *all) {
    const bool is_gone = next != gone.end() && next->before.path == one.after.path;
    if (is_gone) ++next;
    files.push_back({std::move(one.after), is_gone});
  }
  return files;
}

result<std::optional<side>> most_like(const change& wanted, std::vector<change> candidates, git_repository* in,
                                      const compare_options& options) {
  candidates.insert(std::lower_bound(candidates.begin(), candidates.end(), wanted,
                                     [](const change& a, const change& b) { return a.before.path < b.before.path; }),
                    wanted);
  side_contents contents(in);
  HONDANA_TRY(find_renames(candidates, contents, options));
  for (auto& one : candidates) {
    if (one.what == change::kind::renamed) return std::move(one.before);
  }
  return std::nullopt;
}

}  // namespace

result<std::optional<side>> renamed_from(git_repository* in, const rename_question& question) {
  HONDANA_TRY(auto before, tree_at(in, question.before));
  HONDANA_TRY(auto after, tree_at(in, question.after));
  compare_options options;
  options.finds_renames = false;
  options.largest_renamed = question.largest_file;
  options.is_stopped = question.is_stopped;
  HONDANA_TRY(auto changes, compare(in, before.get(), after.get(), options));
  const auto came = std::find_if(changes.begin(), changes.end(), [&](const change& one) {
    return one.what == change::kind::added && one.after.path == question.path;
  });
  if (came == changes.end()) return std::nullopt;
  const change wanted = std::move(*came);
  std::erase_if(changes, [](const change& one) { return one.what != change::kind::deleted; });
  if (!question.takes_copies) return most_like(wanted, std::move(changes), in, options);

  HONDANA_TRY(auto files, files_of(in, before.get(), changes, options));
  if (files.size() > most_copied) std::erase_if(files, [](const earlier_file& one) { return !one.is_gone; });
  side_contents contents(in);
  return copied_from(wanted.after, files, contents, options);
}

}  // namespace hondana::git
