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

/// One request for a view. Lifetime: refers to data of the call.
struct view_request {
  git_repository* repo = nullptr;
  const address& target;
  const visibility_filter& visibility;
  std::uint64_t max_bytes = 0;
  std::function<bool()> is_stopped{};
  const std::vector<std::string>& roots;  ///< Folders below which linked work trees are searched for.
  bool has_work_tree = false;
  /// The version that the caller has.
  std::optional<std::string> if_version{};
  /// Only version and kind are needed.
  bool is_description = false;

  /// Whether a response of that version needs no content.
  [[nodiscard]] bool is_satisfied_by(std::string_view version) const noexcept {
    return is_description || if_version == version;
  }
  /// Whether the requested path is this one, or is itself a folder of secrets.
  [[nodiscard]] bool is_requested_by_name(std::string_view path) const {
    return target.path == path || (!target.path.empty() && !visibility.hidden_reason(target.path, true).empty());
  }
};

/// A rendered view: text for people, models or programs, or the bytes of a file.
struct rendering {
  std::optional<std::string> text{};  ///< Absent: the version suffices.
  std::string mime_type = "text/markdown";
  content_kind data_kind = content_kind::text;
  std::string version{};
  /// It never changes.
  bool is_fixed = false;
  /// Something was missing that may exist.
  bool is_incomplete = false;
  /// How long it counts as fresh, if it is not fixed.
  std::chrono::milliseconds ttl{2000};
  std::string kind{};
  std::optional<std::uint64_t> size{};  ///< Of a whole file.
  hondana::metadata metadata{};
};

/// A response with the kind and the media type of the request, and without content.
[[nodiscard]] rendering make_rendering(const view_request& request);

/// A version made from everything that a response depends on.
[[nodiscard]] std::string version_of(std::initializer_list<std::string_view> parts);

/// `version` combined with what decides which parts are hidden: the ignore files read so far, and the caller's access rules.
/// Unchanged if there are neither.
[[nodiscard]] std::string version_with_visibility(std::string version, const view_request& request);
/// The same for a response whose rendering read ignore files of more folders than `previous_folder_count`. Its version does not
/// cover those.
void add_ignored_version(rendering& rendered, const view_request& request, std::size_t previous_folder_count);

/// Makes the digest of a rendered text its version, and drops the text if the caller has that version.
void set_version_by_text(rendering& rendered, const view_request& request);

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

/// Renders the view of the requested kind. Errors: those of that view; each names the variable that is wrong.
[[nodiscard]] result<rendering> render(const view_request& request);

}  // namespace hondana::git
