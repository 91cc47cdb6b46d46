/// One served folder: its URIs, path lookup, and access checks.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "base/ignore/gitignore.hpp"
#include "sources/files/confined_dir.hpp"
#include "sources/files/options.hpp"
#include "sources/files/priority_table.hpp"
#include "sources/files/serving_rules.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::files {

/// Why a path cannot be served, for the log and for `hondana check`. Clients learn only the kind of failure.
struct rejection {
  lookup_error_kind kind = lookup_error_kind::missing;
  int error = 0;
  std::string reason;  ///< "hidden", "link leaves the root", "Permission denied".
};

/// One served folder. Immutable, except for its cache of ignore files and the folder that is open. Threads: any, concurrently.
/// Paths are relative to the folder, in the file system's bytes, without `.`, `..` and empty segments. The empty path is the
/// folder itself.
class served_root {
 public:
  /// Opens the folder. Errors: source_unavailable, naming the path, the reason and a remedy. invalid_argument for invalid
  /// options.
  [[nodiscard]] static result<std::shared_ptr<served_root>> open(const root_options& settings, const options& provider_options);

  /// Its absolute path, free of links.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// Its canonical URI, without a trailing slash unless it is the file system's own root.
  [[nodiscard]] const std::string& uri() const noexcept { return uri_; }
  /// The URI of a path below.
  [[nodiscard]] std::string uri_of(std::string_view path) const;
  /// The path that a canonical URI without a query names; one trailing slash is ignored. Nothing if the URI is not of this
  /// root, or if it cannot exist. Examples: it has an empty name, or a name with an encoded slash.
  [[nodiscard]] std::optional<std::string> path_of(std::string_view uri) const;
  /// The name for people: the path below the root, or the folder's own name. Invalid UTF-8 becomes U+FFFD.
  [[nodiscard]] std::string name_of(std::string_view path) const;

  /// Resolves a path. Succeeds if the path, every link on the way, and all folders above them are served, judged by real path
  /// and by requested name. Fails as if nothing existed when `context` (may be null) is cancelled or its deadline passes. Fails
  /// with `system_error` when descriptors or memory run out.
  [[nodiscard]] tl::expected<resolved_path, rejection> find(std::string_view path,
                                                            const request_context* context = nullptr) const;
  /// Whether the caller's access filter shows the result of a lookup. It checks the real URI, the requested URI, and those of
  /// all links and spellings in between. The target of a link is also checked by its entry. Without a filter everything is
  /// visible.
  [[nodiscard]] bool is_visible(std::string_view requested_path, const resolved_path& resolved,
                                const caller_info& caller) const;
  /// The same for reading. A link must not reveal the content of a target that the caller may not read.
  [[nodiscard]] bool is_readable(std::string_view requested_path, const resolved_path& resolved,
                                 const caller_info& caller) const;
  /// The ignore files down to a served folder. Errors: as `find`, if the folder has gone.
  [[nodiscard]] tl::expected<ignore::stack, rejection> ignore_stack_at(std::string_view folder) const;

  /// The folder that is open now.
  [[nodiscard]] std::shared_ptr<const confined_dir> dir() const { return dir_.current(); }
  [[nodiscard]] const serving_rules& rules() const noexcept { return rules_; }
  [[nodiscard]] const priority_table& priorities() const noexcept { return priorities_; }
  /// What to mask in a file, by its path.
  [[nodiscard]] secrets::masking_policy masking_policy_of(std::string_view path) const noexcept;
  /// See `root_dir::recheck`.
  [[nodiscard]] root_dir::dir_change recheck() const { return dir_.recheck(); }
  /// Whether the path named no folder that can be served at the last check.
  [[nodiscard]] bool is_removed() const noexcept { return dir_.is_removed(); }
  [[nodiscard]] bool is_blocked() const noexcept { return dir_.is_blocked(); }
  [[nodiscard]] ignore_file_cache& ignore_files() const noexcept { return ignore_files_; }

 private:
  served_root(std::string path, disk::handle folder, std::vector<std::string> root_paths, bool portable, bool masks_secrets,
              serving_rules rules, priority_table priorities, log_callback log);

  /// The rest of the limits of one lookup.
  struct lookup_budget {
    const request_context* context;
    std::uint64_t steps;
  };
  /// As `find`; throws std::system_error when descriptors or memory are short.
  [[nodiscard]] tl::expected<resolved_path, rejection> find_or_throw(std::string_view path,
                                                                     const request_context* context) const;
  /// Decides about a path free of links, folder by folder from the top. Returns the reason why it is left out, or nothing.
  /// Throws as above.
  [[nodiscard]] std::optional<std::string> find_denial(const confined_dir& dir, std::string_view path, bool is_folder,
                                                       lookup_budget& budget) const;
  /// Decides about a requested path by its names alone, up to its first `..`.
  [[nodiscard]] std::optional<std::string> find_name_denial(std::string_view path, bool is_folder) const;

  std::string path_;
  std::string uri_;
  mutable root_dir dir_;
  bool masks_secrets_;
  serving_rules rules_;
  priority_table priorities_;
  mutable ignore_file_cache ignore_files_;
};

/// A failed lookup in words.
[[nodiscard]] rejection make_rejection(const lookup_error& error);
/// Throws std::system_error if a lookup failed because resources ran out or a disk failed, so that the true state is unknown.
void throw_if_system_error(const rejection& rejection);

}  // namespace hondana::files
