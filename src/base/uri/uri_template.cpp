/// The public class `uri_template`, and the values of variables in a match.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <hondana/uri.hpp>

#include "base/uri/template_matcher.hpp"
#include "base/uri/template_syntax.hpp"
#include "base/uri/uri_syntax.hpp"

namespace hondana::uri {

/// Decodes `captures` and combines lists and associative arrays.
/// Returns nothing when a parameter is repeated, or when the occurrences of one variable have contradictory values.
[[nodiscard]] std::optional<uri_template_values> bind(const template_syntax& syntax, const std::vector<capture>& captures);

namespace {

using list_value = std::vector<std::string>;
using array_value = std::vector<std::pair<std::string, std::string>>;

/// With `keep_slashes`, escaped slashes stay escaped, so that they are not confused with raw ones.
std::string decode(std::string_view text, bool keep_slashes) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t position = 0; position < text.size(); ++position) {
    const auto octet = escape_at(text, position);
    if (!octet || (keep_slashes && *octet == '/')) {
      out.push_back(text[position]);
    } else {
      out.push_back(static_cast<char>(*octet));
      position += 2;
    }
  }
  return out;
}

/// The value of a variable that is not exploded: a string, or a list if it contains commas.
uri_template_value single_value(const template_operator& op, std::string_view text) {
  if (op.keeps_reserved || text.find(',') == std::string_view::npos) return decode(text, op.keeps_reserved);
  list_value items;
  for (std::size_t position = 0; position <= text.size();) {
    const std::size_t comma = std::min(text.find(',', position), text.size());
    items.push_back(decode(text.substr(position, comma - position), false));
    position = comma + 1;
  }
  return items;
}

/// The value of an exploded named variable: a list if every name is the variable's own, otherwise an associative array with
/// distinct names.
std::optional<uri_template_value> exploded_parameters(const variable& variable, const std::vector<capture>& captures) {
  const bool has_own_names =
      std::all_of(captures.begin(), captures.end(), [&](const capture& item) { return item.key == variable.key; });
  if (has_own_names) {
    list_value items;
    for (const capture& item : captures) items.push_back(decode(item.text, false));
    return items;
  }
  array_value members;
  std::set<std::string_view> names;
  for (const capture& item : captures) {
    if (!names.insert(item.key).second) return std::nullopt;
    members.emplace_back(decode(item.key, false), decode(item.text, false));
  }
  return members;
}

/// Whether an expression without a lead character expands this value to nothing.
bool expands_to_nothing(const uri_template_value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return text->empty();
  const auto* items = std::get_if<list_value>(&value);
  return items != nullptr && items->size() == 1 && items->front().empty();
}

class binder {
 public:
  explicit binder(const template_syntax& syntax) : syntax_(syntax) {}

  /// Adds what `variable` matched in one expression. Returns false when that is not a valid value.
  bool add(const template_operator& op, const variable& variable, const std::vector<capture>& captures) {
    if (!syntax_.repeated.empty()) ++occurrences_[variable.name];
    if (variable.is_exploded && op.is_named) {
      auto value = exploded_parameters(variable, captures);
      return value && add_value(variable.name, std::move(*value));
    }
    if (variable.is_exploded) {
      list_value items;
      for (const capture& item : captures) items.push_back(decode(item.text, op.keeps_reserved));
      return add_value(variable.name, std::move(items));
    }
    if (captures.size() != 1) return false;
    if (variable.prefix_length != 0) {
      prefixes_[variable.name].push_back(
          {variable.prefix_length, op.keeps_reserved, decode(captures[0].text, op.keeps_reserved)});
      return true;
    }
    return add_value(variable.name, single_value(op, captures[0].text));
  }

  /// Records an expression without a lead character that matched nothing: its variables are undefined, or one of them is empty.
  void add_empty(const expression& expr) { empty_expressions_.push_back(&expr); }

  std::optional<uri_template_values> finish() {
    if (!merge_prefixes() || !has_consistent_values()) return std::nullopt;
    return std::move(values_);
  }

 private:
  struct prefix {
    std::uint32_t length;
    bool escapes_as_one;
    std::string text;
  };

  bool merge_prefixes() {
    for (auto& [name, prefixes] : prefixes_) {
      if (!values_.contains(name)) {
        const auto longest_prefix = std::max_element(
            prefixes.begin(), prefixes.end(), [](const auto& a, const auto& b) { return a.text.size() < b.text.size(); });
        values_.emplace(name, longest_prefix->text);
      }
      const auto* value = std::get_if<std::string>(&values_.find(name)->second);
      for (const prefix& part : prefixes) {
        if (value == nullptr || code_point_prefix(*value, part.length, part.escapes_as_one) != part.text) return false;
      }
    }
    return true;
  }

