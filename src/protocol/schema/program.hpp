/// A compiled JSON Schema, and functions for its compiler. Only for the schema module.
#pragma once

#include <re2/re2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

#include <hondana/value.hpp>

namespace hondana::schema {

struct node;

/// A schema with its own URI: the document, or a subschema with an `$id`. Anchors are found within their scope.
struct resource_scope {
  std::string uri;  ///< Empty: a document without `$id`.
  const value* root = nullptr;
  std::unordered_map<std::string, const value*> anchors;         ///< By name: `$anchor` and `$dynamicAnchor`.
  std::unordered_map<std::string, const node*> dynamic_anchors;  ///< By name: `$dynamicAnchor` only.
};

/// A limit of a number, a length or a count.
struct bound {
  long double limit = 0;
  bool is_lower = false;      ///< A minimum; otherwise a maximum.
  bool is_exclusive = false;  ///< The limit itself is not allowed.
  const char* keyword = "";   ///< For messages, before the limit: "at least", "at most", "above" or "below".
};

/// One compiled subschema. Members without a comment have the meaning of the keyword with the same name. Null, empty or
/// nullopt: the keyword is absent.
struct node {
  std::optional<bool> boolean_schema;  ///< For a schema that is `true` or `false`; the other members are then unused.
  const resource_scope* scope = nullptr;

  std::optional<std::uint8_t> types;  ///< `type`: one bit for each number in `value::kind`, and `integer_bit`.
  std::vector<value> choices;         ///< `enum`
  bool has_choices = false;           ///< `enum` is present, although it may be empty.
  std::optional<value> constant;      ///< `const`
  /// `minimum`, `maxLength`, `minItems`, `maxProperties` and the like.
  std::vector<bound> number_bounds, length_bounds, item_bounds, member_bounds;
  std::optional<double> multiple_of;
  std::shared_ptr<const RE2> pattern;

  std::vector<const node*> prefix_items;
  const node* items = nullptr;
  const node* contains = nullptr;
  std::optional<long double> min_contains, max_contains;
  bool unique_items = false;
  const node* unevaluated_items = nullptr;

  std::vector<std::pair<std::string, const node*>> properties;
  std::vector<std::pair<std::shared_ptr<const RE2>, const node*>> pattern_properties;
  const node* additional_properties = nullptr;
  const node* property_names = nullptr;
  const node* unevaluated_properties = nullptr;
  std::vector<std::string> required;
  std::vector<std::pair<std::string, std::vector<std::string>>> dependent_required;
  std::vector<std::pair<std::string, const node*>> dependent_schemas;

  std::vector<const node*> all_of, any_of, one_of;
  const node* negated = nullptr;      ///< `not`
  const node* condition = nullptr;    ///< `if`
  const node* then_schema = nullptr;  ///< `then`
  const node* else_schema = nullptr;  ///< `else`

  const node* reference = nullptr;          ///< The target of `$ref`.
  const node* dynamic_reference = nullptr;  ///< The target of `$dynamicRef`, unless the dynamic scope has `dynamic_name`.
  std::string dynamic_name;                 ///< The anchor to look up in the dynamic scope; empty: none.
};

/// The bit of `node::types` for the type `integer`.
inline constexpr std::uint8_t integer_bit = 0x80;

/// A compiled schema with all its data.
struct program {
  value document;  ///< Nodes and scopes point into it.
  std::vector<std::unique_ptr<node>> nodes;
  std::vector<std::unique_ptr<resource_scope>> scopes;
  const node* root = nullptr;
  bool tracks_evaluation = false;  ///< A node has `unevaluatedItems` or `unevaluatedProperties`.
};

/// Why a schema is invalid. Thrown only within the schema module, whose functions are deeply nested.
struct schema_error {
  std::string text;
};

// Functions that read a schema. `location`: the position in the document as "/properties/name"; empty: the root.

/// Throws a `schema_error` with location and reason.
[[noreturn]] void reject(const std::string& location, std::string_view reason);
/// The location of the member or element `step` at `location`.
[[nodiscard]] std::string join_location(const std::string& location, std::string_view step);

/// Returns the string `source`. Throws `schema_error` for other types.
[[nodiscard]] const std::string& require_string(const value& source, const std::string& location);
/// Compiles a pattern. Throws `schema_error` if `compile_pattern` fails.
[[nodiscard]] std::shared_ptr<const RE2> require_pattern(const std::string& text, const std::string& location);
/// Reads the keyword `name` with the value `part` into `target`, unless its value consists of schemas or references.
/// Returns false for those and for unknown keywords. Throws `schema_error`.
bool read_value(node& target, const std::string& name, const value& part, const std::string& location);

/// Compiles an ECMA 262 regular expression for RE2, which matches in linear time. To be used for partial matches.
/// Errors: the reason, for example in RE2's words. Look-around and back-references are not supported.
[[nodiscard]] tl::expected<std::shared_ptr<const RE2>, std::string> compile_pattern(const std::string& text);

}  // namespace hondana::schema
