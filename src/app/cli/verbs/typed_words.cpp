/// Interprets typed words: resources and templates by name, and values by their JSON Schema.
#include "app/cli/verbs/typed_words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include <hondana/uri.hpp>

#include "app/cli/flags/client_flags.hpp"
#include "app/cli/terminal/quantities.hpp"
#include "base/ascii/ascii.hpp"
#include "base/uri/uri_syntax.hpp"

namespace hondana::cli {
namespace {

constexpr std::size_t max_listed = 5;
constexpr std::size_t max_candidates = 100;

/// Phrases with which other servers report a missing resource. Revision 2026-07-28 has no error code for it.
constexpr std::array<std::string_view, 5> not_found_phrases{"not found", "unknown resource", "does not exist", "no such",
                                                            "there is no "};

/// The only element; no value if there is none. Errors: invalid_argument for several.
result<std::string> single_match(const std::set<std::string>& matches, std::string_view word, std::string_view kind) {
  if (matches.size() == 1) return *matches.begin();
  std::string text =
      '"' + std::string(word) + "\" is the " + std::string(kind) + " of " +
      (matches.size() > max_candidates ? "more than " + std::to_string(max_candidates) : std::to_string(matches.size())) + ": ";
  std::size_t count = 0;
  for (const auto& match : matches) {
    if (++count > max_listed) {
      text += ", and more";
      break;
    }
    text += (count == 1 ? "" : ", ") + match;
  }
  return fail(errc::invalid_argument, text + ". Give the whole URI or name.");
}

/// Whether the text is a scheme or the beginning of one.
bool is_scheme(std::string_view text) {
  const auto is_letter = [](char c) { return ascii::is_letter(c); };
  const auto may_follow = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.'; };
  return !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), may_follow);
}

failure malformed_uri(const std::string& uri, const failure& error) {
  return {errc::invalid_argument, '"' + uri + "\" is malformed: " + error.public_text, {}};
}

/// The number of bytes at the end that may be the beginning of a percent escape.
std::size_t partial_escape_bytes(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEFabcdef";
  if (text.ends_with('%')) return 1;
  const bool has_digit = text.size() >= 2 && text[text.size() - 2] == '%' && digits.find(text.back()) != std::string_view::npos;
  return has_digit ? 2 : 0;
}

bool ends_with_segments(std::string_view uri, const std::string& segments) {
  while (uri.ends_with('/')) uri.remove_suffix(1);
  if (!uri.ends_with(segments)) return false;
  if (segments.starts_with('/')) return true;
  uri.remove_suffix(segments.size());
  return uri.ends_with('/') || uri.ends_with(':');
}

}  // namespace

bool has_scheme(std::string_view text) {
  const auto colon = text.find(':');
  return colon != std::string_view::npos && is_scheme(text.substr(0, colon));
}

result<std::string> find_resource(client& client, std::string_view word, const call_options& options) {
  std::string parts(word.starts_with("./") ? word.substr(2) : word);
  while (parts.ends_with('/')) parts.pop_back();
  const auto encoded = percent_encode(parts, true);
  entry_filter filter;
  // If name and URI spell the word alike, the server can filter the list.
  if (encoded == parts && !parts.empty()) filter.text = parts;
  std::set<std::string> named;
  std::set<std::string> suffixed;
  for (const auto& entry : client.resources(filter, options)) {
    if (!entry) return tl::unexpected(entry.error());
    if (entry->name == word) named.insert(entry->uri);
    // A list may be endless. The word is ambiguous already, so stop.
    if (named.size() > max_candidates) break;
    if (suffixed.size() <= max_candidates && !parts.empty() &&
        (ends_with_segments(entry->uri, parts) || ends_with_segments(entry->uri, encoded)))
      suffixed.insert(entry->uri);
  }
  if (!named.empty()) return single_match(named, word, "name");
  if (!suffixed.empty()) return single_match(suffixed, word, "end");
  return fail(errc::resource_not_found,
              "the server lists no resource named \"" + std::string(word) + "\", and none whose URI ends in it");
}

result<std::string> find_template(client& client, const std::string& word, const call_options& options) {
  if (word.find('{') != std::string::npos || has_scheme(word)) return word;
  std::set<std::string> named;
  for (const auto& entry : client.templates(options)) {
    if (!entry) return tl::unexpected(entry.error());
    if (entry->name == word) named.insert(entry->uri_template);
    if (named.size() > max_candidates) break;
  }
  if (!named.empty()) return single_match(named, word, "name");
  return fail(errc::resource_not_found, "the server lists no template named \"" + word + '"');
}

