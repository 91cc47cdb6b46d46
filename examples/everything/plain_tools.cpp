/// Tools that return a result immediately: every kind of content, schemas, headers, and changes of the lists.
#include <condition_variable>
#include <mutex>

#include "everything.hpp"

namespace everything {
namespace {

using namespace std::string_literals;
using hondana::tool_call;
using hondana::tool_outcome;
using hondana::tool_result;
using hondana::value;

tool_result block_result(hondana::content_block block) {
  tool_result out;
  out.content.push_back(std::move(block));
  return out;
}

hondana::embedded_block embedded_text(std::string uri, std::string mime_type, std::string text) {
  return {.uri = std::move(uri), .mime_type = std::move(mime_type), .bytes = std::move(text)};
}

/// A schema with many keywords besides `properties`, all of which clients must receive.
constexpr const char* contact_schema = R"({
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object",
  "$defs": {
    "address": {
      "$anchor": "addressDef",
      "type": "object",
      "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
    }
  },
  "properties": {
    "name": {"type": "string"},
    "address": {"$ref": "#/$defs/address"},
    "contactMethod": {"type": "string", "enum": ["phone", "email"]},
    "phone": {"type": "string"},
    "email": {"type": "string"}
  },
  "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
  "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
  "then": {"required": ["phone"]},
  "else": {"required": ["email"]},
  "additionalProperties": false
})";

result<void> add_contents(server& target) {
  auto added = target.add_tool(simple_tool("test_simple_text", "Answers with a text"), [](const tool_call&) {
    return hondana::text_result("This is a simple text response for testing.");
  });
  if (!added) return added;
  added = target.add_tool(simple_tool("test_image_content", "Answers with a picture"), [](const tool_call&) {
    return block_result(hondana::image_block{.bytes = picture(), .mime_type = "image/png"});
  });
  if (!added) return added;
  added = target.add_tool(simple_tool("test_audio_content", "Answers with a sound"), [](const tool_call&) {
    return block_result(hondana::audio_block{.bytes = silence(), .mime_type = "audio/wav"});
  });
  if (!added) return added;
  added = target.add_tool(simple_tool("test_embedded_resource", "Answers with a resource inside"), [](const tool_call&) {
    return block_result(embedded_text("test://embedded-resource", "text/plain", "This is an embedded resource content."));
  });
  if (!added) return added;
  added = target.add_tool(simple_tool("test_multiple_content_types", "Answers with several blocks"), [](const tool_call&) {
    auto out = hondana::text_result("Multiple content types test:");
    out.content.emplace_back(hondana::image_block{.bytes = picture(), .mime_type = "image/png"});
    out.content.emplace_back(
        embedded_text("test://mixed-content-resource", "application/json", R"({"test":"data","value":123})"));
    return out;
  });
  if (!added) return added;
  return target.add_tool(simple_tool("test_error_handling", "Fails, for the model to see"), [](const tool_call&) {
    return hondana::error_result("This tool intentionally returns an error for testing");
  });
}

result<void> add_schemas(server& target) {
  auto schema = value::parse(contact_schema);
  if (!schema) return tl::unexpected(schema.error());
  auto contact = simple_tool("json_schema_2020_12_tool", "Takes a contact, described with the whole of JSON Schema");
  contact.input_schema = *schema;
  auto added = target.add_tool(std::move(contact), [](const tool_call& call) {
    return hondana::text_result("Called with: " + call.arguments.to_text());
  });
  if (!added) return added;
  auto query = simple_tool("test_header_mirroring", "Takes a region that HTTP clients repeat in a header");
  query.input_schema =
      value::object{{"type", "object"},
                    {"properties", value::object{{"region", value::object{{"type", "string"}, {"x-mcp-header", "Region"}}},
                                                 {"limit", value::object{{"type", "integer"}}}}},
                    {"required", value::array{"region"}}};
  return target.add_tool(std::move(query), [](const tool_call& call) -> result<tool_outcome> {
    return call.arguments.string_at("region").map(
        [](const std::string& region) -> tool_outcome { return hondana::text_result("Asked in " + region); });
  });
}

/// Adds a tool or prompt if it is missing, and removes it otherwise, so that the list changes with each call.
result<void> add_list_changes(server& target) {
  auto added =
      target.add_tool(simple_tool("test_trigger_tool_change", "Changes the list of tools"), [&target](const tool_call&) {
        const auto* name = "test_dynamic_tool";
        if (!target.remove_tool(name)) {
          const auto readded = target.add_tool(simple_tool(name, "Comes and goes"),
                                               [](const tool_call&) { return hondana::text_result("I am here now."); });
          if (!readded) return hondana::error_result(readded.error().public_text);
        }
        return hondana::text_result("The list of tools has changed.");
      });
  if (!added) return added;
  return target.add_tool(simple_tool("test_trigger_prompt_change", "Changes the list of prompts"), [&target](const tool_call&) {
    const auto* name = "test_dynamic_prompt";
    if (!target.remove_prompt(name)) {
      const auto readded = target.add_prompt({.name = name, .description = "Comes and goes"}, [](const hondana::prompt_call&) {
        return hondana::prompt_result{.messages = {{.content = hondana::text_block{.text = "I am here now."}}}};
      });
      if (!readded) return hondana::error_result(readded.error().public_text);
    }
    return hondana::text_result("The list of prompts has changed.");
  });
}

}  // namespace

std::string picture() {
  return "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\0\0\0\0\x3a\x7e\x9b\x55\0\0\0\nIDAT\x78\x9c\x63\x68\0\0\0\x82\0\x81\x77\xcd\x72\xb6\0\0\0\0IEND\xae\x42\x60\x82"s;
}

std::string silence() {
  return "RIFF\x26\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x80\x3e\0\0\2\0\x10\0"
         "data\2\0\0\0\0\0"s;
}

hondana::tool simple_tool(std::string name, std::string description) {
  return {.name = std::move(name),
          .description = std::move(description),
          .input_schema = value::object{{"type", "object"}, {"properties", value::object{}}}};
}

bool wait(const hondana::request_context& context, std::chrono::milliseconds duration) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait_for(lock, context.stop, duration, [] { return false; });
  return !context.stop.stop_requested();
}

result<void> add_content_tools(server& target) {
  if (auto added = add_contents(target); !added) return added;
  if (auto added = add_schemas(target); !added) return added;
  return add_list_changes(target);
}

}  // namespace everything
