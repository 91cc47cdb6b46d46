/// Matches values against the text that a user has typed, and ranks them.
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
  folded_prefix,  ///< The value begins with the typed text if case is ignored.
  word_starts,    ///< Each piece of the typed text begins a word: `fb` and `foba` match `foo_bar` and `fooBar`.
  subsequence,    ///< The value contains the typed letters in order: `pvh` matches `provider.hpp`.
};

/// The quality of a match; a smaller value is better.
struct match_quality {
  match_tier tier = match_tier::prefix;
  /// For `word_starts`: grows with the number of pieces. For `subsequence`: grows with the number of skipped letters.
  /// In both, a match within the last path segment has a lower cost. For other tiers: 0.
  std::uint32_t cost = 0;
  std::uint32_t length = 0;  ///< Length of the value in bytes, so that the shorter one of two otherwise equal values is better.

  auto operator<=>(const match_quality&) const = default;
};

/// Where the last typed letter must match in a value with slashes.
enum class match_scope : std::uint8_t {
  anywhere,
  last_segment,  ///< In the last path segment. A path then does not match if only its parent folders do.
};

/// Compares values with one query, the text that a user has typed.
///
/// Letters are whole code points; a byte that is not well-formed UTF-8 is a letter, too. Case is ignored for ASCII letters
/// only. Texts are not normalized to a Unicode form.
/// A word begins at the start, and at and after any of `/_-.,:;~+` and space. It also begins at changes from lower to upper
/// case, between digits and letters, and between ASCII and other characters.
/// If the query has more than 64 code points or the value more than 8192 bytes, only the two prefix tiers match.
/// Time: at most the product of both lengths; linear for most values that do not match.
/// Threads: one at a time, because it reuses buffers.
class matcher {
 public:
  explicit matcher(std::string_view query, match_scope scope = match_scope::anywhere);

  /// Returns nullopt if `value` does not match. An empty query matches every value, with equal quality.
  [[nodiscard]] std::optional<match_quality> operator()(std::string_view value);

 private:
  using letter = char32_t;
  static void split(std::string_view text, std::vector<letter>& out);
  [[nodiscard]] bool may_match(std::string_view value) const noexcept;
  void mark_words();
  /// Matches the query at word starts of `letters_` from letter `begin` on. Its last letter must match at or after letter
  /// `last`. Returns the lowest possible number of pieces; nullopt: no match.
  [[nodiscard]] std::optional<std::uint32_t> count_pieces(std::size_t begin, std::size_t last);
  /// Matches the query as a subsequence, otherwise like `count_pieces`. Returns the number of skipped letters.
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

/// How long ago an entry changed, in coarse steps, so that a few seconds do not affect the order.
enum class recency : std::uint8_t { hour, day, week, month, older };

/// `modified`: nullopt if the time of the change is unknown; the result is then `older`.
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

/// A sort key for matches, best first: the quality, then the higher priority, then the more recent change.
/// Callers order matches of equal rank by their text.
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

/// Stores the smallest values (by `<`) of all that are added, at most `limit`, and counts all. Threads: one at a time.
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
  /// The number of added values, including those that are not stored.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// Removes and returns the stored values, smallest first.
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