result<std::string> to_listed_uri(const server_description& server, const std::string& typed) {
  if (!server.has_versions) return typed;
  auto canonical = canonical_uri(typed);
  if (!canonical) return tl::unexpected(malformed_uri(typed, canonical.error()));
  return canonical;
}

result<std::string> to_listed_prefix(const std::string& typed) {
  constexpr std::string_view invalid_characters = "\"<>\\^`{|}";
  const auto reject = [&typed](const std::string& hint) {
    return fail(errc::invalid_argument,
                "expected a URI or its beginning, as `hondana ls` prints it, not \"" + typed + '"' + hint + '.');
  };
  const auto colon = std::min(typed.find(':'), typed.size());
  if (!is_scheme(std::string_view(typed).substr(0, colon))) return reject("");
  auto encoded = ascii::to_lower(typed.substr(0, colon));
  for (const char c : typed.substr(colon)) {
    const bool is_escaped =
        static_cast<unsigned char>(c) <= ' ' || c == 0x7f || invalid_characters.find(c) != std::string_view::npos;
    encoded += is_escaped ? percent_encode(std::string_view(&c, 1)) : std::string(1, c);
  }
  const auto complete_part = std::string_view(encoded).substr(0, encoded.size() - partial_escape_bytes(encoded));
  std::string storage;
  const auto canonical = uri::canonical_escapes(complete_part, storage);
  if (!canonical) return reject(": write a percent sign in a URI as %25");
  std::string out(*canonical);
  for (const char c : encoded.substr(complete_part.size())) out += c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

result<std::vector<std::pair<std::string, std::string>>> parse_variables(const command_line& line) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& assignment : line.all_values(with_flag)) {
    const auto equals = assignment.find('=');
    if (equals == std::string::npos) return fail(errc::invalid_argument, "--with is NAME=VALUE, not \"" + assignment + "\".");
    out.emplace_back(assignment.substr(0, equals), assignment.substr(equals + 1));
  }
  return out;
}

failure explain_uri_error(const std::string& uri, const failure& error) {
  if (error.code != errc::resource_not_found) return error;
  const auto canonical = canonical_uri(uri);
  return canonical ? error : malformed_uri(uri, canonical.error());
}

failure explain_read_error(const std::string& uri, const failure& error, bool reports_reasons) {
  constexpr std::int64_t invalid_params = -32602;
  auto explained = explain_uri_error(uri, error);
  if (explained.code != errc::resource_not_found || !error.server_error || error.server_error->code != invalid_params)
    return explained;
  if (error.server_error->data && error.server_error->data->string_at("uri")) return explained;
  const auto query = split_uri(uri).query;
  const bool has_parameters = query && !query->empty();
  const auto message = ascii::to_lower(error.server_error->message);
  const bool says_not_found =
      !reports_reasons && std::any_of(not_found_phrases.begin(), not_found_phrases.end(), [&message](std::string_view phrase) {
        return message.find(phrase) != std::string::npos;
      });
  if (says_not_found) return explained;
  explained.code = reports_reasons || has_parameters ? errc::invalid_argument : errc::server_error;
  return explained;
}

std::string cached_notice(const std::vector<received_content>& contents) {
  bool has_cached = false;
  std::optional<std::int64_t> oldest;
  for (const auto& content : contents) {
    const auto* offline = content.meta ? content.meta->find("dev.hondana/offline") : nullptr;
    if (offline == nullptr || !offline->as_boolean().value_or(false)) continue;
    has_cached = true;
    const auto* age = content.meta->find("dev.hondana/ageSeconds");
    if (const auto seconds = age == nullptr ? std::nullopt : age->as_integer(); seconds && *seconds >= oldest.value_or(0))
      oldest = seconds;
  }
  if (!has_cached) return {};
  return "offline: the server cannot reach the source now; this is its cached copy" +
         (oldest ? ", last confirmed " + human_age(std::chrono::seconds(*oldest)) + " ago" : std::string());
}

