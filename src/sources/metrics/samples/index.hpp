/// Which series there are, and which of them a selector admits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "sources/metrics/samples/id_table.hpp"
#include "sources/metrics/series/identity.hpp"
#include "sources/metrics/series/selector.hpp"

namespace hondana::samples {

/// The place of a series in memory; places of series that are gone are used again.
using slot = std::uint32_t;

/// Texts are kept once. Threads: one writer, or readers.
class index {
 public:
  explicit index(std::uint64_t seed) : seed_(seed) {}

  static constexpr std::size_t most_labels = 1000;

  [[nodiscard]] std::optional<slot> find(const series::identity& what) const;
  /// It is not there yet, and has `most_labels` at most.
  slot add(const series::identity& what);
  /// Linear in the series that share a label with one of these, so many at once are cheaper.
  void remove(const std::vector<slot>& which);

  [[nodiscard]] series::identity identity_of(slot which) const;
  [[nodiscard]] std::string_view name_of(slot which) const { return texts_[series_[which].symbols[0]]; }
  /// In order of slots. Linear in the series that share the rarest of its equal labels, or in all; expressions may take long
  /// for each. `is_over` is asked again and again: where it says so, what was found by then.
  [[nodiscard]] std::vector<slot> select(const series::selector& which, const std::function<bool()>& is_over = {}) const;
  /// All series of a name, in order of slots.
  [[nodiscard]] const std::vector<slot>* with_name(std::string_view name) const;
  /// All names that begin so, in order.
  [[nodiscard]] std::vector<std::string> names(std::string_view prefix) const;
  /// Of these series, in order, the first `most`.
  [[nodiscard]] std::vector<std::string> label_names(const std::vector<slot>& of, std::size_t most) const;
  [[nodiscard]] std::vector<std::string> label_values(const std::vector<slot>& of, std::string_view label,
                                                      std::string_view prefix, std::size_t most) const;
  [[nodiscard]] std::size_t size() const noexcept { return used_; }
  [[nodiscard]] bool has(slot which) const noexcept { return which < series_.size() && series_[which].symbols != nullptr; }
  /// One beyond the last slot.
  [[nodiscard]] slot end() const noexcept { return static_cast<slot>(series_.size()); }

 private:
  using symbol = std::uint32_t;
  struct described {
    std::unique_ptr<symbol[]> symbols{};  // the name, then label and value in turns; null: nothing is there
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
  /// The empty symbol is the label of names; nothing: the series has none of that label.
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

/// A row of bytes for an identity, and back. Nothing: it is none.
[[nodiscard]] std::string to_bytes(const series::identity& of);
[[nodiscard]] std::optional<series::identity> identity_in(std::string_view bytes);

}  // namespace hondana::samples
