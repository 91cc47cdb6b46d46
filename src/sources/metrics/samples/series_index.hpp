/// The index of a store: its series, and the search for those that match a selector.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sources/metrics/series/data_model.hpp"
#include "sources/metrics/series/selector.hpp"

namespace hondana::samples {

/// Hashes a text. With a secret `seed`, no client can choose texts that collide.
[[nodiscard]] inline std::uint64_t seeded_hash(std::string_view text, std::uint64_t seed) noexcept {
  const auto fold = [](std::uint64_t a, std::uint64_t b) {
    __extension__ using wide = unsigned __int128;
    const auto product = static_cast<wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  };
  std::uint64_t out = seed ^ (text.size() * 0x9e3779b97f4a7c15u);
  while (!text.empty()) {
    std::uint64_t word = 0;
    const auto length = text.size() < 8 ? text.size() : 8;
    std::memcpy(&word, text.data(), length);
    out = fold(out ^ word ^ 0x8ebc6af09c88c6e3u, seed | 1) ^ std::rotl(out, 23);
    text.remove_prefix(length);
  }
  return fold(out ^ 0x589965cc75374cc3u, 0xe7037ed1a0b428dbu);
}

/// A hash table from hashes to IDs, with open addressing. Each bucket takes eight bytes, and at most three quarters are used.
/// Threads: one writer, or several readers.
class id_table {
 public:
  /// Finds an entry with this hash. `matches(id)` must return whether it is the wanted one.
  template <class Predicate>
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t hash, const Predicate& matches) const {
    if (buckets_.empty()) return std::nullopt;
    for (auto position = home_position(hash); buckets_[position].is_used(); position = next_position(position))
      if (buckets_[position].hash == short_hash(hash) && matches(buckets_[position].id)) return buckets_[position].id;
    return std::nullopt;
  }
  /// Adds an entry, which must not exist yet. The ID must not be 2^32 - 1.
  void add(std::uint64_t hash, std::uint32_t id) {
    if ((used_ + 1) * 4 > buckets_.size() * 3) grow();
    insert({short_hash(hash), id});
    ++used_;
  }
  /// Removes an entry, if it exists.
  void remove(std::uint64_t hash, std::uint32_t id) {
    if (buckets_.empty()) return;
    auto position = home_position(hash);
    while (buckets_[position].is_used() && buckets_[position].id != id) position = next_position(position);
    if (!buckets_[position].is_used()) return;
    buckets_[position] = bucket{};
    --used_;
    // Move back the entries that the removed one had displaced.
    for (auto following = next_position(position); buckets_[following].is_used(); following = next_position(following)) {
      const auto moved = std::exchange(buckets_[following], bucket{});
      insert(moved);
    }
  }
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return buckets_.capacity() * sizeof(bucket); }

 private:
  static constexpr std::uint32_t no_id = 0xffffffffu;
  struct bucket {
    std::uint32_t hash = 0;
    std::uint32_t id = no_id;
    [[nodiscard]] bool is_used() const noexcept { return id != no_id; }
  };

  /// The stored part of a hash. It alone determines the bucket.
  [[nodiscard]] static std::uint32_t short_hash(std::uint64_t hash) noexcept { return static_cast<std::uint32_t>(hash); }
  [[nodiscard]] std::size_t home_position(std::uint64_t hash) const noexcept {
    return short_hash(hash) & (buckets_.size() - 1);
  }
  [[nodiscard]] std::size_t next_position(std::size_t position) const noexcept {
    return (position + 1) & (buckets_.size() - 1);
  }
  void insert(const bucket& entry) {
    auto position = home_position(entry.hash);
    while (buckets_[position].is_used()) position = next_position(position);
    buckets_[position] = entry;
  }
  void grow() {
    auto previous = std::exchange(buckets_, std::vector<bucket>(buckets_.empty() ? 64 : buckets_.size() * 2));
    for (const auto& entry : previous)
      if (entry.is_used()) insert(entry);
  }

  std::vector<bucket> buckets_{};
  std::size_t used_ = 0;
};

/// The position of a series in memory. Slots of removed series are reused.
using slot = std::uint32_t;

/// Stores identities of series and finds them by labels. Each distinct text is stored once. Threads: one writer, or several
/// readers.
class series_index {
 public:
  /// `seed`: a secret random number; see `seeded_hash`.
  explicit series_index(std::uint64_t seed) : seed_(seed) {}

  static constexpr std::size_t max_labels = 1000;

