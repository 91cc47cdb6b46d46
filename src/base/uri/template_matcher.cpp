/// The two passes of a match.
#include "base/uri/template_matcher.hpp"

#include <algorithm>
#include <limits>

#include "base/uri/escapes.hpp"

namespace hondana::uri {
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
  // Only behind a separator, so that names are looked for at each character of the URI once.
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
