/// What people ask of series: matchers whole and half typed, aggregations, lengths of time, and the PromQL that comes of them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sources/metrics/series/aggregation.hpp"
#include "sources/metrics/series/selector.hpp"

namespace {

using namespace hondana;

bool is_same(const std::vector<series::matcher>& a, const std::vector<series::matcher>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const series::matcher& one, const series::matcher& other) {
    return one.label_name() == other.label_name() && one.type() == other.type() && one.value() == other.value();
  });
}

/// The text of a selector without its name and braces.
std::string_view body_of(std::string_view text) {
  text.remove_prefix(1);
  return text.empty() ? text : text.substr(1, text.size() - 2);
}

void check_matchers(std::string_view text) {
  const auto whole = series::parse_matchers(text);
  const auto partial = series::parse_partial_matchers(text);
  if (!whole && whole.error().public_text.empty()) std::abort();
  if (whole) {
    // What can be read whole can be gone on with.
    if (!partial) std::abort();
    const series::selector of{"m", *whole};
    const auto written = of.to_text();
    for (const char c : written)
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) std::abort();
    const auto again = series::parse_matchers(body_of(written));
    if (!again || !is_same(*again, *whole)) std::abort();
    if (of.matches(series::identity{"n", {}})) std::abort();
    (void)of.matches(series::identity{"m", {{"a", std::string(text)}}});
  }
  if (!partial) return;
  if (!series::is_utf8(partial->typed)) std::abort();
  if (partial->label_name.empty()) return;
  const auto completed = partial->completed("x\"'`\\\n");
  const auto read = series::parse_matchers(completed);
  // An expression may not be one.
  if (partial->type == series::matcher::match_type::equal && partial->matchers.size() < series::selector::max_matchers &&
      partial->label_name != "__name__" &&
      (!read || read->back().value() != "x\"'`\\\n" || read->size() != partial->matchers.size() + 1))
    std::abort();
}

void check_aggregation(std::string_view text) {
  const auto how = series::parse_aggregation(text);
  if (!how) {
    if (how.error().public_text.empty()) std::abort();
    return;
  }
  const auto again = series::parse_aggregation(how->to_text());
  if (!again || *again != *how) std::abort();
  for (const auto kind : {series::kind::counter, series::kind::gauge, series::kind::histogram}) {
    const auto asked = how->for_kind(kind).for_step(15'000, 15'000);
    if (!asked.time) std::abort();
    const auto promql = to_promql(asked, {series_name_for("x", kind, asked), {}});
    if (promql.size() != std::max<std::size_t>(1, asked.quantiles.size())) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_matchers(text);
  check_aggregation(text);
  if (const auto length = series::parse_duration(text)) {
    const auto again = series::parse_duration(series::to_text(*length));
    if (*length <= 0 || !again || *again != *length) std::abort();
  }
  if (const auto number = series::parse_number(text)) {
    const auto again = series::parse_number(series::format_number(*number));
    if (!again || series::format_number(*again) != series::format_number(*number)) std::abort();
  }
  return 0;
}
