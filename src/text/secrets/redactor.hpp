/// Masks the secrets of one source: in its bytes, and in its UTF-16 and UTF-32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/resource.hpp>

#include "text/secrets/scanner.hpp"
#include "text/secrets/widths.hpp"

namespace hondana::secrets {

/// Of the widest characters: parts of a source begin with one when they begin so many bytes, times any number, behind it.
inline constexpr std::size_t unit_bytes = 4;

/// Masks by one policy what is written in one way, or what may be written in several. Lengths stay as they are, and so do line
/// ends. Wider characters that the front does not speak of are found, too, as far as a margin in bytes decides about them.
/// Time: linear; what has no NUL is gone through once.
/// Threads: immutable.
class redactor {
 public:
  /// Masks nothing.
  redactor() = default;
  /// `front`: the first `front_bytes` of the source, or all of it.
  redactor(policy how, std::string_view front) noexcept : how_(how), widths_(widths_of(front)) {}

  [[nodiscard]] bool is_on() const noexcept { return how_ != policy::none; }
  /// So many bytes around a part decide about it.
  [[nodiscard]] std::size_t around() const noexcept { return widths_.most_bytes() * margin; }

  /// Where secrets are in `text`, which begins with the source or a multiple of `unit_bytes` behind its beginning.
  void find(std::string_view text, std::vector<span>& into) const;
  /// Writes asterisks over all secrets in `text` and counts them.
  std::size_t mask(std::span<char> text) const;
  /// The same of a part of a source: what of `text` lies from `begin` up to `end`, with `around()` bytes more at either end, or
  /// all that there is. A secret counts where it begins, and where `is_first` also when it began before. Bytes outside of the
  /// part are left in any state.
  std::size_t mask_part(std::span<char> text, std::size_t begin, std::size_t end, bool is_first) const;

 private:
  /// Secrets in bytes, and in wider characters. A text of such characters may have others in it, such as a log that one program
  /// began and another went on with.
  struct places {
    std::vector<span> narrow;
    std::vector<std::pair<width, std::vector<span>>> wide;

    /// In order and apart.
    [[nodiscard]] std::vector<span> all() const;
  };
  [[nodiscard]] places look_at(std::string_view text) const;
  void blot(std::span<char> text, const places& found) const noexcept;

  policy how_ = policy::none;
  widths widths_;
};

/// A line for people, such as one of a log: by the policy for settings.
[[nodiscard]] std::string redact_text(std::string_view text);

/// A URI for a log: what `redact_text` masks, any password, and what parameters with telling names have.
[[nodiscard]] std::string redact_uri(std::string_view uri);

/// What `_meta` says of content in which so many secrets were masked.
[[nodiscard]] metadata facts_of(std::size_t masked);

}  // namespace hondana::secrets
