/// Compressed members, each unpacked once and kept for the next who asks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <string>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "os/disk/handle.hpp"
#include "os/disk/stamp.hpp"
#include "sources/logs/records/content.hpp"
#include "sources/logs/records/unpacking.hpp"

namespace hondana::records {

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
