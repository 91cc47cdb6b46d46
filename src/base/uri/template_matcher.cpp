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

constexpr octet_set plain_values = unreserved.with("%");

octet_set alone(const expression& expression, const variable& variable) {
  const operation& op = expression.op;
  const bool several = expression.variables.size() > 1 || variable.explode;
  if (op.keeps_reserved) return plain_values.with(reserved).without(several ? "," : "");
  octet_set set = plain_values;
  if (variable.explode) {
    if (!op.named) set = set.with("=");
  } else if (op.lead != '\0' && variable.prefix == 0) {
    set = set.with(",");
  }
  return op.lead == '.' && several ? set.without(".") : set;
}

class boundaries {
 public:
  explicit boundaries(const template_syntax& syntax) : syntax_(syntax) {}

  result<std::vector<value_sets>> find() {
    for (const auto& part : syntax_.parts) {
      value_sets sets;
      if (const auto* one = std::get_if<expression>(&part)) {
        HONDANA_TRY(check_inside(*one));
        for (const variable& variable : one->variables) sets.values.push_back(alone(*one, variable));
        if (one->op.named) sets.names = plain_values;
      }
      sets_.push_back(std::move(sets));
    }
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      if (at(i) != nullptr) leave_out_later_signs(i);
    }
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      if (at(i) == nullptr) continue;
      // Any expression may expand to nothing, so all expressions up to the next literal are neighbours.
      for (std::size_t j = i + 1; j < sets_.size() && at(j) != nullptr; ++j) {
        HONDANA_TRY(check_neighbours(i, j));
      }
    }
    return std::move(sets_);
  }

 private:
  [[nodiscard]] const expression* at(std::size_t part) const { return std::get_if<expression>(&syntax_.parts[part]); }

  static tl::unexpected<failure> ambiguous(const variable& first, const variable& second) {
    return fail(errc::invalid_argument, "the template cannot be matched uniquely: nothing separates \"" + first.name +
                                            "\" from \"" + second.name + "\"; put other text between them");
  }

  static result<void> check_inside(const expression& one) {
    for (std::size_t i = 0; i < one.variables.size(); ++i) {
      const variable& variable = one.variables[i];
      const auto rest = one.variables.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      if (!one.op.named && variable.explode && rest != one.variables.end()) return ambiguous(variable, *rest);
      if (one.op.named &&
          std::any_of(rest, one.variables.end(), [&](const auto& other) { return other.key == variable.key; })) {
        return fail(errc::invalid_argument, "the template cannot be matched uniquely: one expression names the parameter \"" +
                                                variable.name + "\" twice; leave one out");
      }
    }
    return {};
  }

  void leave_out_later_signs(std::size_t i) {
    const bool keeps_reserved = at(i)->op.keeps_reserved;
    std::string left_out;
    bool adjacent = true;
    for (std::size_t j = i + 1; j < sets_.size(); ++j) {
      const expression* later = at(j);
      if (later == nullptr) {
        adjacent = false;
        continue;
      }
      const char sign = later->op.lead;
      const bool delimits = keeps_reserved ? (sign == '?' || sign == '#' || (adjacent && (sign == ';' || sign == '&')))
                                           : (adjacent && sign == '.');
      if (delimits) left_out.push_back(sign);
    }
    for (octet_set& set : sets_[i].values) set = set.without(left_out);
    sets_[i].names = sets_[i].names.without(left_out);
  }

  [[nodiscard]] result<void> check_neighbours(std::size_t i, std::size_t j) const {
    const expression& first = *at(i);
    const expression& second = *at(j);
    octet_set begins;
    if (second.op.lead != '\0') {
      begins = octet_set(std::string_view(&second.op.lead, 1));
    } else {
      begins = octet_set(",");
      for (const octet_set& set : sets_[j].values) begins = begins.with(set);
    }
    for (std::size_t k = 0; k < first.variables.size(); ++k) {
      const variable& last = first.variables[k];
      octet_set continues = sets_[i].values[k];
      const bool repeats = last.explode && !first.op.named;
      if (repeats) continues = continues.with(std::string_view(&first.op.separator, 1));
      if (continues.meets(begins)) return ambiguous(last, second.variables.front());
      if (!first.op.named || first.op.separator != second.op.lead) continue;
      for (const variable& other : second.variables) {
        if (last.explode || last.key == other.key) return ambiguous(last, other);
      }
    }
    return {};
  }

  const template_syntax& syntax_;
  std::vector<value_sets> sets_;
};

}  // namespace

