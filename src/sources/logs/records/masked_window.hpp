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

/// A part of a file, with one byte before it and some bytes after it.
struct masked_block {
  std::uint64_t begin = 0;  ///< Position in the file's contents.
  std::uint64_t end = 0;
  std::uint64_t base = 0;  ///< Position of `bytes`.
  std::string bytes{};
  std::vector<secrets::span> secrets{};  ///< Positions in `bytes`.

  [[nodiscard]] std::string_view text_from(std::uint64_t offset) const noexcept {
    return std::string_view(bytes).substr(static_cast<std::size_t>(offset - base));
  }
  [[nodiscard]] bool contains(std::uint64_t first, std::uint64_t last) const noexcept {
    return first >= base && last <= base + bytes.size();
  }
  /// Number of secrets that overlap [first, last).
  [[nodiscard]] std::size_t count_secrets(std::uint64_t first, std::uint64_t last) const noexcept;
};

/// The contents of the files before and after a file. Secrets at its ends can continue there.
struct context_readers {
  /// Returns at most this many bytes, up to the beginning of the file.
  std::function<result<std::string>(std::size_t)> read_before{};
  std::function<result<std::string>(std::size_t)> read_after{};
};

/// Reads masked parts of a file. Threads: one at a time.
class masked_window {
 public:
  static constexpr std::size_t lookahead_bytes = 4u << 10;

  /// `bytes` must not be null. Bytes from `end` on are not returned, but influence the masking.
  masked_window(std::shared_ptr<const content> bytes, std::uint64_t end, bool redact, std::string_view front,
                context_readers readers);

  /// Loads a part, and up to `lookahead_bytes` bytes after it. Errors: content_changed if the file has become shorter, and
  /// those of the surroundings.
  [[nodiscard]] result<masked_block> load(std::uint64_t begin, std::uint64_t end);

  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
  /// Like `sanitize`, but also extends masks over removed characters.
  [[nodiscard]] std::string sanitized(std::string_view text) const;
  /// Masks a text from this window again, as `mask_hidden_secrets`. Returns the number of new masks.
  std::size_t mask_again(std::string& text, bool masks_visible) const;
  /// Whether a text has secrets that only `mask_again` finds.
  [[nodiscard]] bool has_hidden_secrets(std::string_view text) const;

 private:
  using context_text = std::unique_ptr<const std::string>;
  static result<void> fetch(context_text& text, const std::function<result<std::string>(std::size_t)>& reader,
                            std::size_t max_bytes);

  std::shared_ptr<const content> bytes_;
  std::uint64_t end_;
  secrets::redactor redactor_;
  secrets::wide_encodings widths_;
  context_readers readers_;
  context_text text_before_, text_after_;
};

}  // namespace hondana::records
