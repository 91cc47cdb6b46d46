/// Common parts of secret matchers: spans, byte classes, placeholders and references.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/ascii/ascii.hpp"

namespace hondana::secrets {

/// The range around an anchor that a secret may cover and that decides about it. Longer secrets are masked up to this limit,
/// but no token and no usual key is longer. So whether a byte is masked depends only on this many bytes around it.
inline constexpr std::size_t reach_behind = 128;
inline constexpr std::size_t reach_ahead = 64 * 1024;

/// A range of bytes, the end not included.
struct span {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool operator==(const span&) const = default;
};

/// Limit of bytes that a matcher examines one by one. Not included: runs, which are measured once for all matchers, and bodies
/// of keys, which never overlap. A longer secret is masked to the end of its run.
inline constexpr std::size_t looked_at_most = 256;
/// Limit of bytes that all matchers together examine for each byte of any text. Each matcher examines a byte at most twice, its
/// anchors are at least three bytes apart, and at most two expensive matchers share an anchor.
inline constexpr std::size_t most_steps_a_byte = 512;

/// Named sets of bytes. Each table entry has one bit for each set.
enum class kind : std::uint16_t {
  alnum = 1,         ///< Letters and digits.
  word = 2,          ///< `alnum`, `_` and `-`: base64url.
  dotted = 4,        ///< `word` and `.`.
  base64 = 8,        ///< Letters, digits, `+`, `/`, `=`.
  hex = 16,          ///< Digits and a to f, lower case.
  capital = 32,      ///< Capital letters and digits.
  blank = 64,        ///< White space.
  credential = 128,  ///< Values of headers: `dotted`, `base64`, `~`, `:` and `%`.
  item = 256,        ///< Printable, except quotes and angle brackets: content of quotes, tags and words.
  user = 512,        ///< `item` without the characters that end user and password in a URL.
};
inline constexpr std::size_t kinds_count = 10;

inline constexpr auto kinds = [] {
  std::array<std::uint16_t, 256> table{};
  const auto mark = [&table](char byte, kind what) {
    auto& bits = table[static_cast<unsigned char>(byte)];
    bits = static_cast<std::uint16_t>(bits | static_cast<std::uint16_t>(what));
  };
  const auto mark_alnum = [&mark](char byte) {
    for (const auto what : {kind::alnum, kind::word, kind::dotted, kind::base64, kind::credential}) mark(byte, what);
  };
  for (char c = '0'; c <= '9'; ++c) {
    mark_alnum(c);
    mark(c, kind::hex);
    mark(c, kind::capital);
  }
  for (char c = 'a'; c <= 'z'; ++c) mark_alnum(c);
  for (char c = 'A'; c <= 'Z'; ++c) {
    mark_alnum(c);
    mark(c, kind::capital);
  }
  for (char c = 'a'; c <= 'f'; ++c) mark(c, kind::hex);
  for (const char c : {'_', '-'}) {
    for (const auto what : {kind::word, kind::dotted, kind::credential}) mark(c, what);
  }
  mark('.', kind::dotted);
  for (const char c : {'.', '~', ':', '%', '+', '/', '='}) mark(c, kind::credential);
  for (const char c : {'+', '/', '='}) mark(c, kind::base64);
  for (const char c : {' ', '\t', '\r', '\n'}) mark(c, kind::blank);
  for (unsigned byte = '!'; byte < table.size(); ++byte) {
    const auto c = static_cast<char>(byte);
    if (byte == 0x7F || std::string_view("\"'`<>").find(c) != std::string_view::npos) continue;
    mark(c, kind::item);
    if (std::string_view("@/?#\\|").find(c) == std::string_view::npos) mark(c, kind::user);
  }
  return table;
}();

[[nodiscard]] constexpr bool is(kind what, char byte) noexcept {
  return (kinds[static_cast<unsigned char>(byte)] & static_cast<std::uint16_t>(what)) != 0;
}

/// Caches the ends of runs. Many candidates may be in one run, which is then measured only once.
class known_runs {
 public:
  explicit known_runs(std::string_view whole) noexcept : whole_(whole) {}

  /// The end of the run of `what` that contains position `at` of the whole text; `at` if there is none. `slot`: index for
  /// callers that examine several runs in a row.
  [[nodiscard]] std::size_t end_of(kind what, std::size_t at, std::size_t slot) noexcept;
  static constexpr std::size_t slots = 4;

  /// Counts examined bytes. Bytes of runs are counted when the run is measured.
  void count(std::size_t steps) noexcept { steps_ += steps; }
  [[nodiscard]] std::size_t steps() const noexcept { return steps_; }

 private:
  std::string_view whole_;
  std::array<std::array<span, slots>, kinds_count> known_{};
  std::size_t steps_ = 0;
};

/// A candidate with the text around it that a matcher may examine. Positions are in `text`.
struct place {
  std::string_view text;
  std::size_t at = 0;     ///< Position of the anchor.
  std::size_t begin = 0;  ///< Position of `text` in the whole text.
  known_runs* runs = nullptr;

  /// The number of consecutive bytes of a set from `from` on.
  [[nodiscard]] std::size_t run(kind what, std::size_t from, std::size_t slot = 0) const noexcept {
    return std::min(runs->end_of(what, begin + from, slot) - begin, text.size()) - std::min(from, text.size());
  }

  /// The end of a secret whose examination stopped at `end`: the end of its run.
  [[nodiscard]] std::size_t uncut(kind what, std::size_t end) const noexcept { return end + run(what, end, 3); }

  void count(std::size_t steps) const noexcept { runs->count(steps); }

