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

/// The range around an anchor (anchor_search.hpp) that decides whether there is a secret, and that the secret may cover. Longer
/// secrets are masked up to this limit, but no token and no usual key is longer. So whether a byte is masked depends only on
/// this many bytes around it.
inline constexpr std::size_t context_bytes_before = 128;
inline constexpr std::size_t context_bytes_after = 64 * 1024;

/// A range of bytes, the end not included.
struct span {
  std::size_t begin = 0;
  std::size_t end = 0;

  bool operator==(const span&) const = default;
};

/// Limit of bytes that a matcher examines one by one. Not included: runs, which are measured once for all matchers, and bodies
/// of keys, which never overlap. A longer secret is masked to the end of its run.
inline constexpr std::size_t max_examined_bytes = 256;
/// Limit of the bytes that all matchers together examine, for each byte of any text. Each matcher examines a byte at most
/// twice, its anchors are at least three bytes apart, and at most two expensive matchers share an anchor.
inline constexpr std::size_t max_steps_per_byte = 512;

/// Named sets of bytes, one bit each.
enum class byte_set : std::uint16_t {
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
inline constexpr std::size_t byte_set_count = 10;

/// For each byte, the sets that contain it.
inline constexpr auto byte_set_table = [] {
  std::array<std::uint16_t, 256> table{};
  const auto mark = [&table](char byte, byte_set set) {
    auto& bits = table[static_cast<unsigned char>(byte)];
    bits = static_cast<std::uint16_t>(bits | static_cast<std::uint16_t>(set));
  };
  const auto mark_alnum = [&mark](char byte) {
    for (const auto set : {byte_set::alnum, byte_set::word, byte_set::dotted, byte_set::base64, byte_set::credential})
      mark(byte, set);
  };
  for (char c = '0'; c <= '9'; ++c) {
    mark_alnum(c);
    mark(c, byte_set::hex);
    mark(c, byte_set::capital);
  }
  for (char c = 'a'; c <= 'z'; ++c) mark_alnum(c);
  for (char c = 'A'; c <= 'Z'; ++c) {
    mark_alnum(c);
    mark(c, byte_set::capital);
  }
  for (char c = 'a'; c <= 'f'; ++c) mark(c, byte_set::hex);
  for (const char c : {'_', '-'}) {
    for (const auto set : {byte_set::word, byte_set::dotted, byte_set::credential}) mark(c, set);
  }
  mark('.', byte_set::dotted);
  for (const char c : {'.', '~', ':', '%', '+', '/', '='}) mark(c, byte_set::credential);
  for (const char c : {'+', '/', '='}) mark(c, byte_set::base64);
  for (const char c : {' ', '\t', '\r', '\n'}) mark(c, byte_set::blank);
  for (unsigned byte = '!'; byte < table.size(); ++byte) {
    const auto c = static_cast<char>(byte);
    if (byte == 0x7F || std::string_view("\"'`<>").find(c) != std::string_view::npos) continue;
    mark(c, byte_set::item);
    if (std::string_view("@/?#\\|").find(c) == std::string_view::npos) mark(c, byte_set::user);
  }
  return table;
}();

[[nodiscard]] constexpr bool is_in(byte_set set, char byte) noexcept {
  return (byte_set_table[static_cast<unsigned char>(byte)] & static_cast<std::uint16_t>(set)) != 0;
}

/// Caches the ends of runs, which are consecutive bytes of one set. Many candidates may be in one run, which is then measured
/// only once. The text must outlive it.
class run_cache {
 public:
  explicit run_cache(std::string_view text) noexcept : text_(text) {}

  /// Returns the end of the run of `set` that contains `position`; `position` if there is none. Positions are in the whole
  /// text. `slot`: one of `slots` cache entries, for callers that examine several runs in a row.
  [[nodiscard]] std::size_t end_of_run(byte_set set, std::size_t position, std::size_t slot) noexcept;
  static constexpr std::size_t slots = 4;

