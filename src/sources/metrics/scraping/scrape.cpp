/// One scrape of one target: the request, labels and timestamps of its samples, and stale markers of series that ended.
#include "sources/metrics/scraping/scrape.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/clock.hpp>

namespace hondana::scraping {
namespace {

bool is_before(const series::label& one, std::string_view name) noexcept { return one.first < name; }

void put_label(series::identity& of, std::string name, const std::string& value) {
  const auto at = std::lower_bound(of.labels.begin(), of.labels.end(), name, is_before);
  of.labels.insert(at, {std::move(name), value});
}

void label_with(series::identity& of, std::string_view name, const std::string& value, bool honours) {
  if (value.empty()) return;
  const auto at = std::lower_bound(of.labels.begin(), of.labels.end(), name, is_before);
  if (at == of.labels.end() || at->first != name) {
    of.labels.insert(at, {std::string(name), value});
    return;
  }
  if (honours) return;
  const auto own = std::exchange(at->second, value);
  std::string other = "exported_" + std::string(name);
  while (!of.value_of(other).empty()) other.insert(0, "exported_");
  put_label(of, std::move(other), own);
}

}  // namespace

void label_as(series::identity& of, const target& by) {
  label_with(of, "job", by.job, by.honours_labels);
  label_with(of, "instance", by.instance, by.honours_labels);
}

void intake::family(std::string_view name, const series::metadata& of) {
  into_.families.insert_or_assign(std::string(name), of);
}

bool intake::sample(const series::identity& of, double value, std::optional<series::instant> at) {
  ++samples_;
  // Metrics about targets always have the time of the scrape. A later time would block the samples after it.
  const bool is_of_targets = of.name == "up" || of.name.starts_with("scrape_");
  const auto when = at && from_.honours_timestamps && !is_of_targets ? *at : at_;
  if (when > at_ + most_ahead) return true;
  auto& entry = into_.entries.emplace_back();
  entry.of = of;
  label_as(entry.of, from_);
  entry.what = {when, value};
  return true;
}

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

/// Scrapes a service over HTTP. Errors: those of the endpoint and the parser.
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

/// Calls the function of a target within this process. Errors: those of the function.
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

void standing_series::mark_ended(samples::batch& into, std::size_t first, series::instant at) const {
  // Exporters rarely change the order of series, so each is usually at the next position.
  std::vector<const series::identity*> missing;
  std::size_t next = first;
  for (const auto& one : all_) {
    if (next < into.entries.size() && into.entries[next].of == one) {
      ++next;
    } else {
      missing.push_back(&one);
    }
  }
  if (missing.empty()) return;
  const auto in_order = [](const series::identity* a, const series::identity* b) { return *a < *b; };
  std::vector<const series::identity*> present;
  present.reserve(into.entries.size());
  for (const auto& entry : into.entries) present.push_back(&entry.of);
  std::sort(present.begin(), present.end(), in_order);
  std::vector<samples::batch::entry> markers;
  for (const auto* one : missing) {
    if (!std::binary_search(present.begin(), present.end(), one, in_order))
      markers.push_back({*one, {at, series::stale_marker()}});
  }
  into.entries.insert(into.entries.end(), std::make_move_iterator(markers.begin()), std::make_move_iterator(markers.end()));
}

void standing_series::replace(samples::batch kept, std::size_t first, series::instant at) {
  all_.clear();
  for (std::size_t i = first; i < kept.entries.size(); ++i) {
    auto& entry = kept.entries[i];
    if (entry.what.at == at && !series::is_stale(entry.what.value)) all_.push_back(std::move(entry.of));
  }
}

}  // namespace hondana::scraping
