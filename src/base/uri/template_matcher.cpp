/// Compiles URI templates to automata, and matches URIs against them in linear time.
#include "base/uri/template_matcher.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <hondana/error.hpp>

#include "base/uri/template_syntax.hpp"
#include "base/uri/uri_syntax.hpp"

namespace hondana::uri {

/// The characters that the variables of one expression match. A set with `%` matches whole escapes.
struct value_sets {
  std::vector<octet_set> values;  ///< Indexed by variable.
  octet_set names;                ///< For named expressions: the names in an exploded associative array.
};

/// Returns one element for each part of `syntax`; empty for literals.
///
/// A variable matches unreserved characters and escapes; with `+` and `#` also reserved characters. In addition:
/// - `,` is part of a value of `. / ; ? &` (a list). It is also part of a value of `+` and `#` if the expression has only one
///   variable, which is not exploded.
/// - An exploded value of the unnamed operators matches `=`.
/// - A label matches `.` only if it is the only variable of the expression, not exploded and not before another label.
/// - `+` and `#` exclude `?` and `#` where a later `{?...}` or `{#...}` needs them, and `;` and `&` directly before `{;...}`
///   and `{&...}`. Any other variable excludes `.` directly before `{....}`.
///
/// Errors: invalid_argument when these sets cannot separate two neighbours; the text names both.
[[nodiscard]] result<std::vector<value_sets>> find_boundaries(const template_syntax& syntax);

namespace {

constexpr octet_set value_characters = unreserved.including("%");

octet_set initial_set(const expression& expression, const variable& variable) {
  const template_operator& op = expression.op;
  const bool has_several = expression.variables.size() > 1 || variable.is_exploded;
  if (op.keeps_reserved) return value_characters.including(reserved).excluding(has_several ? "," : "");
  octet_set set = value_characters;
  if (variable.is_exploded) {
    if (!op.is_named) set = set.including("=");
  } else if (op.lead != '\0' && variable.prefix_length == 0) {
    set = set.including(",");
  }
  return op.lead == '.' && has_several ? set.excluding(".") : set;
}

class boundary_finder {
 public:
  explicit boundary_finder(const template_syntax& syntax) : syntax_(syntax) {}

  result<std::vector<value_sets>> find() {
    for (const auto& part : syntax_.parts) {
      value_sets sets;
      if (const auto* expr = std::get_if<expression>(&part)) {
        HONDANA_TRY(check_expression(*expr));
        for (const variable& variable : expr->variables) sets.values.push_back(initial_set(*expr, variable));
        if (expr->op.is_named) sets.names = value_characters;
      }
      sets_.push_back(std::move(sets));
    }
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      if (expression_at(i) != nullptr) exclude_later_delimiters(i);
    }
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      if (expression_at(i) == nullptr) continue;
      // Any expression may expand to nothing, so all expressions up to the next literal are neighbours.
      for (std::size_t j = i + 1; j < sets_.size() && expression_at(j) != nullptr; ++j) {
        HONDANA_TRY(check_neighbours(i, j));
      }
    }
    return std::move(sets_);
  }

 private:
  [[nodiscard]] const expression* expression_at(std::size_t part) const {
    return std::get_if<expression>(&syntax_.parts[part]);
  }

  static tl::unexpected<failure> ambiguous(const variable& first, const variable& second) {
    return fail(errc::invalid_argument, "the template cannot be matched uniquely: nothing separates \"" + first.name +
                                            "\" from \"" + second.name + "\"; put other text between them");
  }

  static result<void> check_expression(const expression& expr) {
    for (std::size_t i = 0; i < expr.variables.size(); ++i) {
      const variable& variable = expr.variables[i];
      const auto next = expr.variables.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      if (!expr.op.is_named && variable.is_exploded && next != expr.variables.end()) return ambiguous(variable, *next);
      if (expr.op.is_named &&
          std::any_of(next, expr.variables.end(), [&](const auto& other) { return other.key == variable.key; })) {
        return fail(errc::invalid_argument, "the template cannot be matched uniquely: one expression names the parameter \"" +
                                                variable.name + "\" twice; leave one out");
      }
    }
    return {};
  }

