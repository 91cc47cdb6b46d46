/// Attributes and conditionals of AsciiDoc.
#include "text/markup/asciidoc_attributes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <variant>

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"

namespace hondana::markup {
namespace {

constexpr std::size_t max_document_attributes = 1000;
constexpr std::size_t max_attribute_value_bytes = 1000;
constexpr std::size_t max_attribute_name_bytes = 64;
constexpr std::size_t max_substituted_bytes = 8 * 1024;
constexpr int max_level_offset = 100;

using built_in_attribute = std::pair<std::string_view, std::string_view>;
/// Those of Asciidoctor 2 that conditions and titles use.
constexpr std::array<built_in_attribute, 60> built_in_attributes{{{"amp", "&"},
                                                                  {"apos", "'"},
                                                                  {"asciidoctor", ""},
                                                                  {"asciidoctor-version", "2.0.18"},
                                                                  {"asterisk", "*"},
                                                                  {"backend", "html5"},
                                                                  {"backend-html5", ""},
                                                                  {"backend-html5-doctype-article", ""},
                                                                  {"backslash", "\\"},
                                                                  {"backtick", "`"},
                                                                  {"basebackend", "html"},
                                                                  {"basebackend-html", ""},
                                                                  {"basebackend-html-doctype-article", ""},
                                                                  {"blank", ""},
                                                                  {"brvbar", "¦"},
                                                                  {"caret", "^"},
                                                                  {"cpp", "C++"},
                                                                  {"deg", "°"},
                                                                  {"doctype", "article"},
                                                                  {"doctype-article", ""},
                                                                  {"embedded", ""},
                                                                  {"empty", ""},
                                                                  {"example-caption", "Example"},
                                                                  {"figure-caption", "Figure"},
                                                                  {"filetype", "html"},
                                                                  {"filetype-html", ""},
                                                                  {"gt", ">"},
                                                                  {"htmlsyntax", "html"},
                                                                  {"iconsdir", "./images/icons"},
                                                                  {"ldquo", "“"},
                                                                  {"linkcss", ""},
                                                                  {"lsquo", "‘"},
                                                                  {"lt", "<"},
                                                                  {"max-include-depth", "64"},
                                                                  {"nbsp", "\xC2\xA0"},
                                                                  {"note-caption", "Note"},
                                                                  {"outfilesuffix", ".html"},
                                                                  {"plus", "+"},
                                                                  {"pp", "++"},
                                                                  {"prewrap", ""},
                                                                  {"quot", "\""},
                                                                  {"rdquo", "”"},
                                                                  {"rsquo", "’"},
                                                                  {"safe-mode-level", "20"},
                                                                  {"safe-mode-name", "secure"},
                                                                  {"safe-mode-secure", ""},
                                                                  {"sectids", ""},
                                                                  {"sp", " "},
                                                                  {"startsb", "["},
                                                                  {"endsb", "]"},
                                                                  {"stylesdir", "."},
                                                                  {"table-caption", "Table"},
                                                                  {"tilde", "~"},
                                                                  {"toc-placement", "auto"},
                                                                  {"toc-title", "Table of Contents"},
                                                                  {"two-colons", "::"},
                                                                  {"two-semicolons", ";;"},
                                                                  {"vbar", "|"},
                                                                  {"wj", "\xE2\x81\xA0"},
                                                                  {"zwsp", "\xE2\x80\x8B"}}};

bool is_attribute_name_byte(char c) noexcept {
  return ascii::is_alphanumeric(c) || c == '_' || c == '-' || static_cast<unsigned char>(c) >= 0x80;
}

/// The name in lower case, without characters that a name cannot have.
std::string normalize_attribute_name(std::string_view name) {
  std::string normalized;
  for (const char c : name.substr(0, max_attribute_name_bytes))
    if (is_attribute_name_byte(c)) normalized += ascii::to_lower(c);
  return normalized;
}

int to_offset(std::string_view text) noexcept {
  if (text.starts_with('+')) text.remove_prefix(1);
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return std::clamp(number, -max_level_offset, max_level_offset);
}

/// An operand of `ifeval::[]`.
using condition_operand = std::variant<std::monostate, bool, double, std::string>;

condition_operand resolve_operand(std::string_view text, const asciidoc_attributes& attributes) {
  const bool is_quoted = text.size() > 1 && (text.front() == '"' || text.front() == '\'') && text.back() == text.front();
  if (is_quoted) text = text.substr(1, text.size() - 2);
  auto value = attributes.substitute(text, true);
  if (is_quoted) return value;
  if (value.empty()) return std::monostate();
  if (value == "true" || value == "false") return value == "true";
  return std::strtod(value.c_str(), nullptr);
}

/// Evaluates an expression such as `"{backend}" == "html5"`. No value: it is not an expression.
std::optional<bool> evaluate_expression(std::string_view expression, const asciidoc_attributes& attributes) {
  const auto begin = expression.find_first_of("=!<>", 1);
  if (begin == std::string_view::npos) return std::nullopt;
  const auto sign = expression.substr(begin, expression.substr(begin + 1).starts_with('=') ? 2 : 1);
  if (sign == "=" || sign == "!" || begin + sign.size() >= expression.size()) return std::nullopt;
  const auto left = resolve_operand(trim(expression.substr(0, begin)), attributes);
  const auto right = resolve_operand(trim(expression.substr(begin + sign.size())), attributes);
  if (sign == "==") return left == right;
  if (sign == "!=") return left != right;
  // Only numbers and texts have an order.
  if (left.index() != right.index() || left.index() < 2) return false;
  const auto order = left < right ? -1 : left > right ? 1 : 0;
  return sign == "<" ? order < 0 : sign == ">" ? order > 0 : sign == "<=" ? order <= 0 : order >= 0;
}

/// Whether any, or each, of the names is defined. Commas separate alternatives, plus signs names that are all needed.
bool is_any_defined(std::string_view names, char separator, const asciidoc_attributes& attributes, bool needs_all) {
  while (true) {
    const auto end = std::min(names.find(separator), names.size());
    if (attributes.is_defined(names.substr(0, end)) != needs_all) return !needs_all;
    if (end == names.size()) return needs_all;
    names.remove_prefix(end + 1);
  }
}

bool is_condition_met(std::string_view keyword, std::string_view names, const asciidoc_attributes& attributes) {
  const bool needs_all = names.find(',') == std::string_view::npos;
  const bool is_defined = is_any_defined(names, needs_all ? '+' : ',', attributes, needs_all);
  return is_defined == (keyword == "ifdef");
}

}  // namespace

asciidoc_attributes::asciidoc_attributes() {
  for (const auto& [name, value] : built_in_attributes) values_.emplace(name, value);
}

const std::string* asciidoc_attributes::find(std::string_view name) const {
  if (name.empty() || name.size() > max_attribute_name_bytes) return nullptr;
  const auto entry = values_.find(ascii::to_lower(name));
  return entry == values_.end() ? nullptr : &entry->second;
}

void asciidoc_attributes::set(std::string_view name, std::string_view value) {
  const bool removes = name.starts_with('!') || name.ends_with('!');
  auto key = normalize_attribute_name(name);
  if (removes) {
    values_.erase(key);
    return;
  }
  if (set_count_ >= max_document_attributes) return;
  ++set_count_;
  std::string text(utf8_prefix(substitute(value), max_attribute_value_bytes));
  const bool is_difference = key == "leveloffset" && (text.starts_with('+') || text.starts_with('-'));
  if (is_difference) text = std::to_string(level_offset() + to_offset(text));
  if (key == "doctype") values_["doctype-" + text];
  values_[std::move(key)] = std::move(text);
}

int asciidoc_attributes::level_offset() const {
  const auto* value = find("leveloffset");
  return value == nullptr ? 0 : to_offset(*value);
}

std::string asciidoc_attributes::substitute(std::string_view text, bool drops_undefined) const {
  std::string out;
  for (std::size_t position = 0; position < text.size();) {
    const auto open = text.find('{', position);
    if (open == std::string_view::npos || out.size() > text.size() + max_substituted_bytes)
      return out.append(text.substr(position));
    auto close = open + 1;
    while (close < text.size() && close - open <= max_attribute_name_bytes && is_attribute_name_byte(text[close])) ++close;
    const bool is_reference = close > open + 1 && close < text.size() && text[close] == '}';
    const bool is_escaped = is_reference && open > position && text[open - 1] == '\\';
    out.append(text.substr(position, open - position - (is_escaped ? 1 : 0)));
    position = is_reference ? close + 1 : open + 1;
    const auto* value = is_reference && !is_escaped ? find(text.substr(open + 1, close - open - 1)) : nullptr;
    if (value != nullptr)
      out.append(*value);
    else if (!is_reference || is_escaped || !drops_undefined)
      out.append(text.substr(open, position - open));
  }
  return out;
}

std::optional<asciidoc_attribute_entry> read_attribute_entry(std::string_view line) noexcept {
  if (!line.starts_with(':') || line.size() < 3) return std::nullopt;
  const auto end = line.find(':', 1);
  if (end == std::string_view::npos || end == 1) return std::nullopt;
  const auto name = line.substr(1, end - 1);
  const char first = name.front() == '!' && name.size() > 1 ? name[1] : name.front();
  if (!is_attribute_name_byte(first) || first == '-') return std::nullopt;
  if (end + 1 < line.size() && !ascii::is_blank(line[end + 1])) return std::nullopt;
  asciidoc_attribute_entry entry{name, trim(line.substr(end + 1)), false};
  entry.continues = read_attribute_continuation(entry.value);
  return entry;
}

bool read_attribute_continuation(std::string_view& line) noexcept {
  if (!line.ends_with(" \\") && !line.ends_with(" +")) return false;
  line = trim(line.substr(0, line.size() - 2));
  return true;
}

asciidoc_line_kind asciidoc_conditionals::process(std::string_view& line, const asciidoc_attributes& attributes) {
  const auto visible = is_skipping() ? asciidoc_line_kind::hidden : asciidoc_line_kind::text;
  if (!line.ends_with(']')) return visible;
  const bool is_escaped = line.starts_with('\\');
  const auto directive = line.substr(is_escaped ? 1 : 0);
  const auto colons = directive.substr(0, 10).find("::");
  const auto open = colons == std::string_view::npos ? colons : directive.find('[', colons);
  if (open == std::string_view::npos) return visible;
  const auto keyword = directive.substr(0, colons);
  const auto target = directive.substr(colons + 2, open - colons - 2);
  const auto text = directive.substr(open + 1, directive.size() - open - 2);
  const bool is_conditional = keyword == "ifdef" || keyword == "ifndef" || keyword == "ifeval" || keyword == "endif";
  const bool is_include = keyword == "include" && !target.empty();
  if ((!is_conditional && !is_include) || (is_conditional && target.find_first_of(" \t") != std::string_view::npos))
    return visible;
  if (is_include && is_skipping()) return asciidoc_line_kind::hidden;
  if (is_escaped) {
    line = directive;
    return visible;
  }
  if (is_include) {
    line = target;
    return asciidoc_line_kind::include;
  }
  if (keyword == "endif") {
    const bool closes =
        text.empty() && !open_.empty() && (target.empty() || ascii::equals_ignore_case(target, open_.back().target));
    if (closes) open_.pop_back();
    return asciidoc_line_kind::hidden;
  }
  bool is_true = true;
  if (!is_skipping()) {
    if (target.empty() != (keyword == "ifeval")) return asciidoc_line_kind::hidden;
    const auto result = keyword == "ifeval" ? evaluate_expression(trim(text), attributes)
                                            : std::optional(is_condition_met(keyword, target, attributes));
    // Asciidoctor ignores an expression that it cannot read.
    if (!result) return asciidoc_line_kind::hidden;
    is_true = *result;
  }
  if (keyword == "ifeval" || text.empty()) {
    open_.push_back({std::string(target), is_skipping() || !is_true});
    return asciidoc_line_kind::hidden;
  }
  if (is_skipping() || !is_true) return asciidoc_line_kind::hidden;
  line = text;
  return asciidoc_line_kind::text;
}

}  // namespace hondana::markup
