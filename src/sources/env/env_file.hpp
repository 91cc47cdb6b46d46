/// One file of variables on the disk, read whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "os/disk/handle.hpp"
#include "os/disk/stamp.hpp"

namespace hondana::env {

inline constexpr std::size_t most_file_bytes = 8u << 20;

/// What came of looking at the file.
struct look_at_file {
  enum class what : std::uint8_t {
    same,       ///< It is as it was known.
    taken,      ///< `bytes` and `state` are it.
    too_large,  ///< Beyond `most_file_bytes`; `state` is it.
    changing,   ///< It changed whenever it was read.
    missing,    ///< Nothing is there, or what is kept back.
    no_file,    ///< Something else has its name.
    refused,    ///< This user may not read it.
    failing     ///< The disk or the network does not work, or the folder is gone.
  };
  what came = what::failing;
  std::string bytes{};
  disk::stamp state{};
  bool is_racy = false;       ///< A change that follows may leave `state` as it is.
  std::string detail{};       ///< For the log.
  bool has_folder = true;     ///< The folder is there, so that a file that comes is heard of.
  bool is_elsewhere = false;  ///< The name is a link: what it leads to may change without the folder being told.
};

/// A file by its folder, which was opened before, and its name there. Links are followed as long as they stay beneath the
/// folder, as those that Kubernetes makes do. Threads: any.
class env_file {
 public:
  /// `kept_back`: absolute paths, links resolved, of files that are as if they were not there. Errors: source_unavailable when
  /// the folder cannot be opened; the file may be missing.
  [[nodiscard]] static result<std::unique_ptr<env_file>> open(const std::string& path, std::vector<std::string> kept_back);

  [[nodiscard]] const std::string& folder() const noexcept { return folder_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Whether both are in one folder.
  [[nodiscard]] bool is_beside(const env_file& other) const;

  /// `known`: what was taken before, unless that was racy. `entering` is given the descriptor of the folder before the file is
  /// opened; may be empty.
  [[nodiscard]] look_at_file look(const std::optional<disk::stamp>& known, const std::function<void(int)>& entering) const;

 private:
  env_file(std::string folder, std::string name, std::vector<std::string> kept_back, disk::handle at)
      : folder_(std::move(folder)),
        name_(std::move(name)),
        kept_back_(std::move(kept_back)),
        at_(std::make_shared<disk::handle>(std::move(at))) {}
  /// The folder that is at its path now; null: there is none.
  [[nodiscard]] std::shared_ptr<const disk::handle> held() const;
  [[nodiscard]] bool is_kept_back(const struct stat& facts) const;

  const std::string folder_;
  const std::string name_;
  const std::vector<std::string> kept_back_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const disk::handle> at_;
};

}  // namespace hondana::env