result<std::vector<value_sets>> find_boundaries(const template_syntax& syntax) { return boundaries(syntax).find(); }

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
          add({.what = step::text, .next = here() + 1, .detail = static_cast<std::uint32_t>(program_.texts.size())});
          program_.texts.push_back(text->canonical);
        }
        continue;
      }
      const auto& one = std::get<expression>(parts[part_]);
      const node_index first = here();
      if (one.op.named) {
        add_named(one);
      } else {
        add_unnamed(one);
      }
      for (node_index i = first; i < here(); ++i) {
        if (program_.nodes[i].what == step::fork) program_.nodes[i].other = here();
      }
    }
    add({.what = step::accept});
  }

 private:
  [[nodiscard]] node_index here() const { return static_cast<node_index>(program_.nodes.size()); }
  void add(const node& one) { program_.nodes.push_back(one); }
  /// The builder sets `other` of every fork to the node after the expression once that is known.
  void add_fork() { add({.what = step::fork, .next = here() + 1}); }
  void add_sign(char character, node_index next) { add({.what = step::sign, .character = character, .next = next}); }

  void add_run(const expression& one, std::size_t variable, node_index next) {
    const std::uint32_t limit = one.variables[variable].prefix;
    add({.what = step::run,
         .next = next,
         .detail = limit == 0 ? 0 : program_.counters++,
         .part = static_cast<std::uint32_t>(part_),
         .variable = static_cast<std::uint32_t>(variable),
         .limit = limit,
         .set = sets_[part_].values[variable]});
  }

  void add_unnamed(const expression& one) {
    if (one.op.lead != '\0') {
      add_fork();
      add_sign(one.op.lead, here() + 1);
    }
    for (std::size_t i = 0; i < one.variables.size(); ++i) {
      const node_index value = here();
      add_run(one, i, value + 1);
      const bool last = i + 1 == one.variables.size();
      if (last && !one.variables[i].explode) break;
      add_fork();
      add_sign(one.op.separator, last ? value : here() + 1);
    }
  }

  void add_named(const expression& one) {
    parameter_block block;
    block.names = sets_[part_].names;
    block.equals_may_lack = !one.op.equals_before_empty;
    block.lead = one.op.lead;
    block.separator = one.op.separator;

    add_fork();
    add_sign(one.op.lead, here() + 1);
    const node_index name = here();
    add({.what = step::name, .detail = static_cast<std::uint32_t>(program_.parameters.size())});
    block.after = here() + static_cast<node_index>(one.variables.size());
    for (std::size_t i = 0; i < one.variables.size(); ++i) {
      const parameter_block::parameter parameter{one.variables[i].key, static_cast<std::uint32_t>(i), here()};
      if (one.variables[i].explode && !block.rest) block.rest = parameter;
      block.known.push_back(parameter);
      add_run(one, i, block.after);
    }
    std::sort(block.known.begin(), block.known.end(), [](const auto& a, const auto& b) { return a.key.size() > b.key.size(); });
    add_fork();
    add_sign(one.op.separator, name);
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

constexpr std::uint32_t never = std::numeric_limits<std::uint32_t>::max();

}  // namespace

template_matcher::template_matcher(const template_program& program, std::string_view text)
    : program_(program),
      text_(text),
      words_((program.nodes.size() + 63) / 64),
      reach_(words_ * (text.size() + 1)),
      needed_(program.counters) {
  for (auto& counter : needed_) counter.fill(never);
}

bool template_matcher::reaches(node_index node, std::size_t at) const noexcept {
  return ((reach_[at * words_ + node / 64] >> (node % 64)) & 1U) != 0;
}

std::optional<std::vector<capture>> template_matcher::run() {
  for (std::size_t at = text_.size() + 1; at-- > 0;) {
    const bool inside_escape =
        (at >= 1 && at < text_.size() && text_[at - 1] == '%') || (at >= 2 && at < text_.size() && text_[at - 2] == '%');
    if (!inside_escape) look_back_from(at);
  }
  if (!reaches(0, 0)) return std::nullopt;

  std::vector<capture> captures;
  std::string_view key;
  std::size_t at = 0;
  for (node_index index = 0; program_.nodes[index].what != step::accept; ++steps_) {
    const node& node = program_.nodes[index];
    index = node.next;
    switch (node.what) {
      case step::text:
        at += program_.texts[node.detail].size();
        break;
      case step::sign:
        ++at;
        break;
      case step::run: {
        const std::size_t end = run_end(node, at);
        captures.push_back({node.part, node.variable, key, text_.substr(at, end - at)});
        key = {};
        at = end;
        break;
      }
      case step::fork:
        if (!reaches(node.next, at)) index = node.other;
        break;
      case step::name: {
        const parameter_block& block = program_.parameters[node.detail];
        const auto found = name_at(block, at);
        key = text_.substr(at, found->key_end - at);
        at = found->key_end;
        if (found->has_value) {
          ++at;
          index = found->parameter->value;
        } else {
          captures.push_back({program_.nodes[found->parameter->value].part, found->parameter->variable, key, {}});
          key = {};
          index = block.after;
        }
        break;
      }
      case step::accept:
        break;
    }
  }
  return captures;
}

