/// A folder of skills on disk, looked at without ever leaving it.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/provider.hpp>

#include "os/disk/handle.hpp"
#include "os/disk/own_files.hpp"
#include "os/disk/stamp.hpp"
#include "sources/skills/collection.hpp"

namespace hondana::skills {

/// A regular file below a folder; the path is relative to it.
struct seen_file {
  std::string path;
  disk::stamp state;

  bool operator==(const seen_file&) const = default;
};

/// What a walk found, in no order.
struct walked {
  std::vector<seen_file> files;
  std::vector<omission> left_out;
  std::int64_t changed = 0;  ///< When the folder that had changed last had, by the kernel's clock, as each was left.
};

/// An open regular file, with its state when it was opened.
struct opened_file {
  disk::handle file;
  disk::stamp state;
  bool masks = false;  ///< Its secrets are masked before anything else is done with it.
};

/// One folder, opened once, and again when its path has come to name another. Symbolic links below it are not followed, by no
/// call. While there is no folder at its path, all calls fail with source_unavailable. Threads: any.
class folder {
 public:
  /// Errors: source_unavailable for what is no folder or cannot be opened.
  /// `kept_back`: absolute paths, links resolved, of files that are as if they were not there, with those that are named like
  /// them.
  [[nodiscard]] static result<folder> open(const std::string& path, std::vector<std::string> kept_back = {});

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Everything below, but names that begin with a dot. What is no file and no folder, cannot be opened, lies deeper than 32
  /// levels or beyond the first 100 000 files is left out. Errors: cancelled, timed_out, source_unavailable.
  /// `entering` (may be empty) is called with each folder's path and a descriptor of it before it is read.
  [[nodiscard]] result<walked> walk(const call& by, const std::function<void(const std::string&, int)>& entering = {}) const;

  /// Errors: resource_not_found, access_denied, source_unavailable.
  [[nodiscard]] result<opened_file> open_file(std::string_view below) const;
  /// Whether there is anything of this name, or that cannot be told.
  [[nodiscard]] bool may_hold(std::string_view below) const;

 private:
  /// What is open; shared with calls that began before it was opened again.
  struct place {
    disk::handle at;
    disk::own_files own;
  };
  struct top {
    std::mutex mutex;
    std::shared_ptr<const place> now;
  };
  folder(std::string path, std::vector<std::string> kept_back, disk::handle root);
  [[nodiscard]] std::shared_ptr<const place> hold(disk::handle root) const;
  [[nodiscard]] result<std::shared_ptr<const place>> root() const;
  [[nodiscard]] result<disk::handle> open_at(const place& in, std::string_view below, int flags) const;

  std::string path_;
  std::vector<std::string> kept_back_;
  std::unique_ptr<top> top_;
};

/// Fills `into` from `offset`; less only where the file ends. Errors: source_unavailable.
[[nodiscard]] result<std::size_t> read_at(int file, std::span<char> into, std::uint64_t offset);

}  // namespace hondana::skills
