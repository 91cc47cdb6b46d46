/// Parses the parameters of resource URIs by tables of the known ones.
#include "base/uri/query_parameters.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include "base/uri/uri_syntax.hpp"

namespace hondana::uri {
namespace {

/// Of the user's own words in an error.
constexpr std::size_t max_quoted_bytes = 64;

std::string quoted_part(std::string_view written) {
  std::string out(written.substr(0, max_quoted_bytes));
  for (char& c : out) c = c > ' ' && c <= '~' ? c : '?';
  return written.size() > max_quoted_bytes ? out + "..." : out;
}

std::string names_of(std::span<const query_parameter> known, std::string_view separator) {
  std::string names;
  for (const auto& parameter : known) names.append(names.empty() ? "" : separator).append(parameter.name);
  return names;
}

bool is_sound_text(std::string_view text) noexcept {
  for (std::size_t position = 0; position < text.size();) {
    const auto length = utf8_length(text, position);
    if (length == 0 || text[position] == '\0') return false;
    position += length;
  }
  return true;
}

template <class Number>
std::optional<Number> parse_number(std::string_view text) noexcept {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<value_range> parse_range(std::string_view text) noexcept {
  const auto dash = text.find('-');
  const auto first = parse_number<std::uint64_t>(text.substr(0, dash));
  if (!first) return std::nullopt;
  if (dash == std::string_view::npos) return value_range{*first, first};
  if (dash + 1 == text.size()) return value_range{*first, std::nullopt};
  const auto last = parse_number<std::uint64_t>(text.substr(dash + 1));
  if (!last || *last < *first) return std::nullopt;
  return value_range{*first, last};
}

std::string whole_number(double value) { return std::to_string(static_cast<std::int64_t>(value)); }

std::string bounds_of(const query_parameter& parameter) {
  if (!std::isfinite(parameter.max)) return ", such as 0.9 or 1e9";
  return " from " + whole_number(parameter.min) + " to " + whole_number(parameter.max);
}

/// Returns why the value is wrong for its type; empty if it is not.
std::string value_error(const query_parameter& parameter, std::string_view text) {
  const auto is_within = [&parameter](double value) { return value >= parameter.min && value <= parameter.max; };
  switch (parameter.type) {
    case parameter_type::choice: {
      if (std::find(parameter.choices.begin(), parameter.choices.end(), text) != parameter.choices.end()) return {};
      std::string known;
      for (const auto choice : parameter.choices) known.append(known.empty() ? "" : ", ").append(choice);
      return "unknown value; known: " + known + '.';
    }
    case parameter_type::integer: {
      const auto value = parse_number<std::uint64_t>(text);
      return value && is_within(static_cast<double>(*value)) ? "" : "expected a whole number" + bounds_of(parameter) + '.';
    }
    case parameter_type::number: {
      const auto value = parse_number<double>(text);
      return value && std::isfinite(*value) && is_within(*value) ? "" : "expected a number" + bounds_of(parameter) + '.';
    }
    case parameter_type::range: {
      const auto value = parse_range(text);
      return value && is_within(static_cast<double>(value->first))
                 ? ""
                 : "expected FIRST-LAST, FIRST- or FIRST, counted from " + whole_number(parameter.min) +
                       ", both ends included, such as 10-40.";
    }
    case parameter_type::text:
    case parameter_type::bytes:
    case parameter_type::list:
      break;
  }
  return {};
}

}  // namespace

tl::unexpected<failure> invalid_parameter(std::string_view name, std::string_view reason) {
  return fail(errc::invalid_argument, std::string(name).append(": ").append(reason));
}

const query_values::entry* query_values::find(std::string_view name) const noexcept {
  const auto match = std::find_if(entries_.begin(), entries_.end(),
                                  [name](const entry& parameter) { return parameter.name == name && !parameter.text.empty(); });
  return match == entries_.end() ? nullptr : &*match;
}

std::size_t query_values::count() const noexcept {
  return static_cast<std::size_t>(
      std::count_if(entries_.begin(), entries_.end(), [](const entry& parameter) { return !parameter.text.empty(); }));
}

std::string_view query_values::text(std::string_view name) const noexcept {
  const auto* parameter = find(name);
  return parameter == nullptr ? std::string_view() : parameter->text;
}

std::optional<std::uint64_t> query_values::integer(std::string_view name) const noexcept {
  return parse_number<std::uint64_t>(text(name));
}

std::optional<double> query_values::number(std::string_view name) const noexcept { return parse_number<double>(text(name)); }

std::optional<value_range> query_values::range(std::string_view name) const noexcept { return parse_range(text(name)); }

std::vector<std::string> query_values::list(std::string_view name) const {
  std::vector<std::string> texts;
  for (const auto& parameter : entries_) {
    if (parameter.name == name) texts.push_back(parameter.text);
  }
  return texts;
}

std::string query_values::label(std::string_view name) const {
  const auto* parameter = find(name);
  return std::string(name) + '=' + (parameter == nullptr ? std::string() : quoted_part(parameter->written));
}

tl::unexpected<failure> query_values::invalid(std::string_view name, std::string_view reason) const {
  return invalid_parameter(label(name), reason);
}

result<void> query_values::allow_one_of(std::initializer_list<std::string_view> names) const {
  std::string_view first;
  for (const auto name : names) {
    if (!has(name)) continue;
    if (!first.empty()) {
      return fail(errc::invalid_argument,
                  std::string(first).append(" and ").append(name).append(" cannot be combined. Use one of them."));
    }
    first = name;
  }
  return {};
}

result<void> query_values::add(const query_parameter& parameter, std::string_view written) {
  const auto is_same = [&parameter](const entry& earlier) { return earlier.name == parameter.name; };
  if (parameter.type != parameter_type::list) {
    if (std::any_of(entries_.begin(), entries_.end(), is_same))
      return invalid_parameter(parameter.name, "given more than once. Give it once.");
    return add_text(parameter, written);
  }
  for (;;) {
    const auto item = written.substr(0, written.find(','));
    if (!item.empty()) HONDANA_TRY(add_text(parameter, item));
    if (static_cast<double>(std::count_if(entries_.begin(), entries_.end(), is_same)) > parameter.max)
      return invalid_parameter(parameter.name, "more than " + whole_number(parameter.max) + " values.");
    if (item.size() == written.size()) return {};
    written.remove_prefix(item.size() + 1);
  }
}

result<void> query_values::add_text(const query_parameter& parameter, std::string_view written) {
  auto text = percent_decode(written);
  if (!text) {
    return invalid_parameter(parameter.name,
                             "the value has a broken percent-escape. Write % and two hexadecimal digits, and a percent sign "
                             "itself as %25.");
  }
  if (text->size() > parameter.max_bytes)
    return invalid_parameter(parameter.name, "the value is longer than " + std::to_string(parameter.max_bytes) + " bytes.");
  if (parameter.type != parameter_type::bytes && !is_sound_text(*text))
    return invalid_parameter(parameter.name, "the value is not valid UTF-8 or contains a NUL.");
  const bool is_empty = text->empty();
  entries_.push_back({parameter.name, written, std::move(*text)});
  if (is_empty) return {};
  if (const auto reason = value_error(parameter, entries_.back().text); !reason.empty()) return invalid(parameter.name, reason);
  return {};
}

result<query_values> parse_query(std::optional<std::string_view> query, std::span<const query_parameter> known,
                                 std::string_view subject) {
  query_values values;
  auto remaining = query.value_or(std::string_view());
  while (!remaining.empty()) {
    const auto [name, written] = pop_parameter(remaining);
    const auto parameter =
        std::find_if(known.begin(), known.end(), [&name](const query_parameter& row) { return row.name == name; });
    if (parameter == known.end()) {
      return fail(errc::invalid_argument, "unknown parameter \"" + quoted_part(name) + "\"; " + std::string(subject) +
                                              (known.empty() ? " knows none." : " knows: " + names_of(known, ", ") + '.'));
    }
    HONDANA_TRY(values.add(*parameter, written));
  }
  return values;
}

std::string query_template(std::span<const query_parameter> known) { return "{?" + names_of(known, ",") + '}'; }

}  // namespace hondana::uri
