/// How many words the texts of passages have, remembered: asking SQLite costs as much as everything else about a passage.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "search/index/store.hpp"

namespace hondana::search {

/// Of the passages asked for last, as many as fit into 4 MiB. Threads: any; nobody waits. A passage's text is never another one
/// under the same number but for what is rewritten, after which who searches next forgets them all.
class text_lengths {
 public:
  [[nodiscard]] std::optional<std::uint32_t> of(passage_id which) const noexcept {
    const auto there = places_[place_of(which)].load(std::memory_order_relaxed);
    if (there >> bits_of_length != static_cast<std::uint64_t>(which.number)) return std::nullopt;
    return static_cast<std::uint32_t>(there & longest);
  }
  /// Lengths that do not fit are not remembered.
  void remember(passage_id which, std::uint32_t length) noexcept {
    const auto number = static_cast<std::uint64_t>(which.number);
    if (length > longest || number >> (64 - bits_of_length) != 0) return;
    places_[place_of(which)].store(number << bits_of_length | length, std::memory_order_relaxed);
  }
  void clear() noexcept {
    for (std::size_t i = 0; i < count; ++i) places_[i].store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr unsigned bits_of_length = 16;
  static constexpr std::uint64_t longest = (1u << bits_of_length) - 1;
  static constexpr std::size_t count = std::size_t{1} << 19;

  /// The first passages of documents that follow each other lie side by side, the others anywhere.
  static std::size_t place_of(passage_id which) noexcept {
    const auto number = static_cast<std::uint64_t>(which.number);
    const auto order = number & 0xFFFF;
    return ((number >> 16) * 8 + (order & 7) + (order >> 3) * 0x9E3779B1u) & (count - 1);
  }

  // Number and length of a passage in one; a number of 0 is none's.
  std::unique_ptr<std::atomic<std::uint64_t>[]> places_ = std::make_unique<std::atomic<std::uint64_t>[]>(count);
};

}  // namespace hondana::search
