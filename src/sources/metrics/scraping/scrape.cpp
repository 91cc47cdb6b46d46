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

bool is_before(const series::label& label, std::string_view name) noexcept { return label.first < name; }

void insert_label(series::identity& identity, std::string name, const std::string& value) {
  const auto position = std::lower_bound(identity.labels.begin(), identity.labels.end(), name, is_before);
  identity.labels.insert(position, {std::move(name), value});
}

void set_label(series::identity& identity, std::string_view name, const std::string& value, bool keeps_existing) {
  if (value.empty()) return;
  const auto existing = std::lower_bound(identity.labels.begin(), identity.labels.end(), name, is_before);
  if (existing == identity.labels.end() || existing->first != name) {
    identity.labels.insert(existing, {std::string(name), value});
    return;
  }
  if (keeps_existing) return;
  const auto previous_value = std::exchange(existing->second, value);
  std::string exported_name = "exported_" + std::string(name);
  while (!identity.value_of(exported_name).empty()) exported_name.insert(0, "exported_");
  insert_label(identity, std::move(exported_name), previous_value);
}

}  // namespace

void add_target_labels(series::identity& identity, const target& target) {
  set_label(identity, "job", target.job, target.honor_labels);
  set_label(identity, "instance", target.instance, target.honor_labels);
}

void batch_handler::family(std::string_view name, const series::metadata& metadata) {
  batch_.families.insert_or_assign(std::string(name), metadata);
}

bool batch_handler::sample(const series::identity& identity, double value, std::optional<series::instant> timestamp) {
  ++samples_;
  // Metrics about targets always have the time of the scrape. A later time would block the samples after it.
  const bool is_target_metric = identity.name == "up" || identity.name.starts_with("scrape_");
  const auto time = timestamp && target_.honor_timestamps && !is_target_metric ? *timestamp : time_;
  if (time > time_ + max_ahead) return true;
  auto& entry = batch_.entries.emplace_back();
  entry.identity = identity;
  add_target_labels(entry.identity, target_);
  entry.sample = {time, value};
  return true;
}

namespace {

using steady = monotonic_clock;

struct scrape_metric {
  std::string_view name;
  std::string_view unit;
  std::string_view help;
};
constexpr std::array<scrape_metric, scrape_entries> scrape_metrics{
    {{"up", "", "Whether the target could be scraped."},
     {"scrape_duration_seconds", "seconds", "How long the scrape took."},
     {"scrape_samples_scraped", "", "How many samples the target gave."}}};

tl::unexpected<failure> protocol_error(const target& target, std::string_view reason) {
  return fail(errc::protocol_error, target.server->origin() + ' ' + std::string(reason));
}

/// Scrapes a service over HTTP. Errors: those of the endpoint and the parser.
result<std::size_t> fetch(const target& target, series::instant time, const std::stop_token& stop, samples::batch& batch) {
  batch_handler handler(target, time, batch);
  std::optional<exposition::parser> parser;
  const auto start_parser = [&](const std::string& content_type) -> result<void> {
    const auto format = exposition::format_of(content_type);
    if (!format) return protocol_error(target, "does not answer with metrics in a text format; check the path of the URL");
    parser.emplace(*format, handler, target.limits);
    return {};
  };
  endpoint::request request;
  request.headers = {
      {"Accept", std::string(exposition::accept_header())},
      {"X-Prometheus-Scrape-Timeout-Seconds", std::to_string(static_cast<double>(target.timeout.count()) / 1000)}};
  request.max_bytes = target.limits.max_bytes;
  request.deadline = steady::now() + target.timeout;
  request.on_head = [&](const endpoint::response& head) { return start_parser(head.content_type); };
  const auto response = target.server->send(request, stop, [&](std::string_view piece) { return parser->parse(piece); });
  if (!response) return tl::unexpected(response.error());
  if (response->status < 200 || response->status > 299)
    return protocol_error(target, "answered " + std::to_string(response->status));
  if (!parser) {
    HONDANA_TRY(start_parser(response->content_type));
  }
  HONDANA_TRY(parser->finish());
  return handler.samples();
}

/// Calls the function of a target within this process. Errors: those of the function.
result<std::size_t> collect(const target& target, series::instant time, samples::batch& batch) {
  const auto first = batch.entries.size();
  HONDANA_TRY(target.collect(time, batch));
  for (auto entry = batch.entries.begin() + static_cast<std::ptrdiff_t>(first); entry != batch.entries.end(); ++entry)
    add_target_labels(entry->identity, target);
  return batch.entries.size() - first;
}

}  // namespace

scrape_result scrape(const target& target, series::instant time, const std::stop_token& stop, samples::batch& batch) {
  const auto start = steady::now();
  for (const auto& metric : scrape_metrics) {
    auto& entry = batch.entries.emplace_back();
    entry.identity.name = metric.name;
    add_target_labels(entry.identity, target);
    entry.sample.time = time;
  }
  auto count = target.server ? fetch(target, time, stop, batch) : collect(target, time, batch);
  scrape_result out;
  out.duration = std::chrono::duration_cast<std::chrono::microseconds>(steady::now() - start);
  if (count) {
    out.is_up = true;
    out.samples = *count;
  } else {
    out.error = std::move(count.error().public_text);
    out.is_cancelled = count.error().code == errc::cancelled;
    batch.entries.resize(scrape_entries);
    batch.families.clear();
  }
  batch.entries[0].sample.value = out.is_up ? 1 : 0;
  batch.entries[1].sample.value = static_cast<double>(out.duration.count()) / 1e6;
  batch.entries[2].sample.value = static_cast<double>(out.samples);
  for (const auto& metric : scrape_metrics)
    batch.families.insert_or_assign(std::string(metric.name),
                                    series::metadata{series::kind::gauge, std::string(metric.unit), std::string(metric.help)});
  return out;
}

void previous_series::mark_stale(samples::batch& batch, std::size_t first, series::instant time) const {
  // Exporters rarely change the order of series, so each is usually at the next position.
  std::vector<const series::identity*> missing;
  std::size_t next = first;
  for (const auto& identity : series_) {
    if (next < batch.entries.size() && batch.entries[next].identity == identity) {
      ++next;
    } else {
      missing.push_back(&identity);
    }
  }
  if (missing.empty()) return;
  const auto in_order = [](const series::identity* a, const series::identity* b) { return *a < *b; };
  std::vector<const series::identity*> present;
  present.reserve(batch.entries.size());
  for (const auto& entry : batch.entries) present.push_back(&entry.identity);
  std::sort(present.begin(), present.end(), in_order);
  std::vector<samples::batch::entry> markers;
  for (const auto* ended : missing) {
    if (!std::binary_search(present.begin(), present.end(), ended, in_order))
      markers.push_back({*ended, {time, series::stale_marker()}});
  }
  batch.entries.insert(batch.entries.end(), std::make_move_iterator(markers.begin()), std::make_move_iterator(markers.end()));
}

void previous_series::replace(samples::batch batch, std::size_t first, series::instant time) {
  series_.clear();
  for (std::size_t i = first; i < batch.entries.size(); ++i) {
    auto& entry = batch.entries[i];
    if (entry.sample.time == time && !series::is_stale(entry.sample.value)) series_.push_back(std::move(entry.identity));
  }
}

}  // namespace hondana::scraping
