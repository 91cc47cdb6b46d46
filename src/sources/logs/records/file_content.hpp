/// Random access to the bytes of log files; compressed files are decompressed once and cached.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/file_stamp.hpp"
#include "sources/logs/records/decompression.hpp"

namespace hondana::records {

/// Threads: any.
class content {
 public:
  content() = default;
  content(const content&) = delete;
  content& operator=(const content&) = delete;
  virtual ~content() = default;

  /// Constant: what is written later is not part of it.
  [[nodiscard]] virtual std::uint64_t size() const noexcept = 0;
  /// Fills `into` from `offset` on; fewer bytes at the end, or where the file has been truncated meanwhile. Errors:
  /// source_unavailable.
  [[nodiscard]] virtual result<std::size_t> read(std::uint64_t offset, std::span<char> into) const = 0;
};

/// A file that is not compressed, as long as it was when it was opened.
class file_content final : public content {
 public:
  file_content(std::shared_ptr<const disk::handle> file, std::uint64_t size) noexcept : file_(std::move(file)), size_(size) {}
  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  [[nodiscard]] result<std::size_t> read(std::uint64_t offset, std::span<char> into) const override {
    if (offset >= size_) return std::size_t{0};
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), size_ - offset));
    const auto got = disk::read_at(file_->get(), into.data(), wanted, offset);
    if (got) return *got;
    return fail(errc::source_unavailable, "A log file could not be read.", std::strerror(got.error()));
  }

 private:
  std::shared_ptr<const disk::handle> file_;
  std::uint64_t size_;
};

/// Compressed anew in frames of `frame_bytes`, whose places are kept in memory: 8 bytes a frame. What stays small has no file,
/// so that many of them take no descriptors, as long as all those of the process hold little. Threads: `append` and `finish`
/// one at a time and before `read`, which any.
class kept_copy final : public content {
 public:
  static constexpr std::size_t frame_bytes = 256u << 10;
  static constexpr std::size_t small_bytes = 64u << 10;     ///< After compression.
  static constexpr std::size_t most_in_memory = 32u << 20;  ///< Of all.

  kept_copy() = default;
  ~kept_copy() override;

  /// How many there are in the process that have files.
  [[nodiscard]] static std::size_t files() noexcept;
  [[nodiscard]] bool has_file() const noexcept { return file_.is_open(); }

  /// Errors: source_unavailable when there is no room, or no file can be made.
  result<void> append(std::string_view bytes);
  result<void> finish();

  [[nodiscard]] std::uint64_t size() const noexcept override { return size_; }
  [[nodiscard]] result<std::size_t> read(std::uint64_t offset, std::span<char> into) const override;
  [[nodiscard]] std::uint64_t disk_bytes() const noexcept { return file_.is_open() ? written_ : 0; }

 private:
  result<void> flush();
  result<void> write(std::string_view frame);
  /// Takes a file, and what is in memory goes there. Errors: source_unavailable where no file can be made.
  result<void> open();
  void leave_memory() noexcept;

  disk::handle file_;
  std::string in_memory_;              // as long as there is no file
  std::vector<std::uint64_t> frames_;  // where they begin
  std::uint64_t written_ = 0;
  std::uint64_t size_ = 0;
  std::string pending_;
};

/// A file is known by device, inode, size and time of its last change, which renaming leaves as they are. What was unpacked
/// when a deadline came is gone on from by the next who asks. Threads: any; those who want the same file wait for one another.
class unpacked_files {
 public:
  /// Of one file after decompression, and of all that is kept on disk; beyond that, beyond 128 files, and beyond 192
  /// files of all logs that need descriptors, what was asked for longest ago is forgotten.
  unpacked_files(std::uint64_t most_of_one, std::uint64_t most_kept) noexcept
      : most_of_one_(most_of_one), most_kept_(most_kept) {}

  struct unpacked {
    std::shared_ptr<const content> bytes{};
    std::string trouble{};  ///< Why it is not all; empty: it is.
  };
  /// Errors: timed_out, cancelled, source_unavailable.
  [[nodiscard]] result<unpacked> get(const disk::stamp& facts, std::shared_ptr<const disk::handle> file, compression how,
                                     const call& by);

  /// So much of the front of such a file, or less where it ends or is damaged. Nothing is kept.
  [[nodiscard]] static std::string front(int file, const disk::stamp& facts, compression how, std::size_t bytes);

  /// How many were unpacked from their beginning so far.
  [[nodiscard]] std::uint64_t begun() const noexcept;

  /// Beyond so many bytes a file is a bomb when each of its bytes became more than so many.
  static constexpr std::uint64_t harmless_bytes = 64u << 20;
  static constexpr std::uint64_t most_ratio = 500;

 private:
  struct job;
  struct kept {
    disk::stamp facts;
    std::shared_ptr<job> what;
  };
  [[nodiscard]] std::shared_ptr<job> job_of(const disk::stamp& facts);
  void forget(const std::shared_ptr<job>& which);
  void make_room(const std::shared_ptr<job>& but);
  result<void> go_on(job& with, const call& by) const;

  const std::uint64_t most_of_one_;
  const std::uint64_t most_kept_;
  mutable std::mutex mutex_;
  std::list<kept> all_;  // what was asked for last in front
  std::uint64_t begun_ = 0;
};

}  // namespace hondana::records
