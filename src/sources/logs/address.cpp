/// The URIs of a log: parsing of their path and parameters, and their canonical form.
#include "sources/logs/address.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/json/utf8.hpp"
#include "base/uri/uri_syntax.hpp"
#include "sources/logs/moment.hpp"

namespace hondana::logs {
namespace {

constexpr std::string_view scheme = "log://";
constexpr std::size_t max_parameter_bytes = std::size_t{16} << 10;

tl::unexpected<failure> invalid_value(std::string_view name, std::string_view reason) {
  return fail(errc::invalid_argument, std::string(name) + ": " + std::string(reason));
}

struct parse_context {
  log_address& output;
  records::instant now;
};
using value_parser = result<void> (*)(parse_context&, const std::string&);

struct query_parameter {
  std::string_view name;
  bool applies_to_summary;
  value_parser parse;
};

template <std::optional<records::instant> records::log_query::* member>
result<void> parse_bound(parse_context& context, std::string_view name, const std::string& value) {
  HONDANA_TRY(const auto bound, parse_moment(name, value, context.now));
  context.output.query.*member = bound.time;
  context.output.is_relative = context.output.is_relative || bound.is_relative;
  return {};
}

const std::array<query_parameter, 8>& query_parameters() {
  static const std::array<query_parameter, 8> parameters{{
      {"since", true,
       [](parse_context& context, const std::string& value) {
         return parse_bound<&records::log_query::since>(context, "since", value);
       }},
      {"until", true,
       [](parse_context& context, const std::string& value) {
         return parse_bound<&records::log_query::until>(context, "until", value);
       }},
      {"level", false,
       [](parse_context& context, const std::string& value) -> result<void> {
         context.output.query.min_level = records::parse_severity(value);
         if (!context.output.query.min_level)
           return invalid_value("level", "unknown level. Use trace, debug, info, notice, warning, error or critical.");
         return {};
       }},
      {"grep", false,
       [](parse_context& context, const std::string& value) -> result<void> {
         context.output.query.grep = value;
         return {};
       }},
      {"lines", false,
       [](parse_context& context, const std::string& value) -> result<void> {
         std::size_t count = 0;
         const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), count);
         if (error != std::errc() || end != value.data() + value.size() || count == 0 || count > max_lines)
           return invalid_value("lines", "expected a number from 1 to " + std::to_string(max_lines) + '.');
         context.output.lines = count;
         return {};
       }},
      {"cursor", false,
       [](parse_context& context, const std::string& value) -> result<void> {
         context.output.query.cursor = value;
         return {};
       }},
      {"format", true,
       [](parse_context& context, const std::string& value) -> result<void> {
         context.output.is_json = value == "json";
         if (context.output.is_json) return {};
         if (value != (context.output.is_summary ? "markdown" : "text"))
           return invalid_value("format", context.output.is_summary ? "unknown format. Use markdown or json."
                                                                    : "unknown format. Use text or json.");
         return {};
       }},
      // Parsed separately, since it may occur several times.
      {"field", false, nullptr},
  }};
  return parameters;
}

std::string parameter_names(bool is_summary) {
  std::string names;
  for (const auto& parameter : query_parameters())
    if (!is_summary || parameter.applies_to_summary) names += (names.empty() ? "" : ", ") + std::string(parameter.name);
  return names;
}

/// Decodes the value of a parameter, or of an item of a list.
result<std::string> decode_value(std::string_view name, std::string_view encoded) {
  auto value = percent_decode(encoded);
  if (!value || value->size() > max_parameter_bytes)
    return invalid_value(name, "the value has malformed percent-encoding or is too long.");
  if (!json::is_utf8(*value) || json::has_nul(*value))
    return invalid_value(name, "the value is not valid UTF-8 or contains a NUL.");
  return value;
}

