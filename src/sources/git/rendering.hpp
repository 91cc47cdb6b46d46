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

#include "sources/git/access_filter.hpp"
#include "sources/git/git_uri.hpp"
#include "sources/git/libgit2.hpp"

namespace hondana::git {

/// One request for a view. Lifetime: refers to data of the call.
struct asking {
  git_repository* in = nullptr;
  const address& at;
  const concealment& hides;
  std::uint64_t max_bytes = 0;
  std::function<bool()> is_stopped{};
  const std::vector<std::string>& roots;  ///< Folders below which linked work trees are searched for.
  bool has_work_tree = false;
  /// The version that the caller has.
  std::optional<std::string> if_version{};
  /// Only version and kind are needed.
  bool is_description = false;

  /// Whether a response of that version needs no content.
  [[nodiscard]] bool is_enough(std::string_view version) const noexcept { return is_description || if_version == version; }
  /// Whether the requested path is this one, or is itself a folder of secrets.
  [[nodiscard]] bool is_asked_by_name(std::string_view path) const {
    return at.path == path || (!at.path.empty() && !hides.secret_at(at.path, true).empty());
  }
};

/// A rendered view: text for people, models or programs, or the bytes of a file.
struct rendering {
  std::optional<std::string> text{};  ///< Absent: the version suffices.
  std::string mime_type = "text/markdown";
  content_form form = content_form::text;
  std::string version{};
  /// It never changes.
  bool is_fixed = false;
  /// Something was missing that may exist.
  bool is_lacking = false;
  /// How long it counts as fresh, if it is not fixed.
  std::chrono::milliseconds ttl{2000};
  std::string kind{};
  std::optional<std::uint64_t> size{};  ///< Of a whole file.
  hondana::metadata facts{};
};

/// A response with the kind and the media type of the request, and without content.
[[nodiscard]] rendering rendering_for(const asking& what);

/// A version made from everything that a response depends on.
[[nodiscard]] std::string version_of(std::initializer_list<std::string_view> parts);

/// `version` combined with what decides which parts are hidden: the ignore files read so far, and the caller's access rules.
/// Unchanged if there are neither.
[[nodiscard]] std::string version_with_hidden(std::string version, const asking& what);
/// The same for a response whose rendering read ignore files of more folders than `folders_before`. Its version does not cover
/// those.
void add_ignored(rendering& made, const asking& what, std::size_t folders_before);

/// Makes the digest of a rendered text its version, and drops the text if the caller has that version.
void version_by_text(rendering& made, const asking& what);

[[nodiscard]] result<rendering> render_overview(const asking& what);
[[nodiscard]] result<rendering> render_branches(const asking& what);
[[nodiscard]] result<rendering> render_tags(const asking& what);
[[nodiscard]] result<rendering> render_log(const asking& what);
[[nodiscard]] result<rendering> render_commit(const asking& what);
[[nodiscard]] result<rendering> render_tree(const asking& what);
[[nodiscard]] result<rendering> render_blob(const asking& what);
[[nodiscard]] result<rendering> render_diff(const asking& what);
[[nodiscard]] result<rendering> render_blame(const asking& what);
[[nodiscard]] result<rendering> render_history(const asking& what);
[[nodiscard]] result<rendering> render_stashes(const asking& what);
[[nodiscard]] result<rendering> render_worktrees(const asking& what);
[[nodiscard]] result<rendering> render_changes(const asking& what);

/// Renders a view by topic. Errors: those of the topic; each names the variable that is wrong.
[[nodiscard]] result<rendering> render(const asking& what);

}  // namespace hondana::git