  [[nodiscard]] std::optional<slot> find(const series::identity& identity) const;
  /// Adds a series, which must not exist yet and may have at most `max_labels` labels.
  slot add(const series::identity& identity);
  /// Removes series. Takes time linear in the number of series that share a label with one of these. Removing many at once is
  /// cheaper.
  void remove(const std::vector<slot>& slots);

  /// Returns the identity of a series, which must exist.
  [[nodiscard]] series::identity identity_of(slot slot_index) const;
  /// Returns the metric's name of a series, which must exist.
  [[nodiscard]] std::string_view name_of(slot slot_index) const { return texts_[series_[slot_index].symbols[0]]; }
  /// Returns the matching series, in order of slots. Takes time linear in the series with the rarest of the required labels, or
  /// else in all series. Regular expressions may take long for each.
  /// Calls `should_stop` repeatedly; when it returns true, returns the matches so far.
  [[nodiscard]] std::vector<slot> select(const series::selector& selector, const std::function<bool()>& should_stop = {}) const;
  /// Returns all series with this name, in order of slots; null: there are none. Valid until the index is changed.
  [[nodiscard]] const std::vector<slot>* find_by_name(std::string_view name) const;
  /// Returns all metric names with this prefix, in order.
  [[nodiscard]] std::vector<std::string> metric_names(std::string_view prefix) const;
  /// Returns the first `max_count` label names of these series, in order.
  [[nodiscard]] std::vector<std::string> label_names(const std::vector<slot>& slots, std::size_t max_count) const;
  /// Returns the first `max_count` values of a label of these series that begin with `prefix`, in order.
  [[nodiscard]] std::vector<std::string> label_values(const std::vector<slot>& slots, std::string_view label,
                                                      std::string_view prefix, std::size_t max_count) const;
  /// Returns the number of series.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Whether a slot has a series.
  [[nodiscard]] bool has(slot slot_index) const noexcept {
    return slot_index < series_.size() && series_[slot_index].symbols != nullptr;
  }
  /// Returns the slot after the last one.
  [[nodiscard]] slot end_slot() const noexcept { return static_cast<slot>(series_.size()); }

 private:
  /// The number of a stored text. 0: the empty text, which also stands for the label `__name__`.
  using symbol = std::uint32_t;
  struct indexed_series {
    std::unique_ptr<symbol[]> symbols{};  // name, then label and value in turn; null: unused slot
    std::uint32_t label_count = 0;
  };
  /// The series that have a label with a value.
  struct posting {
    symbol label = 0, value = 0;
    std::vector<slot> slots{};
  };

  [[nodiscard]] std::uint64_t hash_of(const series::identity& identity) const;
  [[nodiscard]] std::uint64_t hash_of(slot slot_index) const;
  [[nodiscard]] std::uint64_t hash_of_pair(symbol label, symbol value) const noexcept;
  [[nodiscard]] std::optional<symbol> find_symbol(std::string_view text) const;
  /// Stores a text, or counts another reference to it.
  symbol acquire_symbol(std::string_view text);
  /// Removes a reference to a text.
  void release_symbol(symbol id);
  /// Null: there is none.
  [[nodiscard]] const posting* find_posting(symbol label, symbol value) const;
  /// Finds or adds a posting.
  posting& posting_for(symbol label, symbol value);
  void remove_posting(std::uint32_t id);
  /// Returns the value of a label of a series; nullopt: the series does not have it.
  [[nodiscard]] std::optional<symbol> value_of(slot slot_index, symbol label) const;
  /// Calls `function(label, value)` for the name and each label of a series.
  template <class Function>
  void for_each_pair(slot slot_index, const Function& function) const;

  std::uint64_t seed_;
  std::vector<indexed_series> series_{};
  std::vector<slot> free_slots_{};
  std::size_t size_ = 0;
  id_table by_identity_{};

  std::deque<std::string> texts_{};  // by symbol
  std::vector<std::uint32_t> reference_counts_{};
  std::vector<symbol> free_symbols_{};
  id_table by_text_{};

  std::deque<posting> postings_{};
  std::vector<std::uint32_t> free_postings_{};
  id_table by_pair_{};
};

/// Encodes an identity for the file of a store.
[[nodiscard]] std::string encode_identity(const series::identity& identity);
/// Reverses `encode_identity`. Returns nullopt if the bytes are malformed.
[[nodiscard]] std::optional<series::identity> decode_identity(std::string_view bytes);

}  // namespace hondana::samples
