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
struct block {
  std::uint64_t begin = 0;  ///< Position in the file's contents.
  std::uint64_t end = 0;
  std::uint64_t base = 0;  ///< Position of `bytes`.
  std::string bytes{};
  std::vector<secrets::span> secrets{};  ///< Positions in `bytes`.

  [[nodiscard]] std::string_view from(std::uint64_t at) const noexcept {
    return std::string_view(bytes).substr(static_cast<std::size_t>(at - base));
  }
  [[nodiscard]] bool holds(std::uint64_t first, std::uint64_t last) const noexcept {
    return first >= base && last <= base + bytes.size();
  }
  /// Number of secrets that overlap [first, last).
  [[nodiscard]] std::size_t secrets_in(std::uint64_t first, std::uint64_t last) const noexcept;
};

/// The contents of the files before and after a file. Secrets at its ends can continue there.
struct surroundings {
  /// Returns at most this many bytes, up to the beginning of the file.
  std::function<result<std::string>(std::size_t)> before{};
  std::function<result<std::string>(std::size_t)> behind{};
};

/// Reads masked parts of a file. Threads: one at a time.
class window {
 public:
  static constexpr std::size_t ahead = 4u << 10;

  /// `of` must not be null. Bytes from `end` on are not returned, but influence the masking.
  window(std::shared_ptr<const content> of, std::uint64_t end, bool redact, std::string_view front, surroundings around);

  /// Loads a part, and up to `ahead` bytes after it. Errors: content_changed if the file has become shorter, and those of the
  /// surroundings.
  [[nodiscard]] result<block> load(std::uint64_t begin, std::uint64_t end);

  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
  /// Like `answerable`, but also extends masks over removed characters.
  [[nodiscard]] std::string cleaned(std::string_view text) const;
  /// Masks a text from this window again, as `mask_hidden`. Returns the number of new masks.
  std::size_t mask_again(std::string& text, bool as_it_is) const;
  /// Whether a text has secrets that only `mask_again` finds.
  [[nodiscard]] bool hides_something(std::string_view text) const;

 private:
  using text_around = std::unique_ptr<const std::string>;
  static result<void> fetch(text_around& into, const std::function<result<std::string>(std::size_t)>& from, std::size_t most);

  std::shared_ptr<const content> of_;
  std::uint64_t end_;
  secrets::redactor redactor_;
  secrets::widths widths_;
  surroundings around_;
  text_around before_, behind_;
};

}  // namespace hondana::records
