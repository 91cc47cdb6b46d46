/// Reads stretches of a log file with the secrets in them masked as in the whole file.
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

/// A stretch, with a byte before and some behind it.
struct block {
  std::uint64_t begin = 0;  ///< In the member.
  std::uint64_t end = 0;
  std::uint64_t base = 0;  ///< Where `bytes` begins.
  std::string bytes{};
  std::vector<secrets::span> secrets{};  ///< In `bytes`.

  [[nodiscard]] std::string_view from(std::uint64_t at) const noexcept {
    return std::string_view(bytes).substr(static_cast<std::size_t>(at - base));
  }
  [[nodiscard]] bool holds(std::uint64_t first, std::uint64_t last) const noexcept {
    return first >= base && last <= base + bytes.size();
  }
  /// How many begin there.
  [[nodiscard]] std::size_t secrets_in(std::uint64_t first, std::uint64_t last) const noexcept;
};

/// What stands before a member and behind it decides about its ends, too: it is one text with them.
struct surroundings {
  std::function<result<std::string>(std::size_t)> before{};  ///< So many bytes at most, the last of them just before it.
  std::function<result<std::string>(std::size_t)> behind{};
};

/// Threads: one at a time.
class window {
 public:
  static constexpr std::size_t ahead = 4u << 10;

  /// Null `of` is none. `end`: what lies behind it is not given, but decides about what is.
  window(std::shared_ptr<const content> of, std::uint64_t end, bool redact, std::string_view front, surroundings around);

  /// With `ahead` bytes more behind it, as far as there are. Errors: content_changed when the file is shorter now, and those of
  /// the surroundings.
  [[nodiscard]] result<block> load(std::uint64_t begin, std::uint64_t end);

  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
  /// As `answerable`; masks go on behind what that leaves out.
  [[nodiscard]] std::string cleaned(std::string_view text) const;
  /// Masks a text that was made of what this gave, as `mask_hidden` does; returns how many were masked.
  std::size_t mask_again(std::string& text, bool as_it_is) const;
  /// Whether there is anything in a text that only `mask_again` finds.
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
