/// Encodes and decodes Base64 with padding, and Base64url without padding (RFC 4648). Uses AVX2 if the CPU supports it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/buffer.hpp"

namespace hondana::json {

/// The number of characters that encode `bytes` raw bytes, with padding.
[[nodiscard]] constexpr std::size_t base64_size(std::size_t bytes) noexcept { return (bytes + 2) / 3 * 4; }

/// Appends the Base64 encoding of `bytes`, with padding.
/// Encodings of pieces can be concatenated if the size of each piece, except the last one, is a multiple of three.
void append_base64(std::string& out, std::string_view bytes);
/// Like the overload for strings, but faster, because the buffer is not zeroed first.
void append_base64(buffer& out, std::string_view bytes);

/// Like `append_base64`, without AVX2.
void append_base64_portable(std::string& out, std::string_view bytes);
void append_base64_portable(buffer& out, std::string_view bytes);

/// Decodes strictly: standard alphabet, padding required, no white space, unused bits zero. Returns nullopt for other input.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

/// Decodes a text that arrives in pieces of any size. As strict as `decode_base64`.
class base64_stream {
 public:
  /// Decodes `piece` and appends the complete bytes to `out`.
  /// Returns false if this or an earlier piece is invalid. `out` can then end with wrong bytes.
  bool feed(std::string_view piece, std::string& out);
  /// Whether all pieces together were valid and complete.
  [[nodiscard]] bool finish() const noexcept { return is_valid_ && carry_size_ == 0; }

 private:
  bool decode_quad(std::string& out);

  char carry_[4] = {};
  std::size_t carry_size_ = 0;
  bool is_valid_ = true;
  bool has_padding_ = false;  // padding has been read
};

/// Encodes as Base64url without padding (RFC 4648 section 5), for cursors and tokens.
[[nodiscard]] std::string encode_base64url(std::string_view bytes);
/// Decodes strictly: no padding, no white space, unused bits zero. Returns nullopt for other input.
[[nodiscard]] std::optional<std::string> decode_base64url(std::string_view text);

}  // namespace hondana::json
