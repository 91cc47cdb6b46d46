/// The view of who wrote which line.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json/writer.hpp"
#include "sources/git/blame.hpp"
#include "sources/git/commit_store.hpp"
#include "sources/git/comparison_limits.hpp"
#include "sources/git/file_text.hpp"
#include "sources/git/history.hpp"
#include "sources/git/markdown.hpp"
#include "sources/git/people.hpp"
#include "sources/git/quotation.hpp"
#include "sources/git/rendering.hpp"
#include "sources/git/stopping.hpp"
#include "sources/git/text.hpp"

namespace hondana::git {
namespace {

using commits_by_id = std::map<std::string, commit_facts>;

result<commits_by_id> commits_of(const asking& what, const blamed& found) {
  commits_by_id all;
  stopping when(what.is_stopped);
  for (const auto* runs : {&found.runs, &found.open}) {
    for (const auto& run : *runs) {
      const auto id = text_of(run.commit);
      if (all.contains(id)) continue;
      HONDANA_TRY(when.ask());
      HONDANA_TRY(auto facts, facts_of(what.in, run.commit));
      all.emplace(id, std::move(facts));
    }
  }
  return all;
}

class blame_view {
 public:
  blame_view(const asking& what, const blamed& found, const commits_by_id& commits, std::string_view text)
      : what_(what), found_(found), commits_(commits) {
    while (!text.empty()) {
      const auto line = text.substr(0, text.find('\n'));
      lines_.push_back(line);
      text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
  }

  std::string markdown() const {
    const auto& at = what_.at;
    std::string out =
        "# Blame of " + code(shown_path_of(at.path)) + " in " + at.repo + " at " + code(at.rev) + "\n\n## Commits\n\n";
    for (const auto& [id, facts] : commits_) out += commit_line(what_.hides, at.repo, facts);
    if (!found_.open.empty()) {
      out +=
          "\n## Not found yet\n\nThe search stopped at its limit of commits, or at a parent whose file is too large to "
          "compare. Those commits or older ones wrote these lines:\n\n";
      for (const auto& run : found_.open) {
        out += "- " + lines_text(run.first, run.count) + ": ";
        out += run.is_too_large ? commit_link(at.repo, run.commit) + ", whose parent's file is too large to compare\n"
                                : link_to("continue there", uri_of(older(run))) + '\n';
      }
    }
    std::string listed;
    for (const auto& run : in_order())
      for (std::size_t i = 0; i < run.count; ++i)
        listed += short_id(run.commit) + ' ' + std::to_string(run.first + i) + ": " + std::string(line(run.first + i)) + '\n';
    return out + "\n## Lines\n\nEach line with the commit that wrote it and its number.\n\n" + fenced(listed, "text");
  }

  std::string json() const {
    std::string out;
    json::writer to(out);
    to.begin_object().member("repository", what_.at.repo).member("path", shown_path_of(what_.at.path)).key("runs");
    write(to, found_.runs);
    if (!found_.open.empty()) write(to.key("open"), found_.open);
    to.key("commits").begin_array();
    for (const auto& [id, facts] : commits_) {
      write_commit(to.begin_object(), what_.hides, what_.at.repo, facts);
      to.end_object();
    }
    to.end_array().end_object();
    return out;
  }

 private:
  static std::string lines_text(std::size_t first, std::size_t count) {
    return count == 1 ? "line " + std::to_string(first)
                      : "lines " + std::to_string(first) + " to " + std::to_string(first + count - 1);
  }

  std::vector<blamed_lines> in_order() const {
    auto all = found_.runs;
    all.insert(all.end(), found_.open.begin(), found_.open.end());
    std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return all;
  }

  std::string_view line(std::size_t number) const noexcept {
    return number <= lines_.size() ? lines_[number - 1] : std::string_view();
  }

  address older(const blamed_lines& run) const {
    return {.repo = what_.at.repo,
            .what = topic::blame,
            .rev = text_of(run.commit),
            .path = run.path,
            .lines = line_range{run.first_then, run.first_then + run.count - 1},
            .is_json = what_.at.is_json};
  }

  void write(json::writer& to, const std::vector<blamed_lines>& runs) const {
    to.begin_array();
    for (const auto& run : runs) {
      to.begin_object().key("first").unsigned_integer(run.first).key("count").unsigned_integer(run.count);
      to.member("commit", text_of(run.commit))
          .member("path", shown_path_of(run.path))
          .key("firstThen")
          .unsigned_integer(run.first_then);
      to.key("boundary").boolean(run.is_boundary);
      if (run.is_too_large) to.key("parentTooLarge").boolean(true);
      to.key("lines").begin_array();
      for (std::size_t i = 0; i < run.count; ++i) to.string(line(run.first + i));
      to.end_array().end_object();
    }
    to.end_array();
  }

  const asking& what_;
  const blamed& found_;
  const commits_by_id& commits_;
  std::vector<std::string_view> lines_;
};

}  // namespace

result<rendering> render_blame(const asking& what) {
  HONDANA_TRY(const auto file, find_file(what));
  HONDANA_TRY(const auto store, commit_store::open(what.in));
  auto made = rendering_for(what);
  made.is_fixed = file.is_fixed && store.shallow_stamp().empty();
  made.version = version_with_hidden(version_of({text_of(file.commit), store.shallow_stamp(), uri_of(what.at)}), what);
  if (what.is_enough(made.version)) return made;
  const auto folders = what.hides.ignored().folder_count();
  const auto text = read_file(what, file.entry, what.max_bytes);
  if (!text) return tl::unexpected(text.error());
  if (!text->is_text)
    return fail(errc::invalid_argument, "path: " + in_quotes(what.at.path, 400) + " is not text, and has no lines.");

  blame_request request;
  request.commit = file.commit;
  request.path = what.at.path;
  if (what.at.lines) request.first = what.at.lines->first;
  if (what.at.lines && what.at.lines->last) request.last = *what.at.lines->last;
  request.most_lines = most_compared_lines;
  request.is_stopped = what.is_stopped;
  request.shows = [&hides = what.hides](const git_oid& commit, const std::string& path) {
    return hides.shows_file(text_of(commit), path);
  };
  HONDANA_TRY(const auto found, blame(what.in, request));
  HONDANA_TRY(const auto commits, commits_of(what, found));
  const blame_view view(what, found, commits, text->bytes);
  made.text = what.at.is_json ? view.json() : view.markdown();
  add_ignored(made, what, folders);
  if (text->masked > 0) made.facts.emplace_back("dev.hondana/redacted", static_cast<std::int64_t>(text->masked));
  return made;
}

}  // namespace hondana::git
