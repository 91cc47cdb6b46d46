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

constexpr std::size_t most_told = 5;
constexpr std::size_t most_looked_at = 100;

/// Phrases with which other servers report a missing resource. Revision 2026-07-28 has no error code for it.
constexpr std::array<std::string_view, 5> not_found_phrases{"not found", "unknown resource", "does not exist", "no such",
                                                            "there is no "};

/// The only element; no value if there is none. Errors: invalid_argument for several.
result<std::string> only_one(const std::set<std::string>& found, std::string_view word, std::string_view what) {
  if (found.size() == 1) return *found.begin();
  std::string text =
      '"' + std::string(word) + "\" is the " + std::string(what) + " of " +
      (found.size() > most_looked_at ? "more than " + std::to_string(most_looked_at) : std::to_string(found.size())) + ": ";
  std::size_t count = 0;
  for (const auto& one : found) {
    if (++count > most_told) {
      text += ", and more";
      break;
    }
    text += (count == 1 ? "" : ", ") + one;
  }
  return fail(errc::invalid_argument, text + ". Give the whole URI or name.");
}

/// Whether the text is a scheme or the beginning of one.
bool is_scheme(std::string_view text) {
  const auto is_letter = [](char c) { return ascii::is_letter(c); };
  const auto may_follow = [&](char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.'; };
  return !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), may_follow);
}

failure malformed(const std::string& uri, const failure& why) {
  return {errc::invalid_argument, '"' + uri + "\" is malformed: " + why.public_text, {}};
}

/// The number of bytes at the end that may be the beginning of a percent escape.
std::size_t begun_escape(std::string_view text) {
  constexpr std::string_view digits = "0123456789ABCDEFabcdef";
  if (text.ends_with('%')) return 1;
  const bool has_digit = text.size() >= 2 && text[text.size() - 2] == '%' && digits.find(text.back()) != std::string_view::npos;
  return has_digit ? 2 : 0;
}

bool ends_in(std::string_view uri, const std::string& parts) {
  while (uri.ends_with('/')) uri.remove_suffix(1);
  if (!uri.ends_with(parts)) return false;
  if (parts.starts_with('/')) return true;
  uri.remove_suffix(parts.size());
  return uri.ends_with('/') || uri.ends_with(':');
}

}  // namespace

bool has_scheme(std::string_view text) {
  const auto colon = text.find(':');
  return colon != std::string_view::npos && is_scheme(text.substr(0, colon));
}

result<std::string> resource_named(client& of, std::string_view word, const call_options& how) {
  std::string parts(word.starts_with("./") ? word.substr(2) : word);
  while (parts.ends_with('/')) parts.pop_back();
  const auto encoded = percent_encode(parts, true);
  entry_filter wanted;
  // If name and URI spell the word alike, the server can filter the list.
  if (encoded == parts) wanted.text = parts;
  std::set<std::string> named;
  std::set<std::string> ending;
  for (const auto& one : of.resources(wanted, how)) {
    if (!one) return tl::unexpected(one.error());
    if (one->name == word) named.insert(one->uri);
    // A list may be endless. The word is ambiguous already, so stop.
    if (named.size() > most_looked_at) break;
    if (ending.size() <= most_looked_at && !parts.empty() && (ends_in(one->uri, parts) || ends_in(one->uri, encoded)))
      ending.insert(one->uri);
  }
  if (!named.empty()) return only_one(named, word, "name");
  if (!ending.empty()) return only_one(ending, word, "end");
  return fail(errc::resource_not_found,
              "the server lists no resource named \"" + std::string(word) + "\", and none whose URI ends in it");
}

result<std::string> template_named(client& of, const std::string& word, const call_options& how) {
  if (word.find('{') != std::string::npos || has_scheme(word)) return word;
  std::set<std::string> named;
  for (const auto& one : of.templates(how)) {
    if (!one) return tl::unexpected(one.error());
    if (one->name == word) named.insert(one->uriTemplate);
    if (named.size() > most_looked_at) break;
  }
  if (!named.empty()) return only_one(named, word, "name");
  return fail(errc::resource_not_found, "the server lists no template named \"" + word + '"');
}

result<std::string> as_listed(const server_description& server, const std::string& typed) {
  if (!server.has_versions) return typed;
  auto canonical = canonical_uri(typed);
  if (!canonical) return tl::unexpected(malformed(typed, canonical.error()));
  return canonical;
}

