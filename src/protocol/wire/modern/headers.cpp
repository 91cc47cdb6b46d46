/// Header validation of the stateless era.
#include "protocol/wire/modern/headers.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii/characters.hpp"
#include "base/json/base64.hpp"
#include "base/json/utf8.hpp"
#include "protocol/wire/names.hpp"

namespace hondana::wire::modern {
namespace {

constexpr std::string_view opening = "=?base64?";
constexpr std::string_view closing = "?=";

protocol_error mismatch(std::string text) { return {codes::header_mismatch, "Header mismatch: " + std::move(text), {}, 400}; }

bool is_field_value(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c == '\t' || (c >= ' ' && c <= '~'); });
}

/// Methods whose target is mirrored, with the parameter that holds it.
struct named_method {
  std::string_view method;
  std::string_view parameter;
};
constexpr std::array named_methods{
    named_method{"resources/read", "uri"},
    named_method{"tools/call", "name"},
    named_method{"prompts/get", "name"},
};

std::optional<protocol_error> compare(std::string_view header_name, const std::optional<std::string>& header,
                                      std::string_view body_value) {
  const std::string name(header_name);
  if (!header) return mismatch(name + " is missing; it must repeat the body's value");
  const auto value = header_value(*header);
  if (!value) return mismatch(name + " is malformed: expected visible ASCII or =?base64?...?=");
  if (*value == body_value) return {};
  return mismatch(name + " header value '" + value->substr(0, 200) + "' does not match body value '" +
                  std::string(body_value.substr(0, 200)) + "'");
}

/// Whether a decoded header stands for an argument. Integers are compared as numbers: 42.0 is 42.
bool repeats(std::string_view header, const value& argument, bool is_integer) {
  if (const auto* text = argument.as_string()) return header == *text;
  if (const auto flag = argument.as_boolean()) return header == (*flag ? "true" : "false");
  if (!is_integer || !argument.as_number()) return false;
  const auto number = value::parse(header);
  return number && number->as_number() && *number == argument;
}

}  // namespace

std::optional<protocol_error> argument_mismatch(const std::vector<model::mirrored_argument>& mirrored, const value& arguments,
                                                const rpc::http_headers& headers) {
  for (const auto& one : mirrored) {
    const auto name = "Mcp-Param-" + one.header;
    const auto* argument = model::argument_at(arguments, one.path);
    const auto given = std::find_if(headers.arguments.begin(), headers.arguments.end(),
                                    [&one](const auto& field) { return ascii::is_same(field.first, one.header); });
    if (given == headers.arguments.end()) {
      if (argument != nullptr) return mismatch(name + " is missing; it must repeat the argument's value");
      continue;
    }
    const auto text = header_value(given->second);
    if (!text) return mismatch(name + " is malformed: expected visible ASCII or =?base64?...?=");
    if (argument == nullptr) return mismatch(name + " repeats an argument that is not in the body");
    if (!repeats(*text, *argument, one.is_integer)) {
      return mismatch(name + " header value '" + text->substr(0, 200) + "' does not match body value '" +
                      argument->to_text().substr(0, 200) + "'");
    }
  }
  return {};
}

std::optional<std::string> header_value(std::string_view header) {
  if (!is_field_value(header)) return {};
  const bool is_encoded =
      header.size() >= opening.size() + closing.size() && header.starts_with(opening) && header.ends_with(closing);
  if (!is_encoded) return std::string(header);
  header.remove_prefix(opening.size());
  header.remove_suffix(closing.size());
  auto bytes = json::decode_base64(header);
  if (!bytes || !json::is_utf8(*bytes)) return {};
  return bytes;
}

std::optional<protocol_error> revision_mismatch(std::string_view declared, const rpc::http_headers& headers) {
  if (!headers.protocol_version || *headers.protocol_version == declared) return {};
  return mismatch("MCP-Protocol-Version header value '" + headers.protocol_version->substr(0, 200) +
                  "' does not match body value '" + std::string(declared.substr(0, 200)) + "'");
}

std::optional<protocol_error> header_mismatch(const rpc::request& request, std::string_view declared,
                                              const rpc::http_headers& headers) {
  if (!headers.protocol_version) return mismatch("MCP-Protocol-Version is missing; it must repeat the body's value");
  if (auto differs = revision_mismatch(declared, headers)) return differs;
  if (!headers.method) return mismatch("Mcp-Method is missing; it must repeat the body's method");
  if (*headers.method != request.method) {
    return mismatch("Mcp-Method header value '" + headers.method->substr(0, 200) + "' does not match body value '" +
                    request.method.substr(0, 200) + "'");
  }
  for (const auto& named : named_methods) {
    if (named.method != request.method) continue;
    const auto value = request.params.find_string(named.parameter);
    // A missing or mistyped parameter is reported as such by the decoder, which names its path.
    if (!value || !*value) return {};
    return compare("Mcp-Name", headers.name, **value);
  }
  return {};
}

}  // namespace hondana::wire::modern
