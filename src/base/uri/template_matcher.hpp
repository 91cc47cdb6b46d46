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

/// What a node of the automaton matches at a position of the URI, before it continues at `node::next`.
enum class node_kind : std::uint8_t {
  literal,    ///< Matches a literal.
  character,  ///< Matches one character.
  run,        ///< Matches as many characters of a set as the rest of the template allows, up to `node::limit` code points.
  split,      ///< Matches nothing. Continues at `node::next` if that leads to a match, otherwise at `node::alternative`.
  name,       ///< Matches a parameter name and `=`, then continues at the run of the parameter's value.
  accept,     ///< Matches the end of the URI.
};

/// An index in `template_program::nodes`.
using node_index = std::uint32_t;

struct node {
  node_kind kind = node_kind::accept;
  char character = '\0';  ///< For `node_kind::character`.
  node_index next = 0;
  node_index alternative = 0;  ///< For `split`.
  /// literal: an index in `template_program::texts`. name: an index in `template_program::parameters`.
  /// run with a limit: a number below `template_program::counters`.
  std::uint32_t operand = 0;
  std::uint32_t part = 0;      ///< run: the expression, as an index in `template_syntax::parts`.
  std::uint32_t variable = 0;  ///< run: the variable, as an index in the expression.
  std::uint32_t limit = 0;     ///< run: maximum number of code points; 0: unlimited.
  octet_set set{};             ///< run: the characters to match; with `%`, also whole escapes.
};

/// The parameters of one named expression, such as `{?a,b}`. They may occur in any order.
struct parameter_block {
  struct parameter {
    std::string key;         ///< The name as it occurs in a canonical URI.
    std::uint32_t variable;  ///< An index in the expression.
    node_index value;        ///< The node that matches the value.
  };
  std::vector<parameter> parameters;   ///< Longest key first.
  std::optional<parameter> catch_all;  ///< The first exploded variable. It takes all other names, as an associative array.
  octet_set names;                     ///< The characters allowed in the names that `catch_all` takes.
  node_index next = 0;                 ///< The node after a value, and after a name without a value.
  bool equals_is_optional = false;     ///< A name without `=` is a parameter with an empty value, as in `;name`.
  char lead = '\0';                    ///< The character before the first parameter.
  char separator = '\0';               ///< The character between two parameters.
};

/// A compiled template. Matching starts at the first node.
/// Whether a node matches at a position depends only on later positions and, at the same position, on nodes of higher index.
struct template_program {
  template_syntax syntax;
  std::string prefix;  ///< The literal before the first expression, in canonical form. It has no node.
  std::vector<node> nodes;
  std::vector<std::string> texts;           ///< For `node_kind::literal`.
  std::vector<parameter_block> parameters;  ///< For `node_kind::name`.
  std::uint32_t counters = 0;               ///< The number of runs with a limit.
};

/// Compiles a template. Errors: invalid_argument if a URI could match in several ways.
[[nodiscard]] result<template_program> compile_template(template_syntax syntax);

/// The length of the longest URI that callers may match: `template_matcher` stores one bit per node for each character.
inline constexpr std::size_t max_matched_bytes = std::size_t{1} << 20U;

/// The part of the URI that one variable matched.
struct capture {
  std::uint32_t part;      ///< The expression, as an index in `template_syntax::parts`.
  std::uint32_t variable;  ///< An index in the expression.
  std::string_view key;    ///< In named expressions: the name of the parameter. Otherwise empty.
  std::string_view text;   ///< The value as it occurs in the URI, with escapes.
};

/// Matches one URI in two passes. The first goes backwards and finds from which nodes and positions the end can be reached.
/// The second goes forwards and takes the longest values that the first pass allows. Both examine each pair of node and
/// position a bounded number of times.
class template_matcher {
 public:
  /// `text`: the URI after `program.prefix`, with canonical escapes. Both arguments must outlive the matcher.
  template_matcher(const template_program& program, std::string_view text);

  /// Returns the captures in order, as views of the text; nullopt if the text does not match. Call it only once.
  [[nodiscard]] std::optional<std::vector<capture>> match();

  /// The work done so far, as the number of examined nodes and characters.
  [[nodiscard]] std::size_t steps() const noexcept { return steps_; }

 private:
  /// The parameter that a name node matches.
  struct name_match {
    const parameter_block::parameter* parameter;
    std::size_t key_end;  // position after the name
    bool has_value;       // the name is followed by `=`
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
  std::size_t words_per_position_;        ///< 64-bit words per position in `accepting_`.
  std::vector<std::uint64_t> accepting_;  ///< For each position and node, one bit: the end can be reached from there.
  /// For each run with a limit, the minimum number of code points that the run must take from a position.
  /// Covers the last 16 positions, because an escaped code point has at most 12 characters.
  std::vector<std::array<std::uint32_t, 16>> min_counts_;
  std::size_t steps_ = 0;
};

}  // namespace hondana::uri
