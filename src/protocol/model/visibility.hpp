/// What views are known to see of one immutable set of entries.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <hondana/provider.hpp>

namespace hondana::model {

/// Two bits an entry for one view: whether the decision is known, and whether the entry is visible.
///
/// Threads: any, without a lock; decisions are pure, so two threads that make one agree.
class visibility {
 public:
  enum class sight : std::uint8_t { unknown, hidden, visible };

  explicit visibility(std::size_t entries);

  [[nodiscard]] sight at(std::size_t index) const noexcept;
  void remember(std::size_t index, bool is_visible) noexcept;
  /// The first position from `index` on that is not known to be hidden, 64 entries a step; `entries` when there is none.
  [[nodiscard]] std::size_t skip_hidden(std::size_t index) const noexcept;

 private:
  struct word {
    std::atomic<std::uint64_t> known{0};
    std::atomic<std::uint64_t> visible{0};
  };
  std::size_t entries_;
  std::vector<word> words_;
};

/// The visibilities of the views that asked last, at most sixteen. Threads: any.
class visibility_table {
 public:
  explicit visibility_table(std::size_t entries) : entries_(entries) {}

  /// What is known for `through`; a new view displaces the one that has not asked for longest.
  [[nodiscard]] std::shared_ptr<visibility> of(const std::shared_ptr<const view>& through);

 private:
  struct row {
    std::weak_ptr<const view> owner;  // keeps the identity of a dead view from being taken over
    const view* address = nullptr;
    std::uint64_t id = 0;
    std::shared_ptr<visibility> seen;
  };
  std::size_t entries_;
  std::mutex mutex_;
  std::vector<row> rows_;  // the latest asker last
};

}  // namespace hondana::model
