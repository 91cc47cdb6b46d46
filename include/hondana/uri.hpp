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

/// The longest URI that is accepted from a client, in bytes.
inline constexpr std::size_t max_uri_bytes = 8192;

/// Returns the canonical spelling of `text`, which routing, caches, subscriptions and access rules use.
///
/// It lower-cases the scheme, upper-cases percent-escapes, decodes escapes of unreserved characters, and escapes raw non-ASCII
/// UTF-8 (RFC 3987). It removes dot segments of hierarchical paths, also those written `%2e`; `..` above the root is retained.
/// An escaped slash stays escaped. The authority's case, empty segments, the query and the fragment stay as written.
///
/// In the path of a `file` URI, escapes of `! $ & ' ( ) * + , ; = : @` are decoded too, so that each file has one spelling: the
/// raw one, as Node's pathToFileURL writes it. `file://localhost/a` and `file:/a` become `file:///a`. In other schemes, an
/// escaped and a raw delimiter may differ in meaning, so both are retained.
///
/// A canonical URI stays unchanged. Errors: invalid_argument with the byte position, for an empty or relative URI, or one that
/// is longer than `max_uri_bytes` before or after escaping. Also for characters that RFC 3986 forbids, broken escapes, an
/// escaped NUL and ill-formed UTF-8. Also for a path without authority that would start with `//` after the removal of dot
/// segments.
///
/// Threads: any. Source: RFC 3986 sections 3 and 6.2.2, RFC 8089 section 2 and appendix B.
[[nodiscard]] result<std::string> canonical_uri(std::string_view text);

/// The parts of a URI, as views into it. An empty query (`a?`) differs from an absent one; likewise authority and fragment.
struct uri_parts {
  std::string_view scheme;
  std::optional<std::string_view> authority;
  std::string_view path;
  std::optional<std::string_view> query;
  std::optional<std::string_view> fragment;
};

/// Splits a URI by the generic syntax of RFC 3986 appendix B, without validation. The views live as long as `uri`.
[[nodiscard]] uri_parts split_uri(std::string_view uri) noexcept;

/// Compares URIs segment by segment: `/` sorts before every other byte, and the end before everything. A folder therefore sorts
/// directly before its subtree, and the subtree is contiguous: `a`, `a/b`, `a/b/c`, `a-b`.
[[nodiscard]] std::strong_ordering compare_by_segment(std::string_view a, std::string_view b) noexcept;

/// Returns a key from which a list begins with the URIs that start with `prefix`. In the order of `compare_by_segment`, the key
/// follows every URI that precedes `prefix`, and precedes `prefix` and all URIs that start with it. It need not be a URI. Empty
/// for an empty prefix.
[[nodiscard]] std::string key_before(std::string_view prefix);

/// Returns whether `uri` is `prefix` itself, with any query and fragment, or lies below it at a segment boundary. `file:///a`
/// covers `file:///a/b` and `file:///a?lines=1`, but not `file:///ab`. A prefix that ends in `/` covers every URI that starts
/// with it.
[[nodiscard]] bool uri_covers(std::string_view prefix, std::string_view uri) noexcept;

/// Percent-encodes every byte that is not unreserved (RFC 3986). `keep_slashes`: except `/`.
[[nodiscard]] std::string percent_encode(std::string_view bytes, bool keep_slashes = false);

/// Decodes every percent-escape. Errors: invalid_argument for a broken escape.
[[nodiscard]] result<std::string> percent_decode(std::string_view text);

/// A template variable's value: a string, a list, or an ordered associative array (RFC 6570 section 2.3).
using uri_template_value =
    std::variant<std::string, std::vector<std::string>, std::vector<std::pair<std::string, std::string>>>;
/// Values by variable name. A variable without a value here is undefined.
using uri_template_values = std::map<std::string, uri_template_value, std::less<>>;

/// A compiled URI template. It expands at all four levels of RFC 6570, and matches URIs back to values in linear time.
///
/// A URI matches if expansion can produce it. Both are compared in canonical form. The parameters of `{?..} {&..} {;..}` can
/// have any order, and each is optional; a URI with an unknown or repeated parameter does not match. Literals are compared byte
/// for byte, so the scheme of a template must be lower-case.
///
/// - `{x}` matches unreserved characters and escapes, never a raw `/` or `,`. Values are decoded: if a client writes the slash
///   of a `{path}` as `%2F`, then `src%2Fmain.cpp` matches with the value `src/main.cpp`.
/// - `{+x}` and `{#x}` also match reserved characters, except a `?` or `#` that starts a later `{?..}` or `{#..}` (and `;` and
///   `&` directly before `{;..}` and `{&..}`). Here a raw slash is a slash, and `%2F` stays in the value as written.
/// - `{x}{.y}`: x does not match `.`, so `a.tar.gz` gives `a` and `tar.gz`.
/// - A raw comma in a value of `{.x} {/x} {;x} {?x} {&x}` separates a list. `{x*}` gives a list. In named operators it gives a
///   list of its own name (`{?x*}`, `?x=1&x=2`), or an associative array of the names that no other variable has. If there are
///   two such variables, the first takes the unknown names.
///
/// Ambiguity: the leftmost variable matches as much as possible. `{a}-{b}` on `1-2-3` gives `1-2` and `3`; `{/a,b}` on `/1`
/// gives a. An expression without a leading operator that matches nothing is undefined, not empty. A variable that occurs
/// several times must have the same value everywhere, or be undefined everywhere. A prefix (`{x:3}`, counted in code points
/// after decoding) must be the start of that value; if it occurs alone, it is the value.
///
/// Immutable, safe to share between threads, and cheap to copy.
class uri_template {
 public:
  /// Compiles a template. Errors: invalid_argument for a syntax error, with its position; for more than 8192 bytes, 64
  /// expressions or 256 variables. Also for two adjacent expressions without a separator, such as `{a}{b}`, which have no
  /// unique match.
  [[nodiscard]] static result<uri_template> compile(std::string_view text);

  /// Expands the template by RFC 6570. Undefined variables expand to nothing. Errors: invalid_argument for a prefix (`{x:3}`)
  /// of a list or associative array.
  [[nodiscard]] result<std::string> expand(const uri_template_values& values) const;

  /// Matches a whole URI, and returns decoded values; variables that the URI lacks are absent. nullopt: it does not match. A
  /// URI longer than 1 MiB, or with an escaped NUL, never matches. Linear in the length of `uri`.
  [[nodiscard]] std::optional<uri_template_values> match(std::string_view uri) const;

  /// Returns the template as written.
  [[nodiscard]] const std::string& text() const noexcept;
  /// Returns the names of variables in order of first appearance.
  [[nodiscard]] const std::vector<std::string>& variables() const noexcept;
  /// Returns the literal text before the first expression, in canonical form. Every matching URI starts with it.
  [[nodiscard]] std::string_view literal_prefix() const noexcept;

 private:
  struct compiled;
  explicit uri_template(std::shared_ptr<const compiled> program) noexcept;
  std::shared_ptr<const compiled> program_;
};

}  // namespace hondana::inline v0
