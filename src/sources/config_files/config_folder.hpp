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
  std::string real;            ///< Where it is below the folder, all links followed.
  bool is_below_link = false;  ///< A folder on the way to its name is a link.
};

/// Hears of each folder that is looked at, by its path below and a descriptor, before it is read.
using entering_folder = std::function<void(const std::string&, int)>;

/// Opened once, and again when its path has come to name another folder.
///
/// Links below it are followed as long as they do not lead out of it, not even for a moment, and are not absolute: so are files
/// whose folder is exchanged by exchanging a link (`..data`). What is no regular file is neither read nor waited
/// for. Threads: any.
class ground {
 public:
  /// Errors: source_unavailable for what is no folder or cannot be opened.
  [[nodiscard]] static result<std::shared_ptr<const ground>> open(const std::string& path, std::vector<std::string> kept_back);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Errors: resource_not_found for what is not there, leads out or is no regular file; access_denied; source_unavailable. The
  /// texts name what follows the folder. The folders that the file and what it leads to are in are told to `entering` (may be
  /// empty).
  [[nodiscard]] result<opened_file> open_file(const std::string& below, const entering_folder& entering = {}) const;

  /// One thing in a folder.
  struct found {
    std::string path;
    bool is_folder = false;
    bool is_link = false;
    bool is_file = false;
    disk::stamp state{};
  };
  /// Goes through everything below, no link followed. `take` is asked of each thing whether it is to be looked into, which
  /// matters for folders; and `refused` told of folders that cannot be. Returns when the folder that had changed last had, by
  /// the kernel's clock. Errors: cancelled, timed_out, source_unavailable.
  [[nodiscard]] result<std::int64_t> walk(const call& by, const entering_folder& entering,
                                          const std::function<bool(found)>& take,
                                          const std::function<void(std::string, std::string)>& refused) const;
  /// Has the folder itself told to `entering`, and returns when it changed last. Errors: source_unavailable.
  [[nodiscard]] result<std::int64_t> enter(const entering_folder& entering) const;

 private:
  /// What is open; shared with calls that began before it was opened again.
  struct place {
    disk::handle at;
    disk::own_files own;
  };
  ground(std::string path, std::vector<std::string> kept_back, disk::handle root);
  [[nodiscard]] std::shared_ptr<const place> hold(disk::handle root) const;
  [[nodiscard]] result<std::shared_ptr<const place>> held() const;

  const std::string path_;
  const std::vector<std::string> kept_back_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const place> now_;
};

/// The error of a system call about a file that is called `name`.
[[nodiscard]] tl::unexpected<failure> refused_by_system(int error, std::string_view name);

/// Files of configuration are no larger.
inline constexpr std::size_t most_file_bytes = 8u << 20;

struct file_text {
  std::string bytes;
  disk::stamp state;
  bool is_racy = false;  ///< A further change may leave the stamp as it is.
  std::string behind{};  ///< As in `seen_file`.
};

/// Reads all of it, twice where the time stamps may not show that it is a mix. Errors: response_too_large, content_changed,
/// source_unavailable. `name`: what the texts call it.
[[nodiscard]] result<file_text> read_text(const opened_file& from, std::string_view name);

}  // namespace hondana::config_files
