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

enum class step : std::uint8_t {
  text,    ///< Takes a literal.
  sign,    ///< Takes one character.
  run,     ///< Takes as many characters of a set, or code points up to a limit, as the rest allows.
  fork,    ///< Goes to `next` where that leads to a match, otherwise to `other`.
  name,    ///< Takes a parameter's name and `=`, then goes to the run of its value.
  accept,  ///< The end of the URI.
};

using node_index = std::uint32_t;

struct node {
  step what = step::accept;
  char character = '\0';  ///< sign
  node_index next = 0;
  node_index other = 0;        ///< fork
  std::uint32_t detail = 0;    ///< text: index in `texts`. name: index in `parameters`. run with a limit: index of its counter.
  std::uint32_t part = 0;      ///< run: the expression, as an index in `syntax.parts`,
  std::uint32_t variable = 0;  ///< and the variable in it.
  std::uint32_t limit = 0;     ///< run: most code points; 0: any number.
  octet_set set{};             ///< run
};

/// The parameters of one named expression; they may come in any order.
struct parameter_block {
  struct parameter {
    std::string key;
    std::uint32_t variable;
    node_index value;
  };
  std::vector<parameter> known;   ///< Longest key first.
  std::optional<parameter> rest;  ///< The first exploded variable, which takes all other names as an associative array's.
  octet_set names;                ///< What such a name may have.
  node_index after = 0;           ///< Where a value leads, and a name without one.
  bool equals_may_lack = false;   ///< `;name` is a parameter with an empty value.
  char lead = '\0';
  char separator = '\0';
};

/// At one position of the URI a node depends only on nodes of higher index, so that a pass from the highest to the lowest
/// sees every answer it needs.
struct template_program {
  template_syntax syntax;
  std::string prefix;  ///< The literal before the first expression, in canonical form; no node takes it.
  std::vector<node> nodes;
  std::vector<std::string> texts;
  std::vector<parameter_block> parameters;
  std::uint32_t counters = 0;
};

/// Errors: invalid_argument for a template that cannot be matched uniquely.
[[nodiscard]] result<template_program> compile_template(template_syntax syntax);

/// A longer URI matches nothing: the first pass keeps a few bits for each of its characters.
inline constexpr std::size_t max_matched_bytes = std::size_t{1} << 20U;

/// A stretch of the URI that one variable took.
struct capture {
  std::uint32_t part;
  std::uint32_t variable;
  std::string_view key;  ///< The parameter's name in named expressions.
  std::string_view text;
};

/// One match, in two passes: from the end, where in the URI can each node still reach the end; then from the start, taking
/// the most that the first pass allows. Both look at each pair of node and position a bounded number of times.
///
/// `program` and `text` must outlive it. `text` is what follows the template's literal prefix, with canonical escapes.
class template_matcher {
 public:
  template_matcher(const template_program& program, std::string_view text);

  /// The captures in order, as views of the text; nothing when it does not match.
  [[nodiscard]] std::optional<std::vector<capture>> run();

  /// The work done, in looks at a node or a character.
  [[nodiscard]] std::size_t steps() const noexcept { return steps_; }

 private:
  /// Where a name node can go: to the value of a parameter, or behind a parameter without one.
  struct named_step {
    const parameter_block::parameter* parameter;
    std::size_t key_end;
    bool has_value;
  };

  [[nodiscard]] bool reaches(node_index node, std::size_t at) const noexcept;
  [[nodiscard]] std::size_t unit(std::size_t at) const noexcept { return text_[at] == '%' ? 3 : 1; }
  void look_back_from(std::size_t at);
  [[nodiscard]] bool can_match(node_index index, std::size_t at);
  [[nodiscard]] bool can_run(node_index index, std::size_t at);
  [[nodiscard]] std::optional<named_step> name_at(const parameter_block& block, std::size_t at);
  [[nodiscard]] std::optional<named_step> other_name_at(const parameter_block& block, std::size_t at);
  [[nodiscard]] std::size_t run_end(const node& run, std::size_t at);

  const template_program& program_;
  std::string_view text_;
  std::size_t words_;                 ///< Per position.
  std::vector<std::uint64_t> reach_;  ///< One bit for each position and node.
  /// For each run with a limit, how many code points it must take from here; of the last 16 positions, since an escaped code
  /// point has at most 12 characters.
  std::vector<std::array<std::uint32_t, 16>> needed_;
  std::size_t steps_ = 0;
};

}  // namespace hondana::uri
