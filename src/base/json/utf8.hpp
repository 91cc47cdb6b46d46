/// Validates and repairs UTF-8, and finds the boundaries of code points.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace hondana::json {

/// Whether `bytes` is well-formed UTF-8 (no overlong forms, surrogates or truncated sequences).
[[nodiscard]] bool is_utf8(std::string_view bytes) noexcept;

/// Whether `bytes` holds a NUL byte.
[[nodiscard]] bool has_nul(std::string_view bytes) noexcept;

/// How many bytes at the start of `bytes` certainly are ASCII without NUL, in blocks of 128 (of 64 with `ascii_run_portable`):
/// most text is passed over by this in one go, and only what is left needs to be validated.
[[nodiscard]] std::size_t ascii_run(std::string_view bytes) noexcept;
/// The same without vectors.
[[nodiscard]] std::size_t ascii_run_portable(std::string_view bytes) noexcept;

/// How many bytes at the end of `bytes` are a sequence that further bytes could still complete (0 to 3).
[[nodiscard]] std::size_t incomplete_tail(std::string_view bytes) noexcept;

/// Appends `bytes` with every maximal ill-formed part replaced by U+FFFD (Unicode 15, section 3.9, best practice).
void append_replacing(std::string& out, std::string_view bytes);

/// Validates a text that arrives in pieces.
class utf8_stream {
 public:
  /// False from the first ill-formed piece on.
  bool feed(std::string_view piece);
  /// Whether everything fed was well-formed and nothing is left incomplete.
  [[nodiscard]] bool finish() const noexcept;
  /// Whether what comes next begins a sequence, as far as all was well-formed.
  [[nodiscard]] bool is_between() const noexcept { return carried_ == 0; }

 private:
  char carry_[4] = {};
  std::size_t carried_ = 0;
  bool good_ = true;
};

}  // namespace hondana::json
