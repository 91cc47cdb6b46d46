/// Reads parts of a log file, with secrets masked in the same way as in the whole file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/logs/records/file_content.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::records {

/// The part [begin, end) of a file, with some bytes before it and after it, if they exist. Secrets are masked.
/// Positions are in the decompressed contents of the file, unless stated otherwise.
struct masked_block {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  std::uint64_t base = 0;                ///< Position of the first byte of `bytes`.
  std::string bytes{};                   ///< Masked.
  std::vector<secrets::span> secrets{};  ///< The masked secrets, as positions in `bytes`.

  /// Returns the masked bytes from the position `offset` on, which must not be before `base`.
  [[nodiscard]] std::string_view text_from(std::uint64_t offset) const noexcept {
    return std::string_view(bytes).substr(static_cast<std::size_t>(offset - base));
  }
  /// Returns the masked bytes before the position `offset`.
  [[nodiscard]] std::string_view text_before(std::uint64_t offset) const noexcept {
    return std::string_view(bytes).substr(0, static_cast<std::size_t>(offset - base));
  }
  /// Whether `bytes` includes [first, last).
  [[nodiscard]] bool contains(std::uint64_t first, std::uint64_t last) const noexcept {
    return first >= base && last <= base + bytes.size();
  }
  /// Returns the number of secrets that overlap [first, last).
  [[nodiscard]] std::size_t count_secrets(std::uint64_t first, std::uint64_t last) const noexcept;
};

/// Read older and newer files of the same log, since a secret may begin or end there. An empty function: there are none.
struct context_readers {
  /// Returns at most this many of the bytes that end directly before the file.
  std::function<result<std::string>(std::size_t)> read_before{};
  /// Returns at most this many of the bytes that begin directly after the file.
  std::function<result<std::string>(std::size_t)> read_after{};
};

/// Reads masked parts of a file. Threads: one at a time.
class masked_window {
 public:
  /// Bytes after the requested part that a `masked_block` may have.
  static constexpr std::size_t lookahead_bytes = 4u << 10;

  /// `bytes`: the file's contents, not null. Bytes from `end` on are not returned, but influence the masking. `redact`: whether
  /// to mask secrets. `front`: the first bytes of the file, which show its encoding (up to `secrets::front_bytes`).
  /// `lookbehind_bytes`: before the requested part that a `masked_block` has, unless the file begins there; at least 1.
  masked_window(std::shared_ptr<const content> bytes, std::uint64_t end, bool redact, std::string_view front,
                context_readers readers, std::size_t lookbehind_bytes = 1);

  /// Loads and masks the part [begin, end), the bytes before it, and up to `lookahead_bytes` bytes after it. Errors:
  /// content_changed if the file has become shorter; those of `content::read` and of the `context_readers`.
  [[nodiscard]] result<masked_block> load(std::uint64_t begin, std::uint64_t end);

  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
  /// Applies `sanitize` to a part of a loaded block. Before that, applies `extend_masks` if secrets are masked.
  [[nodiscard]] std::string sanitized(std::string_view text) const;
  /// Applies `mask_hidden_secrets` if secrets are masked. Returns the number of new masks.
  std::size_t mask_again(std::string& text, bool masks_visible) const;

 private:
  using context_text = std::unique_ptr<const std::string>;
  /// Calls `reader` at the first use of `text`.
  static result<void> fetch(context_text& text, const std::function<result<std::string>(std::size_t)>& reader,
                            std::size_t max_bytes);

  std::shared_ptr<const content> bytes_;
  std::uint64_t end_;
  secrets::redactor redactor_;
  secrets::wide_encodings widths_;
  context_readers readers_;
  std::uint64_t lookbehind_bytes_;
  context_text text_before_, text_after_;  // results of `readers_`; null: not read yet
};

}  // namespace hondana::records