result<std::string> beginning_as_listed(const std::string& typed) {
  constexpr std::string_view in_no_uri = "\"<>\\^`{|}";
  const auto refused = [&typed](const std::string& hint) {
    return fail(errc::invalid_argument,
                "expected a URI or its beginning, as `hondana ls` prints it, not \"" + typed + '"' + hint + '.');
  };
  const auto colon = std::min(typed.find(':'), typed.size());
  if (!is_scheme(std::string_view(typed).substr(0, colon))) return refused("");
  auto spelled = ascii::in_lower_case(typed.substr(0, colon));
  for (const char c : typed.substr(colon)) {
    const bool is_escaped = static_cast<unsigned char>(c) <= ' ' || c == 0x7f || in_no_uri.find(c) != std::string_view::npos;
    spelled += is_escaped ? percent_encode(std::string_view(&c, 1)) : std::string(1, c);
  }
  const auto whole = std::string_view(spelled).substr(0, spelled.size() - begun_escape(spelled));
  std::string storage;
  const auto canonical = uri::canonical_escapes(whole, storage);
  if (!canonical) return refused(": write a percent sign in a URI as %25");
  std::string out(*canonical);
  for (const char c : spelled.substr(whole.size())) out += c >= 'a' && c <= 'f' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

result<std::vector<std::pair<std::string, std::string>>> given_values(const command_line& line) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const auto& one : line.all(with_flag)) {
    const auto equals = one.find('=');
    if (equals == std::string::npos) return fail(errc::invalid_argument, "--with is NAME=VALUE, not \"" + one + "\".");
    out.emplace_back(one.substr(0, equals), one.substr(equals + 1));
  }
  return out;
}

failure blamed_on(const std::string& uri, const failure& why) {
  if (why.code != errc::resource_not_found) return why;
  const auto canonical = canonical_uri(uri);
  return canonical ? why : malformed(uri, canonical.error());
}

failure why_not_read(const std::string& uri, const failure& why, bool names_reasons) {
  constexpr std::int64_t invalid_params = -32602;
  auto told = blamed_on(uri, why);
  if (told.code != errc::resource_not_found || !why.answer || why.answer->code != invalid_params) return told;
  if (why.answer->data.string_at("uri")) return told;
  const auto query = split_uri(uri).query;
  const bool has_parameters = query && !query->empty();
  const auto message = ascii::in_lower_case(why.answer->message);
  const bool says_not_found =
      !names_reasons && std::any_of(not_found_phrases.begin(), not_found_phrases.end(),
                                    [&message](std::string_view phrase) { return message.find(phrase) != std::string::npos; });
  if (says_not_found) return told;
  told.code = names_reasons || has_parameters ? errc::invalid_argument : errc::refused;
  return told;
}

std::string told_of_kept(const std::vector<read_item>& items) {
  bool is_any = false;
  std::optional<std::int64_t> oldest;
  for (const auto& one : items) {
    const auto* offline = one.meta.find("dev.hondana/offline");
    if (offline == nullptr || !offline->as_boolean().value_or(false)) continue;
    is_any = true;
    const auto* age = one.meta.find("dev.hondana/ageSeconds");
    if (const auto seconds = age == nullptr ? std::nullopt : age->as_integer(); seconds && *seconds >= oldest.value_or(0))
      oldest = seconds;
  }
  if (!is_any) return {};
  return "offline: the server cannot reach the source now; this is its cached copy" +
         (oldest ? ", last confirmed " + human_age(std::chrono::seconds(*oldest)) + " ago" : std::string());
}

namespace {

std::string type_of(const value& schema) {
  const auto* type = schema.find("type");
  if (type == nullptr) return {};
  if (const auto* one = type->as_string()) return *one;
  // Of several types, take the first that is not null.
  if (const auto* all = type->as_array()) {
    for (const auto& one : *all) {
      if (one.as_string() != nullptr && *one.as_string() != "null") return *one.as_string();
    }
  }
  return {};
}

tl::unexpected<failure> no(std::string_view text, std::string_view wanted) {
  return fail(errc::invalid_argument, "\"" + std::string(text.substr(0, 200)) + "\" is not a " + std::string(wanted));
}

const value* property(const value& schema, std::string_view name) {
  const auto* all = schema.find("properties");
  return all == nullptr ? nullptr : all->find(name);
}

std::string in_capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
  return text;
}

