/// Resource URIs (RFC 3986), their canonical form and order, and URI templates (RFC 6570).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/error.hpp>

namespace hondana::inline v0 {

/// The longest URI accepted from a peer, in bytes.
inline constexpr std::size_t max_uri_bytes = 8192;

/// Returns the one spelling of `text` used for routing, caching, subscriptions and rules.
///
/// Lower-cases the scheme, upper-cases percent-escapes, decodes escapes of unreserved characters, escapes raw non-ASCII
/// UTF-8 (RFC 3987), and removes dot segments of hierarchical paths, those written `%2e` too; `..` above the root stays there.
/// An escaped slash stays escaped; the authority's case, empty segments, the query and the fragment are kept as written.
/// In the path of a `file` URI, escapes of `! $ & ' ( ) * + , ; = : @` are decoded as well, so that a file has one spelling:
/// the raw one, as Node's pathToFileURL writes it. There, `file://localhost/a` and `file:/a` become `file:///a`. In other
/// schemes an escaped and a raw delimiter may mean different things and stay apart. Idempotent. Errors: invalid_argument
/// (empty, too long before or after escaping, relative, a character where RFC 3986 has none, a broken escape, an escaped NUL,
/// ill-formed UTF-8, a path without authority that would start with `//` once its dot segments are gone), naming the byte
/// position. Threads: any. Source: RFC 3986 sections 3 and 6.2.2, RFC 8089 section 2 and appendix B.
[[nodiscard]] result<std::string> canonical_uri(std::string_view text);

/// The parts of a canonical URI as views into it; `authority`, `query` and `fragment` are absent or present-but-empty.
struct uri_parts {
  std::string_view scheme;
  std::optional<std::string_view> authority;
  std::string_view path;
  std::optional<std::string_view> query;
  std::optional<std::string_view> fragment;
};

/// Splits by the generic syntax of RFC 3986 appendix B without validating. The views live as long as `uri`.
[[nodiscard]] uri_parts split_uri(std::string_view uri) noexcept;

/// Orders URIs segment by segment: `/` sorts before every other byte and an end before everything, so that a folder comes
/// directly before its subtree and the subtree is contiguous (`a`, `a/b`, `a/b/c`, `a-b`).
[[nodiscard]] std::strong_ordering compare_by_segment(std::string_view a, std::string_view b) noexcept;

/// The key that sorts after every URI before `prefix` and before `prefix` itself and all URIs that start with it, by
/// `compare_by_segment`. Not always a URI. Empty for an empty prefix.
[[nodiscard]] std::string key_before(std::string_view prefix);

/// True when `uri` is `prefix` itself, with any query and fragment, or lies below it at a segment boundary (`file:///a` covers
/// `file:///a/b` and `file:///a?lines=1`, not `file:///ab`). A prefix that ends in `/` covers what follows it.
[[nodiscard]] bool covers(std::string_view prefix, std::string_view uri) noexcept;

/// Percent-encodes every byte that is not unreserved; `/` too, unless `keep_slashes`.
[[nodiscard]] std::string percent_encode(std::string_view bytes, bool keep_slashes = false);

/// Decodes every escape. Errors: invalid_argument for a broken escape.
[[nodiscard]] result<std::string> percent_decode(std::string_view text);

/// A template variable's value: a string, a list, or an associative array in order (RFC 6570 section 2.3).
using uri_template_value =
    std::variant<std::string, std::vector<std::string>, std::vector<std::pair<std::string, std::string>>>;
/// Values by variable name; an absent name is undefined.
using uri_template_values = std::map<std::string, uri_template_value, std::less<>>;

/// A compiled URI template: expands at all four levels of RFC 6570, and matches URIs back to values in linear time.
///
/// What matches is what expansion writes, compared in canonical form, with the parameters of `{?..} {&..} {;..}` in any order
/// and each of them optional; an unknown or repeated parameter is no match. Literals are compared byte for byte, so the scheme
/// of a template is written in lower case.
///
/// - `{x}` takes unreserved characters and escapes, never a raw `/` or `,`. Values are decoded: for a client that writes the
///   slash of a `{path}` as `%2F`, `src%2Fmain.cpp` matches and the value is `src/main.cpp`.
/// - `{+x}` and `{#x}` take reserved characters too, except `?` and `#` where a later `{?..}` or `{#..}` starts with them (and
///   `;` and `&` directly before `{;..}` and `{&..}`). There a raw slash is a slash and `%2F` stays as it is in the value.
/// - `{x}{.y}`: x leaves `.` out, so that `a.tar.gz` gives `a` and `tar.gz`.
/// - A raw comma in a value of `{.x} {/x} {;x} {?x} {&x}` separates a list. `{x*}` gives a list; with names, one of its own
///   name (`{?x*}`, `?x=1&x=2`) or an associative array of the names no other variable has. Two such variables: the first
///   takes the unknown names.
///
/// Ties: the leftmost variable takes as much as it can (`{a}-{b}` on `1-2-3` gives `1-2` and `3`; `{/a,b}` on `/1` gives a). An
/// expression without a leading sign that takes nothing is undefined, not empty. A variable in several places must stand in all
/// of them with one value, or in none; a prefix (`{x:3}`, counted in code points after decoding) must begin it, and stands for
/// it when it is alone.
///
/// Immutable and safe to share between threads once made; cheap to copy.
class uri_template {
 public:
  /// Compiles `text`.
  ///
  /// Errors: invalid_argument for a syntax error (naming its position), for more than 8192 bytes, 64 expressions or 256
  /// variables, and for a template that cannot be matched uniquely (two adjacent expressions with nothing between them to tell
  /// where one ends, such as `{a}{b}`), naming both variables.
  [[nodiscard]] static result<uri_template> compile(std::string_view text);

  /// Expands by RFC 6570; undefined variables vanish. Errors: invalid_argument for a prefix modifier on a composite value.
  [[nodiscard]] result<std::string> expand(const uri_template_values& values) const;

  /// Matches a whole URI, leftmost variables taking as much as they can, and returns decoded values; absent optional
  /// variables are absent. Linear in the length of `uri`; nothing longer than 1 MiB matches, nor an escaped NUL.
  [[nodiscard]] std::optional<uri_template_values> match(std::string_view uri) const;

  /// The template as written.
  [[nodiscard]] const std::string& text() const noexcept;
  /// Variable names in order of first appearance.
  [[nodiscard]] const std::vector<std::string>& variables() const noexcept;
  /// The literal text before the first expression, in canonical form: a lower bound on what can match, used for routing.
  [[nodiscard]] std::string_view literal_prefix() const noexcept;

 private:
  struct compiled;
  explicit uri_template(std::shared_ptr<const compiled> program) noexcept;
  std::shared_ptr<const compiled> program_;
};

}  // namespace hondana::inline v0