/// Unescaped commas separate fields, as URI templates write lists. Commas within values are percent-encoded.
result<void> parse_fields(log_address& output, std::string_view encoded) {
  for (;;) {
    const auto item = encoded.substr(0, encoded.find(','));
    const auto value = decode_value("field", item);
    if (!value) return tl::unexpected(value.error());
    if (!value->empty()) {
      auto field = parse_field(*value);
      if (!field) return invalid_value("field", "expected the path of a member and its value, such as http.status:500.");
      if (output.query.fields.size() == max_fields)
        return invalid_value("field", "more than " + std::to_string(max_fields) + " fields.");
      output.query.fields.push_back(std::move(*field));
    }
    if (item.size() == encoded.size()) return {};
    encoded.remove_prefix(item.size() + 1);
  }
}

result<void> parse_query(log_address& output, std::string_view query, records::instant now) {
  parse_context context{output, now};
  std::vector<std::string_view> seen;
  while (!query.empty()) {
    const auto [name, value] = uri::pop_parameter(query);
    const auto& parameters = query_parameters();
    const auto* const match = std::find_if(parameters.begin(), parameters.end(), [&](const auto& parameter) {
      return parameter.name == name && (parameter.applies_to_summary || !output.is_summary);
    });
    if (match == parameters.end())
      return fail(errc::invalid_argument, "Unknown parameter. Parameters of " +
                                              std::string(output.is_summary ? "a summary" : "a log") + ": " +
                                              parameter_names(output.is_summary) + '.');
    if (match->parse == nullptr) {
      HONDANA_TRY(parse_fields(output, value));
      continue;
    }
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      return invalid_value(name, "given more than once. Give it once.");
    seen.push_back(name);
    HONDANA_TRY(const auto text, decode_value(name, value));
    // Expanding a URI template can leave a parameter without a value. It counts as not given.
    if (text.empty()) continue;
    if (auto parsed = match->parse(context, text); !parsed) return parsed;
  }
  if (output.query.since && output.query.until && *output.query.since >= *output.query.until)
    return invalid_value("until", "it is not after since. Give a later time, or leave it out.");
  return {};
}

}  // namespace

result<log_address> parse_address(std::string_view uri, records::instant now) {
  const auto not_found = [] {
    return fail(errc::resource_not_found, "Unknown log resource. Use log://NAME/ or log://NAME/summary.");
  };
  const auto parts = split_uri(uri);
  if (parts.scheme != "log" || !parts.authority || !ascii::is_slug(*parts.authority) || parts.fragment) return not_found();
  log_address address;
  address.name = *parts.authority;
  address.is_summary = parts.path == "/summary";
  if (!address.is_summary && parts.path != "/") return not_found();
  HONDANA_TRY(parse_query(address, parts.query.value_or(std::string_view()), now));
  return address;
}

std::string to_uri(const log_address& address) {
  std::string out = address.is_summary ? summary_uri(address.name) : uri_prefix(address.name);
  char separator = '?';
  const auto add = [&](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    out += std::exchange(separator, '&');
    out += std::string(name) + '=' + std::string(value);
  };
  if (address.query.since) add("since", percent_encode(format_time(*address.query.since)));
  if (address.query.until) add("until", percent_encode(format_time(*address.query.until)));
  if (address.query.min_level) add("level", records::name_of(*address.query.min_level));
  add("grep", percent_encode(address.query.grep));
  std::string joined_fields;
  for (const auto& [path, value] : address.query.fields)
    joined_fields += (joined_fields.empty() ? "" : ",") + percent_encode(path + ':' + value);
  add("field", joined_fields);
  if (address.lines) add("lines", std::to_string(*address.lines));
  add("cursor", percent_encode(address.query.cursor));
  if (address.is_json) add("format", "json");
  return out;
}

std::string uri_prefix(std::string_view name) { return std::string(scheme) + std::string(name) + '/'; }

std::string summary_uri(std::string_view name) { return uri_prefix(name) + "summary"; }

std::optional<std::pair<std::string, std::string>> parse_field(std::string_view text) {
  const auto separator = text.find_first_of(":=");
  if (separator == 0 || separator == std::string_view::npos) return std::nullopt;
  return std::pair(std::string(text.substr(0, separator)), std::string(text.substr(separator + 1)));
}

}  // namespace hondana::logs