  /// Counts examined bytes. Bytes of runs are counted when the run is measured.
  void count(std::size_t steps) noexcept { steps_ += steps; }
  [[nodiscard]] std::size_t steps() const noexcept { return steps_; }

 private:
  std::string_view text_;
  std::array<std::array<span, slots>, byte_set_count> cached_{};
  std::size_t steps_ = 0;
};

/// An anchor with the text around it that a matcher may examine. Positions are in `text`.
struct match_context {
  std::string_view text;
  std::size_t position = 0;   ///< Position of the anchor.
  std::size_t offset = 0;     ///< Position of `text` in the whole text.
  run_cache* runs = nullptr;  ///< Of the whole text; never null.

  /// Returns the number of consecutive bytes of a set from `start` on.
  [[nodiscard]] std::size_t run(byte_set set, std::size_t start, std::size_t slot = 0) const noexcept {
    return std::min(runs->end_of_run(set, offset + start, slot) - offset, text.size()) - std::min(start, text.size());
  }

  /// Returns the end of a secret whose examination stopped at `end`: the end of its run.
  [[nodiscard]] std::size_t extend_to_run_end(byte_set set, std::size_t end) const noexcept { return end + run(set, end, 3); }

  void count(std::size_t steps) const noexcept { runs->count(steps); }

  /// Returns the text from a position on.
  [[nodiscard]] std::string_view text_from(std::size_t text_from) const noexcept {
    return text_from < text.size() ? text.substr(text_from) : std::string_view();
  }
  /// Returns the byte at a position; NUL outside the text.
  [[nodiscard]] char operator[](std::size_t index) const noexcept { return index < text.size() ? text[index] : '\0'; }
};

/// Returns the number of bytes of a set at the beginning of `text`.
[[nodiscard]] constexpr std::size_t run_length(byte_set set, std::string_view text) noexcept {
  std::size_t count = 0;
  while (count < text.size() && is_in(set, text[count])) ++count;
  return count;
}

/// Whether `text` begins with `lower`, which must be in lower case, ignoring case.
[[nodiscard]] constexpr bool starts_with_ignore_case(std::string_view text, std::string_view lower) noexcept {
  if (text.size() < lower.size()) return false;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    if (ascii::to_lower(text[i]) != lower[i]) return false;
  }
  return true;
}

/// Returns the position after characters between the base64 lines of a key in comments, quotations, string literals and
/// escapes. These are blanks, newlines (also escaped), quotes and punctuation.
[[nodiscard]] std::size_t skip_filler(std::string_view text, std::size_t position) noexcept;

/// Whether a token may begin at `position`: no letter or digit precedes it, except the end of an escape (`\n`, `%3D`, `\u003d`,
/// a terminal color).
[[nodiscard]] bool may_begin_token(const match_context& context, std::size_t position) noexcept;

/// Whether this is a placeholder for a secret: an example, or a few repeated characters. True for an empty text.
[[nodiscard]] bool is_placeholder(std::string_view text) noexcept;

/// Whether all of this is a template to be filled in later: `${NAME}`, `$NAME`, `{{ name }}`, `<name>`, `name(…)`, `%s`. True
/// for an empty text.
[[nodiscard]] bool is_template(std::string_view text) noexcept;

/// Whether this consists of words as in names, with any separators. Random text has digits in the middle of a word, both cases
/// and digits in one word, or more than two words with digits.
[[nodiscard]] bool is_name(std::string_view text) noexcept;

/// Whether the value of a setting refers to another one stored elsewhere: a template, a path, a URL, or a YAML tag.
[[nodiscard]] bool is_reference(std::string_view value) noexcept;

/// Returns the length of a YAML tag or anchor at the beginning of `line`, including the blanks after it: `!unsafe `, `!!str `,
/// `!<tag:yaml.org,2002:str> `, `&default `. 0 if there is none, or nothing after it.
[[nodiscard]] std::size_t property_length(std::string_view line) noexcept;

