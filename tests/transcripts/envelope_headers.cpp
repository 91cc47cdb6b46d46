/// Mirrored fields and their encoding.
#include "transcripts/envelope_headers.hpp"

#include <algorithm>
#include <cstdint>

#include "transcripts/transcript.hpp"

namespace transcripts {
namespace {

namespace json = boost::json;

std::string base64(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k)
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (std::size_t k = 0; k < 4; ++k) out += i + k <= bytes.size() ? letters[group >> (18 - 6 * k) & 63] : '=';
  }
  return out;
}

/// The string at `path`, when there is one.
std::optional<std::string> string_at(const json::value& message, std::initializer_list<std::string_view> path) {
  const json::value* place = &message;
  for (const auto name : path) {
    const auto* object = place->if_object();
    place = object == nullptr ? nullptr : object->if_contains(name);
    if (place == nullptr) return std::nullopt;
  }
  if (!place->is_string()) return std::nullopt;
  return std::string(place->get_string());
}

header_fields common_fields() {
  return {{"Content-Type", "application/json"}, {"Accept", "application/json, text/event-stream"}};
}

}  // namespace

std::string field_value(std::string_view text) {
  const auto is_plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  const bool has_edges = text.starts_with(' ') || text.ends_with(' ');
  const bool looks_encoded = text.starts_with("=?base64?") && text.ends_with("?=");
  return is_plain && !has_edges && !looks_encoded ? std::string(text) : "=?base64?" + base64(text) + "?=";
}

std::optional<std::string> post_headers::add(std::string_view field) {
  const auto colon = field.find(": ");
  if (colon == std::string_view::npos) return "a header reads NAME: VALUE";
  added_.emplace_back(field.substr(0, colon), field.substr(colon + 2));
  return std::nullopt;
}

void post_headers::leave_out(std::string_view name) { left_out_.emplace_back(name); }

header_fields post_headers::changed(header_fields fields) {
  const auto is_replaced = [this](const auto& field) {
    return std::find(left_out_.begin(), left_out_.end(), field.first) != left_out_.end() ||
           std::any_of(added_.begin(), added_.end(), [&field](const auto& one) { return one.first == field.first; });
  };
  fields.erase(std::remove_if(fields.begin(), fields.end(), is_replaced), fields.end());
  fields.insert(fields.end(), added_.begin(), added_.end());
  added_.clear();
  left_out_.clear();
  return fields;
}

header_fields post_headers::of_message(const json::value& message, std::string_view revision) {
  auto fields = common_fields();
  if (revision != modern_revision) {
    if (!revision.empty()) fields.emplace_back("MCP-Protocol-Version", revision);
    return changed(std::move(fields));
  }
  const auto declared = string_at(message, {"params", "_meta", "io.modelcontextprotocol/protocolVersion"});
  fields.emplace_back("MCP-Protocol-Version", declared.value_or(std::string(revision)));
  const auto method = string_at(message, {"method"});
  if (method) fields.emplace_back("Mcp-Method", *method);
  const auto name = method == "resources/read"                          ? string_at(message, {"params", "uri"})
                    : method == "tools/call" || method == "prompts/get" ? string_at(message, {"params", "name"})
                                                                        : std::nullopt;
  if (name) fields.emplace_back("Mcp-Name", field_value(*name));
  return changed(std::move(fields));
}

header_fields post_headers::of_bodiless(std::string_view revision) {
  header_fields fields{{"Accept", "text/event-stream"}};
  if (!revision.empty()) fields.emplace_back("MCP-Protocol-Version", revision);
  return changed(std::move(fields));
}

header_fields post_headers::of_raw(std::string_view revision) {
  auto fields = common_fields();
  if (!revision.empty()) fields.emplace_back("MCP-Protocol-Version", revision);
  return changed(std::move(fields));
}

}  // namespace transcripts