namespace {

std::string schema_type(const value& schema) {
  const auto* type = schema.find("type");
  if (type == nullptr) return {};
  if (const auto* name = type->as_string()) return *name;
  // Of several types, take the first that is not null.
  if (const auto* types = type->as_array()) {
    for (const auto& element : *types) {
      if (element.as_string() != nullptr && *element.as_string() != "null") return *element.as_string();
    }
  }
  return {};
}

tl::unexpected<failure> type_error(std::string_view text, std::string_view expected) {
  return fail(errc::invalid_argument, "\"" + std::string(text.substr(0, 200)) + "\" is not a " + std::string(expected));
}

const value* find_property(const value& schema, std::string_view name) {
  const auto* properties = schema.find("properties");
  return properties == nullptr ? nullptr : properties->find(name);
}

std::string to_upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

std::string property_names(const value& schema) {
  const auto* properties = schema.find("properties");
  std::string out;
  if (properties == nullptr || properties->as_object() == nullptr) return "none";
  for (const auto& [name, property] : *properties->as_object()) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

}  // namespace

result<value> parse_typed_value(std::string_view text, const value& schema) {
  const auto type = schema_type(schema);
  if (type == "string") return value(text);
  if (type == "boolean") {
    if (text == "true" || text == "yes" || text == "y") return value(true);
    if (text == "false" || text == "no" || text == "n") return value(false);
    return type_error(text, "boolean: write true or false");
  }
  auto parsed = value::parse(text);
  if (type == "integer" || type == "number") {
    if (!parsed || !parsed->as_number()) return type_error(text, type == "integer" ? "whole number" : "number");
    if (type == "integer" && !parsed->as_integer()) return type_error(text, "whole number");
    return parsed;
  }
  if (type == "array") {
    if (parsed && parsed->as_array() != nullptr) return parsed;
    const auto* items = schema.find("items");
    auto element = parse_typed_value(text, items == nullptr ? value() : *items);
    if (!element) return element;
    return value(value::array{std::move(*element)});
  }
  if (type == "object") {
    if (parsed && parsed->as_object() != nullptr) return parsed;
    return type_error(text, "JSON object");
  }
  return parsed ? parsed : result<value>(value(text));
}

result<value> parse_tool_arguments(const std::vector<std::string>& words, const value& input_schema) {
  value::object out;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(errc::invalid_argument,
                  "\"" + word + "\" is not NAME=VALUE; the tool's arguments: " + property_names(input_schema) + ".");
    const auto name = word.substr(0, equals);
    const auto* field = find_property(input_schema, name);
    if (field == nullptr && input_schema.find("additionalProperties") != nullptr &&
        *input_schema.find("additionalProperties") == value(false))
      return fail(errc::invalid_argument,
                  "The tool has no argument \"" + name + "\"; it has: " + property_names(input_schema) + ".");
    auto typed = parse_typed_value(std::string_view(word).substr(equals + 1), field == nullptr ? value() : *field);
    if (!typed) return fail(errc::invalid_argument, name + ": " + typed.error().public_text + ".");
    const auto known = std::find_if(out.begin(), out.end(), [&name](const auto& member) { return member.first == name; });
    if (known == out.end()) {
      out.emplace_back(name, std::move(*typed));
      continue;
    }
    value::array several;
    if (const auto* previous = known->second.as_array()) {
      several = *previous;
    } else {
      several.push_back(known->second);
    }
    if (const auto* additions = typed->as_array()) {
      several.insert(several.end(), additions->begin(), additions->end());
    } else {
      several.push_back(std::move(*typed));
    }
    known->second = value(std::move(several));
  }
  return value(std::move(out));
}

bool is_required(const value& schema, std::string_view name) {
  const auto* required = schema.find("required");
  const auto* names = required == nullptr ? nullptr : required->as_array();
  return names != nullptr && std::find(names->begin(), names->end(), value(name)) != names->end();
}

result<void> check_required_arguments(const value& arguments, const tool& tool) {
  const auto* required = tool.input_schema.find("required");
  const auto* names = required == nullptr ? nullptr : required->as_array();
  if (names == nullptr) return {};
  std::string missing;
  std::string example;
  for (const auto& element : *names) {
    const auto* name = element.as_string();
    if (name == nullptr || arguments.find(*name) != nullptr) continue;
    const auto* field = find_property(tool.input_schema, *name);
    const auto meaning = field == nullptr ? std::string() : field->string_at("description").value_or("");
    missing += (missing.empty() ? "" : ", ") + *name + (meaning.empty() ? "" : " (" + meaning + ')');
    const auto type = field == nullptr ? std::string() : schema_type(*field);
    example += (example.empty() ? "" : " ") + *name + '=' + (type.empty() ? "VALUE" : to_upper(type));
  }
  if (missing.empty()) return {};
  return fail(errc::invalid_argument,
              "The tool " + tool.name + " needs " + missing + ". Give it as " + example + ", or in the object of --arguments.");
}

}  // namespace hondana::cli
