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

/// How far a secret reaches from the place that gave it away, and what of the text decides about it. What is longer is masked
/// this far: no token and no usual key is. So whether a byte is masked depends on so many bytes around it, and on nothing else.
inline constexpr std::size_t reach_behind = 128;
inline constexpr std::size_t reach_ahead = 64 * 1024;

/// A stretch of bytes, the end not included.
struct span {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool operator==(const span&) const = default;
};

/// What a shape looks at byte by byte at most, besides runs that are measured once for all and the bodies of keys, which have
/// no byte in common. What is longer than this is masked as far as its run goes.
inline constexpr std::size_t looked_at_most = 256;
/// And so many bytes all shapes together look at for each byte of a text, whatever stands in it: a shape looks twice at what it
/// looks at, no two of its anchors are closer than three bytes, and no more than two costly ones share an anchor.
inline constexpr std::size_t most_steps_a_byte = 512;

/// Sets of bytes by name; a number of the table has a bit for each.
enum class kind : std::uint16_t {
  alnum = 1,         ///< Letters and digits.
  word = 2,          ///< Those, `_` and `-`: base64url.
  dotted = 4,        ///< Those and `.`.
  base64 = 8,        ///< Letters, digits, `+`, `/`, `=`.
  hex = 16,          ///< Digits and a to f, small.
  capital = 32,      ///< Capital letters and digits.
  blank = 64,        ///< White space.
  credential = 128,  ///< What headers carry: `dotted`, `base64`, `~`, `:` and `%`.
  item = 256,        ///< What prints, but for quotes and angles: what stands in quotes, in a tag or between blanks.
  user = 512,        ///< The same without what ends the user of a URL and his password.
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

/// Where runs of a kind end that were measured before: many candidates may lie in one run, and none measures it again.
class known_runs {
 public:
  explicit known_runs(std::string_view whole) noexcept : whole_(whole) {}

  /// Where the run of `what` ends that `at` of the whole text lies in; at `at` when it lies in none. Those that look at several
  /// runs one after the other number them by `slot`.
  [[nodiscard]] std::size_t end_of(kind what, std::size_t at, std::size_t slot) noexcept;
  static constexpr std::size_t slots = 4;

  /// Counts bytes that a shape has looked at; those of runs are counted where they are measured.
  void count(std::size_t steps) noexcept { steps_ += steps; }
  [[nodiscard]] std::size_t steps() const noexcept { return steps_; }

 private:
  std::string_view whole_;
  std::array<std::array<span, slots>, kinds_count> known_{};
  std::size_t steps_ = 0;
};

/// A candidate with the text it may look at. Positions are in `text`.
struct place {
  std::string_view text;
  std::size_t at = 0;     ///< Where the anchor matches.
  std::size_t begin = 0;  ///< Of `text` in the whole.
  known_runs* runs = nullptr;

  /// How many bytes of a kind there are from `from` on.
  [[nodiscard]] std::size_t run(kind what, std::size_t from, std::size_t slot = 0) const noexcept {
    return std::min(runs->end_of(what, begin + from, slot) - begin, text.size()) - std::min(from, text.size());
  }

  /// Where something ends that was cut at `end`, having been looked at far enough: with its run, or where it was cut.
  [[nodiscard]] std::size_t uncut(kind what, std::size_t end) const noexcept { return end + run(what, end, 3); }

  void count(std::size_t steps) const noexcept { runs->count(steps); }

  /// The rest of the text from `from`.
  [[nodiscard]] std::string_view from(std::size_t from) const noexcept {
    return from < text.size() ? text.substr(from) : std::string_view();
  }
  /// NUL beyond either end.
  [[nodiscard]] char operator[](std::size_t index) const noexcept { return index < text.size() ? text[index] : '\0'; }
};

/// How many bytes of a kind `text` begins with.
[[nodiscard]] constexpr std::size_t run_of(kind what, std::string_view text) noexcept {
  std::size_t count = 0;
  while (count < text.size() && is(what, text[count])) ++count;
  return count;
}

/// Whether `text` begins with `lower`, whatever the case of its letters.
[[nodiscard]] constexpr bool begins_with(std::string_view text, std::string_view lower) noexcept {
  if (text.size() < lower.size()) return false;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (ascii::lower(text[i]) != lower[i]) return false;
  }
  return true;
}

