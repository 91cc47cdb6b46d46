/// The newest commit is always next, so that each is looked at once, with all lines that came to it.
#include "sources/git/blame_search.hpp"

#include <algorithm>

#include "sources/git/line_differences.hpp"
#include "sources/git/renamed_from.hpp"

namespace hondana::git {
namespace {

// Of contents of files that wait for their turn; beyond that they are read again.
constexpr std::uint64_t most_kept_bytes = std::uint64_t{64} << 20;

bool is_file(const path_entry& entry) noexcept { return entry.is_there() && !entry.is_folder() && !entry.is_submodule(); }

bool is_same_kind(const path_entry& a, const path_entry& b) noexcept {
  return is_file(a) && is_file(b) && a.is_link() == b.is_link();
}

/// By line; runs of one commit and file that follow each other become one.
void tidy(std::vector<blamed_lines>& runs) {
  std::sort(runs.begin(), runs.end(), [](const blamed_lines& a, const blamed_lines& b) { return a.first < b.first; });
  std::vector<blamed_lines> tidied;
  for (auto& one : runs) {
    if (!tidied.empty()) {
      auto& last = tidied.back();
      if (last.first + last.count == one.first && last.first_then + last.count == one.first_then &&
          git_oid_equal(&last.commit, &one.commit) != 0 && last.path == one.path && last.is_too_large == one.is_too_large) {
        last.count += one.count;
        continue;
      }
    }
    tidied.push_back(std::move(one));
  }
  runs = std::move(tidied);
}

}  // namespace

blame_search::blame_search(git_repository* in, const commit_store& store, const blame_request& request)
    : in_(in), store_(store), request_(request), stopping_(request.is_stopped) {}

result<blamed> blame_search::run(commit_node from, suspect file) {
  hand(from, std::move(file));
  for (std::size_t looked_at = 0; !turns_.empty() && looked_at < request_.budget; ++looked_at) {
    HONDANA_TRY(stopping_.ask());
    auto at = take_newest();
    HONDANA_TRY(const auto parents, parents_of(at.node));
    for (auto& one : at.suspects) {
      join(one.lines);
      HONDANA_TRY(look_at(at.node, parents, one));
    }
  }
  for (const auto& [id, at] : waiting_) {
    for (const auto& one : at.suspects) keep(found_.open, at.node, one);
  }
  tidy(found_.runs);
  tidy(found_.open);
  return std::move(found_);
}

blame_search::waiting blame_search::take_newest() {
  auto newest = waiting_.extract(turns_.top().commit);
  turns_.pop();
  for (const auto& one : newest.mapped().suspects) {
    if (one.content) kept_bytes_ -= one.content->text().size();
  }
  return std::move(newest.mapped());
}

void blame_search::hand(const commit_node& to, suspect file) {
  if (file.lines.empty()) return;
  const auto [place, is_new] = waiting_.try_emplace(to.id);
  auto& at = place->second;
  if (is_new) {
    turns_.push({to.time, to.id});
    at.node = to;
  }
  auto content = std::move(file.content);
  auto same =
      std::find_if(at.suspects.begin(), at.suspects.end(), [&file](const suspect& one) { return one.path == file.path; });
  if (same == at.suspects.end())
    same = at.suspects.insert(same, std::move(file));
  else
    same->lines.insert(same->lines.end(), file.lines.begin(), file.lines.end());
  if (content && !same->content) keep_content(*same, std::move(content));
}

void blame_search::keep_content(suspect& at, std::shared_ptr<const object_bytes> content) {
  const auto size = content->text().size();
  if (kept_bytes_ + size > most_kept_bytes) return;
  kept_bytes_ += size;
  at.content = std::move(content);
}

result<std::vector<commit_node>> blame_search::parents_of(const commit_node& at) {
  std::vector<commit_node> parents;
  for (const auto& id : at.parents) {
    HONDANA_TRY(stopping_.step());
    auto parent = store_.read(id);
    if (!parent) {
      auto error = std::move(parent.error());
      error.code = errc::source_unavailable;
      error.public_text =
          "the history cannot be followed beyond commit " + text_of(at.id) + ": its parent " + error.public_text;
      return tl::unexpected(std::move(error));
    }
    parents.push_back(std::move(*parent));
  }
  return parents;
}

result<void> blame_search::look_at(const commit_node& at, const std::vector<commit_node>& parents, suspect& file) {
  candidates older;
  HONDANA_TRY(const auto has_to_compare, find_older(older, at, parents, file));
  return has_to_compare ? compare_lines(older, at, file) : result<void>{};
}

/// Files of the same name come first, in all parents; only then what it may have been called before.
result<bool> blame_search::find_older(candidates& into, const commit_node& at, const std::vector<commit_node>& parents,
                                      suspect& file) {
  const path_steps steps(file.path);
  std::vector<const commit_node*> without;
  for (const auto& parent : parents) {
    HONDANA_TRY(auto trail, steps.trail(store_, parent.tree, &file.trail));
    if (is_same_kind(trail.entry, file.trail.entry)) {
      if (!add(into, parent, {file.path, std::move(trail)}, file)) return false;
    } else if (!trail.entry.is_there() || trail.entry.is_folder()) {
      without.push_back(&parent);
    }
  }
  for (const auto* parent : without) {
    HONDANA_TRY(auto before, renamed(at, *parent, file));
    if (before && !add(into, *parent, std::move(*before), file)) return false;
  }
  // Lines go to the parents in their own order, however their files were found.
  std::sort(into.begin(), into.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  return true;
}

/// Of equal files in several parents the first found is enough.
bool blame_search::add(candidates& into, const commit_node& parent, suspect older, suspect& file) {
  const auto is_equal = [&older](const suspect& other) {
    return git_oid_equal(&older.trail.entry.id, &other.trail.entry.id) != 0;
  };
  if (is_equal(file)) {
    older.content = std::move(file.content);
    older.lines = std::move(file.lines);
    hand(parent, std::move(older));
    return false;
  }
  const bool is_known =
      std::any_of(into.begin(), into.end(), [&](const auto& one) { return one.first < &parent && is_equal(one.second); });
  if (!is_known) into.emplace_back(&parent, std::move(older));
  return true;
}

result<std::optional<suspect>> blame_search::renamed(const commit_node& at, const commit_node& parent,
                                                     const suspect& file) const {
  rename_question question{parent.tree, at.tree, file.path};
  question.largest_file = request_.largest_file;
  question.is_stopped = request_.is_stopped;
  HONDANA_TRY(const auto before, renamed_from(in_, question));
  if (!before || (request_.shows && !request_.shows(parent.id, before->path))) return std::nullopt;
  HONDANA_TRY(auto trail, path_steps(before->path).trail(store_, parent.tree, nullptr));
  return suspect{before->path, std::move(trail)};
}

result<void> blame_search::read(suspect& file) const {
  if (file.content) return {};
  HONDANA_TRY(auto content, store_.blob(file.trail.entry.id, request_.largest_file));
  file.content = std::make_shared<const object_bytes>(std::move(content));
  return {};
}

result<void> blame_search::compare_lines(candidates& older, const commit_node& at, suspect& file) {
  for (auto& [parent, before] : older) {
    if (file.lines.empty()) return {};
    HONDANA_TRY(read(file));
    if (auto done = read(before); !done) {
      if (done.error().code != errc::response_too_large) return done;
      keep_too_large(at, file);
      return {};
    }
    if (count_lines(before.content->text()) + count_lines(file.content->text()) > request_.most_lines) {
      keep_too_large(at, file);
      return {};
    }
    HONDANA_TRY(auto lines, take_older(file.lines, before.content->text(), file.content->text(), stopping_));
    before.lines = std::move(lines);
    hand(*parent, std::move(before));
  }
  keep(found_.runs, at, file);
  return {};
}

void blame_search::keep(std::vector<blamed_lines>& into, const commit_node& at, const suspect& file) const {
  for (const auto& one : file.lines)
    into.push_back({at.id, file.path, one.first + 1, one.there + 1, one.count, at.parents.empty()});
}

void blame_search::keep_too_large(const commit_node& at, const suspect& file) {
  const auto first = found_.open.size();
  keep(found_.open, at, file);
  for (auto i = first; i < found_.open.size(); ++i) found_.open[i].is_too_large = true;
}

}  // namespace hondana::git