  void exclude_later_delimiters(std::size_t i) {
    const bool keeps_reserved = expression_at(i)->op.keeps_reserved;
    std::string excluded;
    bool is_adjacent = true;
    for (std::size_t j = i + 1; j < sets_.size(); ++j) {
      const expression* later = expression_at(j);
      if (later == nullptr) {
        is_adjacent = false;
        continue;
      }
      const char sign = later->op.lead;
      const bool delimits = keeps_reserved ? (sign == '?' || sign == '#' || (is_adjacent && (sign == ';' || sign == '&')))
                                           : (is_adjacent && sign == '.');
      if (delimits) excluded.push_back(sign);
    }
    for (octet_set& set : sets_[i].values) set = set.excluding(excluded);
    sets_[i].names = sets_[i].names.excluding(excluded);
  }

  [[nodiscard]] result<void> check_neighbours(std::size_t i, std::size_t j) const {
    const expression& first = *expression_at(i);
    const expression& second = *expression_at(j);
    octet_set first_octets;
    if (second.op.lead != '\0') {
      first_octets = octet_set(std::string_view(&second.op.lead, 1));
    } else {
      first_octets = octet_set(",");
      for (const octet_set& set : sets_[j].values) first_octets = first_octets.including(set);
    }
    for (std::size_t k = 0; k < first.variables.size(); ++k) {
      const variable& last = first.variables[k];
      octet_set next_octets = sets_[i].values[k];
      const bool repeats = last.is_exploded && !first.op.is_named;
      if (repeats) next_octets = next_octets.including(std::string_view(&first.op.separator, 1));
      if (next_octets.intersects(first_octets)) return ambiguous(last, second.variables.front());
      if (!first.op.is_named || first.op.separator != second.op.lead) continue;
      for (const variable& other : second.variables) {
        if (last.is_exploded || last.key == other.key) return ambiguous(last, other);
      }
    }
    return {};
  }

  const template_syntax& syntax_;
  std::vector<value_sets> sets_;
};

}  // namespace

result<std::vector<value_sets>> find_boundaries(const template_syntax& syntax) { return boundary_finder(syntax).find(); }

namespace {

class program_builder {
 public:
  program_builder(template_program& program, const std::vector<value_sets>& sets) : program_(program), sets_(sets) {}

  void build() {
    const auto& parts = program_.syntax.parts;
    for (part_ = 0; part_ < parts.size(); ++part_) {
      if (const auto* text = std::get_if<literal>(&parts[part_])) {
        if (part_ == 0) {
          program_.prefix = text->canonical;
        } else {
          add({.kind = node_kind::literal,
               .next = next_index() + 1,
               .operand = static_cast<std::uint32_t>(program_.texts.size())});
          program_.texts.push_back(text->canonical);
        }
        continue;
      }
      const auto& expr = std::get<expression>(parts[part_]);
      const node_index first = next_index();
      if (expr.op.is_named) {
        add_named(expr);
      } else {
        add_unnamed(expr);
      }
      for (node_index i = first; i < next_index(); ++i) {
        if (program_.nodes[i].kind == node_kind::split) program_.nodes[i].alternative = next_index();
      }
    }
    add({.kind = node_kind::accept});
  }

 private:
  [[nodiscard]] node_index next_index() const { return static_cast<node_index>(program_.nodes.size()); }
  void add(const node& node) { program_.nodes.push_back(node); }
  /// The builder sets `alternative` of every split to the node after the expression once that is known.
  void add_split() { add({.kind = node_kind::split, .next = next_index() + 1}); }
  void add_character(char character, node_index next) {
    add({.kind = node_kind::character, .character = character, .next = next});
  }

  void add_run(const expression& expr, std::size_t variable, node_index next) {
    const std::uint32_t limit = expr.variables[variable].prefix_length;
    add({.kind = node_kind::run,
         .next = next,
         .operand = limit == 0 ? 0 : program_.counters++,
         .part = static_cast<std::uint32_t>(part_),
         .variable = static_cast<std::uint32_t>(variable),
         .limit = limit,
         .set = sets_[part_].values[variable]});
  }

