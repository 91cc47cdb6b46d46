/// A compiled JSON Schema: its nodes, their keywords, and regular expressions translated for RE2.
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

/// A schema with its own URI: the document, or a subschema with an `$id`.
struct resource_scope {
  std::string uri;
  const value* root = nullptr;
  std::unordered_map<std::string, const value*> anchors;         ///< `$anchor` and `$dynamicAnchor`.
  std::unordered_map<std::string, const node*> dynamic_anchors;  ///< `$dynamicAnchor` only.
};

/// A limit of a number, a length or a count.
struct bound {
  long double limit = 0;
  bool is_lower = false;
  bool is_exclusive = false;
  const char* keyword = "";
};

/// One compiled subschema.
struct node {
  std::optional<bool> boolean_schema;  ///< For a schema that is `true` or `false`.
  const resource_scope* scope = nullptr;

  std::optional<std::uint8_t> types;  ///< One bit per value::kind; bit 7 means `integer`.
  std::vector<value> choices;         ///< `enum`.
  bool has_choices = false;
  std::optional<value> constant;
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
  const node* negated = nullptr;
  const node* condition = nullptr;
  const node* then_schema = nullptr;
  const node* else_schema = nullptr;

  const node* reference = nullptr;
  const node* dynamic_reference = nullptr;  ///< The target when no dynamic scope overrides it.
  std::string dynamic_name;                 ///< The anchor to look up in the dynamic scope; empty: a plain reference.
};

inline constexpr std::uint8_t integer_bit = 0x80;

/// A compiled schema with all the data that it owns.
struct program {
  value document;  ///< Nodes and scopes point into it.
  std::vector<std::unique_ptr<node>> nodes;
  std::vector<std::unique_ptr<resource_scope>> scopes;
  const node* root = nullptr;
  bool tracks_evaluation = false;  ///< At least one node uses the annotations of evaluated members or items.
};

/// A schema error, thrown only within the schema module, where the functions that read a schema are deeply nested.
struct schema_error {
  std::string text;
};

[[noreturn]] void reject(const std::string& location, std::string_view reason);
[[nodiscard]] std::string join_location(const std::string& location, std::string_view step);

/// The string value of a keyword. Throws `schema_error` for other types.
[[nodiscard]] const std::string& require_string(const value& source, const std::string& location);
/// The compiled pattern. Throws `schema_error` if it is invalid.
[[nodiscard]] std::shared_ptr<const RE2> require_pattern(const std::string& text, const std::string& location);
/// Reads the keyword `name` into the node. Returns false when it is not one of the keywords handled here.
bool read_value(node& target, const std::string& name, const value& part, const std::string& location);

/// Compiles an ECMA 262 regular expression for RE2, which matches in linear time. A match anywhere in the text counts.
/// Look-around and back-references are rejected. Errors: the reason, in RE2's words.
[[nodiscard]] tl::expected<std::shared_ptr<const RE2>, std::string> compile_pattern(const std::string& text);

}  // namespace hondana::schema
