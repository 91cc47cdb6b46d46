/// The request for a view of a repository, the rendered response, and its version.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/git/git_uri.hpp"
#include "sources/git/libgit2.hpp"
#include "sources/git/visibility_filter.hpp"

namespace hondana::git {

/// A request for a view, the content of a `git://` URI. What the members refer to must outlive this object.
struct view_request {
  git_repository* repo = nullptr;
  const address& target;
  const visibility_filter& visibility;
  std::uint64_t max_bytes = 0;            ///< Limit of a file's content, and of patches.
  std::function<bool()> is_stopped{};     ///< Called periodically; true cancels. May be empty.
  const std::vector<std::string>& roots;  ///< Absolute paths of folders in which linked work trees may be.
  bool has_work_tree = false;
  std::optional<std::string> if_version{};  ///< The version that the caller has. nullopt: none.
  bool is_description = false;              ///< The response needs no content, only version, kind and the like.

  /// Whether a response with this version needs no content.
  [[nodiscard]] bool is_satisfied_by(std::string_view version) const noexcept {
    return is_description || if_version == version;
  }
  /// Whether `path` is the requested path, or the requested path is itself hidden from every caller.
  [[nodiscard]] bool is_requested_by_name(std::string_view path) const {
    return target.path == path || (!target.path.empty() && !visibility.hidden_reason(target.path, true).empty());
  }
};

/// A rendered view: Markdown, JSON, or the bytes of a file.
struct rendering {
  std::optional<std::string> text{};  ///< The content. nullopt: not needed (`view_request::is_satisfied_by`).
  std::string mime_type = "text/markdown";
  content_kind data_kind = content_kind::text;
  std::string version{};
  bool is_fixed = false;                ///< The content never changes, except by ignore files and access rules.
  bool is_incomplete = false;           ///< Objects were missing that may exist later.
  std::chrono::milliseconds ttl{2000};  ///< How long a cache may use the content, if it is not fixed.
  std::string kind{};                   ///< `resource::kind`.
  std::optional<std::uint64_t> size{};  ///< Of a whole file, in bytes.
  hondana::metadata metadata{};
};

/// Makes a response with the kind and the media type of the request, and without content.
[[nodiscard]] rendering make_rendering(const view_request& request);

/// Makes a version: a digest of `parts`.
[[nodiscard]] std::string version_of(std::initializer_list<std::string_view> parts);

/// Adds to a version what decides which parts are hidden: the ignore files read so far, and the caller's access filter. Without
/// these, returns `version`.
[[nodiscard]] std::string version_with_visibility(std::string version, const view_request& request);
/// Adds the ignore files that were read after `version_with_visibility`, if there were any. Removes the text if the caller has
/// the new version. `previous_folder_count`: `ignored_paths::folder_count` at that call.
void add_ignored_version(rendering& rendered, const view_request& request, std::size_t previous_folder_count);

/// Sets the version to a digest of the text. Removes the text if the caller has that version. Does nothing without a text.
void set_version_by_text(rendering& rendered, const view_request& request);

// Each renders one kind of view. Errors name the variable of the URI that is wrong.
[[nodiscard]] result<rendering> render_overview(const view_request& request);
[[nodiscard]] result<rendering> render_branches(const view_request& request);
[[nodiscard]] result<rendering> render_tags(const view_request& request);
[[nodiscard]] result<rendering> render_log(const view_request& request);
[[nodiscard]] result<rendering> render_commit(const view_request& request);
[[nodiscard]] result<rendering> render_tree(const view_request& request);
[[nodiscard]] result<rendering> render_blob(const view_request& request);
[[nodiscard]] result<rendering> render_diff(const view_request& request);
[[nodiscard]] result<rendering> render_blame(const view_request& request);
[[nodiscard]] result<rendering> render_history(const view_request& request);
[[nodiscard]] result<rendering> render_stashes(const view_request& request);
[[nodiscard]] result<rendering> render_worktrees(const view_request& request);
[[nodiscard]] result<rendering> render_changes(const view_request& request);

/// Renders the view of the kind `request.target.kind`. Errors: those of the function of that kind.
[[nodiscard]] result<rendering> render(const view_request& request);

}  // namespace hondana::git
