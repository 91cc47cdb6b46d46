/// The automaton a URI template is compiled to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <hondana/error.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/uri/octet_set.hpp"
#include "base/uri/template_syntax.hpp"

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

}  // namespace hondana::uri
