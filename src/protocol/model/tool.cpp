/// Forms for user input, the answers of clients to them, and helpers for tool results.

#include <algorithm>

#include <hondana/input.hpp>
#include <hondana/prompt.hpp>
#include <hondana/tool.hpp>

namespace hondana::inline v0 {
namespace {

void add_nonempty(value::object& target, std::string name, const std::string& text) {
  if (!text.empty()) target.emplace_back(std::move(name), text);
}

/// A limit with an integral value is written as an integer.
value limit_value(double number) {
  const value out(number);
  const auto integer = out.as_integer();
  return integer ? value(*integer) : out;
}

value::array titled_choices(const std::vector<form_choice>& choices) {
  value::array out;
  for (const auto& choice : choices) {
    out.emplace_back(value::object{{"const", choice.value}, {"title", choice.title.empty() ? choice.value : choice.title}});
  }
  return out;
}

value::array choice_values(const std::vector<form_choice>& choices) {
  value::array out;
  for (const auto& choice : choices) out.emplace_back(choice.value);
  return out;
}

bool has_titles(const std::vector<form_choice>& choices) {
  return std::any_of(choices.begin(), choices.end(), [](const form_choice& choice) { return !choice.title.empty(); });
}

void add_limits(value::object& schema, const form_field_options& field, std::string_view min_name, std::string_view max_name) {
  if (field.min) schema.emplace_back(std::string(min_name), limit_value(*field.min));
  if (field.max) schema.emplace_back(std::string(max_name), limit_value(*field.max));
}

}  // namespace

form_builder& form_builder::text(std::string name, const form_field_options& options) {
  value::object schema{{"type", "string"}};
  add_limits(schema, options, "minLength", "maxLength");
  add_nonempty(schema, "format", options.format);
  return add(std::move(name), std::move(schema), options);
}

form_builder& form_builder::number(std::string name, const form_field_options& options) {
  value::object schema{{"type", "number"}};
  add_limits(schema, options, "minimum", "maximum");
  return add(std::move(name), std::move(schema), options);
}

form_builder& form_builder::integer(std::string name, const form_field_options& options) {
  value::object schema{{"type", "integer"}};
  add_limits(schema, options, "minimum", "maximum");
  return add(std::move(name), std::move(schema), options);
}

form_builder& form_builder::boolean(std::string name, const form_field_options& options) {
  return add(std::move(name), {{"type", "boolean"}}, options);
}

form_builder& form_builder::single_select(std::string name, const std::vector<form_choice>& choices,
                                          const form_field_options& options) {
  value::object schema{{"type", "string"}};
  if (has_titles(choices)) {
    schema.emplace_back("oneOf", titled_choices(choices));
  } else {
    schema.emplace_back("enum", choice_values(choices));
  }
  return add(std::move(name), std::move(schema), options);
}

form_builder& form_builder::multi_select(std::string name, const std::vector<form_choice>& choices,
                                         const form_field_options& options) {
  value::object schema{{"type", "array"}};
  add_limits(schema, options, "minItems", "maxItems");
  schema.emplace_back("items", has_titles(choices) ? value::object{{"anyOf", titled_choices(choices)}}
                                                   : value::object{{"type", "string"}, {"enum", choice_values(choices)}});
  return add(std::move(name), std::move(schema), options);
}

form_builder& form_builder::add(std::string name, value::object schema, const form_field_options& options) {
  add_nonempty(schema, "title", options.title);
  add_nonempty(schema, "description", options.description);
  if (options.default_value) schema.emplace_back("default", *options.default_value);
  if (options.is_required) required_.emplace_back(name);
  properties_.emplace_back(std::move(name), std::move(schema));
  return *this;
}

value form_builder::schema() const {
  value::object out{{"type", "object"}, {"properties", properties_}};
  if (!required_.empty()) out.emplace_back("required", required_);
  return out;
}

std::string sampling_response::text() const {
  const auto find_text = [](const value& block) -> const std::string* {
    const auto* text = block.find("text");
    return text != nullptr ? text->as_string() : nullptr;
  };
  if (const auto* blocks = content.as_array()) {
    for (const auto& block : *blocks) {
      if (const auto* text = find_text(block)) return *text;
    }
    return {};
  }
  const auto* text = find_text(content);
  return text != nullptr ? *text : std::string();
}

const value* input_responses::find(std::string_view key) const noexcept {
  const auto match =
      std::find_if(responses_.begin(), responses_.end(), [key](const auto& entry) { return entry.first == key; });
  return match == responses_.end() ? nullptr : &match->second;
}

const std::string* input_responses::error(std::string_view key) const noexcept {
  const auto match = std::find_if(errors_.begin(), errors_.end(), [key](const auto& entry) { return entry.first == key; });
  return match == errors_.end() ? nullptr : &match->second;
}

std::optional<elicitation_response> input_responses::elicitation(std::string_view key) const {
  const auto* answer = find(key);
  if (answer == nullptr) return {};
  const auto action = answer->string_at("action");
  if (!action || (*action != "accept" && *action != "decline" && *action != "cancel")) return {};
  const auto* content = answer->find("content");
  if (content != nullptr && !content->is_null() && content->as_object() == nullptr) return {};
  elicitation_response out{*action, {}};
  if (content != nullptr && !content->is_null() && *action == "accept") out.content = *content;
  return out;
}

std::optional<sampling_response> input_responses::sampling(std::string_view key) const {
  const auto* answer = find(key);
  const auto* content = answer != nullptr ? answer->find("content") : nullptr;
  if (content == nullptr || (content->as_object() == nullptr && content->as_array() == nullptr)) return {};
  return sampling_response{*content, answer->string_at("model").value_or(std::string()),
                           answer->string_at("stopReason").value_or(std::string())};
}

std::optional<std::vector<root>> input_responses::roots(std::string_view key) const {
  const auto* answer = find(key);
  const auto* list = answer != nullptr ? answer->find("roots") : nullptr;
  if (list == nullptr || list->as_array() == nullptr) return {};
  std::vector<root> out;
  for (const auto& entry : *list->as_array()) {
    auto uri = entry.string_at("uri");
    if (!uri) return {};
    out.push_back({std::move(*uri), entry.string_at("name").value_or(std::string())});
  }
  return out;
}

std::optional<std::string> input_responses::text(std::string_view key, std::string_view field) const {
  const auto filled = elicitation(key);
  if (!filled || !filled->content) return {};
  const auto* member = filled->content->find(field);
  const auto* string = member != nullptr ? member->as_string() : nullptr;
  return string != nullptr ? std::optional(*string) : std::nullopt;
}

bool client_capabilities::supports(const input_request& input) const noexcept {
  if (std::holds_alternative<form_request>(input)) return form_elicitation;
  if (std::holds_alternative<url_request>(input)) return url_elicitation;
  if (std::holds_alternative<roots_request>(input)) return roots;
  const auto& request = std::get<sampling_request>(input);
  const bool needs_tools = request.tools || request.tool_choice;
  const bool needs_context = !request.include_context.empty() && request.include_context != "none";
  return sampling && (!needs_tools || sampling_tools) && (!needs_context || sampling_context);
}

tool_result text_result(std::string text) {
  tool_result out;
  out.content.emplace_back(text_block{std::move(text), {}});
  return out;
}

tool_result error_result(std::string text) {
  auto out = text_result(std::move(text));
  out.is_error = true;
  return out;
}

std::string prompt_call::argument(std::string_view argument_name, std::string_view default_value) const {
  const auto match = std::find_if(arguments.begin(), arguments.end(),
                                  [argument_name](const auto& entry) { return entry.first == argument_name; });
  return std::string(match != arguments.end() ? std::string_view(match->second) : default_value);
}

}  // namespace hondana::inline v0