  /// The rest of the text from `from`.
  [[nodiscard]] std::string_view from(std::size_t from) const noexcept {
    return from < text.size() ? text.substr(from) : std::string_view();
  }
  /// The byte at a position; NUL outside the text.
  [[nodiscard]] char operator[](std::size_t index) const noexcept { return index < text.size() ? text[index] : '\0'; }
};

/// The number of bytes of a set at the beginning of `text`.
[[nodiscard]] constexpr std::size_t run_of(kind what, std::string_view text) noexcept {
  std::size_t count = 0;
  while (count < text.size() && is(what, text[count])) ++count;
  return count;
}

/// Whether `text` begins with `lower`, ignoring case.
[[nodiscard]] constexpr bool begins_with(std::string_view text, std::string_view lower) noexcept {
  if (text.size() < lower.size()) return false;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (ascii::lower(text[i]) != lower[i]) return false;
  }
  return true;
}

/// The position after characters between the base64 lines of a key in comments, quotations, string literals and escapes:
/// blanks, newlines (also escaped), quotes and punctuation.
[[nodiscard]] std::size_t skip_trimming(std::string_view text, std::size_t at) noexcept;

/// Whether a token may begin at `at`: no letter or digit precedes it, except the end of an escape (`\n`, `%3D`, `\u003d`, a
/// terminal color).
[[nodiscard]] bool begins_anew(const place& near, std::size_t at) noexcept;

/// Whether this is a placeholder for a secret: an example, a template, or a few repeated characters.
[[nodiscard]] bool is_placeholder(std::string_view what) noexcept;

/// Whether all of this is a template to be filled in later: `${NAME}`, `$NAME`, `{{ name }}`, `<name>`, `name(…)`, `%s`.
[[nodiscard]] bool is_template(std::string_view what) noexcept;

/// Whether this consists of words as in names, with any separators. Random text has digits in the middle of a word, both cases
/// and digits in one word, or more than two words with digits.
[[nodiscard]] bool is_name(std::string_view what) noexcept;

/// Whether the value of a setting refers to another one stored elsewhere: a template, a path, a URL, or a YAML tag.
[[nodiscard]] bool is_reference(std::string_view value) noexcept;

/// The length of a YAML tag or anchor at the beginning of `line`, including the blanks after it: `!unsafe `, `!!str `,
/// `!<tag:yaml.org,2002:str> `, `&default `. 0 if there is none, or nothing after it.
[[nodiscard]] std::size_t run_of_property(std::string_view line) noexcept;

/// Whether this can only be a tag. With digits or other characters, it may be a password: `!aes256`.
[[nodiscard]] bool is_plain_tag(std::string_view property) noexcept;

/// Whether a value with this YAML tag refers to a secret that is stored elsewhere. The tag must be a known one for references,
/// and the value must look like a name.
[[nodiscard]] bool is_tagged_reference(std::string_view tag, std::string_view value) noexcept;

/// Whether this has at least eight bytes of two or more kinds (lower case, capitals, digits, others), no white space, and
/// enough variety.
[[nodiscard]] bool is_no_word(std::string_view what) noexcept;

/// Whether the value of a setting for a password may be a password: not a reference, not a placeholder, and more than a word.
[[nodiscard]] bool may_be_password(std::string_view value);

/// Shannon entropy of the bytes, in bits per byte.
[[nodiscard]] double entropy_of(std::string_view what) noexcept;

/// Whether this may be generated randomly: not a placeholder, many different characters, and digits or mixed case.
[[nodiscard]] bool is_random(std::string_view what) noexcept;

/// A matcher returns the range to mask if there is a secret at the candidate; no value otherwise. The range begins at most
/// `reach_behind` before the anchor. It examines only `near`.
using matcher = std::optional<span> (*)(const place& near);

[[nodiscard]] std::optional<span> match_private_key(const place& near);
[[nodiscard]] std::optional<span> match_putty_key(const place& near);
[[nodiscard]] std::optional<span> match_base64_key(const place& near);
[[nodiscard]] std::optional<span> match_percent_key(const place& near);
[[nodiscard]] std::optional<span> match_base64_der(const place& near);
[[nodiscard]] std::optional<span> match_der(const place& near);
[[nodiscard]] std::optional<span> match_url_password(const place& near);
[[nodiscard]] std::optional<span> match_authorization(const place& near);
[[nodiscard]] std::optional<span> match_key_header(const place& near);
[[nodiscard]] std::optional<span> match_connection_password(const place& near);
[[nodiscard]] std::optional<span> match_sql_password(const place& near);
[[nodiscard]] std::optional<span> match_curl_user(const place& near);
[[nodiscard]] std::optional<span> match_assignment(const place& near);
[[nodiscard]] std::optional<span> match_assignment_abroad(const place& near);
[[nodiscard]] std::optional<span> match_netrc(const place& near);
[[nodiscard]] std::optional<span> match_pgpass(const place& near);
[[nodiscard]] std::optional<span> match_password_hash(const place& near);

/// A matcher for several secrets around an anchor, which is at `at` of the whole text. Appends them. Examines less than
/// `reach_ahead` bytes on both sides together.
using finder = void (*)(std::string_view text, std::size_t at, known_runs& runs, std::vector<span>& into);

void find_web_key(std::string_view text, std::size_t at, known_runs& runs, std::vector<span>& into);
void find_web_key_in_yaml(std::string_view text, std::size_t at, known_runs& runs, std::vector<span>& into);
void find_cookies(std::string_view text, std::size_t at, known_runs& runs, std::vector<span>& into);

}  // namespace hondana::secrets
