/// Encodes and decodes Base64 (RFC 4648), with and without padding. Uses AVX2 if the CPU supports it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/buffer.hpp"

namespace hondana::json {

/// The encoded size of `bytes` raw bytes.
[[nodiscard]] constexpr std::size_t base64_size(std::size_t bytes) noexcept { return (bytes + 2) / 3 * 4; }

/// Appends the encoding of `bytes`. Encodings of pieces can be concatenated if all piece sizes but the last are multiples of
/// three.
void append_base64(std::string& out, std::string_view bytes);
/// The same, into a buffer that is not zeroed first.
void append_base64(buffer& out, std::string_view bytes);

/// The same without AVX2.
void append_base64_portable(std::string& out, std::string_view bytes);
void append_base64_portable(buffer& out, std::string_view bytes);

/// Decodes strictly: standard alphabet, padding required, no white space, unused bits zero. Returns nothing for other input.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

/// Strictly decodes a text that arrives in pieces of any size.
class base64_stream {
 public:
  /// Appends the bytes that `piece` completes to `out`. Returns false after the first invalid group of four.
  bool feed(std::string_view piece, std::string& out);
  /// Whether everything fed was well-formed and complete.
  [[nodiscard]] bool finish() const noexcept { return is_valid_ && carry_size_ == 0; }

 private:
  bool decode_quad(std::string& out);

  char carry_[4] = {};
  std::size_t carry_size_ = 0;
  bool is_valid_ = true;
  bool has_padding_ = false;  // padding has been read
};

/// Base64url without padding (RFC 4648 section 5), for cursors and tokens.
[[nodiscard]] std::string encode_base64url(std::string_view bytes);
/// Strictly decodes the output of `encode_base64url`.
[[nodiscard]] std::optional<std::string> decode_base64url(std::string_view text);

}  // namespace hondana::json
