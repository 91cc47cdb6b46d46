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
#include "os/disk/confined_dir.hpp"
#include "sources/files/options.hpp"
#include "sources/files/priority_table.hpp"
#include "sources/files/root_dir.hpp"
#include "sources/files/serving_rules.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::files {

/// Why a path is not served. `to_failure` converts it to an error for clients, which hides the reason.
struct rejection {
  disk::lookup_error_kind kind = disk::lookup_error_kind::missing;  ///< `missing` also if a rule leaves the path out.
  int error = 0;                                                    ///< The errno; 0 if there is none.
  std::string reason;  ///< For people: "hidden", "link leaves the root", "Permission denied".
};

/// One served folder. Immutable, except for its cache of ignore files and the folder that is open. Threads: any, concurrently.
/// Paths are plain (`disk::is_plain_path`) and relative to the folder, in the file system's bytes. The empty path is the folder
/// itself.
class served_root {
 public:
  /// Opens the folder. Errors: source_unavailable, naming the path, the reason and a remedy. invalid_argument for invalid
  /// options.
  [[nodiscard]] static result<std::shared_ptr<served_root>> open(const root_options& settings, const options& provider_options);

  /// The absolute path of the folder, free of links.
  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The canonical URI of the folder, without a trailing slash unless the folder is `/`.
  [[nodiscard]] const std::string& uri() const noexcept { return uri_; }
  /// The canonical URI of a path.
  [[nodiscard]] std::string uri_of(std::string_view path) const;
  /// The path that a canonical URI without a query names; one trailing slash is ignored. Nothing if the URI is not of this
  /// root, or no file can have it, for example because of an encoded slash.
  [[nodiscard]] std::optional<std::string> path_of(std::string_view uri) const;
  /// The name for people: the whole path, or for the empty path the name of the folder. Invalid UTF-8 becomes U+FFFD.
  [[nodiscard]] std::string name_of(std::string_view path) const;

  /// Resolves a path. Succeeds if the path, every link on it, and all folders above them are served, judged by real path and by
  /// requested path. `missing` also when `context` (may be null) is cancelled or its deadline passes; callers must check that.
  /// `system_error` also when descriptors or memory run out.
  [[nodiscard]] tl::expected<disk::resolved_path, rejection> find(std::string_view path,
                                                                  const request_context* context = nullptr) const;
  /// Whether the caller may see the result of `find(requested_path)`. The access filter must show the requested URI, the real
  /// URI, and the URIs of all links and `traversed_paths`. If it uses entries, it must also show the entry of a link's target;
  /// callers must check the entry of a path without links. Without a filter everything is visible.
  [[nodiscard]] bool is_visible(std::string_view requested_path, const disk::resolved_path& resolved,
                                const caller_info& caller) const;
  /// Whether the caller may also read the result of `find(requested_path)`. The filter must permit reading the real URI and, in
  /// the same cases as above, the entry.
  [[nodiscard]] bool is_readable(std::string_view requested_path, const disk::resolved_path& resolved,
                                 const caller_info& caller) const;
  /// The stack of ignore files of a folder, which must be served and free of links. Empty if the root does not obey ignore
  /// files. Errors: as `find`, if the folder no longer exists.
  [[nodiscard]] tl::expected<ignore::stack, rejection> ignore_stack_at(std::string_view folder) const;

  /// See `root_dir::current`.
  [[nodiscard]] std::shared_ptr<const disk::confined_dir> dir() const { return dir_.current(); }
  [[nodiscard]] const serving_rules& rules() const noexcept { return rules_; }
  [[nodiscard]] const priority_table& priorities() const noexcept { return priorities_; }
  /// Which secrets to mask in a file, by its path; `none` if the root does not mask secrets.
  [[nodiscard]] secrets::masking_policy masking_policy_of(std::string_view path) const noexcept;
  /// See `root_dir::recheck`.
  [[nodiscard]] root_dir::dir_change recheck() const { return dir_.recheck(); }
  /// See `root_dir::is_removed`.
  [[nodiscard]] bool is_removed() const noexcept { return dir_.is_removed(); }
  /// See `root_dir::is_blocked`.
  [[nodiscard]] bool is_blocked() const noexcept { return dir_.is_blocked(); }
  [[nodiscard]] ignore_file_cache& ignore_files() const noexcept { return ignore_files_; }

 private:
  served_root(std::string path, disk::handle folder, std::vector<std::string> root_paths, bool portable, bool masks_secrets,
              serving_rules rules, priority_table priorities, log_callback log);

  /// The limits of one lookup.
  struct lookup_budget {
    const request_context* context;  ///< Null: no deadline.
    std::uint64_t steps;             ///< Steps that are left for matching ignore files.
  };
  /// As `find`; throws std::system_error when descriptors or memory are short.
  [[nodiscard]] tl::expected<disk::resolved_path, rejection> find_or_throw(std::string_view path,
                                                                           const request_context* context) const;
  /// Decides about a path free of links, folder by folder from the top. Returns why it is left out; nothing if it is served.
  /// Throws as `find_or_throw`.
  [[nodiscard]] std::optional<std::string> find_denial(const disk::confined_dir& dir, std::string_view path, bool is_folder,
                                                       lookup_budget& budget) const;
  /// Decides about a requested path by `serving_rules::decide_name`, folder by folder up to its first `..`. `is_folder`:
  /// whether it leads to a folder. Returns as `find_denial`.
  [[nodiscard]] std::optional<std::string> find_name_denial(std::string_view path, bool is_folder) const;

  std::string path_;
  std::string uri_;
  mutable root_dir dir_;
  bool masks_secrets_;
  serving_rules rules_;
  priority_table priorities_;
  mutable ignore_file_cache ignore_files_;
};

/// Adds the reason in words.
[[nodiscard]] rejection make_rejection(const disk::lookup_error& error);
/// Throws std::system_error if `rejection` is a `system_error`, so that no caller mistakes it for a missing file.
void throw_if_system_error(const rejection& rejection);

}  // namespace hondana::files
