/// The reads of the metrics provider: access checks, queries and rendering of each kind of resource.

#include <algorithm>
#include <utility>

#include "base/bytes/digest.hpp"
#include "protocol/model/caller_checks.hpp"
#include "sources/metrics/catalog_entries.hpp"
#include "sources/metrics/condition_check.hpp"
#include "sources/metrics/masking.hpp"
#include "sources/metrics/metrics_provider.hpp"
#include "sources/metrics/rendering.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::metrics {

struct metrics_provider::rendered {
  std::string text{};
  output_format format = output_format::json;
  std::size_t masked_count = 0;
  std::chrono::milliseconds ttl{0};
};

namespace {

/// How long clients may cache results for past times. Samples do not change any more, but are deleted eventually.
constexpr std::chrono::hours past_ttl{1};

/// The entry that access rules are checked against.
resource bare_entry(std::string_view source, const std::string& name) { return make_entry(source, metric_info{name, {}}); }

template <class All>
std::size_t mask_all(All& items) {
  std::size_t count = 0;
  for (auto& item : items) count += mask(item);
  return count;
}

std::string join_names(const std::vector<std::string>& names) {
  std::string out;
  for (const auto& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

}  // namespace

result<void> metrics_provider::check(const address& address, const request_context& context, bool is_read) {
  if (address.kind != resource_kind::metric) return check_secrets(address, context);
  // Access rules match the canonical URI. Clients can also write a colon as `%3A`.
  const auto* filter = context.caller.access_filter.get();
  const auto has_access = is_read ? &model::may_read : &model::may_see;
  if (filter != nullptr && !has_access(filter, bare_entry(options_.name, address.metric)))
    return fail(errc::resource_not_found, "Unknown metric. List the resources, or use completion for the name.");
  const auto metric = options_.metrics_backend->find(address.metric, context);
  if (!metric) return tl::unexpected(to_client_error(metric.error()));
  // A condition with `absent` is valid for a metric that has never existed.
  if (!*metric && !address.condition.is_absent) {
    // Do not suggest metrics that the caller may not list.
    auto similar = names_->find_similar(address.metric, context);
    if (filter != nullptr)
      std::erase_if(similar, [&](const auto& name) { return !model::may_see(filter, bare_entry(options_.name, name)); });
    return fail(errc::resource_not_found, "Unknown metric " + address.metric + " in " + options_.name + '.' +
                                              (similar.empty() ? " List the resources, or use completion for the name."
                                                               : " Similar names: " + join_names(similar) + '.'));
  }
  // A caller that may only list the metric must learn nothing about its labels.
  return is_read ? check_secrets(address, context) : result<void>();
}

result<void> metrics_provider::check_secrets(const address& address, const request_context& context) {
  if (!options_.redact) return {};
  auto checked = address.kind == resource_kind::query    ? secret_labels_.check_query(address.promql, context)
                 : address.kind == resource_kind::metric ? secret_labels_.check(address.metric, address.matchers, context)
                                                         : result<void>();
  if (!checked) return tl::unexpected(to_client_error(std::move(checked.error())));
  return {};
}

result<metrics_provider::rendered> metrics_provider::render_values(const address& requested, const request_context& context) {
  HONDANA_TRY(check(requested, context, true));
  const auto interval = options_.metrics_backend->interval();
  const auto reference_now = current_reference_time();
  // A scrape may have finished after the address was parsed. Both ends use the newer reference time.
  auto address = requested;
  address.move_to(reference_now);
  HONDANA_TRY(const auto range, resolve_range(address, reference_now, interval, options_.limits));
  rendered output;
  output.format = address.format.value_or(output_format::json);
  verdict verdict;
  const bool has_condition = address.condition.is_set();
  if (has_condition) {
    auto checked = check_series(*options_.metrics_backend, address, range, options_.limits, context);
    if (!checked) return tl::unexpected(to_client_error(std::move(checked.error())));
    verdict = std::move(*checked);
  } else {
    auto answer = read_values(*options_.metrics_backend, address, range, options_.limits, context);
    if (!answer) return tl::unexpected(to_client_error(std::move(answer.error())));
    verdict.answer = std::move(*answer);
  }
  if (options_.redact) {
    output.masked_count = mask(verdict.answer);
    for (auto& series : verdict.series) mask(series.series.id);
  }
  const range_report report{address, range, verdict.answer, options_.zone};
  switch (output.format) {
    case output_format::csv:
      output.text = to_csv(report);
      break;
    case output_format::openmetrics:
      output.text = to_openmetrics(report);
      break;
    case output_format::svg:
    case output_format::png: {
      HONDANA_TRY(auto image, to_image(report, output.format == output_format::svg ? charts::image_format::svg
                                                                                   : charts::image_format::png));
      output.text = std::move(image);
      break;
    }
    default:
      output.text = has_condition ? to_json(report, verdict) : to_json(report);
  }
  // Until the range has passed, the next scrape may add samples. Late samples can arrive for some time after that.
  const bool is_final = !address.is_relative() && range.end < now() - series::default_lookback - 2 * interval;
  const auto next = std::clamp<series::duration>(reference_now + interval - now(), 0, interval);
  output.ttl = is_final ? std::chrono::milliseconds(past_ttl) : std::chrono::milliseconds(next);
  return output;
}

result<metrics_provider::rendered> metrics_provider::render_summary(const address& address, const request_context& context) {
  const auto current = summaries_->get(context);
  if (!current) return tl::unexpected(to_client_error(current.error()));
  auto visible = **current;
  // Remove findings about metrics that the caller may not read.
  if (context.caller.access_filter)
    std::erase_if(visible.findings, [&](const finding& finding) {
      return !finding.metric.empty() &&
             !model::may_read(context.caller.access_filter.get(), bare_entry(options_.name, finding.metric));
    });
  rendered output;
  output.format = address.format.value_or(output_format::json);
  output.text = output.format == output_format::text ? to_text(visible) : to_json(visible);
  output.ttl = std::chrono::milliseconds(options_.metrics_backend->interval());
  return output;
}

result<metrics_provider::rendered> metrics_provider::render_list(const address& address, const request_context& context) {
  rendered output;
  output.ttl = std::chrono::milliseconds(options_.metrics_backend->interval());
  const auto render_items = [&](auto items) -> result<rendered> {
    if (!items) return tl::unexpected(to_client_error(std::move(items.error())));
    if (options_.redact) output.masked_count = mask_all(*items);
    output.text = to_json(options_.name, *items);
    return output;
  };
  if (address.kind == resource_kind::targets) return render_items(options_.metrics_backend->targets(context));
  if (address.kind == resource_kind::alerts) return render_items(options_.metrics_backend->alerts(context));
  if (address.kind == resource_kind::rules) return render_items(options_.metrics_backend->rules(context));
  const auto list = names_->get(context);
  if (!list) return tl::unexpected(to_client_error(list.error()));
  std::vector<metric_info> metrics;
  for (const auto& entry : (*list)->entries) {
    // The list contains only metrics that the caller may list.
    const auto* filter = context.caller.access_filter.get();
    const auto bare = filter == nullptr ? resource() : bare_entry(options_.name, entry.metric.name);
    if (!model::may_see(filter, bare)) continue;
    // If the caller may not read a metric, show only its name. The metadata was scraped with the values.
    metrics.push_back(model::may_read(filter, bare) ? entry.metric : metric_info{entry.metric.name, {}});
    if (options_.redact) output.masked_count += mask(metrics.back().metadata);
  }
  output.text = to_json(options_.name, metrics, (*list)->has_more, options_.metrics_backend->interval());
  return output;
}

result<metrics_provider::rendered> metrics_provider::render(const address& address, const request_context& context) {
  const auto limited = with_timeout(context);
  switch (address.kind) {
    case resource_kind::metric:
    case resource_kind::query:
      return render_values(address, limited);
    case resource_kind::summary:
      return render_summary(address, limited);
    default:
      return render_list(address, limited);
  }
}

result<read_result> metrics_provider::read(const read_request& request) {
  HONDANA_TRY(const auto address, resolve(request.uri));
  HONDANA_TRY(auto output, render(address, request));
  if (output.text.size() > request.max_bytes)
    return fail(errc::response_too_large,
                "The answer has " + std::to_string(output.text.size()) + " bytes, and at most " +
                    std::to_string(request.max_bytes) +
                    " may be sent. Select fewer series with match or agg, a longer step, or a shorter time range.");
  read_result answer;
  answer.version = bytes::to_hex(bytes::digest_of(output.text));
  answer.ttl = output.ttl;
  if (request.cached_version == answer.version) return answer;
  resource_content item;
  item.name = address.kind == resource_kind::metric
                  ? address.metric
                  : options_.name + (address.kind == resource_kind::index ? "" : "/") + std::string(path_segment(address.kind));
  item.mime_type = mime_type_of(output.format);
  item.kind = output.format == output_format::png ? content_kind::blob : content_kind::text;
  if (output.masked_count > 0) item.metadata = secrets::redaction_metadata(output.masked_count);
  item.data = std::make_shared<const std::string>(std::move(output.text));
  answer.contents.push_back(std::move(item));
  return answer;
}

result<resource> metrics_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto address, resolve(request.uri));
  resource entry;
  if (address.kind == resource_kind::metric) {
    HONDANA_TRY(check(address, with_timeout(request), false));
    auto match = options_.metrics_backend->find(address.metric, with_timeout(request));
    if (!match) return tl::unexpected(to_client_error(std::move(match.error())));
    auto metric = match->value_or(metric_info{address.metric, {}});
    if (options_.redact) mask(metric.metadata);
    entry = make_entry(options_.name, metric);
  } else {
    entry = make_entry(options_.name, address.kind);
  }
  entry.uri = request.uri;
  entry.mime_type = mime_type_of(address.format.value_or(output_format::json));
  entry = entry_with_priority(std::move(entry));
  entry.version = request.known_version.value_or(std::string());
  // The version is a digest of the contents, so only readers may get it.
  const bool is_readable = address.kind != resource_kind::metric ||
                           model::may_read(request.caller.access_filter.get(), bare_entry(options_.name, address.metric));
  if (!entry.version.empty() || !is_readable) return entry;
  HONDANA_TRY(auto output, render(address, request));
  entry.version = bytes::to_hex(bytes::digest_of(output.text));
  return entry;
}

}  // namespace hondana::metrics