std::string names_of(const value& schema) {
  const auto* all = schema.find("properties");
  std::string out;
  if (all == nullptr || all->as_object() == nullptr) return "none";
  for (const auto& [name, one] : *all->as_object()) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

}  // namespace

result<value> typed_value(std::string_view text, const value& schema) {
  const auto type = type_of(schema);
  if (type == "string") return value(text);
  if (type == "boolean") {
    if (text == "true" || text == "yes" || text == "y") return value(true);
    if (text == "false" || text == "no" || text == "n") return value(false);
    return no(text, "boolean: write true or false");
  }
  auto parsed = value::parse(text);
  if (type == "integer" || type == "number") {
    if (!parsed || !parsed->as_number()) return no(text, type == "integer" ? "whole number" : "number");
    if (type == "integer" && !parsed->as_integer()) return no(text, "whole number");
    return parsed;
  }
  if (type == "array") {
    if (parsed && parsed->as_array() != nullptr) return parsed;
    const auto* items = schema.find("items");
    auto one = typed_value(text, items == nullptr ? value() : *items);
    if (!one) return one;
    return value(value::array{std::move(*one)});
  }
  if (type == "object") {
    if (parsed && parsed->as_object() != nullptr) return parsed;
    return no(text, "JSON object");
  }
  return parsed ? parsed : result<value>(value(text));
}

result<value> typed_arguments(const std::vector<std::string>& words, const value& input_schema) {
  value::object out;
  for (const auto& word : words) {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return fail(errc::invalid_argument,
                  "\"" + word + "\" is not NAME=VALUE; the tool's arguments: " + names_of(input_schema) + ".");
    const auto name = word.substr(0, equals);
    const auto* field = property(input_schema, name);
    if (field == nullptr && input_schema.find("additionalProperties") != nullptr &&
        *input_schema.find("additionalProperties") == value(false))
      return fail(errc::invalid_argument, "The tool has no argument \"" + name + "\"; it has: " + names_of(input_schema) + ".");
    auto typed = typed_value(std::string_view(word).substr(equals + 1), field == nullptr ? value() : *field);
    if (!typed) return fail(errc::invalid_argument, name + ": " + typed.error().public_text + ".");
    const auto known = std::find_if(out.begin(), out.end(), [&name](const auto& one) { return one.first == name; });
    if (known == out.end()) {
      out.emplace_back(name, std::move(*typed));
      continue;
    }
    value::array several;
    if (const auto* before = known->second.as_array()) {
      several = *before;
    } else {
      several.push_back(known->second);
    }
    if (const auto* more = typed->as_array()) {
      several.insert(several.end(), more->begin(), more->end());
    } else {
      several.push_back(std::move(*typed));
    }
    known->second = value(std::move(several));
  }
  return value(std::move(out));
}

bool is_required(const value& schema, std::string_view name) {
  const auto* required = schema.find("required");
  const auto* all = required == nullptr ? nullptr : required->as_array();
  return all != nullptr && std::find(all->begin(), all->end(), value(name)) != all->end();
}

result<void> has_all_required(const value& arguments, const tool& called) {
  const auto* required = called.inputSchema.find("required");
  const auto* all = required == nullptr ? nullptr : required->as_array();
  if (all == nullptr) return {};
  std::string missing;
  std::string given;
  for (const auto& one : *all) {
    const auto* name = one.as_string();
    if (name == nullptr || arguments.find(*name) != nullptr) continue;
    const auto* field = property(called.inputSchema, *name);
    const auto meaning = field == nullptr ? std::string() : field->string_at("description").value_or("");
    missing += (missing.empty() ? "" : ", ") + *name + (meaning.empty() ? "" : " (" + meaning + ')');
    const auto type = field == nullptr ? std::string() : type_of(*field);
    given += (given.empty() ? "" : " ") + *name + '=' + (type.empty() ? "VALUE" : in_capitals(type));
  }
  if (missing.empty()) return {};
  return fail(errc::invalid_argument,
              "The tool " + called.name + " needs " + missing + ". Give it as " + given + ", or in the object of --arguments.");
}

}  // namespace hondana::cli
