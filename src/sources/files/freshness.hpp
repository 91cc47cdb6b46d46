/// Whether anything has happened to a file since it was looked at, as far as the kernel tells.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include <hondana/resource.hpp>

#include "os/watch/folders.hpp"

namespace hondana::files {

/// Counts what happens in watched folders, and vouches for readings of files in them.
///
/// A file that was looked at a moment ago is as it was while no event waits in the kernel's queue, none has been taken from it
/// that is not counted yet, and no count of it or of a folder above it has grown: an event is queued before the system call
/// that changes something returns. What makes no event (writes through mappings, through other links of the file or below
/// another mount of it, by other machines, and to what decides about files from outside of their folders) shows after
/// `longest` at the latest, since a file is then looked at again.
/// Threads: any; `hearing` and what is counted in it one at a time.
class freshness : public std::enable_shared_from_this<freshness> {
 public:
  /// `heard` are the folders whose events are counted here.
  explicit freshness(std::shared_ptr<const watch::folders> heard) : heard_(std::move(heard)) {}

  /// Held from before events are taken from the queue until all of them are counted.
  class hearing {
   public:
    explicit hearing(freshness& of) noexcept : of_(of) { of_.is_hearing_.store(true, std::memory_order_seq_cst); }
    hearing(const hearing&) = delete;
    hearing& operator=(const hearing&) = delete;
    ~hearing() { of_.is_hearing_.store(false, std::memory_order_release); }
    /// Something happened at a path of a tree: it and all below are not what they were.
    void count(std::size_t tree, std::string_view path) noexcept;
    /// Anything may have.
    void count_all() noexcept { of_.of_all_.fetch_add(1, std::memory_order_relaxed); }

   private:
    freshness& of_;
  };

  /// Vouches for a reading of a file that is begun after this call. Null: the folders down to it are not all watched, or too
  /// many. It says nothing of links on the way.
  [[nodiscard]] std::shared_ptr<const validity> vouch(std::size_t tree, std::string_view path) const;
  /// Whether `vouch` could: the folders down to the file may be watched yet.
  [[nodiscard]] static bool can_vouch(std::string_view path) noexcept;

 private:
  class voucher;
  static constexpr std::size_t deepest = 16;  // folders above a file, its root among them
  static constexpr std::size_t places = 4096;
  /// Where a path and the folders above it are counted. Paths may share a place, which makes some be looked at too often.
  struct chain {
    std::array<std::uint16_t, deepest + 1> at{};
    std::size_t length = 0;
  };
  /// Nothing when it is too deep.
  [[nodiscard]] static chain chain_of(std::size_t tree, std::string_view path) noexcept;
  /// Equal sums mean that nothing has grown.
  [[nodiscard]] std::uint64_t sum_of(const chain& what) const noexcept;

  const std::shared_ptr<const watch::folders> heard_;
  std::atomic<bool> is_hearing_{false};
  std::atomic<std::uint64_t> of_all_{0};
  std::array<std::atomic<std::uint64_t>, places> counts_{};
};

}  // namespace hondana::files
