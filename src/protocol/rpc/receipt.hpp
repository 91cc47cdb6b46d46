/// Telling, once, how an answer left.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace hondana::rpc {

/// How an answer left.
enum class departure : std::uint8_t {
  sent,  ///< All of it was taken by the connection.
  cut,   ///< Half-way: its source failed, or its peer took nothing for too long.
  gone,  ///< Not all of it: nobody was there any more to take it.
};

/// Counts the bytes of one answer as they are written into its message, and tells once how it left.
///
/// Threads: any. The listener is called by whoever sends, maybe under locks of theirs: it takes a note and returns.
class receipt {
 public:
  using listener = std::function<void(departure how, std::uint64_t bytes)>;

  explicit receipt(listener hears) : hears_(std::move(hears)) {}
  receipt(const receipt&) = delete;
  receipt& operator=(const receipt&) = delete;
  /// An answer that nobody has any more is gone.
  ~receipt() { tell(departure::gone); }

  void count(std::size_t bytes) noexcept { bytes_.fetch_add(bytes, std::memory_order_relaxed); }
  /// What comes after the first call is ignored.
  void tell(departure how) {
    if (!is_told_.exchange(true)) hears_(how, bytes_.load(std::memory_order_relaxed));
  }

 private:
  const listener hears_;
  std::atomic<std::uint64_t> bytes_{0};
  std::atomic<bool> is_told_{false};
};

/// The receipts of the answers in one message: several of a batch, and none when nobody wants to know.
class receipts {
 public:
  void add(std::shared_ptr<receipt> one) { all_.push_back(std::move(one)); }
  void add(receipts other) {
    if (all_.empty()) return void(all_.swap(other.all_));
    for (auto& one : other.all_) all_.push_back(std::move(one));
  }
  /// Tells all.
  void tell(departure how) const {
    for (const auto& one : all_) one->tell(how);
  }
  /// The same, and lets go of them.
  void settle(departure how) {
    for (const auto& one : std::exchange(all_, {})) one->tell(how);
  }
  [[nodiscard]] bool empty() const noexcept { return all_.empty(); }

 private:
  std::vector<std::shared_ptr<receipt>> all_;
};

}  // namespace hondana::rpc
