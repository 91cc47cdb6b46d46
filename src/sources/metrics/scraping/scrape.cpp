/// Asks a target, reads what it says, and says how that went.
#include "sources/metrics/scraping/scrape.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>

#include "sources/metrics/scraping/intake.hpp"

namespace hondana::scraping {
namespace {

using steady = monotonic_clock;

struct own_metric {
  std::string_view name;
  std::string_view unit;
  std::string_view help;
};
constexpr std::array<own_metric, own_entries> own_metrics{
    {{"up", "", "Whether the target could be scraped."},
     {"scrape_duration_seconds", "seconds", "How long the scrape took."},
     {"scrape_samples_scraped", "", "How many samples the target gave."}}};

tl::unexpected<failure> no_metrics(const target& of, std::string_view why) {
  return fail(errc::broken_protocol, of.at->origin() + ' ' + std::string(why));
}

/// Errors: as the endpoint and the parser.
result<std::size_t> ask(const target& of, series::instant at, const std::stop_token& stop, samples::batch& into) {
  intake takes(of, at, into);
  std::optional<exposition::parser> parser;
  const auto begin = [&](const std::string& content_type) -> result<void> {
    const auto format = exposition::format_of(content_type);
    if (!format) return no_metrics(of, "does not answer with metrics in a text format; check the path of the URL");
    parser.emplace(*format, takes, of.most);
    return {};
  };
  endpoint::request what;
  what.headers = {{"Accept", std::string(exposition::accepted())},
                  {"X-Prometheus-Scrape-Timeout-Seconds", std::to_string(static_cast<double>(of.time.count()) / 1000)}};
  what.most_bytes = of.most.bytes;
  what.until = steady::now() + of.time;
  what.on_head = [&](const endpoint::answer& head) { return begin(head.content_type); };
  const auto got = of.at->ask(what, stop, [&](std::string_view piece) { return parser->take(piece); });
  if (!got) return tl::unexpected(got.error());
  if (got->status < 200 || got->status > 299) return no_metrics(of, "answered " + std::to_string(got->status));
  if (!parser) {
    HONDANA_TRY(begin(got->content_type));
  }
  HONDANA_TRY(parser->finish());
  return takes.samples();
}

/// Errors: the function's own.
result<std::size_t> collect(const target& of, series::instant at, samples::batch& into) {
  const auto before = into.entries.size();
  HONDANA_TRY(of.collects(at, into));
  for (auto entry = into.entries.begin() + static_cast<std::ptrdiff_t>(before); entry != into.entries.end(); ++entry)
    label_as(entry->of, of);
  return into.entries.size() - before;
}

}  // namespace

scraped scrape(const target& of, series::instant at, const std::stop_token& stop, samples::batch& into) {
  const auto begin = steady::now();
  for (const auto& metric : own_metrics) {
    auto& entry = into.entries.emplace_back();
    entry.of.name = metric.name;
    label_as(entry.of, of);
    entry.what.at = at;
  }
  auto got = of.at ? ask(of, at, stop, into) : collect(of, at, into);
  scraped out;
  out.took = std::chrono::duration_cast<std::chrono::microseconds>(steady::now() - begin);
  if (got) {
    out.is_up = true;
    out.samples = *got;
  } else {
    out.error = std::move(got.error().public_text);
    out.is_cancelled = got.error().code == errc::cancelled;
    into.entries.resize(own_entries);
    into.families.clear();
  }
  into.entries[0].what.value = out.is_up ? 1 : 0;
  into.entries[1].what.value = static_cast<double>(out.took.count()) / 1e6;
  into.entries[2].what.value = static_cast<double>(out.samples);
  for (const auto& metric : own_metrics)
    into.families.insert_or_assign(std::string(metric.name),
                                   series::metadata{series::kind::gauge, std::string(metric.unit), std::string(metric.help)});
  return out;
}

}  // namespace hondana::scraping
