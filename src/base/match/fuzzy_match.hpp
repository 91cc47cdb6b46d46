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
enum class match_tier : std::uint8_t {
  prefix,         ///< The value begins with the typed text.
  folded_prefix,  ///< The same, ignoring case.
  word_starts,    ///< Each piece of the typed text begins a word: `fb` and `foba` match `foo_bar` and `fooBar`.
  subsequence,    ///< The value contains the typed letters in order: `pvh` matches `provider.hpp`.
};

/// The quality of a match; a smaller value is better.
struct match_quality {
  match_tier tier = match_tier::prefix;
  std::uint32_t cost = 0;    ///< Grows with the number of pieces or skipped letters. Lower for a match in the last segment.
  std::uint32_t length = 0;  ///< Length of the value in bytes: among equal matches, a shorter value ranks first.

  auto operator<=>(const match_quality&) const = default;
};

/// Which part of a value with slashes the last typed letter must match.
enum class match_scope : std::uint8_t {
  anywhere,
  last_segment,  ///< A path does not match the name of one of its parent folders.
};

/// Compares values with one query, the text that a user has typed.
///
/// Letters are whole code points; a byte that is not well-formed UTF-8 is a letter of its own. Case is ignored for ASCII
/// letters only, and nothing is normalized.
/// A word begins at the start, and at and after any of `/_-.,:;~+` and space. It also begins at changes from lower to upper
/// case, between digits and letters, and between ASCII and other characters.
/// Typed texts of more than 64 code points, and values of more than 8192 bytes, only match by their beginning.
/// Time: at most the product of both lengths; linear for values that do not match. Threads: one at a time (it reuses buffers).
class matcher {
 public:
  explicit matcher(std::string_view query, match_scope scope = match_scope::anywhere);

  /// Returns nothing when `value` does not match. An empty typed text matches every value, with length 0.
  [[nodiscard]] std::optional<match_quality> operator()(std::string_view value);

 private:
  using letter = char32_t;
  static void split(std::string_view text, std::vector<letter>& out);
  [[nodiscard]] bool may_match(std::string_view value) const noexcept;
  void mark_words();
  /// Match the typed letters from letter `begin` on. The last typed letter must match at or after letter `last`.
  /// `count_pieces` returns the number of word pieces, `count_gaps` the number of skipped letters. Both return nothing without
  /// a match.
  [[nodiscard]] std::optional<std::uint32_t> count_pieces(std::size_t begin, std::size_t last);
  [[nodiscard]] std::optional<std::uint32_t> count_gaps(std::size_t begin, std::size_t last) const;

  std::string query_;
  std::vector<letter> query_letters_;  // the typed letters, in lower case
  match_scope scope_;
  bool has_slash_;
  std::vector<letter> letters_;  // letters of the current value
  std::vector<char> starts_word_;
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

/// The sort key of a match before its text: the quality, then the higher priority, then the more recent change.
struct rank {
  match_quality quality;
  double priority = 0.5;  ///< 0 to 1; higher ranks first.
  recency age = recency::older;

  friend bool operator==(const rank&, const rank&) = default;
  friend bool operator<(const rank& a, const rank& b) noexcept {
    if (a.quality != b.quality) return a.quality < b.quality;
    if (a.priority != b.priority) return a.priority > b.priority;
    return a.age < b.age;
  }
};

/// Stores the best `limit` of the added values, by `<`, and counts all values. Threads: one at a time.
template <class T>
class top_k {
 public:
  explicit top_k(std::size_t limit) : limit_(limit) {}

  void add(T item) {
    ++count_;
    if (heap_.size() == limit_) {
      if (limit_ == 0 || !(item < heap_.front())) return;
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.pop_back();
    }
    heap_.push_back(std::move(item));
    std::push_heap(heap_.begin(), heap_.end());
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// Returns the stored values, best first, and empties the container.
  [[nodiscard]] std::vector<T> extract_sorted() {
    std::sort_heap(heap_.begin(), heap_.end());
    return std::move(heap_);
  }

 private:
  std::size_t limit_;
  std::uint64_t count_ = 0;
  std::vector<T> heap_;
};

}  // namespace hondana::match
