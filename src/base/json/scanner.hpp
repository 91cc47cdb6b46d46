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

/// Splits a JSON text, given in pieces of any size, into its parts in order.
/// Checks brackets, commas, colons and strings. Does not check numbers, literals and UTF-8: the caller must check those it
/// uses.
///
/// A container is an object or an array. Its number is the number of containers around it: 0 is the outermost one.
/// Does not allocate memory. Threads: one at a time.
class scanner {
 public:
  enum class part_kind : std::uint8_t {
    none,         ///< `input` is empty.
    punctuation,  ///< One or more brackets, commas, colons and white space.
    atom,         ///< A number or literal, or a part of one.
    key,          ///< The name of a member with its quotation marks, or a piece of it.
    open_quote,   ///< The quotation mark that begins a string value.
    text,         ///< Characters of a string value that are not escaped.
    escape,       ///< An escape sequence in a string value, or a piece of one.
    close_quote,  ///< The quotation mark that ends a string value.
    malformed,    ///< The rest is not JSON, or too deeply nested. Takes nothing from `input`. Later calls return it again.
  };
  struct part {
    part_kind kind = part_kind::none;
    std::string_view raw{};  ///< The bytes as they occur in the text, as a view of `input`.
    /// For `key`, `text` and `escape`: the characters that `raw` represents. Empty for quotation marks, and for an escape
    /// sequence until its end. Valid until the next call of `next`, and only as long as the bytes of `input`.
    std::string_view decoded{};
  };

  /// Removes the next part from the front of `input` and returns it. Accepts up to `max_depth` + 1 nested containers.
  [[nodiscard]] part next(std::string_view& input);

  /// Whether the text so far is one complete value. A number or literal at its end may still continue.
  /// Meaningless after a `malformed` part.
  [[nodiscard]] bool is_complete() const noexcept { return expects_ == expected::end && !is_in_string_; }
  /// The number of containers that are open after the last part.
  [[nodiscard]] std::size_t depth() const noexcept { return depth_; }
  /// Whether the latest container with this number, open or closed, is an array. False if there was none.
  [[nodiscard]] bool is_array(std::size_t container) const noexcept { return is_array_[container]; }
  /// The index of the current element in array number `container` (0 to 3), which must be open.
  [[nodiscard]] std::size_t index(std::size_t container) const noexcept { return levels_[container].index; }
  /// Whether container number `container` (0 to 3), which must be open, is an object and its current member is `name`.
  /// Call it after a part of the member's value, because before that the key may be incomplete.
  /// False for names longer than 15 bytes.
  [[nodiscard]] bool is_member(std::size_t container, std::string_view name) const noexcept;

 private:
  enum class expected : std::uint8_t { value, value_or_close, key, key_or_close, colon, comma_or_close, end };
  static constexpr std::size_t key_bytes = 16;  // the longest name that `is_member` can find, plus one
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
