/// Validates and repairs UTF-8, and finds the boundaries of code points.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::json {

/// Whether `bytes` is well-formed UTF-8 (no overlong forms, surrogates or truncated sequences).
[[nodiscard]] bool is_utf8(std::string_view bytes) noexcept;

/// Whether `bytes` contains a NUL byte.
[[nodiscard]] bool has_nul(std::string_view bytes) noexcept;

/// The length of a prefix of `bytes` that is ASCII without NUL, in whole blocks of 128 bytes (without AVX2: 64).
/// In most texts, only the bytes after this prefix need validation.
[[nodiscard]] std::size_t ascii_run(std::string_view bytes) noexcept;
/// Like `ascii_run`, without AVX2.
[[nodiscard]] std::size_t ascii_run_portable(std::string_view bytes) noexcept;

/// The number of bytes (0 to 3) at the end of `bytes` that begin a code point which further bytes could complete.
[[nodiscard]] std::size_t incomplete_tail(std::string_view bytes) noexcept;

/// Appends `bytes` to `out`, with each maximal ill-formed part replaced by U+FFFD (Unicode 15, section 3.9, best practice).
void append_replacing(std::string& out, std::string_view bytes);

/// Validates a text that arrives in pieces of any size.
class utf8_stream {
 public:
  /// Returns false if this or an earlier piece is ill-formed. A code point may continue in the next piece.
  bool feed(std::string_view piece);
  /// Whether all pieces together are well-formed and end with a complete code point.
  [[nodiscard]] bool finish() const noexcept;
  /// Whether the next byte starts a new code point. Meaningless after `feed` returned false.
  [[nodiscard]] bool is_at_boundary() const noexcept { return carry_size_ == 0; }

 private:
  char carry_[4] = {};
  std::size_t carry_size_ = 0;
  bool is_valid_ = true;
};

}  // namespace hondana::json
