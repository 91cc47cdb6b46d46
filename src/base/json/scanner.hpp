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

/// Fed any pieces of one JSON text, gives its parts in order. Brackets, names and strings are checked; numbers and literals
/// are only told apart, and UTF-8 is not looked at: what is kept is parsed later, and what is not is up to the caller.
///
/// Allocates nothing. Threads: one at a time.
class scanner {
 public:
  enum class kind : std::uint8_t {
    nothing,    ///< The piece is used up.
    mark,       ///< Brackets, commas, colons and white space.
    atom,       ///< A number or literal, or a part of one.
    key,        ///< A member's name with its quotes, or a part of it.
    open,       ///< The quote before a string.
    text,       ///< Characters of a string that stand for themselves.
    escape,     ///< An escape, or a part of one.
    close,      ///< The quote behind a string.
    malformed,  ///< Not JSON from here on, or nested deeper than the reader takes. Nothing else follows.
  };
  struct part {
    kind what = kind::nothing;
    std::string_view raw{};  ///< As it stands in the text.
    std::string_view
        decoded{};  ///< Of text and escapes: what it stands for; empty until an escape is whole. Valid until `next`.
  };

  /// Takes the next part from the front of `rest`.
  [[nodiscard]] part next(std::string_view& rest);

  /// Whether everything fed so far is one whole value.
  [[nodiscard]] bool is_complete() const noexcept { return expects_ == expected::end && !is_in_string_; }
  /// How many containers the part given last is in.
  [[nodiscard]] std::size_t depth() const noexcept { return depth_; }
  /// Whether the container number `at`, counted from the outermost as 0 to 3, is an array.
  [[nodiscard]] bool is_array(std::size_t at) const noexcept { return is_array_[at]; }
  /// Where in that array we are.
  [[nodiscard]] std::size_t index(std::size_t at) const noexcept { return levels_[at].index; }
  /// Whether that container is an object, and we are in its member `name` of at most 15 bytes.
  [[nodiscard]] bool is_member(std::size_t at, std::string_view name) const noexcept;

 private:
  enum class expected : std::uint8_t { value, value_or_close, key, key_or_close, colon, comma_or_close, end };
  static constexpr std::size_t key_bytes = 16;  // of the longest name that can be asked for, and one
  struct level {
    std::array<char, key_bytes> key{};
    std::size_t key_size = 0;
    std::size_t index = 0;
  };

  static constexpr std::size_t most_open = max_depth + 1;

  [[nodiscard]] part outside(std::string_view& rest);
  [[nodiscard]] part inside(std::string_view& rest);
  [[nodiscard]] part inside_escape(std::string_view& rest);
  [[nodiscard]] part begin_string(std::string_view& rest);
  [[nodiscard]] part broken() noexcept;
  bool take_mark(char c) noexcept;
  bool open(bool array) noexcept;
  bool close(bool array) noexcept;
  void add_to_key(std::string_view decoded) noexcept;
  enum class step : std::uint8_t { more, done, bad };
  step take_escaped(char c) noexcept;
  step take_hex_digit(char c) noexcept;
  void decode(char32_t point) noexcept;

  std::array<level, 4> levels_{};
  std::bitset<most_open> is_array_{};
  std::size_t depth_ = 0;
  expected expects_ = expected::value;
  bool is_in_atom_ = false;
  bool is_in_string_ = false;
  bool is_key_ = false;
  bool is_broken_ = false;

  std::size_t escape_size_ = 0;  // characters of the escape that have come; 0: not in one
  char32_t unit_ = 0;
  char32_t high_ = 0;  // the first half of a surrogate pair
  std::array<char, 4> decoded_{};
  std::size_t decoded_size_ = 0;
};

}  // namespace hondana::json