  void add_unnamed(const expression& expr) {
    if (expr.op.lead != '\0') {
      add_split();
      add_character(expr.op.lead, next_index() + 1);
    }
    for (std::size_t i = 0; i < expr.variables.size(); ++i) {
      const node_index value_node = next_index();
      add_run(expr, i, value_node + 1);
      const bool last = i + 1 == expr.variables.size();
      if (last && !expr.variables[i].is_exploded) break;
      add_split();
      add_character(expr.op.separator, last ? value_node : next_index() + 1);
    }
  }

  void add_named(const expression& expr) {
    parameter_block block;
    block.names = sets_[part_].names;
    block.equals_is_optional = !expr.op.equals_before_empty;
    block.lead = expr.op.lead;
    block.separator = expr.op.separator;

    add_split();
    add_character(expr.op.lead, next_index() + 1);
    const node_index name_node = next_index();
    add({.kind = node_kind::name, .operand = static_cast<std::uint32_t>(program_.parameters.size())});
    block.next = next_index() + static_cast<node_index>(expr.variables.size());
    for (std::size_t i = 0; i < expr.variables.size(); ++i) {
      const parameter_block::parameter parameter{expr.variables[i].key, static_cast<std::uint32_t>(i), next_index()};
      if (expr.variables[i].is_exploded && !block.catch_all) block.catch_all = parameter;
      block.parameters.push_back(parameter);
      add_run(expr, i, block.next);
    }
    std::sort(block.parameters.begin(), block.parameters.end(),
              [](const auto& a, const auto& b) { return a.key.size() > b.key.size(); });
    add_split();
    add_character(expr.op.separator, name_node);
    program_.parameters.push_back(std::move(block));
  }

  template_program& program_;
  const std::vector<value_sets>& sets_;
  std::size_t part_ = 0;
};

}  // namespace

result<template_program> compile_template(template_syntax syntax) {
  HONDANA_TRY(const auto sets, find_boundaries(syntax));
  template_program program;
  program.syntax = std::move(syntax);
  program_builder(program, sets).build();
  return program;
}

namespace {

constexpr std::uint32_t unreachable = std::numeric_limits<std::uint32_t>::max();

}  // namespace

template_matcher::template_matcher(const template_program& program, std::string_view text)
    : program_(program),
      text_(text),
      words_per_position_((program.nodes.size() + 63) / 64),
      accepting_(words_per_position_ * (text.size() + 1)),
      min_counts_(program.counters) {
  for (auto& counter : min_counts_) counter.fill(unreachable);
}

bool template_matcher::can_accept(node_index node, std::size_t position) const noexcept {
  return ((accepting_[position * words_per_position_ + node / 64] >> (node % 64)) & 1U) != 0;
}

std::optional<std::vector<capture>> template_matcher::match() {
  for (std::size_t offset = text_.size() + 1; offset-- > 0;) {
    const bool inside_escape = (offset >= 1 && offset < text_.size() && text_[offset - 1] == '%') ||
                               (offset >= 2 && offset < text_.size() && text_[offset - 2] == '%');
    if (!inside_escape) mark_accepting(offset);
  }
  if (!can_accept(0, 0)) return std::nullopt;

  std::vector<capture> captures;
  std::string_view key;
  std::size_t position = 0;
  for (node_index index = 0; program_.nodes[index].kind != node_kind::accept; ++steps_) {
    const node& node = program_.nodes[index];
    index = node.next;
    switch (node.kind) {
      case node_kind::literal:
        position += program_.texts[node.operand].size();
        break;
      case node_kind::character:
        ++position;
        break;
      case node_kind::run: {
        const std::size_t end = run_end(node, position);
        captures.push_back({node.part, node.variable, key, text_.substr(position, end - position)});
        key = {};
        position = end;
        break;
      }
      case node_kind::split:
        if (!can_accept(node.next, position)) index = node.alternative;
        break;
      case node_kind::name: {
        const parameter_block& block = program_.parameters[node.operand];
        const auto match = name_at(block, position);
        key = text_.substr(position, match->key_end - position);
        position = match->key_end;
        if (match->has_value) {
          ++position;
          index = match->parameter->value;
        } else {
          captures.push_back({program_.nodes[match->parameter->value].part, match->parameter->variable, key, {}});
          key = {};
          index = block.next;
        }
        break;
      }
      case node_kind::accept:
        break;
    }
  }
  return captures;
}

