/// Finds numbers by the hash of what they stand for.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace hondana::samples {

/// Of a text, with a seed that nobody outside knows, so that nobody can choose texts that collide.
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

/// Open addressing, eight bytes a place, three quarters of them used at most. Threads: one writer, or readers.
class id_table {
 public:
  /// `is_it(id)`: whether that is what is looked for.
  template <class Is>
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint64_t hash, const Is& is_it) const {
    if (places_.empty()) return std::nullopt;
    for (auto at = start(hash); places_[at].is_used(); at = next(at))
      if (places_[at].hash == part(hash) && is_it(places_[at].id)) return places_[at].id;
    return std::nullopt;
  }
  /// It is not there yet. Not 2^32 - 1.
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
    // What was pushed on by it moves back.
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

  /// What of a hash is kept; its place follows from this part alone.
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

}  // namespace hondana::samples
