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
constexpr std::size_t longest_parameter = std::size_t{16} << 10;

tl::unexpected<failure> wrong_value(std::string_view name, std::string_view why) {
  return fail(errc::invalid_argument, std::string(name) + ": " + std::string(why));
}

struct reading_of_query {
  address& into;
  records::instant now;
};
using value_reader = result<void> (*)(reading_of_query&, const std::string&);

struct query_parameter {
  std::string_view name;
  bool has_summary;
  value_reader read;
};

template <std::optional<records::instant> records::query::* member>
result<void> read_bound(reading_of_query& by, std::string_view name, const std::string& value) {
  HONDANA_TRY(const auto at, parse_moment(name, value, by.now));
  by.into.what.*member = at.at;
  by.into.is_relative = by.into.is_relative || at.is_relative;
  return {};
}

const std::array<query_parameter, 8>& query_parameters() {
  static const std::array<query_parameter, 8> all{{
      {"since", true,
       [](reading_of_query& by, const std::string& value) { return read_bound<&records::query::since>(by, "since", value); }},
      {"until", true,
       [](reading_of_query& by, const std::string& value) { return read_bound<&records::query::until>(by, "until", value); }},
      {"level", false,
       [](reading_of_query& by, const std::string& value) -> result<void> {
         by.into.what.at_least = records::severity_named(value);
         if (!by.into.what.at_least)
           return wrong_value("level", "unknown level. Use trace, debug, info, notice, warning, error or critical.");
         return {};
       }},
      {"grep", false,
       [](reading_of_query& by, const std::string& value) -> result<void> {
         by.into.what.grep = value;
         return {};
       }},
      {"lines", false,
       [](reading_of_query& by, const std::string& value) -> result<void> {
         std::size_t count = 0;
         const auto [end, problem] = std::from_chars(value.data(), value.data() + value.size(), count);
         if (problem != std::errc() || end != value.data() + value.size() || count == 0 || count > most_lines)
           return wrong_value("lines", "expected a number from 1 to " + std::to_string(most_lines) + '.');
         by.into.lines = count;
         return {};
       }},
      {"cursor", false,
       [](reading_of_query& by, const std::string& value) -> result<void> {
         by.into.what.cursor = value;
         return {};
       }},
      {"format", true,
       [](reading_of_query& by, const std::string& value) -> result<void> {
         by.into.is_json = value == "json";
         if (by.into.is_json) return {};
         if (value != (by.into.is_summary ? "markdown" : "text"))
           return wrong_value(
               "format", by.into.is_summary ? "unknown format. Use markdown or json." : "unknown format. Use text or json.");
         return {};
       }},
      // Parsed separately, since it may occur several times.
      {"field", false, nullptr},
  }};
  return all;
}

std::string names_of_parameters(bool is_summary) {
  std::string names;
  for (const auto& one : query_parameters())
    if (!is_summary || one.has_summary) names += (names.empty() ? "" : ", ") + std::string(one.name);
  return names;
}

/// Decodes the value of a parameter, or of an item of a list.
result<std::string> decoded(std::string_view name, std::string_view written) {
  auto value = percent_decode(written);
  if (!value || value->size() > longest_parameter)
    return wrong_value(name, "the value has malformed percent-encoding or is too long.");
  if (!json::is_utf8(*value) || json::has_nul(*value))
    return wrong_value(name, "the value is not valid UTF-8 or contains a NUL.");
  return value;
}

/// Unescaped commas separate fields, as URI templates write lists. Commas within values are percent-encoded.
result<void> read_fields(address& into, std::string_view written) {
  for (;;) {
    const auto item = written.substr(0, written.find(','));
    const auto value = decoded("field", item);
    if (!value) return tl::unexpected(value.error());
    if (!value->empty()) {
      auto field = parse_field(*value);
      if (!field) return wrong_value("field", "expected the path of a member and its value, such as http.status:500.");
      if (into.what.fields.size() == most_fields)
        return wrong_value("field", "more than " + std::to_string(most_fields) + " fields.");
      into.what.fields.push_back(std::move(*field));
    }
    if (item.size() == written.size()) return {};
    written.remove_prefix(item.size() + 1);
  }
}

result<void> read_query(address& into, std::string_view query, records::instant now) {
  reading_of_query by{into, now};
  std::vector<std::string_view> seen;
  while (!query.empty()) {
    const auto [name, value] = uri::take_parameter(query);
    const auto& all = query_parameters();
    const auto* const known = std::find_if(
        all.begin(), all.end(), [&](const auto& one) { return one.name == name && (one.has_summary || !into.is_summary); });
    if (known == all.end())
      return fail(errc::invalid_argument, "Unknown parameter. Parameters of " +
                                              std::string(into.is_summary ? "a summary" : "a log") + ": " +
                                              names_of_parameters(into.is_summary) + '.');
    if (known->read == nullptr) {
      HONDANA_TRY(read_fields(into, value));
      continue;
    }
    if (std::find(seen.begin(), seen.end(), name) != seen.end())
      return wrong_value(name, "given more than once. Give it once.");
    seen.push_back(name);
    HONDANA_TRY(const auto text, decoded(name, value));
    // Expanding a URI template can leave a parameter without a value. It counts as not given.
    if (text.empty()) continue;
    if (auto read = known->read(by, text); !read) return read;
  }
  if (into.what.since && into.what.until && *into.what.since >= *into.what.until)
    return wrong_value("until", "it is not after since. Give a later time, or leave it out.");
  return {};
}

}  // namespace

result<address> parse_address(std::string_view uri, records::instant now) {
  const auto missing = [] {
    return fail(errc::resource_not_found, "Unknown log resource. Use log://NAME/ or log://NAME/summary.");
  };
  const auto parts = split_uri(uri);
  if (parts.scheme != "log" || !parts.authority || !ascii::is_slug(*parts.authority) || parts.fragment) return missing();
  address at;
  at.name = *parts.authority;
  at.is_summary = parts.path == "/summary";
  if (!at.is_summary && parts.path != "/") return missing();
  HONDANA_TRY(read_query(at, parts.query.value_or(std::string_view()), now));
  return at;
}

std::string uri_of(const address& at) {
  std::string out = at.is_summary ? summary_uri_of(at.name) : claim_of(at.name);
  char sign = '?';
  const auto add = [&](std::string_view name, std::string_view value) {
    if (value.empty()) return;
    out += std::exchange(sign, '&');
    out += std::string(name) + '=' + std::string(value);
  };
  if (at.what.since) add("since", percent_encode(text_of(*at.what.since)));
  if (at.what.until) add("until", percent_encode(text_of(*at.what.until)));
  if (at.what.at_least) add("level", records::name_of(*at.what.at_least));
  add("grep", percent_encode(at.what.grep));
  std::string fields;
  for (const auto& [path, value] : at.what.fields) fields += (fields.empty() ? "" : ",") + percent_encode(path + ':' + value);
  add("field", fields);
  if (at.lines) add("lines", std::to_string(*at.lines));
  add("cursor", percent_encode(at.what.cursor));
  if (at.is_json) add("format", "json");
  return out;
}

std::string claim_of(std::string_view name) { return std::string(scheme) + std::string(name) + '/'; }

std::string summary_uri_of(std::string_view name) { return claim_of(name) + "summary"; }

std::optional<std::pair<std::string, std::string>> parse_field(std::string_view text) {
  const auto sign = text.find_first_of(":=");
  if (sign == 0 || sign == std::string_view::npos) return std::nullopt;
  return std::pair(std::string(text.substr(0, sign)), std::string(text.substr(sign + 1)));
}

}  // namespace hondana::logs
