/// Configuration as a tree of values with their places in the text, and its output as JSON.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/value.hpp>

namespace hondana::located {

/// A range of bytes in a text, with the line in which it begins, counted from one. A node that is not in the text, such as the
/// list of all documents of a file, has the place of its first element.
struct place {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint32_t line = 1;

  bool operator==(const place&) const = default;
};

enum class kind : std::uint8_t { null, boolean, integer, real, text, list, table };

struct member;

/// One value. Its depth is at most `limits::depth`, so recursion is safe.
struct node {
  kind is = kind::null;
  bool truth = false;
  /// A text as UTF-8, or a number in its shortest JSON form. Integers may have more than 64 bits.
  std::string text{};
  std::vector<node> items{};    ///< Elements of a list.
  std::vector<member> members;  ///< Members of a table, in order, with unique keys.
  /// Members of a table whose keys occur again later. They are not part of the value, but are in the text.
  std::vector<member> replaced;
  place at{};  ///< Place of the value without its key. For a YAML alias: place of the value it refers to.

  /// A member of a table; null if there is none, or if this is not a table.
  [[nodiscard]] const node* find(std::string_view key) const noexcept;
};

struct member {
  std::string key;
  place key_at;
  node value;
};

/// A parsed text.
struct document {
  node root;
  /// Remarks for people about parts that the format leaves open, and their interpretation: "line 7: the key \"port\" is given
  /// again; this one counts". Without values.
  std::vector<std::string> remarks{};
};

/// The tree as JSON text without white space. Members are in the order of the table, and numbers keep their digits.
[[nodiscard]] std::string json_text(const node& of);
void append_json(std::string& out, const node& of);

/// The tree as a JSON value. An integer of more than 64 bits becomes a floating-point number; a number too large for a double
/// becomes null.
[[nodiscard]] value json_of(const node& of);

}  // namespace hondana::located
