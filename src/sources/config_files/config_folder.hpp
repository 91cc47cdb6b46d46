/// A confined folder of configuration files, which no link may leave.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/file_stamp.hpp"
#include "os/disk/private_file.hpp"

namespace hondana::config_files {

/// An open regular file.
struct opened_file {
  disk::handle file;
  disk::stamp state;
  std::string real_path;       ///< Its path in the folder, with all links resolved.
  bool is_below_link = false;  ///< A folder in its path is a link.
};

/// Called with the path and descriptor of each folder before it is read.
using folder_callback = std::function<void(const std::string&, int)>;

/// A folder that is opened once, and again when its path names another folder.
///
/// Links in it are followed unless they are absolute or leave the folder at any step. So a folder can be replaced atomically by
/// replacing a link, as with Kubernetes' `..data`. Only regular files are read. Threads: any.
class config_folder {
 public:
  /// Errors: source_unavailable if the path is not a folder or cannot be opened.
  [[nodiscard]] static result<std::shared_ptr<const config_folder>> open(const std::string& path,
                                                                         std::vector<std::string> own_files);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Opens a file. Errors: resource_not_found if it is missing, outside of the folder or not a regular file; access_denied;
  /// source_unavailable. Texts contain the relative path. `on_enter_folder` is called for the folders of the file and of its
  /// target; may be null.
  [[nodiscard]] result<opened_file> open_file(const std::string& relative_path,
                                              const folder_callback& on_enter_folder = {}) const;

  /// An entry of a folder.
  struct folder_entry {
    std::string path;
    bool is_folder = false;
    bool is_link = false;
    bool is_file = false;
    disk::stamp state{};
  };
  /// Walks the whole folder without following links. `visit` is called for each entry, and decides for folders whether to enter
  /// them. `on_rejected` is called for folders that cannot be read. Returns the latest change time of all folders, by the
  /// kernel's clock. Errors: cancelled, timed_out, source_unavailable.
  [[nodiscard]] result<std::int64_t> walk(const request_context& context, const folder_callback& on_enter_folder,
                                          const std::function<bool(folder_entry)>& visit,
                                          const std::function<void(std::string, std::string)>& on_rejected) const;
  /// Calls `on_enter_folder` with the folder itself, and returns its change time. Errors: source_unavailable.
  [[nodiscard]] result<std::int64_t> enter_root(const folder_callback& on_enter_folder) const;

 private:
  /// The open folder, shared with calls that began before it was opened again.
  struct open_folder {
    disk::handle handle;
    disk::own_files own_files;
  };
  config_folder(std::string path, std::vector<std::string> own_files, disk::handle root);
  [[nodiscard]] std::shared_ptr<const open_folder> make_open_folder(disk::handle root) const;
  [[nodiscard]] result<std::shared_ptr<const open_folder>> current() const;

  const std::string path_;
  const std::vector<std::string> own_files_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const open_folder> current_;
};

/// Converts the error of a system call. `name`: of the file.
[[nodiscard]] tl::unexpected<failure> system_failure(int error, std::string_view name);

/// Larger files are rejected.
inline constexpr std::size_t max_file_bytes = 8u << 20;

/// The content of a file.
struct file_text {
  std::string bytes;
  disk::stamp state;
  bool is_racy = false;       ///< A following change may leave `state` unchanged.
  std::string link_target{};  ///< As in `served_file`.
};

/// Reads a whole file. If timestamps may hide a concurrent change, reads it twice and compares. Errors: response_too_large,
/// content_changed, source_unavailable. `name`: of the file, for error texts.
[[nodiscard]] result<file_text> read_text(const opened_file& file, std::string_view name);

}  // namespace hondana::config_files