  /// Whether each defined variable has a value at each of its occurrences.
  bool has_consistent_values() {
    if (syntax_.repeated.empty()) return true;
    for (const expression* expr : empty_expressions_) {
      std::size_t defined = 0;
      for (const variable& variable : expr->variables) {
        const auto value = values_.find(variable.name);
        if (value == values_.end()) continue;
        if (++defined > 1 || !expands_to_nothing(value->second)) return false;
        ++occurrences_[variable.name];
      }
    }
    return std::all_of(syntax_.repeated.begin(), syntax_.repeated.end(), [&](const auto& repetition) {
      return !values_.contains(repetition.first) || occurrences_[repetition.first] == repetition.second;
    });
  }

  /// Adds a value, or compares it with a known one. A string equals an exploded list of only that string.
  bool add_value(const std::string& name, uri_template_value value) {
    const auto [existing, is_new] = values_.try_emplace(name, value);
    if (is_new || existing->second == value) return true;
    const auto is_list_of = [](const uri_template_value& list, const uri_template_value& string) {
      const auto* items = std::get_if<list_value>(&list);
      const auto* text = std::get_if<std::string>(&string);
      return items != nullptr && text != nullptr && items->size() == 1 && items->front() == *text;
    };
    if (is_list_of(value, existing->second)) return true;
    if (!is_list_of(existing->second, value)) return false;
    existing->second = std::move(value);
    return true;
  }

  const template_syntax& syntax_;
  uri_template_values values_;
  std::map<std::string, std::vector<prefix>> prefixes_;
  std::vector<const expression*> empty_expressions_;
  std::map<std::string, std::size_t> occurrences_;  ///< Values per variable; only used if a variable occurs several times.
};

}  // namespace

std::optional<uri_template_values> bind(const template_syntax& syntax, const std::vector<capture>& captures) {
  binder values(syntax);
  for (std::size_t first = 0; first < captures.size();) {
    const std::uint32_t part = captures[first].part;
    std::size_t last = first;
    while (last < captures.size() && captures[last].part == part) ++last;
    const auto& expr = std::get<expression>(syntax.parts[part]);

    std::vector<std::vector<capture>> captures_by_variable(expr.variables.size());
    for (std::size_t i = first; i < last; ++i) captures_by_variable[captures[i].variable].push_back(captures[i]);
    // Without a lead character, an empty expansion means that the variables are undefined.
    const bool is_empty = expr.op.lead == '\0' && last - first == 1 && captures[first].text.empty();
    if (is_empty) values.add_empty(expr);
    for (std::size_t i = 0; i < captures_by_variable.size() && !is_empty; ++i) {
      if (!captures_by_variable[i].empty() && !values.add(expr.op, expr.variables[i], captures_by_variable[i]))
        return std::nullopt;
    }
    first = last;
  }
  return values.finish();
}

}  // namespace hondana::uri

namespace hondana::inline v0 {

struct uri_template::compiled {
  std::string text;
  uri::template_program program;
};

uri_template::uri_template(std::shared_ptr<const compiled> program) noexcept : program_(std::move(program)) {}

result<uri_template> uri_template::compile(std::string_view text) {
  HONDANA_TRY(auto syntax, uri::parse_template(text));
  HONDANA_TRY(auto program, uri::compile_template(std::move(syntax)));
  return uri_template(std::make_shared<const compiled>(compiled{std::string(text), std::move(program)}));
}

result<std::string> uri_template::expand(const uri_template_values& values) const {
  return uri::expand_template(program_->program.syntax, values);
}

std::optional<uri_template_values> uri_template::match(std::string_view uri) const {
  const uri::template_program& program = program_->program;
  if (uri.size() > uri::max_matched_bytes) return std::nullopt;
  std::string storage;
  const auto canonical = uri::canonical_escapes(uri, storage);
  if (!canonical || !canonical->starts_with(program.prefix)) return std::nullopt;
  const auto captures = uri::template_matcher(program, canonical->substr(program.prefix.size())).match();
  if (!captures) return std::nullopt;
  return uri::bind(program.syntax, *captures);
}

const std::string& uri_template::text() const noexcept { return program_->text; }
const std::vector<std::string>& uri_template::variables() const noexcept { return program_->program.syntax.names; }
std::string_view uri_template::literal_prefix() const noexcept { return program_->program.prefix; }

}  // namespace hondana::inline v0
