/// Checks a value against a compiled schema.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/value.hpp>

#include "protocol/schema/program.hpp"
#include "protocol/schema/schema.hpp"

namespace hondana::schema {

/// A value as text for a message, truncated when it is long.
[[nodiscard]] std::string display_text(const value& instance);
[[nodiscard]] std::string display_text(long double number);
/// "a string or an array".
[[nodiscard]] std::string describe_types(std::uint8_t types);
/// Whether a value has one of the types of a node.
[[nodiscard]] bool has_type(std::uint8_t types, const value& instance);
/// A text that is the same for equal values only. 1 equals 1.0, and the order of members is ignored.
[[nodiscard]] std::string canonical_text(const value& instance);

namespace {

constexpr std::size_t max_display_bytes = 200;

std::string number_text(const value& number) {
  if (const auto integer = number.as_integer()) return std::to_string(*integer);
  return value(*number.as_number()).to_text();
}

}  // namespace

std::string display_text(const value& instance) {
  auto text = instance.to_text();
  if (text.size() <= max_display_bytes) return text;
  auto end = max_display_bytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

std::string display_text(long double number) { return number_text(value(static_cast<double>(number))); }

std::string describe_types(std::uint8_t types) {
  constexpr std::array<std::pair<std::uint8_t, const char*>, 7> names{{{1u << 0, "null"},
                                                                       {1u << 1, "a boolean"},
                                                                       {integer_bit, "an integer"},
                                                                       {1u << 3, "a number"},
                                                                       {1u << 4, "a string"},
                                                                       {1u << 5, "an array"},
                                                                       {1u << 6, "an object"}}};
  std::string out;
  for (const auto& [bit, name] : names) {
    if ((types & bit) != 0) out += (out.empty() ? "" : " or ") + std::string(name);
  }
  return out.empty() ? "nothing" : out;
}

bool has_type(std::uint8_t types, const value& instance) {
  if ((types & (1u << static_cast<unsigned>(instance.type()))) != 0) return true;
  if ((types & integer_bit) == 0) return false;
  const auto number = instance.as_number();
  return number && std::trunc(*number) == *number;
}

std::string canonical_text(const value& instance) {
  if (instance.as_number()) return number_text(instance);
  if (const auto* elements = instance.as_array()) {
    std::string out = "[";
    for (const auto& element : *elements) out += canonical_text(element) + ',';
    return out + ']';
  }
  const auto* members = instance.as_object();
  if (members == nullptr) return instance.to_text();
  std::vector<std::string> parts;
  for (const auto& [name, member] : *members) parts.push_back(value(name).to_text() + ':' + canonical_text(member));
  std::sort(parts.begin(), parts.end());
  std::string out = "{";
  for (const auto& part : parts) out += part + ',';
  return out + '}';
}

namespace {

// A value may be as deep as a message, and each level may involve a few references.
constexpr int max_depth = 600;
constexpr std::size_t max_steps = 500'000;

/// The members and elements of one value that some schema has evaluated.
struct evaluated {
  std::vector<bool> members;
  std::vector<bool> elements;

  /// Allocates nothing unless `is_tracked`.
  evaluated(const value& instance, bool is_tracked)
      : members(is_tracked && instance.as_object() != nullptr ? instance.as_object()->size() : 0),
        elements(is_tracked && instance.as_array() != nullptr ? instance.as_array()->size() : 0) {}

  void add_member(std::size_t index) {
    if (index < members.size()) members[index] = true;
  }
  void add_element(std::size_t index) {
    if (index < elements.size()) elements[index] = true;
  }

  void add(const evaluated& other) {
    for (std::size_t index = 0; index < members.size(); ++index) members[index] = members[index] || other.members[index];
    for (std::size_t index = 0; index < elements.size(); ++index) elements[index] = elements[index] || other.elements[index];
  }
};

class validator {
 public:
  explicit validator(const program& program) : program_(program) {}

  std::optional<validation_error> run(const value& instance) {
    evaluated evaluation(instance, program_.tracks_evaluation);
    if (check(*program_.root, instance, evaluation)) return {};
    if (error_.message.empty()) error_.message = "does not fit the schema";
    return std::move(error_);
  }

 private:
  /// Records the first error with its path. Always returns false.
  bool report_error(std::string message) {
    if (quiet_depth_ == 0 && error_.message.empty()) error_ = {path_, std::move(message)};
    return false;
  }

  bool check(const node& node, const value& instance, evaluated& evaluation) {
    if (node.boolean_schema) return *node.boolean_schema || report_error("nothing is allowed here");
    if (++steps_ > max_steps || depth_ >= max_depth) {
      quiet_depth_ = 0;  // report this reason even inside a quiet branch
      is_exhausted_ = true;
      return report_error("checking this value takes too long");
    }
    ++depth_;
    const bool enters_scope = scopes_.empty() || scopes_.back() != node.scope;
    if (enters_scope) scopes_.push_back(node.scope);
    // Annotations of sibling schemas do not count here, only those of subschemas.
    evaluated own_evaluation(instance, program_.tracks_evaluation);
    const bool fits = check_keywords(node, instance, own_evaluation);
    if (fits) evaluation.add(own_evaluation);
    if (enters_scope) scopes_.pop_back();
    --depth_;
    return fits && !is_exhausted_;
  }

  bool check_keywords(const node& node, const value& instance, evaluated& evaluation) {
    return check_value(node, instance) && check_references(node, instance, evaluation) &&
           check_applicators(node, instance, evaluation) &&
           (instance.as_array() == nullptr || check_elements(node, instance, evaluation)) &&
           (instance.as_object() == nullptr || check_members(node, instance, evaluation)) &&
           check_unevaluated(node, instance, evaluation);
  }

  /// Checks a branch whose failure is not an error by itself.
  bool try_check(const node& node, const value& instance, evaluated& evaluation) {
    ++quiet_depth_;
    const bool fits = check(node, instance, evaluation);
    if (quiet_depth_ > 0) --quiet_depth_;
    return fits;
  }

  bool check_value(const node& node, const value& instance) {
    if (node.types && !has_type(*node.types, instance))
      return report_error("expected " + describe_types(*node.types) + ", got " + std::string(name_of(instance.type())));
    if (node.constant && !(instance == *node.constant)) return report_error("expected " + display_text(*node.constant));
    if (node.has_choices && std::find(node.choices.begin(), node.choices.end(), instance) == node.choices.end()) {
      return report_error("expected one of " + display_text(value(node.choices)));
    }
    if (const auto* text = instance.as_string()) return check_text(node, *text);
    if (instance.as_number()) return check_number(node, instance);
    return true;
  }

  bool check_bounds(const std::vector<bound>& bounds, long double number, std::string_view quantity) {
    for (const auto& bound : bounds) {
      const bool fits = bound.is_lower ? (bound.is_exclusive ? number > bound.limit : number >= bound.limit)
                                       : (bound.is_exclusive ? number < bound.limit : number <= bound.limit);
      if (!fits) return report_error("expected " + std::string(quantity) + bound.keyword + ' ' + display_text(bound.limit));
    }
    return true;
  }

  bool check_text(const node& node, const std::string& text) {
    if (!node.length_bounds.empty()) {
      const auto length =
          std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
      if (!check_bounds(node.length_bounds, static_cast<long double>(length), "a length of ")) return false;
    }
    if (node.pattern && !RE2::PartialMatch(text, *node.pattern))
      return report_error("does not match the pattern " + node.pattern->pattern());
    return true;
  }

  bool check_number(const node& node, const value& instance) {
    const auto integer = instance.as_integer();
    const auto number = integer ? static_cast<long double>(*integer) : static_cast<long double>(*instance.as_number());
    if (!check_bounds(node.number_bounds, number, "a number ")) return false;
    if (!node.multiple_of) return true;
    const auto step = static_cast<long double>(*node.multiple_of);
    if (std::floor(step) == step)
      return std::fmod(number, step) == 0 || report_error("expected a multiple of " + display_text(step));
    // Binary fractions only approximate decimal ones, so each number may be off by half a unit in its last place.
    // A quotient that does not fit a double is not a multiple.
    const auto quotient = static_cast<double>(number) / *node.multiple_of;
    const auto nearest = step * std::nearbyint(static_cast<long double>(number) / step);
    const auto deviation = std::abs(number - nearest);
    const bool fits = std::isfinite(quotient) &&
                      deviation <= std::abs(number) * static_cast<long double>(std::numeric_limits<double>::epsilon());
    return fits || report_error("expected a multiple of " + display_text(step));
  }

  bool check_references(const node& node, const value& instance, evaluated& evaluation) {
    if (node.reference != nullptr && !check(*node.reference, instance, evaluation)) return false;
    if (node.dynamic_reference == nullptr) return true;
    const auto* target = node.dynamic_reference;
    for (const auto* scope : scopes_) {
      const auto anchor =
          node.dynamic_name.empty() ? scope->dynamic_anchors.end() : scope->dynamic_anchors.find(node.dynamic_name);
      if (anchor == scope->dynamic_anchors.end()) continue;
      target = anchor->second;
      break;
    }
    return check(*target, instance, evaluation);
  }

  bool check_applicators(const node& node, const value& instance, evaluated& evaluation) {
    for (const auto* subschema : node.all_of) {
      if (!check(*subschema, instance, evaluation)) return false;
    }
    if (!node.any_of.empty()) {
      bool matches_any = false;
      for (const auto* option : node.any_of) {
        if (matches_any && !program_.tracks_evaluation) break;
        evaluated branch(instance, program_.tracks_evaluation);
        if (!try_check(*option, instance, branch)) continue;
        matches_any = true;
        evaluation.add(branch);
      }
      if (!matches_any) return report_error("fits none of the " + std::to_string(node.any_of.size()) + " allowed forms");
    }
    if (!node.one_of.empty()) {
      std::size_t count = 0;
      for (const auto* option : node.one_of) {
        evaluated branch(instance, program_.tracks_evaluation);
        if (!try_check(*option, instance, branch)) continue;
        ++count;
        evaluation.add(branch);
      }
      if (count != 1)
        return report_error("fits " + std::to_string(count) + " of " + std::to_string(node.one_of.size()) +
                            " forms, of which it must fit exactly one");
    }
    if (node.negated != nullptr) {
      evaluated branch(instance, program_.tracks_evaluation);
      if (try_check(*node.negated, instance, branch)) return report_error("has a form that is not allowed");
    }
    if (node.condition == nullptr) return true;
    evaluated branch(instance, program_.tracks_evaluation);
    const bool is_match = try_check(*node.condition, instance, branch);
    if (is_match) evaluation.add(branch);
    const auto* next = is_match ? node.then_schema : node.else_schema;
    return next == nullptr || check(*next, instance, evaluation);
  }

  /// Checks a part of a value, and extends the path for errors.
  bool check_part(const node& node, const value& part, const std::string& step) {
    const auto size = path_.size();
    path_ += step;
    evaluated inner(part, program_.tracks_evaluation);
    const bool fits = check(node, part, inner);
    path_.resize(size);
    return fits;
  }
  bool check_element(const node& node, const value::array& elements, std::size_t index, evaluated& evaluation) {
    evaluation.add_element(index);
    return check_part(node, elements[index], '[' + std::to_string(index) + ']');
  }
  bool check_member(const node& node, const value::object& members, std::size_t index, evaluated& evaluation) {
    evaluation.add_member(index);
    return check_part(node, members[index].second, (path_.empty() ? "" : ".") + members[index].first);
  }

  bool check_elements(const node& node, const value& instance, evaluated& evaluation) {
    const auto& elements = *instance.as_array();
    if (!check_bounds(node.item_bounds, static_cast<long double>(elements.size()), "a number of elements of ")) return false;
    const auto prefix = std::min(node.prefix_items.size(), elements.size());
    for (std::size_t index = 0; index < prefix; ++index) {
      if (!check_element(*node.prefix_items[index], elements, index, evaluation)) return false;
    }
    for (std::size_t index = prefix; node.items != nullptr && index < elements.size(); ++index) {
      if (!check_element(*node.items, elements, index, evaluation)) return false;
    }
    if (node.contains != nullptr && !check_contains(node, elements, evaluation)) return false;
    return !node.unique_items || are_unique(elements) || report_error("expected elements that differ from each other");
  }

  bool check_contains(const node& node, const value::array& elements, evaluated& evaluation) {
    std::size_t count = 0;
    for (std::size_t index = 0; index < elements.size(); ++index) {
      evaluated inner(elements[index], program_.tracks_evaluation);
      if (!try_check(*node.contains, elements[index], inner)) continue;
      ++count;
      evaluation.add_element(index);
    }
    const auto match_count = static_cast<long double>(count);
    if (match_count < node.min_contains.value_or(1)) return report_error("has too few of the elements it must contain");
    return !node.max_contains || match_count <= *node.max_contains ||
           report_error("has too many of the elements it must contain");
  }

  bool check_members(const node& node, const value& instance, evaluated& evaluation) {
    const auto& members = *instance.as_object();
    if (!check_bounds(node.member_bounds, static_cast<long double>(members.size()), "a number of members of ")) return false;
    for (const auto& name : node.required) {
      if (instance.find(name) == nullptr) return report_error("the member \"" + name + "\" is missing");
    }
    for (const auto& [name, dependencies] : node.dependent_required) {
      if (instance.find(name) == nullptr) continue;
      for (const auto& dependency : dependencies) {
        if (instance.find(dependency) == nullptr)
          return report_error("with \"" + name + "\", the member \"" + dependency + "\" is required too");
      }
    }
    for (const auto& [name, schema] : node.dependent_schemas) {
      if (instance.find(name) != nullptr && !check(*schema, instance, evaluation)) return false;
    }
    for (std::size_t index = 0; index < members.size(); ++index) {
      if (!check_property(node, members, index, evaluation)) return false;
    }
    return true;
  }

  bool check_property(const node& node, const value::object& members, std::size_t index, evaluated& evaluation) {
    const auto& name = members[index].first;
    if (node.property_names != nullptr) {
      const value text(name);
      evaluated inner(text, program_.tracks_evaluation);
      if (!try_check(*node.property_names, text, inner)) return report_error("no member may be named \"" + name + '"');
    }
    bool is_known = false;
    for (const auto& [key, schema] : node.properties) {
      if (key != name) continue;
      is_known = true;
      if (!check_member(*schema, members, index, evaluation)) return false;
    }
    for (const auto& [pattern, schema] : node.pattern_properties) {
      if (!RE2::PartialMatch(name, *pattern)) continue;
      is_known = true;
      if (!check_member(*schema, members, index, evaluation)) return false;
    }
    if (is_known || node.additional_properties == nullptr) return true;
    return check_additional(*node.additional_properties, members, index, evaluation);
  }

  /// Checks a member that no other keyword covers. If none is allowed, the error is "unknown member".
  bool check_additional(const node& node, const value::object& members, std::size_t index, evaluated& evaluation) {
    if (node.boolean_schema == false) return report_error("unknown member \"" + members[index].first + '"');
    return check_member(node, members, index, evaluation);
  }

  bool check_unevaluated(const node& node, const value& instance, evaluated& evaluation) {
    if (node.unevaluated_items != nullptr && instance.as_array() != nullptr) {
      for (std::size_t index = 0; index < evaluation.elements.size(); ++index) {
        if (!evaluation.elements[index] && !check_element(*node.unevaluated_items, *instance.as_array(), index, evaluation))
          return false;
      }
    }
    if (node.unevaluated_properties != nullptr && instance.as_object() != nullptr) {
      for (std::size_t index = 0; index < evaluation.members.size(); ++index) {
        if (!evaluation.members[index] &&
            !check_additional(*node.unevaluated_properties, *instance.as_object(), index, evaluation))
          return false;
      }
    }
    return true;
  }

  static bool are_unique(const value::array& elements) {
    std::set<std::string> canonical_texts;
    return std::all_of(elements.begin(), elements.end(),
                       [&](const value& element) { return canonical_texts.insert(canonical_text(element)).second; });
  }

  const program& program_;
  validation_error error_;
  std::string path_;
  std::vector<const resource_scope*> scopes_;
  int quiet_depth_ = 0;
  int depth_ = 0;
  std::size_t steps_ = 0;
  bool is_exhausted_ = false;
};

}  // namespace

std::optional<validation_error> schema::validate(const value& instance) const { return validator(*program_).run(instance); }

}  // namespace hondana::schema
