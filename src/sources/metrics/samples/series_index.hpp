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

/// Hashes a text with a secret seed, so that no client can choose texts that collide.
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

/// A hash table from hashes to IDs, with open addressing. Each slot takes eight bytes, and at most three quarters are used.
/// Threads: one writer, or several readers.
class id_table {
 public:
  /// `is_it(id)` returns whether the entry is the wanted one.
  template <class Is>
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t hash, const Is& is_it) const {
    if (places_.empty()) return std::nullopt;
    for (auto at = start(hash); places_[at].is_used(); at = next(at))
      if (places_[at].hash == part(hash) && is_it(places_[at].id)) return places_[at].id;
    return std::nullopt;
  }
  /// The entry must not exist yet, and the ID must not be 2^32 - 1.
  void add(std::uint64_t hash, std::uint32_t id) {
    if ((used_ + 1) * 4 > places_.size() * 3) grow();
    put({part(hash), id});
    ++used_;
  }
  void remove(std::uint64_t hash, std::uint32_t id) {
    if (places_.empty()) return;
    auto at = start(hash);
    while (places_[at].is_used() && places_[at].id != id) at = next(at);
    if (!places_[at].is_used()) return;
    places_[at] = place{};
    --used_;
    // Move back the entries that the removed one had displaced.
    for (auto after = next(at); places_[after].is_used(); after = next(after)) {
      const auto moved = std::exchange(places_[after], place{});
      put(moved);
    }
  }
  [[nodiscard]] std::size_t memory() const noexcept { return places_.capacity() * sizeof(place); }

 private:
  static constexpr std::uint32_t nobody = 0xffffffffu;
  struct place {
    std::uint32_t hash = 0;
    std::uint32_t id = nobody;
    [[nodiscard]] bool is_used() const noexcept { return id != nobody; }
  };

  /// The stored part of a hash. It alone determines the place.
  [[nodiscard]] static std::uint32_t part(std::uint64_t hash) noexcept { return static_cast<std::uint32_t>(hash); }
  [[nodiscard]] std::size_t start(std::uint64_t hash) const noexcept { return part(hash) & (places_.size() - 1); }
  [[nodiscard]] std::size_t next(std::size_t at) const noexcept { return (at + 1) & (places_.size() - 1); }
  void put(const place& what) {
    auto at = start(what.hash);
    while (places_[at].is_used()) at = next(at);
    places_[at] = what;
  }
  void grow() {
    auto before = std::exchange(places_, std::vector<place>(places_.empty() ? 64 : places_.size() * 2));
    for (const auto& one : before)
      if (one.is_used()) put(one);
  }

  std::vector<place> places_{};
  std::size_t used_ = 0;
};

/// The position of a series in memory. Slots of removed series are reused.
using slot = std::uint32_t;

/// Stores identities of series and finds them by labels. Each distinct text is stored once. Threads: one writer, or several
/// readers.
class index {
 public:
  explicit index(std::uint64_t seed) : seed_(seed) {}

  static constexpr std::size_t most_labels = 1000;

  [[nodiscard]] std::optional<slot> find(const series::identity& what) const;
  /// The series must not exist yet, and may have at most `most_labels` labels.
  slot add(const series::identity& what);
  /// Takes time linear in the number of series that share a label with one of these. Removing many at once is cheaper.
  void remove(const std::vector<slot>& which);

  [[nodiscard]] series::identity identity_of(slot which) const;
  [[nodiscard]] std::string_view name_of(slot which) const { return texts_[series_[which].symbols[0]]; }
  /// The matching series, in order of slots. Takes time linear in the series with the rarest of the required labels, or else in
  /// all series. Regular expressions may take long for each.
  /// Calls `is_over` repeatedly; when it returns true, returns the matches so far.
  [[nodiscard]] std::vector<slot> select(const series::selector& which, const std::function<bool()>& is_over = {}) const;
  /// All series with this name, in order of slots.
  [[nodiscard]] const std::vector<slot>* with_name(std::string_view name) const;
  /// All metric names with this prefix, in order.
  [[nodiscard]] std::vector<std::string> names(std::string_view prefix) const;
  /// Label names, or values, of these series: the first `most` in order.
  [[nodiscard]] std::vector<std::string> label_names(const std::vector<slot>& of, std::size_t most) const;
  [[nodiscard]] std::vector<std::string> label_values(const std::vector<slot>& of, std::string_view label,
                                                      std::string_view prefix, std::size_t most) const;
  [[nodiscard]] std::size_t size() const noexcept { return used_; }
  [[nodiscard]] bool has(slot which) const noexcept { return which < series_.size() && series_[which].symbols != nullptr; }
  /// One past the last slot.
  [[nodiscard]] slot end() const noexcept { return static_cast<slot>(series_.size()); }

 private:
  using symbol = std::uint32_t;
  struct described {
    std::unique_ptr<symbol[]> symbols{};  // name, then label and value in turn; null: unused slot
    std::uint32_t labels = 0;
  };
  struct posting {
    symbol label = 0, value = 0;
    std::vector<slot> slots{};
  };

  [[nodiscard]] std::uint64_t hash_of(const series::identity& what) const;
  [[nodiscard]] std::uint64_t hash_of(slot which) const;
  [[nodiscard]] std::uint64_t hash_of_pair(symbol label, symbol value) const noexcept;
  [[nodiscard]] std::optional<symbol> symbol_of(std::string_view text) const;
  symbol take_symbol(std::string_view text);
  void drop_symbol(symbol which);
  [[nodiscard]] const posting* find_posting(symbol label, symbol value) const;
  posting& posting_of(symbol label, symbol value);
  void drop_posting(std::uint32_t which);
  /// The value of a label of a series, or nothing. The empty symbol stands for the label of the name.
  [[nodiscard]] std::optional<symbol> value_of(slot which, symbol label) const;
  template <class Each>
  void each_pair(slot which, const Each& each) const;

  std::uint64_t seed_;
  std::vector<described> series_{};
  std::vector<slot> free_series_{};
  std::size_t used_ = 0;
  id_table by_identity_{};

  std::deque<std::string> texts_{};
  std::vector<std::uint32_t> uses_{};
  std::vector<symbol> free_texts_{};
  id_table by_text_{};

  std::deque<posting> postings_{};
  std::vector<std::uint32_t> free_postings_{};
  id_table by_pair_{};
};

/// Encode and decode an identity. `identity_in` returns nothing if the bytes are invalid.
[[nodiscard]] std::string to_bytes(const series::identity& of);
[[nodiscard]] std::optional<series::identity> identity_in(std::string_view bytes);

}  // namespace hondana::samples
