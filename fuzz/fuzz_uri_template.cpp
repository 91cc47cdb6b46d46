/// Fuzzes URI templates: first line a template, second a URI, third the values of its variables, separated by tabs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <hondana/uri.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace {

using hondana::uri_template;
using hondana::uri_template_values;
using list = std::vector<std::string>;
using array = std::vector<std::pair<std::string, std::string>>;

void require(bool holds) {
  if (!holds) std::abort();
}

std::string_view take(std::string_view& input, char delimiter) {
  const std::size_t end = std::min(input.find(delimiter), input.size());
  const std::string_view taken = input.substr(0, end);
  input.remove_prefix(std::min(end + 1, input.size()));
  return taken;
}

/// Where reserved characters pass unescaped, the decoded value no longer tells which of them were escapes.
bool loses_escapes(std::string_view text, std::string_view uri) {
  const bool passes = text.find("{+") != std::string_view::npos || text.find("{#") != std::string_view::npos;
  return passes && uri.find('%') != std::string_view::npos;
}

void check_match(const uri_template& compiled, std::string_view uri) {
  const auto values = compiled.match(uri);
  if (!values) return;
  for (const auto& [name, value] : *values) {
    require(std::find(compiled.variables().begin(), compiled.variables().end(), name) != compiled.variables().end());
    require(!std::holds_alternative<std::string>(value) || std::get<std::string>(value).find('\0') == std::string::npos);
  }
  if (loses_escapes(compiled.text(), uri)) return;
  // Expansion puts parameters in the template's order, which may move the place where the last one ends; from then on values
  // and text stay as they are.
  const auto expansion = compiled.expand(*values);
  if (!expansion) return;
  const auto again = compiled.match(*expansion);
  if (again) require(compiled.expand(*again).value() == *expansion);
  if (uri == *expansion) require(again == values);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::string_view text = take(input, '\n');
  const std::string_view uri = take(input, '\n');
  const auto compiled = uri_template::compile(text);
  if (!compiled) {
    require(compiled.error().code == hondana::errc::invalid_argument && !compiled.error().public_text.empty());
    return 0;
  }
  require(compiled->text() == text);
  check_match(*compiled, uri);

  uri_template_values values;
  std::size_t turn = 0;
  for (const std::string& name : compiled->variables()) {
    const std::string value(take(input, '\t'));
    switch (turn++ % 3) {
      case 0:
        values[name] = value;
        break;
      case 1:
        values[name] = list{value, std::string(take(input, '\t'))};
        break;
      default:
        values[name] = array{{value, std::string(take(input, '\t'))}};
    }
  }
  if (const auto expansion = compiled->expand(values)) {
    for (const char c : *expansion) require(c > ' ' && c < '\x7f');
    check_match(*compiled, *expansion);
  }
  return 0;
}
