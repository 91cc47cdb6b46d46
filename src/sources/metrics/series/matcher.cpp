/// Single matchers and selectors: what they admit, and how PromQL writes them.
#include <algorithm>
#include <array>
#include <utility>

#include <re2/re2.h>

#include "base/ascii/characters.hpp"
#include "sources/metrics/series/quoting.hpp"
#include "sources/metrics/series/selector.hpp"

namespace hondana::series {
namespace {

constexpr std::int64_t most_program_bytes = 1 << 20;
/// Of a compiled expression. Matching takes this times the length of a value at worst.
constexpr int most_program_steps = 20'000;

/// What PromQL takes for something else than a metric's name where it stands alone, in any case.
constexpr std::array<std::string_view, 28> words_of_promql{
    "and",      "or",         "unless",      "atan2",   "sum",          "avg",      "count",  "min", "max",     "group",
    "stddev",   "stdvar",     "topk",        "bottomk", "count_values", "quantile", "offset", "by",  "without", "on",
    "ignoring", "group_left", "group_right", "bool",    "start",        "end",      "inf",    "nan"};

}  // namespace

std::string_view text_of(matcher::relation how) noexcept {
  switch (how) {
    case matcher::relation::equal:
      return "=";
    case matcher::relation::not_equal:
      return "!=";
    case matcher::relation::matches:
      return "=~";
    case matcher::relation::matches_not:
      return "!~";
  }
  return "=";
}

result<matcher> matcher::of(std::string label_name, relation how, std::string value) {
  if (!is_label_name(label_name))
    return fail(errc::invalid_argument,
                "not a valid label name: it must begin with a letter or _, followed by letters, digits and _");
  const auto refused = [&label_name](const std::string& why) {
    return fail(errc::invalid_argument, "the value for the label " + label_name + " " + why);
  };
  if (value.size() > longest_value) return refused("is longer than " + std::to_string(longest_value) + " bytes");
  if (!is_utf8(value)) return refused("is not valid UTF-8");
  std::shared_ptr<const re2::RE2> compiled;
  if (how == relation::matches || how == relation::matches_not) {
    re2::RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(most_program_bytes);
    options.set_dot_nl(true);
    options.set_never_capture(true);
    auto made = std::make_shared<const re2::RE2>(value, options);
    if (!made->ok())
      return refused("is not a valid regular expression (" + made->error() +
                     "); use RE2 syntax, without look-around and back references");
    if (made->ProgramSize() > most_program_steps) return refused("is too large a regular expression; use fewer repetitions");
    compiled = std::move(made);
  }
  return matcher(std::move(label_name), how, std::move(value), std::move(compiled));
}

bool matcher::admits(std::string_view value) const {
  switch (how_) {
    case relation::equal:
      return value == value_;
    case relation::not_equal:
      return value != value_;
    case relation::matches:
      return re2::RE2::FullMatch(re2::StringPiece(value.data(), value.size()), *compiled_);
    case relation::matches_not:
      return !re2::RE2::FullMatch(re2::StringPiece(value.data(), value.size()), *compiled_);
  }
  return false;
}

std::string matcher::to_text() const {
  std::string out = name_;
  out.append(text_of(how_)).append(1, '"');
  append_escaped(out, value_, '"');
  return out += '"';
}

bool selector::admits(const identity& of) const {
  return (name.empty() || of.name == name) &&
         std::all_of(matchers.begin(), matchers.end(), [&of](const matcher& one) { return one.admits(of); });
}

std::string selector::to_text() const {
  const bool is_word =
      std::find(words_of_promql.begin(), words_of_promql.end(), ascii::in_lower_case(name)) != words_of_promql.end();
  std::string inside;
  if (is_word) inside.append("__name__=\"").append(name).append(1, '"');
  for (const auto& one : matchers) {
    if (!inside.empty()) inside += ',';
    inside += one.to_text();
  }
  std::string out = is_word ? std::string() : name;
  if (inside.empty() && !out.empty()) return out;
  return out.append(1, '{').append(inside).append(1, '}');
}

}  // namespace hondana::series
