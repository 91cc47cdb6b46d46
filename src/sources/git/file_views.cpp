/// The views of a file at a revision: its content, and its blame.

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "base/json/writer.hpp"
#include "sources/git/blame.hpp"
#include "sources/git/cancellation.hpp"
#include "sources/git/commit_rendering.hpp"
#include "sources/git/commit_store.hpp"
#include "sources/git/diff.hpp"
#include "sources/git/diff_content.hpp"
#include "sources/git/git_config.hpp"
#include "sources/git/git_uri.hpp"
#include "sources/git/history.hpp"
#include "sources/git/object_parser.hpp"
#include "sources/git/references.hpp"
#include "sources/git/rendering.hpp"
#include "sources/git/resource_entries.hpp"
#include "sources/git/revision.hpp"
#include "sources/git/text_encoding.hpp"
#include "sources/git/text_escaping.hpp"
#include "sources/git/tree_entries.hpp"

namespace hondana::git {

/// Blobs are read whole into memory, because libgit2 cannot stream packed objects.
inline constexpr std::uint64_t largest_blob = std::uint64_t{64} << 20;

/// The content of a blob, with secrets masked.
struct file_text {
  std::string bytes;
  bool is_text = false;
  std::string encoding;    ///< The encoding of the text before it was converted to UTF-8; empty: it was UTF-8.
  std::size_t masked = 0;  ///< Number of masked secrets.
};

/// A file's entry at a revision. Its name has been checked against the names of secrets.
struct found_file {
  tree_entry entry;
  git_oid commit{};
  git_oid tree{};  ///< Of the revision.
  bool is_fixed = false;
};

/// Errors: of `resolve`; resource_not_found also for secret files, saying why; invalid_argument for a folder.
[[nodiscard]] result<found_file> find_file(const asking& what);

/// Errors: response_too_large above `most` or `largest_blob`, naming size and limit; source_unavailable.
[[nodiscard]] result<file_text> read_file(const asking& what, const tree_entry& of, std::uint64_t most);

/// The requested lines; the whole text without a range. Errors: invalid_argument, naming `lines`.
[[nodiscard]] result<std::string_view> cut_lines(std::string_view text, const std::optional<line_range>& wanted);

namespace {

tl::unexpected<failure> unreadable(const git_oid& id) {
  return fail(errc::source_unavailable,
              "The blob " + text_of(id) +
                  " cannot be read: it is missing, damaged, or was not fetched into a partial clone. Run `git fsck` in the "
                  "repository, or `git fetch --refetch` in a partial clone.",
              last_words());
}

tl::unexpected<failure> too_large(const address& at, std::uint64_t size, std::uint64_t limit) {
  return fail(
      errc::response_too_large,
      in_quotes(at.path, 400) + " has " + std::to_string(size) + " bytes; the read limit is " + std::to_string(limit) +
          " bytes. Read it from a work tree, or ask the operator of the server to raise read_limit (at most 64 MiB for git).");
}

}  // namespace

result<found_file> find_file(const asking& what) {
  const auto& at = what.at;
  if (const auto why = what.hides.secret_at(at.path, false); !why.empty())
    return tl::unexpected(concealment::refusal_of(at.path, why));
  HONDANA_TRY(const auto rev, resolve(what.in, at.rev, "rev"));
  // A blame reveals the content of a file.
  if (at.what == topic::blame && !what.hides.shows_file(at.rev, at.path)) return tl::unexpected(missing_file(at.path));
  HONDANA_TRY(auto entry, find_entry(what.in, rev.tree, at.path));
  if (entry.is_folder() && what.hides.shows_folder(at.rev, at.path))
    return fail(errc::invalid_argument, "path: " + in_quotes(at.path, 400) + " is a folder. Read it as tree/REV/PATH.");
  if (entry.is_folder() || (entry.is_submodule() && !what.hides.secret_at(at.path, true).empty()))
    return tl::unexpected(missing_file(at.path));
  return found_file{std::move(entry), rev.commit, rev.tree, rev.is_fixed};
}

result<file_text> read_file(const asking& what, const tree_entry& of, std::uint64_t most) {
  HONDANA_TRY(const auto objects, objects_of(what.in));
  std::size_t size = 0;
  git_object_t type{};
  if (git_odb_read_header(&size, &type, objects.get(), &of.id) < 0 || type != GIT_OBJECT_BLOB) return unreadable(of.id);
  most = std::min(most, largest_blob);
  if (size > most) return too_large(what.at, size, most);
  git_odb_object* raw = nullptr;
  if (git_odb_read(&raw, objects.get(), &of.id) < 0) return unreadable(of.id);
  const odb_object_pointer object(raw);
  if (git_odb_object_type(raw) != GIT_OBJECT_BLOB) return unreadable(of.id);
  const std::string_view bytes(static_cast<const char*>(git_odb_object_data(raw)), git_odb_object_size(raw));
  file_text read;
  if (auto text = text_of_file(bytes)) {
    read.is_text = true;
    read.bytes = std::move(text->text);
    read.encoding = std::move(text->from);
  } else {
    read.bytes = bytes;
  }
  read.masked = what.hides.mask_file(what.at.path, read.bytes);
  return read;
}

result<std::string_view> cut_lines(std::string_view text, const std::optional<line_range>& wanted) {
  if (!wanted) return text;
  std::size_t line = 1, begin = 0;
  const auto next = [&](std::size_t from) {
    const auto end = text.find('\n', from);
    return end == std::string_view::npos ? text.size() : end + 1;
  };
  for (; line < wanted->first && begin < text.size(); ++line) begin = next(begin);
  if (begin == text.size())
    return fail(errc::invalid_argument, "lines: the file has " + std::to_string(line - 1) + (line == 2 ? " line" : " lines") +
                                            ", and the range begins after them.");
  if (!wanted->last) return text.substr(begin);
  auto end = begin;
  for (; line <= *wanted->last && end < text.size(); ++line) end = next(end);
  return text.substr(begin, end - begin);
}

namespace {

constexpr std::uint64_t longest_gitmodules = std::uint64_t{1} << 20;
constexpr std::size_t longest_pointer = 1024;

/// The URL for clients. One that begins with a dot is relative to the repository, wherever that is.
std::string told_submodule(const std::string& url) {
  return url.starts_with("./") || url.starts_with("../") ? without_credentials(url) : told_address(url);
}

/// The URL that a submodule is fetched from. Nothing if `.gitmodules` has none, or if the caller may not read that file.
std::optional<std::string> submodule_url(const asking& what, const found_file& file) {
  if (!what.hides.shows_file(what.at.rev, ".gitmodules")) return std::nullopt;
  const auto list = find_entry(what.in, file.tree, ".gitmodules");
  if (!list || !is_regular(list->mode)) return std::nullopt;
  const auto text = read_file(what, *list, longest_gitmodules);
  const auto settings = text ? read_settings(text->bytes) : tl::unexpected(misread{});
  if (!settings) return std::nullopt;
  constexpr std::string_view path_key = ".path";
  for (const auto& one : *settings) {
    if (!one.name.starts_with("submodule.") || !one.name.ends_with(path_key) || one.value != what.at.path) continue;
    const auto wanted = one.name.substr(0, one.name.size() - path_key.size()) + ".url";
    for (const auto& other : *settings)
      if (other.name == wanted && other.value) return told_submodule(to_utf8(*other.value).text);
  }
  return std::nullopt;
}

void render_submodule(rendering& made, const asking& what, const found_file& file) {
  const auto url = submodule_url(what, file);
  made.mime_type = "text/plain";
  made.text = "Submodule at commit " + text_of(file.entry.id) + (url ? " of " + *url : std::string()) + '\n';
  made.facts.emplace_back("dev.hondana/submodule-commit", text_of(file.entry.id));
  if (url) made.facts.emplace_back("dev.hondana/submodule-url", *url);
}

/// Adds metadata if the text is a Git LFS pointer. Source: the specification of git-lfs, section "The Pointer".
void tell_pointer(rendering& made, std::string_view text) {
  if (text.size() > longest_pointer || !text.starts_with("version https://git-lfs.github.com/spec/v1\n")) return;
  const auto value_of = [&](std::string_view key) {
    const auto at = text.find('\n' + std::string(key) + ' ');
    if (at == std::string_view::npos) return std::string_view();
    const auto begin = at + key.size() + 2;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  const auto oid = value_of("oid"), size = value_of("size");
  std::int64_t bytes = 0;
  const auto [end, problem] = std::from_chars(size.data(), size.data() + size.size(), bytes);
  if (oid.empty() || size.empty() || problem != std::errc() || end != size.data() + size.size()) return;
  made.facts.emplace_back("dev.hondana/lfs-oid", std::string(oid));
  made.facts.emplace_back("dev.hondana/lfs-size", bytes);
}

result<void> render_file(rendering& made, const asking& what, const found_file& file) {
  // A part may be small even if the file is not.
  HONDANA_TRY(auto read, read_file(what, file.entry, what.at.lines ? largest_blob : what.max_bytes));
  if (what.at.lines && !read.is_text)
    return fail(errc::invalid_argument,
                "lines: " + in_quotes(what.at.path, 400) + " is not text. Read it without this parameter.");
  made.mime_type = media_type_of(what.at.path, read.bytes, read.is_text);
  made.form = read.is_text ? content_form::text : content_form::blob;
  if (read.is_text) tell_pointer(made, read.bytes);
  if (!read.encoding.empty()) made.facts.emplace_back("dev.hondana/encoding", read.encoding);
  if (read.masked > 0) made.facts.emplace_back("dev.hondana/redacted", static_cast<std::int64_t>(read.masked));
  if (!what.at.lines) {
    made.text = std::move(read.bytes);
    return {};
  }
  HONDANA_TRY(const auto lines, cut_lines(read.bytes, what.at.lines));
  made.text = std::string(lines);
  return {};
}

}  // namespace

result<rendering> render_blob(const asking& what) {
  HONDANA_TRY(const auto file, find_file(what));
  auto made = rendering_for(what);
  made.kind = file.entry.kind();
  made.is_fixed = file.is_fixed;
  made.version = text_of(file.entry.id);
  if (file.entry.is_submodule()) {
    render_submodule(made, what, file);
    // The URL in .gitmodules may change while the submodule's commit does not.
    version_by_text(made, what);
    return made;
  }
  if (what.is_enough(made.version) && !what.is_description) return made;
  if (auto read = render_file(made, what, file); !read) {
    // A file that is too large to be read can still be described.
    if (!what.is_description || read.error().code != errc::response_too_large) return tl::unexpected(std::move(read.error()));
    made.mime_type = media_type_of(what.at.path, {}, true);
  }
  if (made.text && !what.at.lines) made.size = made.text->size();
  if (file.entry.is_link()) made.mime_type = "text/plain";
  return made;
}

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
