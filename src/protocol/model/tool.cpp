/// Forms for user input, the answers of clients to them, and helpers for tool results.

#include <algorithm>

#include <hondana/input.hpp>
#include <hondana/prompt.hpp>
#include <hondana/tool.hpp>

namespace hondana::inline v0 {
namespace {

void add_if(value::object& to, std::string name, const std::string& text) {
  if (!text.empty()) to.emplace_back(std::move(name), text);
}

/// A limit with an integral value is written as an integer.
value limit(double number) {
  const value out(number);
  const auto whole = out.as_integer();
  return whole ? value(*whole) : out;
}

value::array titled(const std::vector<form_choice>& choices) {
  value::array out;
  for (const auto& one : choices) {
    out.emplace_back(value::object{{"const", one.value}, {"title", one.title.empty() ? one.value : one.title}});
  }
  return out;
}

value::array plain(const std::vector<form_choice>& choices) {
  value::array out;
  for (const auto& one : choices) out.emplace_back(one.value);
  return out;
}

bool has_titles(const std::vector<form_choice>& choices) {
  return std::any_of(choices.begin(), choices.end(), [](const form_choice& one) { return !one.title.empty(); });
}

void add_limits(value::object& to, const form_field& what, std::string_view least, std::string_view most) {
  if (what.least) to.emplace_back(std::string(least), limit(*what.least));
  if (what.most) to.emplace_back(std::string(most), limit(*what.most));
}

}  // namespace

form& form::text(std::string name, const form_field& what) {
  value::object schema{{"type", "string"}};
  add_limits(schema, what, "minLength", "maxLength");
  add_if(schema, "format", what.format);
  return add(std::move(name), std::move(schema), what);
}

form& form::number(std::string name, const form_field& what) {
  value::object schema{{"type", "number"}};
  add_limits(schema, what, "minimum", "maximum");
  return add(std::move(name), std::move(schema), what);
}

form& form::integer(std::string name, const form_field& what) {
  value::object schema{{"type", "integer"}};
  add_limits(schema, what, "minimum", "maximum");
  return add(std::move(name), std::move(schema), what);
}

form& form::boolean(std::string name, const form_field& what) { return add(std::move(name), {{"type", "boolean"}}, what); }

form& form::one_of(std::string name, const std::vector<form_choice>& choices, const form_field& what) {
  value::object schema{{"type", "string"}};
  if (has_titles(choices)) {
    schema.emplace_back("oneOf", titled(choices));
  } else {
    schema.emplace_back("enum", plain(choices));
  }
  return add(std::move(name), std::move(schema), what);
}

form& form::some_of(std::string name, const std::vector<form_choice>& choices, const form_field& what) {
  value::object schema{{"type", "array"}};
  add_limits(schema, what, "minItems", "maxItems");
  schema.emplace_back("items", has_titles(choices) ? value::object{{"anyOf", titled(choices)}}
                                                   : value::object{{"type", "string"}, {"enum", plain(choices)}});
  return add(std::move(name), std::move(schema), what);
}

form& form::add(std::string name, value::object schema, const form_field& what) {
  add_if(schema, "title", what.title);
  add_if(schema, "description", what.description);
  if (what.preset) schema.emplace_back("default", *what.preset);
  if (what.is_required) required_.emplace_back(name);
  properties_.emplace_back(std::move(name), std::move(schema));
  return *this;
}

value form::schema() const {
  value::object out{{"type", "object"}, {"properties", properties_}};
  if (!required_.empty()) out.emplace_back("required", required_);
  return out;
}

std::string sampling_answer::text() const {
  const auto text_of = [](const value& block) -> const std::string* {
    const auto* text = block.find("text");
    return text != nullptr ? text->as_string() : nullptr;
  };
  if (const auto* blocks = content.as_array()) {
    for (const auto& one : *blocks) {
      if (const auto* text = text_of(one)) return *text;
    }
    return {};
  }
  const auto* text = text_of(content);
  return text != nullptr ? *text : std::string();
}

const value* input_answers::find(std::string_view key) const noexcept {
  const auto found = std::find_if(answers_.begin(), answers_.end(), [key](const auto& one) { return one.first == key; });
  return found == answers_.end() ? nullptr : &found->second;
}

const std::string* input_answers::refusal(std::string_view key) const noexcept {
  const auto found = std::find_if(refusals_.begin(), refusals_.end(), [key](const auto& one) { return one.first == key; });
  return found == refusals_.end() ? nullptr : &found->second;
}

std::optional<form_answer> input_answers::filled_form(std::string_view key) const {
  const auto* answer = find(key);
  if (answer == nullptr) return {};
  const auto action = answer->string_at("action");
  if (!action || (*action != "accept" && *action != "decline" && *action != "cancel")) return {};
  const auto* content = answer->find("content");
  if (content != nullptr && !content->is_null() && content->as_object() == nullptr) return {};
  return form_answer{*action, content != nullptr && *action == "accept" ? *content : value()};
}

std::optional<sampling_answer> input_answers::sampled(std::string_view key) const {
  const auto* answer = find(key);
  const auto* content = answer != nullptr ? answer->find("content") : nullptr;
  if (content == nullptr || (content->as_object() == nullptr && content->as_array() == nullptr)) return {};
  return sampling_answer{*content, answer->string_at("model").value_or(std::string()),
                         answer->string_at("stopReason").value_or(std::string())};
}

std::optional<std::vector<root>> input_answers::roots(std::string_view key) const {
  const auto* answer = find(key);
  const auto* list = answer != nullptr ? answer->find("roots") : nullptr;
  if (list == nullptr || list->as_array() == nullptr) return {};
  std::vector<root> out;
  for (const auto& one : *list->as_array()) {
    auto uri = one.string_at("uri");
    if (!uri) return {};
    out.push_back({std::move(*uri), one.string_at("name").value_or(std::string())});
  }
  return out;
}

std::optional<std::string> input_answers::text(std::string_view key, std::string_view field) const {
  const auto filled = filled_form(key);
  if (!filled) return {};
  const auto* found = filled->content.find(field);
  const auto* held = found != nullptr ? found->as_string() : nullptr;
  return held != nullptr ? std::optional(*held) : std::nullopt;
}

bool client_abilities::can(const input_request& what) const noexcept {
  if (std::holds_alternative<form_request>(what)) return forms;
  if (std::holds_alternative<link_request>(what)) return links;
  if (std::holds_alternative<roots_request>(what)) return roots;
  const auto& wanted = std::get<sampling_request>(what);
  const bool needs_tools = wanted.tools || wanted.toolChoice;
  const bool needs_context = !wanted.includeContext.empty() && wanted.includeContext != "none";
  return sampling && (!needs_tools || sampling_tools) && (!needs_context || sampling_context);
}

tool_result text_result(std::string text) {
  tool_result out;
  out.content.emplace_back(text_block{std::move(text), {}});
  return out;
}

tool_result error_result(std::string text) {
  auto out = text_result(std::move(text));
  out.isError = true;
  return out;
}

std::string prompt_call::argument(std::string_view wanted, std::string_view otherwise) const {
  const auto found =
      std::find_if(arguments.begin(), arguments.end(), [wanted](const auto& one) { return one.first == wanted; });
  return std::string(found != arguments.end() ? std::string_view(found->second) : otherwise);
}

}  // namespace hondana::inline v0
