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

/// Bytes of a text, and the line they begin in, from 1. What a format makes up, such as the list that stands for all documents
/// of a file, has the place of the first thing in it.
struct place {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint32_t line = 1;

  bool operator==(const place&) const = default;
};

enum class kind : std::uint8_t { null, boolean, integer, real, text, list, table };

struct member;

/// One value. Deeper than `limits::depth` there is none, so that it may be walked by recursion.
struct node {
  kind is = kind::null;
  bool truth = false;
  /// Of a text what it says, as UTF-8; of a number its shortest form in JSON, which may be an integer of more than 64 bits.
  std::string text{};
  std::vector<node> items{};    ///< Of a list.
  std::vector<member> members;  ///< Of a table, in the order they stand in; no key is there twice.
  /// Of a table: what keys had before they were given again. It counts for nothing, but stands in the text still.
  std::vector<member> replaced;
  place at{};  ///< Of the value without its key; of an alias in YAML, of what it stands for.

  /// A member of a table; null when there is none, or this is no table.
  [[nodiscard]] const node* find(std::string_view key) const noexcept;
};

struct member {
  std::string key;
  place key_at;
  node value;
};

/// A text that was read.
struct document {
  node root;
  /// What the text has that its format leaves open, and how it was taken, for people: "line 7: the key \"port\" is given again;
  /// this one counts". Names no values.
  std::vector<std::string> remarks{};
};

/// The JSON text of a tree, without white space; members in the order of the table, numbers with the digits they have.
[[nodiscard]] std::string json_text(const node& of);
void append_json(std::string& out, const node& of);

/// The same as a value, where an integer of more than 64 bits is a number, and one beyond all doubles null.
[[nodiscard]] value json_of(const node& of);

}  // namespace hondana::located
