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

#include "base/bytes/named_media_type.hpp"
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
inline constexpr std::uint64_t max_blob_bytes = std::uint64_t{64} << 20;

/// The content of a blob, with secrets masked.
struct file_text {
  std::string bytes;
  bool is_text = false;
  std::string encoding;          ///< The encoding of the text before it was converted to UTF-8; empty: it was UTF-8.
  std::size_t masked_count = 0;  ///< Number of masked secrets.
};

/// A file's entry at a revision. Its name has been checked against the names of secrets.
struct resolved_file {
  tree_entry entry;
  git_oid commit{};
  git_oid tree{};  ///< Of the revision.
  bool is_fixed = false;
};

/// A blob can also be found in a tagged tree. Errors: of `resolve_revision`; resource_not_found also for secret files, saying
/// why; invalid_argument for a folder.
[[nodiscard]] result<resolved_file> find_file(const view_request& request);

/// Errors: response_too_large above `max_bytes` or `max_blob_bytes`, naming size and limit; source_unavailable.
[[nodiscard]] result<file_text> read_file(const view_request& request, const tree_entry& entry, std::uint64_t max_bytes);

/// The requested lines; the whole text without a range. Errors: invalid_argument, naming `lines`.
[[nodiscard]] result<std::string_view> extract_lines(std::string_view text, const std::optional<line_range>& range);

namespace {

tl::unexpected<failure> unreadable_blob(const view_request& request, const git_oid& id, int code) {
  auto details = last_error_message();
  const auto blob = "The content of " + quote(request.target.path, 400) + ", blob " + to_hex(id) + ", ";
  return fail(errc::source_unavailable,
              blob +
                  (code == GIT_ENOTFOUND ? std::string(missing_object_reason(request.repo))
                                         : "cannot be read; run `git fsck` for details") +
                  '.',
              std::move(details));
}

tl::unexpected<failure> blob_too_large_error(const address& target, std::uint64_t size, std::uint64_t limit) {
  return fail(errc::response_too_large, quote(target.path, 400) + " has " + std::to_string(size) +
                                            " bytes; the read limit is " + std::to_string(limit) +
                                            " bytes. Read it from a work tree, or ask the operator of the server to raise "
                                            "max_read_bytes (at most 64 MiB for git).");
}

}  // namespace

result<resolved_file> find_file(const view_request& request) {
  const auto& target = request.target;
  if (const auto reason = request.visibility.hidden_reason(target.path, false); !reason.empty())
    return tl::unexpected(visibility_filter::hidden_error(target.path, reason));
  const auto resolve = target.kind == resource_kind::blob ? resolve_tree : resolve_revision;
  HONDANA_TRY(const auto rev, resolve(request.repo, target.rev, "rev"));
  // A blame reveals the content of a file.
  if (target.kind == resource_kind::blame && !request.visibility.shows_file(target.rev, target.path))
    return tl::unexpected(missing_file_error(target.path));
  HONDANA_TRY(auto entry, find_entry(request.repo, rev.tree, target.path));
  if (entry.is_folder() && request.visibility.shows_folder(target.rev, target.path))
    return fail(errc::invalid_argument, "path: " + quote(target.path, 400) + " is a folder. Read it as tree/REV/PATH.");
  if (entry.is_folder() || (entry.is_submodule() && !request.visibility.hidden_reason(target.path, true).empty()))
    return tl::unexpected(missing_file_error(target.path));
  return resolved_file{std::move(entry), rev.commit, rev.tree, rev.is_fixed};
}

result<file_text> read_file(const view_request& request, const tree_entry& entry, std::uint64_t max_bytes) {
  HONDANA_TRY(const auto odb, open_odb(request.repo));
  std::size_t size = 0;
  git_object_t type{};
  if (const int code = git_odb_read_header(&size, &type, odb.get(), &entry.id); code < 0 || type != GIT_OBJECT_BLOB)
    return unreadable_blob(request, entry.id, code);
  max_bytes = std::min(max_bytes, max_blob_bytes);
  if (size > max_bytes) return blob_too_large_error(request.target, size, max_bytes);
  git_odb_object* raw = nullptr;
  if (const int code = git_odb_read(&raw, odb.get(), &entry.id); code < 0) return unreadable_blob(request, entry.id, code);
  const odb_object_pointer object(raw);
  if (git_odb_object_type(raw) != GIT_OBJECT_BLOB) return unreadable_blob(request, entry.id, 0);
  const std::string_view bytes(static_cast<const char*>(git_odb_object_data(raw)), git_odb_object_size(raw));
  file_text content;
  if (auto text = decode_file(bytes)) {
    content.is_text = true;
    content.bytes = std::move(text->text);
    content.encoding = std::move(text->encoding);
  } else {
    content.bytes = bytes;
  }
  content.masked_count = request.visibility.mask_file(request.target.path, content.bytes);
  return content;
}

