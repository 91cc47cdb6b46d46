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

/// The length of a prefix of `bytes` that is ASCII without NUL, in whole blocks of 128 bytes (64 with `ascii_run_portable`).
/// Most text consists of such blocks, so that only the rest needs validation.
[[nodiscard]] std::size_t ascii_run(std::string_view bytes) noexcept;
/// The same without AVX2.
[[nodiscard]] std::size_t ascii_run_portable(std::string_view bytes) noexcept;

/// The number of bytes (0 to 3) at the end of `bytes` that form an incomplete sequence, which more bytes could complete.
[[nodiscard]] std::size_t incomplete_tail(std::string_view bytes) noexcept;

/// Appends `bytes` with every maximal ill-formed part replaced by U+FFFD (Unicode 15, section 3.9, best practice).
void append_replacing(std::string& out, std::string_view bytes);

/// Validates a text that arrives in pieces.
class utf8_stream {
 public:
  /// Returns false from the first ill-formed piece on.
  bool feed(std::string_view piece);
  /// Whether everything fed was well-formed and complete.
  [[nodiscard]] bool finish() const noexcept;
  /// Whether the next byte starts a new sequence, if everything fed was well-formed.
  [[nodiscard]] bool is_at_boundary() const noexcept { return carry_size_ == 0; }

 private:
  char carry_[4] = {};
  std::size_t carry_size_ = 0;
  bool is_valid_ = true;
};

}  // namespace hondana::json
