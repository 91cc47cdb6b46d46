/// Configuration as a tree of values with their ranges in the text, and its output as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/value.hpp>

namespace hondana::located {

/// A range of bytes in a text, with the number of the line in which it begins, from 1. The list of all documents of a YAML file
/// extends from the first to the last one.
struct source_range {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint32_t line = 1;

  bool operator==(const source_range&) const = default;
};

enum class node_kind : std::uint8_t { null, boolean, integer, real, text, list, table };

struct member;

/// One value. Its depth is at most `parse_limits::max_depth`, so recursion is safe.
struct node {
  node_kind kind = node_kind::null;
  bool boolean = false;  ///< For `node_kind::boolean`.
  /// A text as UTF-8, or a number in its shortest JSON form. Integers may have more than 64 bits.
  std::string text{};
  std::vector<node> items{};    ///< Elements of a list.
  std::vector<member> members;  ///< Members of a table, in order, with unique keys.
  /// Members of a table whose keys occur again later. They are not part of the value, but are in the text.
  std::vector<member> replaced;
  source_range range{};  ///< Range of the value without its key. For a YAML alias: range of the value it refers to.

  /// Returns the value of a member; null if there is none, or if this is not a table.
  [[nodiscard]] const node* find(std::string_view key) const noexcept;
};

/// A member of a table.
struct member {
  std::string key;
  source_range key_range;
  node value;
};

/// A parsed text.
struct document {
  node root;
  /// Warnings for people about parts that the format leaves open, and their interpretation: "line 7: the key \"port\" is given
  /// again; this one counts". Without values.
  std::vector<std::string> warnings{};
};

/// Returns the tree as JSON text without white space. Members are in the order of the table, and numbers keep their digits.
[[nodiscard]] std::string json_text(const node& tree);
/// Appends the result of `json_text`.
void append_json(std::string& out, const node& tree);

/// Returns the tree as a JSON value. An integer of more than 64 bits becomes a floating-point number; a number too large for a
/// double becomes null.
[[nodiscard]] value json_of(const node& tree);

}  // namespace hondana::located
