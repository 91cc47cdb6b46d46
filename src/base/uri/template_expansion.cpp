/// Writes values into a template.
#include "base/uri/template_expansion.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/uri/escapes.hpp"

namespace hondana::uri {
namespace {

using list_value = std::vector<std::string>;
using array_value = std::vector<std::pair<std::string, std::string>>;

void append_value(std::string& out, std::string_view value, const operation& op) {
  for (std::size_t at = 0; at < value.size(); ++at) {
    const char c = value[at];
    if (unreserved.has(c) || (op.keeps_reserved && reserved.has(c))) {
      out.push_back(c);
    } else if (op.keeps_reserved && escape_at(value, at)) {
      out.append(value, at, 3);
      at += 2;
    } else {
      append_escape(out, static_cast<unsigned char>(c));
    }
  }
}

class expansion_writer {
 public:
  expansion_writer(const operation& op, std::string& out) : op_(op), out_(out) {}

  result<void> add(const variable& variable, const uri_template_value& value) {
    if (variable.prefix != 0 && !std::holds_alternative<std::string>(value)) {
      return fail(errc::invalid_argument, "the template asks for a prefix of \"" + variable.name +
                                              "\", which is a list or an associative array; give a string");
    }
    std::visit([&](const auto& given) { add_value(variable, given); }, value);
    return {};
  }

 private:
  void add_value(const variable& variable, const std::string& value) {
    const std::string_view taken =
        variable.prefix == 0 ? std::string_view(value) : code_point_prefix(value, variable.prefix, op_.keeps_reserved);
    separate();
    if (op_.named) append_name(variable.name, taken.empty());
    append_value(out_, taken, op_);
  }

  void add_value(const variable& variable, const list_value& values) {
    if (values.empty()) return;
    if (variable.explode) {
      for (const std::string& value : values) add_value({.name = variable.name, .key = {}}, value);
      return;
    }
    separate();
    if (op_.named) append_name(variable.name, false);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i != 0) out_.push_back(',');
      append_value(out_, values[i], op_);
    }
  }

  void add_value(const variable& variable, const array_value& values) {
    if (values.empty()) return;
    if (!variable.explode) {
      list_value flat;
      for (const auto& [name, value] : values) flat.insert(flat.end(), {name, value});
      add_value(variable, flat);
      return;
    }
    for (const auto& [name, value] : values) {
      separate();
      append_value(out_, name, op_.named ? operation{} : op_);
      if (!op_.named || op_.equals_before_empty || !value.empty()) out_.push_back('=');
      append_value(out_, value, op_);
    }
  }

  void append_name(std::string_view name, bool value_is_empty) {
    out_ += name;
    if (op_.equals_before_empty || !value_is_empty) out_.push_back('=');
  }

  void separate() {
    const char sign = std::exchange(started_, true) ? op_.separator : op_.lead;
    if (sign != '\0') out_.push_back(sign);
  }

  const operation& op_;
  std::string& out_;
  bool started_ = false;
};

}  // namespace

std::string_view code_point_prefix(std::string_view value, std::size_t count, bool whole_escapes) noexcept {
  std::size_t at = 0;
  for (; count > 0 && at < value.size(); --count) {
    if (whole_escapes && escape_at(value, at)) {
      at += 3;
    } else {
      at += std::max<std::size_t>(utf8_length(value, at), 1);
    }
  }
  return value.substr(0, at);
}

result<std::string> expand_template(const template_syntax& syntax, const uri_template_values& values) {
  std::string out;
  for (const auto& part : syntax.parts) {
    if (const auto* text = std::get_if<literal>(&part)) {
      out += text->expanded;
      continue;
    }
    const auto& [op, variables] = std::get<expression>(part);
    expansion_writer writer(op, out);
    for (const variable& variable : variables) {
      const auto value = values.find(variable.name);
      if (value == values.end()) continue;
      HONDANA_TRY(writer.add(variable, value->second));
    }
  }
  return out;
}

}  // namespace hondana::uri
