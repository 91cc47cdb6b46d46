/// The request for a view of a repository, the rendered answer, and its version.
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

/// One look at a repository. Refers to what the call has.
struct asking {
  git_repository* in = nullptr;
  const address& at;
  const concealment& hides;
  std::uint64_t max_bytes = 0;
  std::function<bool()> is_stopped{};
  const std::vector<std::string>& roots;  ///< Beneath which linked work trees are looked for.
  bool has_work_tree = false;
  /// The version that the caller has.
  std::optional<std::string> if_version{};
  /// Only version and kind are asked for.
  bool is_description = false;

  /// Whether an answer of that version needs no contents.
  [[nodiscard]] bool is_enough(std::string_view version) const noexcept { return is_description || if_version == version; }
  /// Whether the path that is asked for is this one, or is itself that of a folder of secrets.
  [[nodiscard]] bool is_asked_by_name(std::string_view path) const {
    return at.path == path || (!at.path.empty() && !hides.secret_at(at.path, true).empty());
  }
};

/// Text for people, models or programs, or the bytes of a file.
struct rendering {
  std::optional<std::string> text{};  ///< Nothing: the version is enough.
  std::string mime_type = "text/markdown";
  content_form form = content_form::text;
  std::string version{};
  /// It will always be so.
  bool is_fixed = false;
  /// Something was not found that may be there.
  bool is_lacking = false;
  /// For how long it may be taken as fresh when it is not fixed.
  std::chrono::milliseconds ttl{2000};
  std::string kind{};
  std::optional<std::uint64_t> size{};  ///< Of a whole file.
  hondana::metadata facts{};
};

/// With the type that was asked for.
[[nodiscard]] rendering rendering_for(const asking& what);

/// A version made of all that an answer is made from.
[[nodiscard]] std::string version_of(std::initializer_list<std::string_view> parts);

/// That version together with what decides what is hidden: the ignore files asked so far, and the caller's rules. Unchanged
/// where there are neither.
[[nodiscard]] std::string version_with_hidden(std::string version, const asking& what);
/// The same of an answer whose making has asked more of them than the so many folders before: then the version that it was
/// given is not enough.
void add_ignored(rendering& made, const asking& what, std::size_t folders_before);

/// Gives an answer that was made anyway the digest of its text as its version, and drops the text when that is known.
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

/// By topic. Errors: those of the topic; each names the variable that is wrong.
[[nodiscard]] result<rendering> render(const asking& what);

}  // namespace hondana::git
