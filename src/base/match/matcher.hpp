/// How well a value fits what somebody has typed so far.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::match {

/// In what way a value fits, the best first.
enum class tier : std::uint8_t {
  beginning,         ///< It begins with what was typed.
  folded_beginning,  ///< The same but for upper and lower case.
  word_starts,       ///< What was typed is made of pieces that each begin a word: `fb` and `foba` in `foo_bar` and `fooBar`.
  letters,           ///< It has the letters in order: `pvh` in `provider.hpp`.
};

/// How well; the less the better.
struct fit {
  tier how = tier::beginning;
  std::uint32_t cost = 0;    ///< More pieces, or more letters between those typed, cost more; in a last segment less.
  std::uint32_t length = 0;  ///< Of the value in bytes: of two that fit equally, the shorter one says more.

  auto operator<=>(const fit&) const = default;
};

/// Where in values with slashes the last letter must lie.
enum class reach : std::uint8_t {
  anywhere,
  last_segment,  ///< A path is no match for the name of a folder above it.
};

/// Compares values with one typed text.
///
/// Letters are whole code points; a byte that is not well-formed UTF-8 is a letter of its own. Upper and lower case are the
/// same in ASCII; nothing else is folded and nothing normalised. A word begins at the front, at and after any of `/ _ - . , : ;
/// ~ +` and a space, where lower case turns into upper case, digits into letters and back, ASCII into something else and back.
/// More than 64 code points are only looked for at the beginning, and so is everything in values of more than 8192 bytes.
/// Time: the product of both lengths at most, linear where it does not fit. Threads: one at a time (it keeps buffers).
class matcher {
 public:
  explicit matcher(std::string_view typed, reach ends = reach::anywhere);

  /// Nothing when it does not fit. An empty text is the beginning of everything, of whatever length.
  [[nodiscard]] std::optional<fit> operator()(std::string_view value);

 private:
  using letter = char32_t;
  static void split(std::string_view text, std::vector<letter>& into);
  [[nodiscard]] bool may_fit(std::string_view value) const noexcept;
  void mark_words();
  /// Pieces and letters between, in the letters from `begin` on, the last one not before `last`.
  [[nodiscard]] std::optional<std::uint32_t> pieces(std::size_t begin, std::size_t last);
  [[nodiscard]] std::optional<std::uint32_t> gaps(std::size_t begin, std::size_t last) const;

  std::string typed_;
  std::vector<letter> wanted_;  // folded
  reach ends_;
  bool has_slash_;
  std::vector<letter> letters_;  // of the value
  std::vector<char> begins_word_;
  std::vector<std::uint16_t> row_;
  std::vector<std::uint16_t> next_row_;
};

}  // namespace hondana::match