result<std::string_view> extract_lines(std::string_view text, const std::optional<line_range>& range) {
  if (!range) return text;
  std::size_t line = 1, begin = 0;
  const auto next_line = [&](std::size_t start) {
    const auto end = text.find('\n', start);
    return end == std::string_view::npos ? text.size() : end + 1;
  };
  for (; line < range->first && begin < text.size(); ++line) begin = next_line(begin);
  if (begin == text.size())
    return fail(errc::invalid_argument, "lines: the file has " + std::to_string(line - 1) + (line == 2 ? " line" : " lines") +
                                            ", and the range begins after them.");
  if (!range->last) return text.substr(begin);
  auto end = begin;
  for (; line <= *range->last && end < text.size(); ++line) end = next_line(end);
  return text.substr(begin, end - begin);
}

namespace {

constexpr std::uint64_t max_gitmodules_bytes = std::uint64_t{1} << 20;
constexpr std::size_t max_lfs_pointer_bytes = 1024;

/// The URL for clients. One that begins with a dot is relative to the repository, wherever that is.
std::string display_submodule_url(const std::string& url) {
  return url.starts_with("./") || url.starts_with("../") ? strip_credentials(url) : display_url(url);
}

/// The URL that a submodule is fetched from. Nothing if `.gitmodules` has none, or if the caller may not read that file.
std::optional<std::string> submodule_url(const view_request& request, const resolved_file& file) {
  if (!request.visibility.shows_file(request.target.rev, ".gitmodules")) return std::nullopt;
  const auto gitmodules = find_entry(request.repo, file.tree, ".gitmodules");
  if (!gitmodules || !is_regular(gitmodules->mode)) return std::nullopt;
  const auto text = read_file(request, *gitmodules, max_gitmodules_bytes);
  const auto settings = text ? parse_settings(text->bytes) : tl::unexpected(config_error{});
  if (!settings) return std::nullopt;
  constexpr std::string_view path_key = ".path";
  for (const auto& entry : *settings) {
    if (!entry.name.starts_with("submodule.") || !entry.name.ends_with(path_key) || entry.value != request.target.path)
      continue;
    const auto url_key = entry.name.substr(0, entry.name.size() - path_key.size()) + ".url";
    for (const auto& candidate : *settings)
      if (candidate.name == url_key && candidate.value) return display_submodule_url(to_utf8(*candidate.value).text);
  }
  return std::nullopt;
}

void render_submodule(rendering& rendered, const view_request& request, const resolved_file& file) {
  const auto url = submodule_url(request, file);
  rendered.mime_type = "text/plain";
  rendered.text = "Submodule at commit " + to_hex(file.entry.id) + (url ? " of " + *url : std::string()) + '\n';
  rendered.metadata.emplace_back("dev.hondana/submoduleCommit", to_hex(file.entry.id));
  if (url) rendered.metadata.emplace_back("dev.hondana/submoduleUrl", *url);
}

/// Adds metadata if the text is a Git LFS pointer. Source: the specification of git-lfs, section "The Pointer".
void add_lfs_metadata(rendering& rendered, std::string_view text) {
  if (text.size() > max_lfs_pointer_bytes || !text.starts_with("version https://git-lfs.github.com/spec/v1\n")) return;
  const auto value_of = [&](std::string_view key) {
    const auto position = text.find('\n' + std::string(key) + ' ');
    if (position == std::string_view::npos) return std::string_view();
    const auto begin = position + key.size() + 2;
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  const auto oid = value_of("oid"), size = value_of("size");
  std::int64_t bytes = 0;
  const auto [end, error] = std::from_chars(size.data(), size.data() + size.size(), bytes);
  if (oid.empty() || size.empty() || error != std::errc() || end != size.data() + size.size()) return;
  rendered.metadata.emplace_back("dev.hondana/lfsOid", std::string(oid));
  rendered.metadata.emplace_back("dev.hondana/lfsSize", bytes);
}

result<void> render_file(rendering& rendered, const view_request& request, const resolved_file& file) {
  // A part may be small even if the file is not.
  HONDANA_TRY(auto content, read_file(request, file.entry, request.target.lines ? max_blob_bytes : request.max_bytes));
  if (request.target.lines && !content.is_text)
    return fail(errc::invalid_argument,
                "lines: " + quote(request.target.path, 400) + " is not text. Read it without this parameter.");
  rendered.mime_type = media_type_of(request.target.path, content.bytes, content.is_text);
  rendered.data_kind = content.is_text ? content_kind::text : content_kind::blob;
  if (content.is_text) add_lfs_metadata(rendered, content.bytes);
  if (!content.encoding.empty()) rendered.metadata.emplace_back("dev.hondana/encoding", content.encoding);
  if (content.masked_count > 0)
    rendered.metadata.emplace_back("dev.hondana/redacted", static_cast<std::int64_t>(content.masked_count));
  if (!request.target.lines) {
    rendered.text = std::move(content.bytes);
    return {};
  }
  HONDANA_TRY(const auto lines, extract_lines(content.bytes, request.target.lines));
  rendered.text = std::string(lines);
  return {};
}

}  // namespace

result<rendering> render_blob(const view_request& request) {
  HONDANA_TRY(const auto file, find_file(request));
  auto rendered = make_rendering(request);
  rendered.kind = file.entry.kind();
  rendered.is_fixed = file.is_fixed;
  rendered.version = to_hex(file.entry.id);
  if (file.entry.is_submodule()) {
    render_submodule(rendered, request, file);
    // The URL in .gitmodules may change while the submodule's commit does not.
    set_version_by_text(rendered, request);
    return rendered;
  }
  if (request.is_satisfied_by(rendered.version) && !request.is_description) return rendered;
  if (auto status = render_file(rendered, request, file); !status) {
    // A file that is too large to be read can still be described.
    if (!request.is_description || status.error().code != errc::response_too_large)
      return tl::unexpected(std::move(status.error()));
    rendered.mime_type =
        bytes::mime_type_of(std::string_view(request.target.path).substr(request.target.path.rfind('/') + 1)).name;
  }
  if (rendered.text && !request.target.lines) rendered.size = rendered.text->size();
  if (file.entry.is_link()) rendered.mime_type = "text/plain";
  return rendered;
}

namespace {

using commits_by_id = std::map<std::string, commit_metadata>;

result<commits_by_id> load_commits(const view_request& request, const commit_store& store, const blame_result& blamed) {
  commits_by_id commits;
  cancellation_checker cancellation(request.is_stopped);
  for (const auto* runs : {&blamed.runs, &blamed.unresolved}) {
    for (const auto& run : *runs) {
      const auto id = to_hex(run.commit);
      if (commits.contains(id)) continue;
      HONDANA_TRY(cancellation.check());
      HONDANA_TRY(auto commit, read_commit_metadata(store, run.commit));
      commits.emplace(id, std::move(commit));
    }
  }
  return commits;
}

class blame_view {
 public:
  blame_view(const view_request& request, const blame_result& blamed, const commits_by_id& commits, std::string_view text)
      : request_(request), blamed_(blamed), commits_(commits) {
    while (!text.empty()) {
      const auto line = text.substr(0, text.find('\n'));
      lines_.push_back(line);
      text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
  }

  std::string markdown() const {
    const auto& target = request_.target;
    std::string out = "# Blame of " + code_span(display_path(target.path)) + " in " + target.repo + " at " +
                      code_span(target.rev) + "\n\n## Commits\n\n";
    for (const auto& [id, commit] : commits_) out += commit_line(request_.visibility, target.repo, commit);
    if (!blamed_.unresolved.empty()) {
      out +=
          "\n## Not found yet\n\nThe search stopped at its limit of commits, or at a parent whose file is too large to "
          "compare. Those commits or older ones wrote these lines:\n\n";
      for (const auto& run : blamed_.unresolved) {
        out += "- " + lines_text(run.first, run.count) + ": ";
        out += run.is_too_large ? commit_link(target.repo, run.commit) + ", whose parent's file is too large to compare\n"
                                : markdown_link("continue there", uri_of(continuation(run))) + '\n';
      }
    }
    std::string listed;
    for (const auto& run : sorted_runs())
      for (std::size_t i = 0; i < run.count; ++i)
        listed += (is_cut_off(run) ? "^" : "") + short_id(run.commit) + ' ' + std::to_string(run.first + i) + ": " +
                  std::string(line(run.first + i)) + '\n';
    out += "\n## Lines\n\nEach line with the commit that wrote it and its number.";
    if (std::any_of(blamed_.runs.begin(), blamed_.runs.end(), [this](const blamed_lines& run) { return is_cut_off(run); }))
      out += " `^`: the shallow clone ends there, and an older commit may have written the line.";
    return out + "\n\n" + code_block(listed, "text");
  }

  std::string json() const {
    std::string out;
    json::writer writer(out);
    writer.begin_object()
        .member("repository", request_.target.repo)
        .member("path", display_path(request_.target.path))
        .key("runs");
    write(writer, blamed_.runs);
    if (!blamed_.unresolved.empty()) write(writer.key("open"), blamed_.unresolved, true);
    writer.key("commits").begin_array();
    for (const auto& [id, commit] : commits_) {
      write_commit(writer.begin_object(), request_.visibility, request_.target.repo, commit);
      writer.end_object();
    }
    writer.end_array().end_object();
    return out;
  }

 private:
  static std::string lines_text(std::size_t first, std::size_t count) {
    return count == 1 ? "line " + std::to_string(first)
                      : "lines " + std::to_string(first) + " to " + std::to_string(first + count - 1);
  }

  /// Whether the commit has parents that a shallow clone lacks.
  bool is_cut_off(const blamed_lines& run) const {
    const auto commit = commits_.find(to_hex(run.commit));
    return run.is_boundary && commit != commits_.end() && !commit->second.parents.empty();
  }

  std::vector<blamed_lines> sorted_runs() const {
    auto runs = blamed_.runs;
    runs.insert(runs.end(), blamed_.unresolved.begin(), blamed_.unresolved.end());
    std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    return runs;
  }

  std::string_view line(std::size_t number) const noexcept {
    return number <= lines_.size() ? lines_[number - 1] : std::string_view();
  }

  address continuation(const blamed_lines& run) const {
    return {.repo = request_.target.repo,
            .kind = resource_kind::blame,
            .rev = to_hex(run.commit),
            .path = run.path,
            .lines = line_range{run.original_first, run.original_first + run.count - 1},
            .is_json = request_.target.is_json};
  }

  void write(json::writer& writer, const std::vector<blamed_lines>& runs, bool is_open = false) const {
    writer.begin_array();
    for (const auto& run : runs) {
      writer.begin_object().key("first").unsigned_integer(run.first).key("count").unsigned_integer(run.count);
      writer.member("commit", to_hex(run.commit))
          .member("path", display_path(run.path))
          .key("firstThen")
          .unsigned_integer(run.original_first);
      writer.key("boundary").boolean(run.is_boundary);
      if (run.is_too_large) writer.key("parentTooLarge").boolean(true);
      if (is_open && !run.is_too_large) writer.member("next", uri_of(continuation(run)));
      writer.key("lines").begin_array();
      for (std::size_t i = 0; i < run.count; ++i) writer.string(line(run.first + i));
      writer.end_array().end_object();
    }
    writer.end_array();
  }

  const view_request& request_;
  const blame_result& blamed_;
  const commits_by_id& commits_;
  std::vector<std::string_view> lines_;
};

}  // namespace

result<rendering> render_blame(const view_request& request) {
  HONDANA_TRY(const auto file, find_file(request));
  HONDANA_TRY(const auto store, commit_store::open(request.repo));
  auto rendered = make_rendering(request);
  rendered.is_fixed = file.is_fixed && store.stamp().empty();
  rendered.version = version_with_visibility(version_of({to_hex(file.commit), store.stamp(), uri_of(request.target)}), request);
  if (request.is_satisfied_by(rendered.version)) return rendered;
  const auto folder_count = request.visibility.ignored().folder_count();
  const auto text = read_file(request, file.entry, request.max_bytes);
  if (!text) return tl::unexpected(text.error());
  if (!text->is_text)
    return fail(errc::invalid_argument, "path: " + quote(request.target.path, 400) + " is not text, and has no lines.");

  blame_request query;
  query.commit = file.commit;
  query.path = request.target.path;
  if (request.target.lines) query.first = request.target.lines->first;
  if (request.target.lines && request.target.lines->last) query.last = *request.target.lines->last;
  query.max_lines = max_compared_lines;
  query.is_stopped = request.is_stopped;
  query.is_visible = [&visibility = request.visibility](const git_oid& commit, const std::string& path) {
    return visibility.shows_file(to_hex(commit), path);
  };
  HONDANA_TRY(const auto blamed, blame(request.repo, query));
  HONDANA_TRY(const auto commits, load_commits(request, store, blamed));
  const blame_view view(request, blamed, commits, text->bytes);
  rendered.text = request.target.is_json ? view.json() : view.markdown();
  add_ignored_version(rendered, request, folder_count);
  if (text->masked_count > 0)
    rendered.metadata.emplace_back("dev.hondana/redacted", static_cast<std::int64_t>(text->masked_count));
  return rendered;
}

}  // namespace hondana::git
