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
[[nodiscard]] std::string spelled(const value& what);
[[nodiscard]] std::string spelled(long double number);
/// "a string or an array".
[[nodiscard]] std::string types_text(std::uint8_t types);
/// Whether a value has one of the types of a node.
[[nodiscard]] bool has_type(std::uint8_t types, const value& what);
/// A text that is the same for equal values only. 1 equals 1.0, and the order of members is ignored.
[[nodiscard]] std::string canonical(const value& what);

namespace {

constexpr std::size_t longest = 200;

std::string number_text(const value& number) {
  if (const auto whole = number.as_integer()) return std::to_string(*whole);
  return value(*number.as_number()).to_text();
}

}  // namespace

std::string spelled(const value& what) {
  auto text = what.to_text();
  if (text.size() <= longest) return text;
  auto end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

std::string spelled(long double number) { return number_text(value(static_cast<double>(number))); }

std::string types_text(std::uint8_t types) {
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

bool has_type(std::uint8_t types, const value& what) {
  if ((types & (1u << static_cast<unsigned>(what.type()))) != 0) return true;
  if ((types & integer_bit) == 0) return false;
  const auto number = what.as_number();
  return number && std::trunc(*number) == *number;
}

std::string canonical(const value& what) {
  if (what.as_number()) return number_text(what);
  if (const auto* elements = what.as_array()) {
    std::string out = "[";
    for (const auto& one : *elements) out += canonical(one) + ',';
    return out + ']';
  }
  const auto* members = what.as_object();
  if (members == nullptr) return what.to_text();
  std::vector<std::string> parts;
  for (const auto& [name, one] : *members) parts.push_back(value(name).to_text() + ':' + canonical(one));
  std::sort(parts.begin(), parts.end());
  std::string out = "{";
  for (const auto& one : parts) out += one + ',';
  return out + '}';
}

namespace {

// A value may be as deep as a message, and each level may involve a few references.
constexpr int deepest = 600;
constexpr std::size_t most_steps = 500'000;

/// The members and elements of one value that some schema has evaluated.
struct evaluated {
  std::vector<bool> members;
  std::vector<bool> elements;

  /// Allocates nothing unless `is_asked`.
  evaluated(const value& of, bool is_asked)
      : members(is_asked && of.as_object() != nullptr ? of.as_object()->size() : 0),
        elements(is_asked && of.as_array() != nullptr ? of.as_array()->size() : 0) {}

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

class checker {
 public:
  explicit checker(const program& what) : program_(what) {}

  std::optional<misfit> run(const value& instance) {
    evaluated seen(instance, program_.tracks);
    if (check(*program_.root, instance, seen)) return {};
    if (first_.what.empty()) first_.what = "does not fit the schema";
    return std::move(first_);
  }

 private:
  /// Records the first misfit with its path. Always returns false.
  bool misfits(std::string what) {
    if (quiet_ == 0 && first_.what.empty()) first_ = {path_, std::move(what)};
    return false;
  }

  bool check(const node& by, const value& instance, evaluated& seen) {
    if (by.verdict) return *by.verdict || misfits("nothing is allowed here");
    if (++steps_ > most_steps || depth_ >= deepest) {
      quiet_ = 0;  // report this reason even inside a quiet branch
      is_exhausted_ = true;
      return misfits("checking this value takes too long");
    }
    ++depth_;
    const bool enters = scopes_.empty() || scopes_.back() != by.scope;
    if (enters) scopes_.push_back(by.scope);
    // Annotations of sibling schemas do not count here, only those of subschemas.
    evaluated mine(instance, program_.tracks);
    const bool fits = check_here(by, instance, mine);
    if (fits) seen.add(mine);
    if (enters) scopes_.pop_back();
    --depth_;
    return fits && !is_exhausted_;
  }

  bool check_here(const node& by, const value& instance, evaluated& seen) {
    return check_value(by, instance) && check_references(by, instance, seen) && check_applicators(by, instance, seen) &&
           (instance.as_array() == nullptr || check_elements(by, instance, seen)) &&
           (instance.as_object() == nullptr || check_members(by, instance, seen)) && check_unevaluated(by, instance, seen);
  }

  /// Checks a branch whose failure is not a misfit by itself.
  bool tries(const node& by, const value& instance, evaluated& seen) {
    ++quiet_;
    const bool fits = check(by, instance, seen);
    if (quiet_ > 0) --quiet_;
    return fits;
  }

  bool check_value(const node& by, const value& instance) {
    if (by.types && !has_type(*by.types, instance))
      return misfits("expected " + types_text(*by.types) + ", got " + std::string(name_of(instance.type())));
    if (by.constant && !(instance == *by.constant)) return misfits("expected " + spelled(*by.constant));
    if (by.has_choices && std::find(by.choices.begin(), by.choices.end(), instance) == by.choices.end()) {
      return misfits("expected one of " + spelled(value(by.choices)));
    }
    if (const auto* text = instance.as_string()) return check_text(by, *text);
    if (instance.as_number()) return check_number(by, instance);
    return true;
  }

  bool check_bounds(const std::vector<bound>& bounds, long double number, std::string_view of) {
    for (const auto& one : bounds) {
      const bool fits = one.is_lower ? (one.is_exclusive ? number > one.limit : number >= one.limit)
                                     : (one.is_exclusive ? number < one.limit : number <= one.limit);
      if (!fits) return misfits("expected " + std::string(of) + one.keyword + ' ' + spelled(one.limit));
    }
    return true;
  }

  bool check_text(const node& by, const std::string& text) {
    if (!by.of_length.empty()) {
      const auto length =
          std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
      if (!check_bounds(by.of_length, static_cast<long double>(length), "a length of ")) return false;
    }
    if (by.pattern && !RE2::PartialMatch(text, *by.pattern))
      return misfits("does not match the pattern " + by.pattern->pattern());
    return true;
  }

  bool check_number(const node& by, const value& instance) {
    const auto whole = instance.as_integer();
    const auto number = whole ? static_cast<long double>(*whole) : static_cast<long double>(*instance.as_number());
    if (!check_bounds(by.of_number, number, "a number ")) return false;
    if (!by.multiple_of) return true;
    const auto step = static_cast<long double>(*by.multiple_of);
    if (std::floor(step) == step) return std::fmod(number, step) == 0 || misfits("expected a multiple of " + spelled(step));
    // Binary fractions only approximate decimal ones, so each number may be off by half a unit in its last place.
    // A quotient that does not fit a double is not a multiple.
    const auto quotient = static_cast<double>(number) / *by.multiple_of;
    const auto nearest = step * std::nearbyint(static_cast<long double>(number) / step);
    const auto off = std::abs(number - nearest);
    const bool fits =
        std::isfinite(quotient) && off <= std::abs(number) * static_cast<long double>(std::numeric_limits<double>::epsilon());
    return fits || misfits("expected a multiple of " + spelled(step));
  }

  bool check_references(const node& by, const value& instance, evaluated& seen) {
    if (by.reference != nullptr && !check(*by.reference, instance, seen)) return false;
    if (by.dynamic_reference == nullptr) return true;
    const auto* to = by.dynamic_reference;
    for (const auto* scope : scopes_) {
      const auto found = by.dynamic_name.empty() ? scope->dynamic_anchors.end() : scope->dynamic_anchors.find(by.dynamic_name);
      if (found == scope->dynamic_anchors.end()) continue;
      to = found->second;
      break;
    }
    return check(*to, instance, seen);
  }

  bool check_applicators(const node& by, const value& instance, evaluated& seen) {
    for (const auto* one : by.all_of) {
      if (!check(*one, instance, seen)) return false;
    }
    if (!by.any_of.empty()) {
      bool any = false;
      for (const auto* one : by.any_of) {
        if (any && !program_.tracks) break;
        evaluated branch(instance, program_.tracks);
        if (!tries(*one, instance, branch)) continue;
        any = true;
        seen.add(branch);
      }
      if (!any) return misfits("fits none of the " + std::to_string(by.any_of.size()) + " allowed forms");
    }
    if (!by.one_of.empty()) {
      std::size_t count = 0;
      for (const auto* one : by.one_of) {
        evaluated branch(instance, program_.tracks);
        if (!tries(*one, instance, branch)) continue;
        ++count;
        seen.add(branch);
      }
      if (count != 1)
        return misfits("fits " + std::to_string(count) + " of " + std::to_string(by.one_of.size()) +
                       " forms, of which it must fit exactly one");
    }
    if (by.negated != nullptr) {
      evaluated branch(instance, program_.tracks);
      if (tries(*by.negated, instance, branch)) return misfits("has a form that is not allowed");
    }
    if (by.condition == nullptr) return true;
    evaluated branch(instance, program_.tracks);
    const bool holds = tries(*by.condition, instance, branch);
    if (holds) seen.add(branch);
    const auto* next = holds ? by.then_so : by.otherwise;
    return next == nullptr || check(*next, instance, seen);
  }

  /// Checks a part of a value, and extends the path for errors.
  bool check_part(const node& by, const value& part, const std::string& step) {
    const auto size = path_.size();
    path_ += step;
    evaluated inner(part, program_.tracks);
    const bool fits = check(by, part, inner);
    path_.resize(size);
    return fits;
  }
  bool check_element(const node& by, const value::array& elements, std::size_t index, evaluated& seen) {
    seen.add_element(index);
    return check_part(by, elements[index], '[' + std::to_string(index) + ']');
  }
  bool check_member(const node& by, const value::object& members, std::size_t index, evaluated& seen) {
    seen.add_member(index);
    return check_part(by, members[index].second, (path_.empty() ? "" : ".") + members[index].first);
  }

  bool check_elements(const node& by, const value& instance, evaluated& seen) {
    const auto& elements = *instance.as_array();
    if (!check_bounds(by.of_items, static_cast<long double>(elements.size()), "a number of elements of ")) return false;
    const auto prefix = std::min(by.prefix_items.size(), elements.size());
    for (std::size_t index = 0; index < prefix; ++index) {
      if (!check_element(*by.prefix_items[index], elements, index, seen)) return false;
    }
    for (std::size_t index = prefix; by.items != nullptr && index < elements.size(); ++index) {
      if (!check_element(*by.items, elements, index, seen)) return false;
    }
    if (by.contains != nullptr && !check_contains(by, elements, seen)) return false;
    return !by.unique_items || are_unique(elements) || misfits("expected elements that differ from each other");
  }

  bool check_contains(const node& by, const value::array& elements, evaluated& seen) {
    std::size_t count = 0;
    for (std::size_t index = 0; index < elements.size(); ++index) {
      evaluated inner(elements[index], program_.tracks);
      if (!tries(*by.contains, elements[index], inner)) continue;
      ++count;
      seen.add_element(index);
    }
    const auto found = static_cast<long double>(count);
    if (found < by.min_contains.value_or(1)) return misfits("has too few of the elements it must contain");
    return !by.max_contains || found <= *by.max_contains || misfits("has too many of the elements it must contain");
  }

  bool check_members(const node& by, const value& instance, evaluated& seen) {
    const auto& members = *instance.as_object();
    if (!check_bounds(by.of_members, static_cast<long double>(members.size()), "a number of members of ")) return false;
    for (const auto& name : by.required) {
      if (instance.find(name) == nullptr) return misfits("the member \"" + name + "\" is missing");
    }
    for (const auto& [name, needed] : by.dependent_required) {
      if (instance.find(name) == nullptr) continue;
      for (const auto& one : needed) {
        if (instance.find(one) == nullptr) return misfits("with \"" + name + "\", the member \"" + one + "\" is required too");
      }
    }
    for (const auto& [name, schema] : by.dependent_schemas) {
      if (instance.find(name) != nullptr && !check(*schema, instance, seen)) return false;
    }
    for (std::size_t index = 0; index < members.size(); ++index) {
      if (!check_named(by, members, index, seen)) return false;
    }
    return true;
  }

  bool check_named(const node& by, const value::object& members, std::size_t index, evaluated& seen) {
    const auto& name = members[index].first;
    if (by.property_names != nullptr) {
      const value text(name);
      evaluated inner(text, program_.tracks);
      if (!tries(*by.property_names, text, inner)) return misfits("no member may be named \"" + name + '"');
    }
    bool is_known = false;
    for (const auto& [key, schema] : by.properties) {
      if (key != name) continue;
      is_known = true;
      if (!check_member(*schema, members, index, seen)) return false;
    }
    for (const auto& [pattern, schema] : by.pattern_properties) {
      if (!RE2::PartialMatch(name, *pattern)) continue;
      is_known = true;
      if (!check_member(*schema, members, index, seen)) return false;
    }
    if (is_known || by.additional_properties == nullptr) return true;
    return check_stray(*by.additional_properties, members, index, seen);
  }

  /// Checks a member that no other keyword covers. If none is allowed, the error is "unknown member".
  bool check_stray(const node& by, const value::object& members, std::size_t index, evaluated& seen) {
    if (by.verdict == false) return misfits("unknown member \"" + members[index].first + '"');
    return check_member(by, members, index, seen);
  }

  bool check_unevaluated(const node& by, const value& instance, evaluated& seen) {
    if (by.unevaluated_items != nullptr && instance.as_array() != nullptr) {
      for (std::size_t index = 0; index < seen.elements.size(); ++index) {
        if (!seen.elements[index] && !check_element(*by.unevaluated_items, *instance.as_array(), index, seen)) return false;
      }
    }
    if (by.unevaluated_properties != nullptr && instance.as_object() != nullptr) {
      for (std::size_t index = 0; index < seen.members.size(); ++index) {
        if (!seen.members[index] && !check_stray(*by.unevaluated_properties, *instance.as_object(), index, seen)) return false;
      }
    }
    return true;
  }

  static bool are_unique(const value::array& elements) {
    std::set<std::string> spellings;
    return std::all_of(elements.begin(), elements.end(),
                       [&](const value& one) { return spellings.insert(canonical(one)).second; });
  }

  const program& program_;
  misfit first_;
  std::string path_;
  std::vector<const resource_scope*> scopes_;
  int quiet_ = 0;
  int depth_ = 0;
  std::size_t steps_ = 0;
  bool is_exhausted_ = false;
};

}  // namespace

std::optional<misfit> schema::check(const value& instance) const { return checker(*program_).run(instance); }

}  // namespace hondana::schema
