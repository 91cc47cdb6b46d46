/// The Redis protocol RESP 2: commands as bytes, and replies parsed from bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::analyses {

/// A reply. Spec: redis.io/docs/reference/protocol-spec.
struct redis_reply {
  enum class kind : std::uint8_t { simple_string, error, integer, bulk_string, null, array };
  kind type = kind::null;
  std::string text{};                   ///< With `simple_string`, `bulk_string` and `error`.
  std::int64_t integer = 0;             ///< With `integer`.
  std::vector<redis_reply> elements{};  ///< With `array`.

  [[nodiscard]] bool is_error() const noexcept { return type == kind::error; }
  [[nodiscard]] bool is_null() const noexcept { return type == kind::null; }
  /// Returns the element of an array, or a null reply if there is none.
  [[nodiscard]] const redis_reply& at(std::size_t index) const noexcept;
  /// Returns the value of an integer, or of a string that contains one. 0 for all other replies.
  [[nodiscard]] std::int64_t as_integer() const noexcept;
  /// Returns the value of an integer, or of a string that begins with a number. 0 for all other replies.
  [[nodiscard]] double as_double() const noexcept;
};

/// Encodes a command as an array of strings.
[[nodiscard]] std::string encode_command(std::span<const std::string_view> arguments);

/// Decodes replies from a byte stream. Threads: one at a time.
class reply_parser {
 public:
  static constexpr std::size_t max_line_bytes = 64u << 10;
  static constexpr std::size_t max_bulk_bytes = 64u << 20;
  static constexpr std::size_t max_elements = 1'000'000;      ///< Of a whole reply.
  static constexpr std::size_t max_reply_bytes = 256u << 20;  ///< Of a whole reply.
  static constexpr std::size_t max_depth = 8;

  /// Adds received bytes.
  void feed(std::string_view bytes) { buffer_.append(bytes); }
  /// Returns the next reply. nullopt: more bytes are needed. Errors: protocol_error, after which the parser is unusable.
  [[nodiscard]] result<std::optional<redis_reply>> next();

 private:
  /// An array whose elements have not all been parsed.
  struct open_array {
    redis_reply array{};
    std::size_t size = 0;  ///< Number of elements.
  };
  // Return false if more bytes are needed. After true, `reply` is a value, or nullopt at the start of an array.
  [[nodiscard]] result<bool> parse_line(std::optional<redis_reply>& reply);
  [[nodiscard]] result<bool> parse_bulk_string(std::optional<redis_reply>& reply);
  /// Adds the value to the innermost open array, and closes arrays that are complete. Returns whether `reply` is now a whole
  /// reply.
  [[nodiscard]] bool append(std::optional<redis_reply>& reply);
  void consume(std::size_t bytes);

  std::string buffer_{};
  std::size_t position_ = 0;                  // bytes before this are consumed
  std::size_t line_search_position_ = 0;      // offset in `buffer_`; no line end was found before it
  std::optional<std::size_t> bulk_length_{};  // set if the content of a bulk string follows
  std::vector<open_array> open_arrays_{};     // outermost first
  std::size_t element_count_ = 0;             // of the current reply
  std::size_t reply_bytes_ = 0;               // of the current reply
};

}  // namespace hondana::analyses
