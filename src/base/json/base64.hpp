/// Encodes and decodes Base64 (RFC 4648), with and without padding, vectorized where the machine allows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/json/buffer.hpp"

namespace hondana::json {

/// Encoded size of `bytes` raw bytes.
[[nodiscard]] constexpr std::size_t base64_size(std::size_t bytes) noexcept { return (bytes + 2) / 3 * 4; }

/// Appends the encoding of `bytes`. Pieces whose size is a multiple of three concatenate.
void append_base64(std::string& out, std::string_view bytes);
/// The same into a buffer, which is not filled first.
void append_base64(buffer& out, std::string_view bytes);

/// The same without vectors, for machines without AVX2.
void append_base64_portable(std::string& out, std::string_view bytes);
void append_base64_portable(buffer& out, std::string_view bytes);

/// Decodes strictly: standard alphabet, padding required, no white space, unused bits zero. Nothing when it is not that.
[[nodiscard]] std::optional<std::string> decode_base64(std::string_view text);

/// Decodes, as strictly, a text that comes in pieces cut anywhere.
class base64_stream {
 public:
  /// Appends what `piece` completes to `out`. False for good once a group of four is none.
  bool feed(std::string_view piece, std::string& out);
  /// Whether everything fed was well-formed and nothing is left incomplete.
  [[nodiscard]] bool finish() const noexcept { return good_ && carried_ == 0; }

 private:
  bool take_quad(std::string& out);

  char carry_[4] = {};
  std::size_t carried_ = 0;
  bool good_ = true;
  bool ended_ = false;  // padding has come
};

/// Base64url without padding (RFC 4648 section 5), for cursors and tokens.
[[nodiscard]] std::string base64url(std::string_view bytes);
/// Decodes strictly what `base64url` writes.
[[nodiscard]] std::optional<std::string> decode_base64url(std::string_view text);

}  // namespace hondana::json