void template_matcher::look_back_from(std::size_t at) {
  for (auto index = static_cast<node_index>(program_.nodes.size()); index-- > 0;) {
    if (can_match(index, at)) reach_[at * words_ + index / 64] |= std::uint64_t{1} << (index % 64);
  }
  steps_ += program_.nodes.size();
}

bool template_matcher::can_match(node_index index, std::size_t at) {
  const node& node = program_.nodes[index];
  switch (node.what) {
    case step::text: {
      const std::string& text = program_.texts[node.detail];
      return text_.size() - at >= text.size() && reaches(node.next, at + text.size()) && text_.substr(at).starts_with(text);
    }
    case step::sign:
      return at < text_.size() && text_[at] == node.character && reaches(node.next, at + 1);
    case step::run:
      return can_run(index, at);
    case step::fork:
      return reaches(node.next, at) || reaches(node.other, at);
    case step::name:
      return name_at(program_.parameters[node.detail], at).has_value();
    case step::accept:
      return at == text_.size();
  }
  return false;
}

bool template_matcher::can_run(node_index index, std::size_t at) {
  const node& node = program_.nodes[index];
  const bool may_end = reaches(node.next, at);
  const bool may_take = at < text_.size() && node.set.has(text_[at]);
  if (node.limit == 0) return may_end || (may_take && reaches(index, at + unit(at)));
  auto& counter = needed_[node.detail];
  std::uint32_t needed = may_end ? 0 : never;
  if (!may_end && may_take) {
    const std::uint32_t later = counter[(at + escaped_code_point_length(text_, at)) % counter.size()];
    if (later != never) needed = later + 1;
  }
  counter[at % counter.size()] = needed;
  return needed <= node.limit;
}

std::optional<template_matcher::named_step> template_matcher::name_at(const parameter_block& block, std::size_t at) {
  // Names start only after a separator, so each character of the URI is examined once for names.
  if (at == 0 || (text_[at - 1] != block.lead && text_[at - 1] != block.separator)) return std::nullopt;
  const std::string_view rest = text_.substr(at);
  for (const auto& parameter : block.known) {
    ++steps_;
    if (!rest.starts_with(parameter.key)) continue;
    const std::size_t end = at + parameter.key.size();
    if (end < text_.size() && text_[end] == '=' && reaches(parameter.value, end + 1)) return named_step{&parameter, end, true};
    if (block.equals_may_lack && reaches(block.after, end)) return named_step{&parameter, end, false};
  }
  return block.rest ? other_name_at(block, at) : std::nullopt;
}

std::optional<template_matcher::named_step> template_matcher::other_name_at(const parameter_block& block, std::size_t at) {
  std::size_t end = at;
  while (end < text_.size() && block.names.has(text_[end])) end += unit(end);
  steps_ += end - at;
  const auto is_known = [&](std::size_t key_end) {
    const std::string_view key = text_.substr(at, key_end - at);
    return std::any_of(block.known.begin(), block.known.end(), [&](const auto& parameter) { return parameter.key == key; });
  };
  if (end < text_.size() && text_[end] == '=' && reaches(block.rest->value, end + 1) && !is_known(end)) {
    return named_step{&*block.rest, end, true};
  }
  if (!block.equals_may_lack) return std::nullopt;
  for (; end > at; --end) {
    if (reaches(block.after, end)) return named_step{&*block.rest, end, false};
  }
  return std::nullopt;
}

std::size_t template_matcher::run_end(const node& run, std::size_t at) {
  std::size_t end = at;
  for (std::uint32_t taken = 0; run.limit == 0 || taken <= run.limit; ++taken) {
    ++steps_;
    if (reaches(run.next, at)) end = at;
    if (at == text_.size() || !run.set.has(text_[at])) break;
    at += run.limit == 0 ? unit(at) : escaped_code_point_length(text_, at);
  }
  return end;
}

}  // namespace hondana::uri
