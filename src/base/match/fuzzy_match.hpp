/// Matches and ranks values against the text that a user has typed, and computes completions.
#pragma once

#include <algorithm>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hondana::match {

/// How a value matches, best first.
enum class tier : std::uint8_t {
  beginning,         ///< The value begins with the typed text.
  folded_beginning,  ///< The same, ignoring case.
  word_starts,       ///< Each piece of the typed text begins a word: `fb` and `foba` match `foo_bar` and `fooBar`.
  letters,           ///< The value contains the typed letters in order: `pvh` matches `provider.hpp`.
};

/// The quality of a match; a smaller value is better.
struct fit {
  tier how = tier::beginning;
  std::uint32_t cost = 0;    ///< Grows with the number of pieces or skipped letters. Lower for a match in the last segment.
  std::uint32_t length = 0;  ///< Length of the value in bytes: among equal matches, a shorter value ranks first.

  auto operator<=>(const fit&) const = default;
};

/// Which part of a value with slashes the last typed letter must match.
enum class reach : std::uint8_t {
  anywhere,
  last_segment,  ///< A path does not match the name of one of its parent folders.
};

/// Compares values with one typed text.
///
/// Letters are whole code points; a byte that is not well-formed UTF-8 is a letter of its own. Case is ignored for ASCII
/// letters only, and nothing is normalized.
/// A word begins at the start, and at and after any of `/_-.,:;~+` and space. It also begins at changes from lower to upper
/// case, between digits and letters, and between ASCII and other characters.
/// Typed texts of more than 64 code points, and values of more than 8192 bytes, only match by their beginning.
/// Time: at most the product of both lengths; linear for values that do not match. Threads: one at a time (it reuses buffers).
class matcher {
 public:
  explicit matcher(std::string_view typed, reach ends = reach::anywhere);

  /// Returns nothing when `value` does not match. An empty typed text matches every value, with length 0.
  [[nodiscard]] std::optional<fit> operator()(std::string_view value);

 private:
  using letter = char32_t;
  static void split(std::string_view text, std::vector<letter>& into);
  [[nodiscard]] bool may_fit(std::string_view value) const noexcept;
  void mark_words();
  /// Match the typed letters from letter `begin` on. The last typed letter must match at or after letter `last`.
  /// `pieces` returns the number of word pieces, `gaps` the number of skipped letters. Both return nothing without a match.
  [[nodiscard]] std::optional<std::uint32_t> pieces(std::size_t begin, std::size_t last);
  [[nodiscard]] std::optional<std::uint32_t> gaps(std::size_t begin, std::size_t last) const;

  std::string typed_;
  std::vector<letter> wanted_;  // the typed letters, in lower case
  reach ends_;
  bool has_slash_;
  std::vector<letter> letters_;  // letters of the current value
  std::vector<char> begins_word_;
  std::vector<std::uint16_t> row_;
  std::vector<std::uint16_t> next_row_;
};

/// How recently an entry changed, in coarse steps, so that a few seconds do not affect the order.
enum class recency : std::uint8_t { hour, day, week, month, older };

[[nodiscard]] inline recency recency_of(std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified,
                                        std::chrono::system_clock::time_point now) noexcept {
  using namespace std::chrono_literals;
  if (!modified) return recency::older;
  const auto age = now - *modified;
  if (age <= 1h) return recency::hour;
  if (age <= 24h) return recency::day;
  if (age <= 7 * 24h) return recency::week;
  return age <= 30 * 24h ? recency::month : recency::older;
}

/// The sort key of a match before its text: the fit, then the higher priority, then the more recent change.
struct rank {
  fit how;
  double priority = 0.5;  ///< 0 to 1; higher ranks first.
  recency age = recency::older;

  friend bool operator==(const rank&, const rank&) = default;
  friend bool operator<(const rank& a, const rank& b) noexcept {
    if (a.how != b.how) return a.how < b.how;
    if (a.priority != b.priority) return a.priority > b.priority;
    return a.age < b.age;
  }
};

/// Stores the best `limit` of the added values, by `<`, and counts all values. Threads: one at a time.
template <class T>
class best {
 public:
  explicit best(std::size_t limit) : limit_(limit) {}

  void add(T one) {
    ++count_;
    if (kept_.size() == limit_) {
      if (limit_ == 0 || !(one < kept_.front())) return;
      std::pop_heap(kept_.begin(), kept_.end());
      kept_.pop_back();
    }
    kept_.push_back(std::move(one));
    std::push_heap(kept_.begin(), kept_.end());
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// Returns the stored values, best first, and empties the container.
  [[nodiscard]] std::vector<T> take() {
    std::sort_heap(kept_.begin(), kept_.end());
    return std::move(kept_);
  }

 private:
  std::size_t limit_;
  std::uint64_t count_ = 0;
  std::vector<T> kept_;
};

}  // namespace hondana::match
