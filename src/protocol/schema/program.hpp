/// A compiled schema: nodes that refer to each other by address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <re2/re2.h>

#include <hondana/value.hpp>

namespace hondana::schema {

struct node;

/// A schema with a URI of its own: the document, and what has an `$id` inside.
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

/// One schema.
struct node {
  std::optional<bool> verdict;  ///< A schema that is `true` or `false`.
  const resource_scope* scope = nullptr;

  std::optional<std::uint8_t> types;  ///< Bits by value::kind; `integer` is bit 7.
  std::vector<value> choices;         ///< `enum`.
  bool has_choices = false;
  std::optional<value> constant;
  std::vector<bound> of_number, of_length, of_items, of_members;
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
  const node* then_so = nullptr;
  const node* otherwise = nullptr;

  const node* reference = nullptr;
  const node* dynamic_reference = nullptr;  ///< What it means where no scope says otherwise.
  std::string dynamic_name;                 ///< The anchor to look for in the dynamic scope; empty: as a plain reference.
};

inline constexpr std::uint8_t integer_bit = 0x80;

/// Everything a compiled schema owns.
struct program {
  value document;  ///< Nodes and scopes point into it.
  std::vector<std::unique_ptr<node>> nodes;
  std::vector<std::unique_ptr<resource_scope>> scopes;
  const node* root = nullptr;
  bool tracks = false;  ///< Some node asks what others have evaluated.
};

}  // namespace hondana::schema
