/// The URIs of a log: parsing of their path and parameters, and their canonical form.
#include "sources/logs/address.hpp"

#include <array>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "sources/logs/moment.hpp"

namespace hondana::logs {
namespace {

constexpr std::string_view scheme = "log://";
constexpr std::array<std::string_view, 2> page_formats{"text", "json"};
constexpr std::array<std::string_view, 2> summary_formats{"markdown", "json"};
constexpr auto page_parameters = std::to_array<uri::query_parameter>({
    {.name = "since"},
    {.name = "until"},
    {.name = "level"},
    {.name = "grep"},
    {.name = "field", .type = uri::parameter_type::list, .max = max_fields},
    {.name = "lines", .type = uri::parameter_type::integer, .min = 1, .max = max_lines},
    {.name = "cursor"},
    {.name = "format", .type = uri::parameter_type::choice, .choices = page_formats},
});
constexpr auto summary_parameters = std::to_array<uri::query_parameter>({
    {.name = "since"},
    {.name = "until"},
    {.name = "format", .type = uri::parameter_type::choice, .choices = summary_formats},
});

result<void> parse_query(log_address& output, std::optional<std::string_view> text, records::instant now) {
  HONDANA_TRY(const auto values, uri::parse_query(text, parameters_of(output.is_summary),
                                                  output.is_summary ? "log://NAME/summary" : "log://NAME/"));
  auto& query = output.query;
  for (const auto& [name, bound] : {std::pair("since", &query.since), std::pair("until", &query.until)}) {
    if (!values.has(name)) continue;
    HONDANA_TRY(const auto time, parse_moment(values.label(name), values.text(name), now));
    *bound = time.time;
    output.is_relative = output.is_relative || time.is_relative;
  }
  if (values.has("level")) {
    query.min_level = records::parse_severity(values.text("level"));
    if (!query.min_level)
      return values.invalid("level", "unknown value; known: trace, debug, info, notice, warning, error, critical.");
  }
  query.grep = values.text("grep");
  for (const auto& item : values.list("field")) {
    auto field = parse_field(item);
    if (!field) return uri::invalid_parameter("field", "expected the path of a member and its value, such as http.status:500.");
    query.fields.push_back(std::move(*field));
  }
  output.lines = values.integer("lines");
  query.cursor = values.text("cursor");
  output.is_json = values.text("format") == "json";
  if (query.since && query.until && *query.since >= *query.until)
    return uri::invalid_parameter("until", "it is not after since. Give a later time, or leave it out.");
  return {};
}

}  // namespace

std::span<const uri::query_parameter> parameters_of(bool is_summary) noexcept {
  if (is_summary) return summary_parameters;
  return page_parameters;
}

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
  HONDANA_TRY(parse_query(address, parts.query, now));
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
