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
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto octet = escape_at(text, at);
    if (!octet || (keep_slashes && *octet == '/')) {
      out.push_back(text[at]);
    } else {
      out.push_back(static_cast<char>(*octet));
      at += 2;
    }
  }
  return out;
}

/// The value of a variable that is not exploded: a string, or a list if it contains commas.
uri_template_value single_value(const operation& op, std::string_view text) {
  if (op.keeps_reserved || text.find(',') == std::string_view::npos) return decode(text, op.keeps_reserved);
  list_value items;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    items.push_back(decode(text.substr(at, comma - at), false));
    at = comma + 1;
  }
  return items;
}

/// The value of an exploded named variable: a list if every name is the variable's own, otherwise an associative array with
/// distinct names.
std::optional<uri_template_value> exploded_parameters(const variable& variable, const std::vector<capture>& taken) {
  const bool own = std::all_of(taken.begin(), taken.end(), [&](const capture& one) { return one.key == variable.key; });
  if (own) {
    list_value items;
    for (const capture& one : taken) items.push_back(decode(one.text, false));
    return items;
  }
  array_value members;
  std::set<std::string_view> names;
  for (const capture& one : taken) {
    if (!names.insert(one.key).second) return std::nullopt;
    members.emplace_back(decode(one.key, false), decode(one.text, false));
  }
  return members;
}

/// Whether an expression without a leading sign expands this value to nothing.
bool expands_to_nothing(const uri_template_value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return text->empty();
  const auto* items = std::get_if<list_value>(&value);
  return items != nullptr && items->size() == 1 && items->front().empty();
}

class binder {
 public:
  explicit binder(const template_syntax& syntax) : syntax_(syntax) {}

  /// Adds what `variable` matched in one expression. Returns false when that is not a valid value.
  bool add(const operation& op, const variable& variable, const std::vector<capture>& taken) {
    if (!syntax_.repeated.empty()) ++places_[variable.name];
    if (variable.explode && op.named) {
      auto value = exploded_parameters(variable, taken);
      return value && add_whole(variable.name, std::move(*value));
    }
    if (variable.explode) {
      list_value items;
      for (const capture& one : taken) items.push_back(decode(one.text, op.keeps_reserved));
      return add_whole(variable.name, std::move(items));
    }
    if (taken.size() != 1) return false;
    if (variable.prefix != 0) {
      prefixes_[variable.name].push_back({variable.prefix, op.keeps_reserved, decode(taken[0].text, op.keeps_reserved)});
      return true;
    }
    return add_whole(variable.name, single_value(op, taken[0].text));
  }

  /// Records an expression without a leading sign that matched nothing: its variables are undefined, or one of them is empty.
  void add_nothing(const expression& one) { nothings_.push_back(&one); }

  std::optional<uri_template_values> finish() {
    if (!join_prefixes() || !agree_in_every_place()) return std::nullopt;
    return std::move(whole_);
  }

 private:
  struct prefix {
    std::uint32_t length;
    bool whole_escapes;
    std::string text;
  };

  bool join_prefixes() {
    for (auto& [name, prefixes] : prefixes_) {
      if (!whole_.contains(name)) {
        const auto longest = std::max_element(prefixes.begin(), prefixes.end(),
                                              [](const auto& a, const auto& b) { return a.text.size() < b.text.size(); });
        whole_.emplace(name, longest->text);
      }
      const auto* value = std::get_if<std::string>(&whole_.find(name)->second);
      for (const prefix& one : prefixes) {
        if (value == nullptr || code_point_prefix(*value, one.length, one.whole_escapes) != one.text) return false;
      }
    }
    return true;
  }

  /// Whether each defined variable has a value at each of its occurrences.
  bool agree_in_every_place() {
    if (syntax_.repeated.empty()) return true;
    for (const expression* one : nothings_) {
      std::size_t defined = 0;
      for (const variable& variable : one->variables) {
        const auto value = whole_.find(variable.name);
        if (value == whole_.end()) continue;
        if (++defined > 1 || !expands_to_nothing(value->second)) return false;
        ++places_[variable.name];
      }
    }
    return std::all_of(syntax_.repeated.begin(), syntax_.repeated.end(),
                       [&](const auto& one) { return !whole_.contains(one.first) || places_[one.first] == one.second; });
  }

  /// Adds a value, or compares it with a known one. A string equals an exploded list of only that string.
  bool add_whole(const std::string& name, uri_template_value value) {
    const auto [place, is_new] = whole_.try_emplace(name, value);
    if (is_new || place->second == value) return true;
    const auto is_list_of = [](const uri_template_value& list, const uri_template_value& string) {
      const auto* items = std::get_if<list_value>(&list);
      const auto* text = std::get_if<std::string>(&string);
      return items != nullptr && text != nullptr && items->size() == 1 && items->front() == *text;
    };
    if (is_list_of(value, place->second)) return true;
    if (!is_list_of(place->second, value)) return false;
    place->second = std::move(value);
    return true;
  }

  const template_syntax& syntax_;
  uri_template_values whole_;
  std::map<std::string, std::vector<prefix>> prefixes_;
  std::vector<const expression*> nothings_;
  std::map<std::string, std::size_t> places_;  ///< Values per variable; only used if a variable occurs several times.
};

}  // namespace

std::optional<uri_template_values> bind(const template_syntax& syntax, const std::vector<capture>& captures) {
  binder values(syntax);
  for (std::size_t first = 0; first < captures.size();) {
    const std::uint32_t part = captures[first].part;
    std::size_t last = first;
    while (last < captures.size() && captures[last].part == part) ++last;
    const auto& one = std::get<expression>(syntax.parts[part]);

    std::vector<std::vector<capture>> taken(one.variables.size());
    for (std::size_t i = first; i < last; ++i) taken[captures[i].variable].push_back(captures[i]);
    // Without a leading sign, an empty expansion means that the variables are undefined.
    const bool nothing = one.op.lead == '\0' && last - first == 1 && captures[first].text.empty();
    if (nothing) values.add_nothing(one);
    for (std::size_t i = 0; i < taken.size() && !nothing; ++i) {
      if (!taken[i].empty() && !values.add(one.op, one.variables[i], taken[i])) return std::nullopt;
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
  const auto captures = uri::template_matcher(program, canonical->substr(program.prefix.size())).run();
  if (!captures) return std::nullopt;
  return uri::bind(program.syntax, *captures);
}

const std::string& uri_template::text() const noexcept { return program_->text; }
const std::vector<std::string>& uri_template::variables() const noexcept { return program_->program.syntax.names; }
std::string_view uri_template::literal_prefix() const noexcept { return program_->program.prefix; }

}  // namespace hondana::inline v0