/// Whether this YAML property can only be a tag. With digits or other characters, it may be a password: `!aes256`.
[[nodiscard]] bool is_plain_tag(std::string_view property) noexcept;

/// Whether a value with this YAML tag refers to a secret that is stored elsewhere. The tag must be a known one for references,
/// and the value must look like a name.
[[nodiscard]] bool is_tagged_reference(std::string_view tag, std::string_view value) noexcept;

/// Whether this has at least eight bytes of two or more kinds (lower case, capitals, digits, others), no white space, and
/// enough variety.
[[nodiscard]] bool is_non_word(std::string_view text) noexcept;

/// Whether the value of a setting for a password may be a password: not a reference, not a placeholder, and `is_non_word`.
[[nodiscard]] bool may_be_password(std::string_view value);

/// Returns the Shannon entropy of the first 128 bytes, in bits per byte.
[[nodiscard]] double entropy_of(std::string_view text) noexcept;

/// Whether this may be generated randomly: not a placeholder, many different characters, and digits or mixed case.
[[nodiscard]] bool is_random(std::string_view text) noexcept;

/// Returns the range in `context.text` to mask if there is a secret at the anchor; no value otherwise. The range begins at most
/// `context_bytes_before` before the anchor. Examines only `context`.
using matcher = std::optional<span> (*)(const match_context& context);

// Matchers, each for one kind of secret.

[[nodiscard]] std::optional<span> match_private_key(const match_context& context);  ///< PEM, OpenSSH, PGP and SSH2.
[[nodiscard]] std::optional<span> match_putty_key(const match_context& context);
[[nodiscard]] std::optional<span> match_base64_key(const match_context& context);   ///< PEM in base64.
[[nodiscard]] std::optional<span> match_percent_key(const match_context& context);  ///< PEM in percent-encoding.
[[nodiscard]] std::optional<span> match_base64_der(const match_context& context);   ///< DER in base64.
[[nodiscard]] std::optional<span> match_der(const match_context& context);
[[nodiscard]] std::optional<span> match_url_password(const match_context& context);
[[nodiscard]] std::optional<span> match_authorization(const match_context& context);  ///< The HTTP header.
[[nodiscard]] std::optional<span> match_key_header(const match_context& context);     ///< X-Api-Key.
[[nodiscard]] std::optional<span> match_connection_password(const match_context& context);
[[nodiscard]] std::optional<span> match_sql_password(const match_context& context);
[[nodiscard]] std::optional<span> match_curl_user(const match_context& context);
[[nodiscard]] std::optional<span> match_assignment(const match_context& context);            ///< A setting with a secret name.
[[nodiscard]] std::optional<span> match_localized_assignment(const match_context& context);  ///< Not English.
[[nodiscard]] std::optional<span> match_netrc(const match_context& context);
[[nodiscard]] std::optional<span> match_pgpass(const match_context& context);
[[nodiscard]] std::optional<span> match_password_hash(const match_context& context);  ///< In htpasswd and shadow.

/// A matcher for several secrets around an anchor, which is at `position` of the whole text. Appends them to `spans`. Examines
/// less than `context_bytes_after` bytes on both sides together.
using finder = void (*)(std::string_view text, std::size_t position, run_cache& runs, std::vector<span>& spans);

/// Finds the private members of a JSON web key in JSON.
void find_web_key(std::string_view text, std::size_t position, run_cache& runs, std::vector<span>& spans);
/// Finds the private members of a JSON web key in YAML.
void find_web_key_in_yaml(std::string_view text, std::size_t position, run_cache& runs, std::vector<span>& spans);
/// Finds cookies of sessions.
void find_cookies(std::string_view text, std::size_t position, run_cache& runs, std::vector<span>& spans);

}  // namespace hondana::secrets