/// Behind what stands from `at` on between the base64 of a key in comments, quotations, string literals and escapes: blanks,
/// line ends, escaped ones too, quotes and signs.
[[nodiscard]] std::size_t skip_trimming(std::string_view text, std::size_t at) noexcept;

/// Whether something may begin at `at`: no letter or digit stands before it, or one that only ends an escape (`\n`, `%3D`,
/// `\u003d`, a colour of a terminal).
[[nodiscard]] bool begins_anew(const place& near, std::size_t at) noexcept;

/// Whether this is what people write where a secret would stand: an example, a template, the same few characters.
[[nodiscard]] bool is_placeholder(std::string_view what) noexcept;

/// Whether all of this is a template that is filled in later: `${NAME}`, `$NAME`, `{{ name }}`, `<name>`, `name(…)`, `%s`.
[[nodiscard]] bool is_template(std::string_view what) noexcept;

/// Whether this is words as names have them, whatever stands between them: no word with digits amid it or with both cases and
/// digits, as what is drawn has, and no more than two with digits at all.
[[nodiscard]] bool is_name(std::string_view what) noexcept;

/// Whether all of a setting's value stands for another that is kept elsewhere: a template, a path, a URL, a tag of YAML.
[[nodiscard]] bool is_reference(std::string_view value) noexcept;

/// How many bytes a YAML tag or anchor at the beginning of `line` has, with the blanks behind it: `!unsafe `, `!!str `,
/// `!<tag:yaml.org,2002:str> `, `&default `. 0 where there is none, or nothing behind it.
[[nodiscard]] std::size_t run_of_property(std::string_view line) noexcept;

/// Whether this can only be a tag. One with digits or other signs may be a password: `!aes256`.
[[nodiscard]] bool is_plain_tag(std::string_view property) noexcept;

/// Whether a value with this YAML tag refers to a secret that is stored elsewhere: the tag is a known one for references, and
/// the value looks like a name.
[[nodiscard]] bool is_tagged_reference(std::string_view tag, std::string_view value) noexcept;

/// Whether this has eight bytes of at least two kinds (small letters, capitals, digits, others), no blank and some variety.
[[nodiscard]] bool is_no_word(std::string_view what) noexcept;

/// Whether this may be a password where something is called one: no reference, no placeholder, and more than a word.
[[nodiscard]] bool may_be_password(std::string_view value);

/// Shannon's measure over the bytes, in bits a byte.
[[nodiscard]] double entropy_of(std::string_view what) noexcept;

/// Whether this could have been drawn by a machine: no placeholder, many different characters, and digits or both cases mixed.
[[nodiscard]] bool is_random(std::string_view what) noexcept;

/// A shape of secret: what of the text it masks, if it is one. It begins at most `reach_behind` before the anchor, and looks at
/// no more than there is in `near`.
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

/// A shape with several secrets around its anchor, which is at `at` of the whole text. Appends them. The bytes that it looks at
/// on either side are fewer than `reach_ahead` together.
using finder = void (*)(std::string_view text, std::size_t at, known_runs& runs, std::vector<span>& into);

void find_web_key(std::string_view text, std::size_t at, known_runs& runs, std::vector<span>& into);
void find_web_key_in_yaml(std::string_view text, std::size_t at, known_runs& runs, std::vector<span>& into);
void find_cookies(std::string_view text, std::size_t at, known_runs& runs, std::vector<span>& into);

}  // namespace hondana::secrets
