/// Answers of a Prometheus, whatever they hold: what is taken is within its bounds and in order, and failures can be shown.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "base/json/utf8.hpp"
#include "sources/metrics/prometheus_metadata.hpp"
#include "sources/metrics/prometheus_response.hpp"

namespace {

using namespace hondana;
using namespace hondana::metrics;

constexpr std::string_view who = "Prometheus at http://p:9090";
constexpr prometheus_limits most{16, 64};
constexpr std::size_t most_entries = 16;

void check(bool holds) {
  if (!holds) std::abort();
}

void check_failure(const failure& why) {
  check(why.public_text.starts_with(who) && why.public_text.size() < 1000);
  check(json::is_utf8(why.public_text) && why.public_text.find('\n') == std::string::npos);
}

template <class T>
bool holds(const result<T>& got) {
  if (!got) check_failure(got.error());
  return got.has_value();
}

void check_series(const std::vector<series::time_series>& all) {
  std::size_t points = 0;
  check(all.size() <= most.max_series);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto& samples = all[i].samples;
    points += samples.size();
    check(!samples.empty() || all.size() == 1);
    check(i == 0 || all[i - 1].id < all[i].id);
    check(std::is_sorted(all[i].id.labels.begin(), all[i].id.labels.end()));
    check(std::adjacent_find(samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.time >= b.time; }) ==
          samples.end());
  }
  check(points <= most.max_points);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The first byte chooses the status.
  constexpr int statuses[] = {200, 200, 200, 200, 204, 302, 400, 401, 404, 422, 429, 500, 503};
  if (size == 0) return 0;
  const int status = statuses[data[0] % std::size(statuses)];
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto answer = parse_prometheus_answer(status, text, who);
  if (!holds(answer)) return 0;
  std::vector<std::string> warnings;
  if (const auto got = parse_series(answer->data, most, who, warnings); holds(got)) check_series(*got);
  for (const auto& one : warnings) check(json::is_utf8(one));
  const auto names = parse_strings(answer->data, most_entries, who);
  if (holds(names)) check(names->size() <= most_entries && std::is_sorted(names->begin(), names->end()));
  const auto families = parse_families(answer->data, most_entries, who);
  if (holds(families)) {
    check(families->size() <= most_entries);
    std::vector<std::string> series;
    for (const auto& [name, of] : *families) series.push_back(name);
    const prometheus_names known(series, *families);
    for (const auto& one : known.page("", "", most_entries)) check(known.find(one.name).has_value());
  }
  if (const auto got = parse_targets(answer->data, most_entries, who); holds(got)) {
    check(got->size() <= most_entries);
    for (const auto& one : *got) check(one.url.find('?') == std::string::npos && json::is_utf8(one.last_error));
  }
  if (const auto got = parse_alerts(answer->data, most_entries, who); holds(got)) check(got->size() <= most_entries);
  if (const auto got = parse_rules(answer->data, most_entries, who); holds(got))
    check(got->rules.size() <= most_entries && got->alerts.size() <= most_entries);
  if (const auto every = parse_scrape_interval(answer->data); every) check(*every > 0);
  check(json::is_utf8(parse_version(answer->data)));
  return 0;
}
