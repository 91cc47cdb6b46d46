/// The choice of value sets, and the check that no two neighbours share one.
#include "base/uri/template_boundaries.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

namespace hondana::uri {
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
      // Every expression may expand to nothing, so all up to the next literal are neighbours.
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

}  // namespace hondana::uri
