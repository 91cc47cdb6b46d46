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
  std::string text{};  ///< Of a string or an error.
  std::int64_t integer = 0;
  std::vector<redis_reply> elements{};

  [[nodiscard]] bool is_error() const noexcept { return type == kind::error; }
  [[nodiscard]] bool is_null() const noexcept { return type == kind::null; }
  /// The element, or a null reply if there is none.
  [[nodiscard]] const redis_reply& at(std::size_t index) const noexcept;
  /// The value of an integer reply, or a string reply parsed as a number.
  [[nodiscard]] std::int64_t as_integer() const noexcept;
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

  void feed(std::string_view bytes) { buffer_.append(bytes); }
  /// Returns the next reply; empty if more bytes are needed. Errors: protocol_error, permanently.
  [[nodiscard]] result<std::optional<redis_reply>> next();

 private:
  struct open_array {
    redis_reply array{};
    std::size_t size = 0;
  };
  [[nodiscard]] result<bool> parse_line(std::optional<redis_reply>& reply);
  [[nodiscard]] result<bool> parse_bulk_string(std::optional<redis_reply>& reply);
  /// Adds a value to the innermost open array. False: the reply is not complete yet.
  [[nodiscard]] bool append(std::optional<redis_reply>& reply);
  void consume(std::size_t bytes);

  std::string buffer_{};
  std::size_t position_ = 0;                  // bytes before this are consumed
  std::size_t line_search_position_ = 0;      // no line end was found up to this offset
  std::optional<std::size_t> bulk_length_{};  // of the bulk string that follows
  std::vector<open_array> open_arrays_{};
  std::size_t element_count_ = 0;
  std::size_t reply_bytes_ = 0;
};

}  // namespace hondana::analyses
