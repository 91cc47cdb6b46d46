/// Lays out the nodes of a template, part by part.
#include "base/uri/template_program.hpp"

#include <algorithm>
#include <variant>

#include "base/uri/template_boundaries.hpp"

namespace hondana::uri {
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
  /// The builder points every fork's `other` behind the expression once its end is known.
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

}  // namespace hondana::uri