void template_matcher::mark_accepting(std::size_t position) {
  for (auto index = static_cast<node_index>(program_.nodes.size()); index-- > 0;) {
    if (can_match(index, position)) accepting_[position * words_per_position_ + index / 64] |= std::uint64_t{1} << (index % 64);
  }
  steps_ += program_.nodes.size();
}

bool template_matcher::can_match(node_index index, std::size_t position) {
  const node& node = program_.nodes[index];
  switch (node.kind) {
    case node_kind::literal: {
      const std::string& text = program_.texts[node.operand];
      return text_.size() - position >= text.size() && can_accept(node.next, position + text.size()) &&
             text_.substr(position).starts_with(text);
    }
    case node_kind::character:
      return position < text_.size() && text_[position] == node.character && can_accept(node.next, position + 1);
    case node_kind::run:
      return can_run(index, position);
    case node_kind::split:
      return can_accept(node.next, position) || can_accept(node.alternative, position);
    case node_kind::name:
      return name_at(program_.parameters[node.operand], position).has_value();
    case node_kind::accept:
      return position == text_.size();
  }
  return false;
}

bool template_matcher::can_run(node_index index, std::size_t position) {
  const node& node = program_.nodes[index];
  const bool may_end = can_accept(node.next, position);
  const bool can_consume = position < text_.size() && node.set.contains(text_[position]);
  if (node.limit == 0) return may_end || (can_consume && can_accept(index, position + unit_size(position)));
  auto& counter = min_counts_[node.operand];
  std::uint32_t min_count = may_end ? 0 : unreachable;
  if (!may_end && can_consume) {
    const std::uint32_t later = counter[(position + escaped_code_point_length(text_, position)) % counter.size()];
    if (later != unreachable) min_count = later + 1;
  }
  counter[position % counter.size()] = min_count;
  return min_count <= node.limit;
}

std::optional<template_matcher::name_match> template_matcher::name_at(const parameter_block& block, std::size_t position) {
  // Names start only after a separator, so each character of the URI is examined once for names.
  if (position == 0 || (text_[position - 1] != block.lead && text_[position - 1] != block.separator)) return std::nullopt;
  const std::string_view remaining = text_.substr(position);
  for (const auto& parameter : block.parameters) {
    ++steps_;
    if (!remaining.starts_with(parameter.key)) continue;
    const std::size_t end = position + parameter.key.size();
    if (end < text_.size() && text_[end] == '=' && can_accept(parameter.value, end + 1))
      return name_match{&parameter, end, true};
    if (block.equals_is_optional && can_accept(block.next, end)) return name_match{&parameter, end, false};
  }
  return block.catch_all ? catch_all_name_at(block, position) : std::nullopt;
}

std::optional<template_matcher::name_match> template_matcher::catch_all_name_at(const parameter_block& block,
                                                                                std::size_t position) {
  std::size_t end = position;
  while (end < text_.size() && block.names.contains(text_[end])) end += unit_size(end);
  steps_ += end - position;
  const auto is_known = [&](std::size_t key_end) {
    const std::string_view key = text_.substr(position, key_end - position);
    return std::any_of(block.parameters.begin(), block.parameters.end(),
                       [&](const auto& parameter) { return parameter.key == key; });
  };
  if (end < text_.size() && text_[end] == '=' && can_accept(block.catch_all->value, end + 1) && !is_known(end)) {
    return name_match{&*block.catch_all, end, true};
  }
  if (!block.equals_is_optional) return std::nullopt;
  for (; end > position; --end) {
    if (can_accept(block.next, end)) return name_match{&*block.catch_all, end, false};
  }
  return std::nullopt;
}

std::size_t template_matcher::run_end(const node& run, std::size_t position) {
  std::size_t end = position;
  for (std::uint32_t count = 0; run.limit == 0 || count <= run.limit; ++count) {
    ++steps_;
    if (can_accept(run.next, position)) end = position;
    if (position == text_.size() || !run.set.contains(text_[position])) break;
    position += run.limit == 0 ? unit_size(position) : escaped_code_point_length(text_, position);
  }
  return end;
}

}  // namespace hondana::uri
