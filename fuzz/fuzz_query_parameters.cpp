/// Queries of URIs by a table with every type of parameter, and by the tables of configuration and metrics: sound values that
/// are read again as they were, or an error with a reason that is short.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <hondana/uri.hpp>

#include "base/json/utf8.hpp"
#include "base/uri/query_parameters.hpp"
#include "sources/config_files/config_uri.hpp"
#include "sources/metrics/address.hpp"

namespace {

using namespace hondana;

constexpr std::array<std::string_view, 2> formats{"json", "markdown"};
constexpr auto known = std::to_array<uri::query_parameter>({
    {.name = "t", .max_bytes = 16},
    {.name = "b", .type = uri::parameter_type::bytes},
    {.name = "c", .type = uri::parameter_type::choice, .choices = formats},
    {.name = "i", .type = uri::parameter_type::integer, .min = 1, .max = 50},
    {.name = "n", .type = uri::parameter_type::number, .max = 1},
    {.name = "r", .type = uri::parameter_type::range, .min = 1},
    {.name = "l", .type = uri::parameter_type::list, .max = 4},
});

void require(bool holds) {
  if (!holds) std::abort();
}

void require_clear(const failure& why) { require(!why.public_text.empty() && why.public_text.size() < 4000); }

/// The query that has these values.
std::string written(const uri::query_values& values) {
  std::string query;
  const auto add = [&query](std::string_view name, std::string_view text) {
    query.append(query.empty() ? "" : "&").append(name).append("=").append(percent_encode(text));
  };
  for (const auto& parameter : known) {
    if (parameter.type == uri::parameter_type::list) continue;
    if (values.has(parameter.name)) add(parameter.name, values.text(parameter.name));
  }
  for (const auto& text : values.list("l")) add("l", text);
  return query;
}

void check_table(std::string_view query) {
  const auto values = uri::parse_query(query, known, "fuzz://");
  if (!values) {
    require(values.error().code == errc::invalid_argument && json::is_utf8(values.error().public_text));
    return require_clear(values.error());
  }
  require(values->text("t").size() <= 16 && json::is_utf8(values->text("t")));
  require(!values->has("c") || values->text("c") == "json" || values->text("c") == "markdown");
  require(values->has("i") == values->integer("i").has_value() && values->integer("i").value_or(1) - 1 < 50);
  const auto number = values->number("n").value_or(0);
  require(values->has("n") == values->number("n").has_value() && number >= 0 && number <= 1);
  const auto range = values->range("r").value_or(uri::value_range{1, 1});
  require(values->has("r") == values->range("r").has_value() && range.first >= 1 &&
          range.last.value_or(range.first) >= range.first);
  require(values->list("l").size() <= 4 && values->label("b").size() <= 2 + 64 + 3);
  const auto query_again = written(*values);
  const auto again = uri::parse_query(query_again, known, "fuzz://");
  require(again && written(*again) == query_again && again->count() == values->count());
}

void check_metrics(const std::string& uri) {
  constexpr series::instant now = 1'769'860'800'000;
  const auto address = metrics::parse_address(uri, now);
  if (!address) return require_clear(address.error());
  const auto uri_again = metrics::uri_of(*address);
  if (uri_again.size() > max_uri_bytes) return;
  const auto again = metrics::parse_address(uri_again, now + 1);
  require(again && metrics::uri_of(*again) == uri_again);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_table(text);
  for (const std::string path : {"metrics://a/up?", "metrics://a/query?", "metrics://a/summary?"}) {
    if (const auto uri = canonical_uri(path + std::string(text))) check_metrics(*uri);
  }
  for (const std::string path : {"config://set/file/a?", "config://set/merged?"}) {
    const auto uri = canonical_uri(path + std::string(text));
    const auto address = uri ? config_files::parse_address("set", *uri) : tl::unexpected(uri.error());
    if (!address) require_clear(address.error());
  }
  return 0;
}
