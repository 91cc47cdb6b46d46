/// Finds the structure and the strings of a JSON text that arrives in pieces.
#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/json/reader.hpp"

namespace hondana::json {

/// Splits a JSON text, fed in pieces of any size, into its parts in order.
/// Checks brackets, names and strings. Does not validate numbers, literals and UTF-8: callers parse or check the parts that
/// they use.
///
/// Allocates nothing. Threads: one at a time.
class scanner {
 public:
  enum class part_kind : std::uint8_t {
    none,         ///< The piece has been consumed.
    punctuation,  ///< Brackets, commas, colons and white space.
    atom,         ///< A number or literal, or a part of one.
    key,          ///< The name of a member with its quotes, or a part of it.
    open_quote,   ///< The quote that begins a string.
    text,         ///< Unescaped characters of a string.
    escape,       ///< An escape sequence, or a part of one.
    close_quote,  ///< The quote that ends a string.
    malformed,    ///< Not JSON from here on, or nested deeper than `max_depth`. All later parts are `malformed`, too.
  };
  struct part {
    part_kind kind = part_kind::none;
    std::string_view raw{};  ///< The bytes as they occur in the text.
    std::string_view
        decoded{};  ///< For text and escapes: the decoded characters; empty until an escape is complete. Valid until `next`.
  };

  /// Takes the next part from the front of `input`.
  [[nodiscard]] part next(std::string_view& input);

  /// Whether everything fed so far is one complete value.
  [[nodiscard]] bool is_complete() const noexcept { return expects_ == expected::end && !is_in_string_; }
  /// The number of containers that enclose the last part.
  [[nodiscard]] std::size_t depth() const noexcept { return depth_; }
  /// Whether container number `container` is an array. Containers are counted from the outermost, which is 0.
  [[nodiscard]] bool is_array(std::size_t container) const noexcept { return is_array_[container]; }
  /// The current index in array number `container`, which must be 0 to 3.
  [[nodiscard]] std::size_t index(std::size_t container) const noexcept { return levels_[container].index; }
  /// Whether container number `container` (0 to 3) is an object and the current position is in its member `name`, of at most 15
  /// bytes.
  [[nodiscard]] bool is_member(std::size_t container, std::string_view name) const noexcept;

 private:
  enum class expected : std::uint8_t { value, value_or_close, key, key_or_close, colon, comma_or_close, end };
  static constexpr std::size_t key_bytes = 16;  // the longest name that `is_member` accepts, plus one
  struct level {
    std::array<char, key_bytes> key{};
    std::size_t key_size = 0;
    std::size_t index = 0;
  };

  static constexpr std::size_t max_open = max_depth + 1;

  [[nodiscard]] part scan_outside(std::string_view& input);
  [[nodiscard]] part scan_string(std::string_view& input);
  [[nodiscard]] part scan_escape(std::string_view& input);
  [[nodiscard]] part begin_string(std::string_view& input);
  [[nodiscard]] part mark_malformed() noexcept;
  bool accept_punctuation(char c) noexcept;
  bool open_container(bool is_array) noexcept;
  bool close_container(bool is_array) noexcept;
  void add_to_key(std::string_view decoded) noexcept;
  enum class step : std::uint8_t { incomplete, complete, invalid };
  step accept_escaped(char c) noexcept;
  step accept_hex_digit(char c) noexcept;
  void store_code_point(char32_t code_point) noexcept;

  std::array<level, 4> levels_{};
  std::bitset<max_open> is_array_{};
  std::size_t depth_ = 0;
  expected expects_ = expected::value;
  bool is_in_atom_ = false;
  bool is_in_string_ = false;
  bool is_key_ = false;
  bool is_malformed_ = false;

  std::size_t escape_size_ = 0;  // characters of the current escape read so far; 0: not in an escape
  char32_t unit_ = 0;
  char32_t high_surrogate_ = 0;  // the high surrogate of an incomplete pair
  std::array<char, 4> decoded_{};
  std::size_t decoded_size_ = 0;
};

}  // namespace hondana::json
