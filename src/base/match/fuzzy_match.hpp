/// Matches values against what a person has typed so far, ranks them, and completes from a set of values.
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

/// How lately something changed, coarse enough that a second more or less makes no difference.
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

/// What two values are compared by before their text: the fit, then what matters more, then what changed more lately.
struct rank {
  fit how;
  double priority = 0.5;  ///< 0 to 1, the more the better.
  recency age = recency::older;

  friend bool operator==(const rank&, const rank&) = default;
  friend bool operator<(const rank& a, const rank& b) noexcept {
    if (a.how != b.how) return a.how < b.how;
    if (a.priority != b.priority) return a.priority > b.priority;
    return a.age < b.age;
  }
};

/// Keeps the best `limit` of what is added, by `<`, and counts all. Threads: one at a time.
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
  /// The best first; empties it.
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
