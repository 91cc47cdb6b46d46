/// Compiles URI templates to automata, and matches URIs against them in linear time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "base/uri/template_syntax.hpp"
#include "base/uri/uri_syntax.hpp"

namespace hondana::uri {

enum class node_kind : std::uint8_t {
  literal,    ///< Matches a literal.
  character,  ///< Matches one character.
  run,        ///< Matches as many characters of a set (or code points up to a limit) as the rest of the template allows.
  split,      ///< Continues at `next` if that leads to a match, otherwise at `alternative`.
  name,       ///< Matches a parameter name and `=`, then continues at the run of its value.
  accept,     ///< Matches the end of the URI.
};

using node_index = std::uint32_t;

struct node {
  node_kind kind = node_kind::accept;
  char character = '\0';  ///< For `node_kind::character`.
  node_index next = 0;
  node_index alternative = 0;  ///< For `split`.
  std::uint32_t operand = 0;   ///< literal: index in `texts`. name: in `parameters`. run with a limit: index of its counter.
  std::uint32_t part = 0;      ///< run: the expression, as an index in `syntax.parts`.
  std::uint32_t variable = 0;  ///< run: the variable in that expression.
  std::uint32_t limit = 0;     ///< run: maximum number of code points; 0: unlimited.
  octet_set set{};             ///< For `run`.
};

/// The parameters of one named expression, which may occur in any order.
struct parameter_block {
  struct parameter {
    std::string key;
    std::uint32_t variable;
    node_index value;
  };
  std::vector<parameter> parameters;   ///< Longest key first.
  std::optional<parameter> catch_all;  ///< The first exploded variable. It takes all other names, as an associative array.
  octet_set names;                     ///< The characters allowed in the names that `catch_all` takes.
  node_index next = 0;                 ///< The node after a value, and after a name without a value.
  bool equals_is_optional = false;     ///< `;name` is a parameter with an empty value.
  char lead = '\0';
  char separator = '\0';
};

/// A compiled template. At one position of the URI, a node depends only on nodes of higher index.
/// A pass from the highest to the lowest index therefore has every result that it needs.
struct template_program {
  template_syntax syntax;
  std::string prefix;  ///< The literal before the first expression, in canonical form. It has no node.
  std::vector<node> nodes;
  std::vector<std::string> texts;
  std::vector<parameter_block> parameters;
  std::uint32_t counters = 0;
};

/// Compiles a template. Errors: invalid_argument if URIs cannot be matched uniquely.
[[nodiscard]] result<template_program> compile_template(template_syntax syntax);

/// Longer URIs never match, because the first pass stores one bit per node for each character.
inline constexpr std::size_t max_matched_bytes = std::size_t{1} << 20U;

/// The part of the URI that one variable matched.
struct capture {
  std::uint32_t part;
  std::uint32_t variable;
  std::string_view key;  ///< The name of the parameter; only in named expressions.
  std::string_view text;
};

/// One match in two passes. The first goes backwards and finds from which nodes and positions the end can be reached.
/// The second goes forwards and takes the longest values that the first pass allows. Both examine each pair of node and
/// position a bounded number of times.
///
/// `program` and `text` must outlive the matcher. `text`: the URI after the template's literal prefix, with canonical escapes.
class template_matcher {
 public:
  template_matcher(const template_program& program, std::string_view text);

  /// The captures in order, as views of the text; nothing when the text does not match.
  [[nodiscard]] std::optional<std::vector<capture>> match();

  /// The work done so far, as the number of examined nodes and characters.
  [[nodiscard]] std::size_t steps() const noexcept { return steps_; }

 private:
  /// Where a name node leads: to the value of a parameter, or past a parameter without a value.
  struct name_match {
    const parameter_block::parameter* parameter;
    std::size_t key_end;
    bool has_value;
  };

  [[nodiscard]] bool can_accept(node_index node, std::size_t position) const noexcept;
  [[nodiscard]] std::size_t unit_size(std::size_t position) const noexcept { return text_[position] == '%' ? 3 : 1; }
  void mark_accepting(std::size_t position);
  [[nodiscard]] bool can_match(node_index index, std::size_t position);
  [[nodiscard]] bool can_run(node_index index, std::size_t position);
  [[nodiscard]] std::optional<name_match> name_at(const parameter_block& block, std::size_t position);
  [[nodiscard]] std::optional<name_match> catch_all_name_at(const parameter_block& block, std::size_t position);
  [[nodiscard]] std::size_t run_end(const node& run, std::size_t position);

  const template_program& program_;
  std::string_view text_;
  std::size_t words_per_position_;        ///< 64-bit words per position.
  std::vector<std::uint64_t> accepting_;  ///< One bit for each position and node.
  /// For each run with a limit, the minimum number of code points it must take from a position.
  /// Covers the last 16 positions, because an escaped code point has at most 12 characters.
  std::vector<std::array<std::uint32_t, 16>> min_counts_;
  std::size_t steps_ = 0;
};

}  // namespace hondana::uri
