/// A confined folder of configuration files, which no link may leave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/file_stamp.hpp"
#include "os/disk/served_dir.hpp"

namespace hondana::config_files {

/// An open regular file.
struct opened_file {
  disk::handle file;
  disk::stamp state;           ///< When it was opened.
  std::string real_path;       ///< Its path in the folder, with all links resolved.
  bool is_below_link = false;  ///< A folder in the requested path is a link.
};

/// Receives the path (empty: the `config_folder` itself) and the descriptor of a folder before it, or a file in it, is read.
using folder_callback = std::function<void(const std::string&, int)>;

/// A folder that is opened once, and again when its path names another folder. While the path does not name a folder, all calls
/// fail with source_unavailable.
///
/// `open_file` follows links unless they are absolute or leave the folder at any step. So files can be replaced atomically by
/// replacing a link to their folder, as with Kubernetes' `..data`. Threads: any.
class config_folder {
 public:
  /// `own_files`: absolute paths, with links resolved, of the server's own files. They, and their locks, older versions and
  /// copies, are treated as missing. Errors: source_unavailable if the path is not a folder or cannot be opened.
  [[nodiscard]] static result<std::shared_ptr<const config_folder>> open(const std::string& path,
                                                                         std::vector<std::string> own_files);

  [[nodiscard]] const std::string& path() const noexcept { return dir_.path(); }

  /// Opens a regular file. `on_enter_folder`: called for the folder of the file and, for a link, also for that of its target;
  /// may be empty. Errors: resource_not_found if it is missing, outside of the folder or not a regular file; access_denied;
  /// source_unavailable. Their texts contain `relative_path`.
  [[nodiscard]] result<opened_file> open_file(const std::string& relative_path,
                                              const folder_callback& on_enter_folder = {}) const;

  /// An entry that a walk finds.
  struct folder_entry {
    std::string path;  ///< Relative to the `config_folder`.
    bool is_folder = false;
    bool is_link = false;  ///< A symbolic link, which the walk does not follow.
    bool is_file = false;  ///< A regular file.
    disk::stamp state{};
  };
  /// Walks the whole folder without following links. `visit` is called for each entry; for a folder it returns whether to enter
  /// it. `on_rejected` is called with path and reason of own files, of entries that cannot be accessed, and beyond the limits
  /// of depth and number. Returns the latest ctime of all folders, in nanoseconds since 1970. Errors: cancelled, timed_out,
  /// source_unavailable.
  [[nodiscard]] result<std::int64_t> walk(const request_context& context, const folder_callback& on_enter_folder,
                                          const std::function<bool(folder_entry)>& visit,
                                          const std::function<void(std::string, std::string)>& on_rejected) const;
  /// Calls `on_enter_folder` with the folder itself, and returns its ctime, in nanoseconds since 1970. Errors:
  /// source_unavailable.
  [[nodiscard]] result<std::int64_t> enter_root(const folder_callback& on_enter_folder) const;

 private:
  explicit config_folder(disk::served_dir dir) noexcept : dir_(std::move(dir)) {}
  /// The folder that the path names now. Errors: source_unavailable.
  [[nodiscard]] result<std::shared_ptr<const disk::served_dir::opened>> current() const;

  const disk::served_dir dir_;
};

/// Converts an errno. `name`: of the file, for the text; empty: a folder of the set.
[[nodiscard]] tl::unexpected<failure> system_failure(int error, std::string_view name);
[[nodiscard]] tl::unexpected<failure> system_failure(const disk::lookup_error& error, std::string_view name);

/// The limit of `read_text`.
inline constexpr std::size_t max_file_bytes = 8u << 20;

/// The content of a file.
struct file_text {
  std::string bytes;
  disk::stamp state;
  bool is_racy = false;       ///< Another change may leave `state` as it is (`disk::is_racy`).
  std::string link_target{};  ///< As in `served_file`; `read_text` leaves it empty.
};

/// Reads a whole file. If its stamp is racy, reads it twice and compares. Tries up to three times. `name`: of the file, for
/// error texts. Errors: response_too_large, content_changed, those of `system_failure`.
[[nodiscard]] result<file_text> read_text(const opened_file& file, std::string_view name);

}  // namespace hondana::config_files
