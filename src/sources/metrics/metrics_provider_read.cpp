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
  format as = format::json;
  std::size_t masked = 0;
  std::chrono::milliseconds ttl{0};
};

namespace {

/// How long clients may cache results for past times. Samples do not change any more, but are deleted eventually.
constexpr std::chrono::hours of_the_past{1};

/// The entry that access rules are checked against.
resource bare_entry(std::string_view source, const std::string& name) { return entry_of(source, metric{name, {}}); }

template <class All>
std::size_t mask_all(All& all) {
  std::size_t count = 0;
  for (auto& one : all) count += mask(one);
  return count;
}

std::string listed(const std::vector<std::string>& all) {
  std::string out;
  for (const auto& one : all) out += (out.empty() ? "" : ", ") + one;
  return out;
}

}  // namespace

result<void> metrics_provider::check(const address& at, const call& by, bool is_read) {
  if (at.of != place::metric) return check_secrets(at, by);
  // Access rules match the canonical URI. Clients can also write a colon as `%3A`.
  const auto* through = by.who.view.get();
  const auto granted = is_read ? &model::may_read : &model::may_see;
  if (through != nullptr && !granted(through, bare_entry(options_.name, at.metric)))
    return fail(errc::resource_not_found, "Unknown metric. List the resources, or use completion for the name.");
  const auto there = options_.from->find(at.metric, by);
  if (!there) return tl::unexpected(told(there.error()));
  // A condition with `absent` is valid for a metric that has never existed.
  if (!*there && !at.when.is_absent) {
    // Do not suggest metrics that the caller may not list.
    auto near = names_->near(at.metric, by);
    if (through != nullptr)
      std::erase_if(near, [&](const auto& one) { return !model::may_see(through, bare_entry(options_.name, one)); });
    return fail(errc::resource_not_found, "Unknown metric " + at.metric + " in " + options_.name + '.' +
                                              (near.empty() ? " List the resources, or use completion for the name."
                                                            : " Similar names: " + listed(near) + '.'));
  }
  // A caller that may only list the metric must learn nothing about its labels.
  return is_read ? check_secrets(at, by) : result<void>();
}

result<void> metrics_provider::check_secrets(const address& at, const call& by) {
  if (!options_.redact) return {};
  auto named = at.of == place::query    ? secret_labels_.check_query(at.promql, by)
               : at.of == place::metric ? secret_labels_.check(at.metric, at.matchers, by)
                                        : result<void>();
  if (!named) return tl::unexpected(told(std::move(named.error())));
  return {};
}

result<metrics_provider::rendered> metrics_provider::render_values(const address& asked, const call& by) {
  HONDANA_TRY(check(asked, by, true));
  const auto interval = options_.from->interval();
  const auto reference_now = moment_of_relative();
  // A scrape may have finished after the address was parsed. Both ends use the newer reference time.
  auto at = asked;
  at.move_to(reference_now);
  HONDANA_TRY(const auto span, span_of(at, reference_now, interval, options_.most));
  rendered made;
  made.as = at.as.value_or(format::json);
  verdict found;
  const bool is_judged = at.when.is_any();
  if (is_judged) {
    auto judged = judge(*options_.from, at, span, options_.most, by);
    if (!judged) return tl::unexpected(told(std::move(judged.error())));
    found = std::move(*judged);
  } else {
    auto got = ask(*options_.from, at, span, options_.most, by);
    if (!got) return tl::unexpected(told(std::move(got.error())));
    found.what = std::move(*got);
  }
  if (options_.redact) {
    made.masked = mask(found.what);
    for (auto& one : found.all) mask(one.of.of);
  }
  const told_range of{at, span, found.what, options_.zone};
  switch (made.as) {
    case format::csv:
      made.text = csv_of(of);
      break;
    case format::openmetrics:
      made.text = openmetrics_of(of);
      break;
    case format::svg:
    case format::png: {
      HONDANA_TRY(auto drawn, picture_of(of, made.as == format::svg ? charts::picture::svg : charts::picture::png));
      made.text = std::move(drawn);
      break;
    }
    default:
      made.text = is_judged ? json_of(of, found) : json_of(of);
  }
  // Until the range has passed, the next scrape may add samples. Late samples can arrive for some time after that.
  const bool is_over = !at.is_relative() && span.end < now() - series::usual_look_back - 2 * interval;
  const auto next = std::clamp<series::duration>(reference_now + interval - now(), 0, interval);
  made.ttl = is_over ? std::chrono::milliseconds(of_the_past) : std::chrono::milliseconds(next);
  return made;
}

result<metrics_provider::rendered> metrics_provider::render_summary(const address& at, const call& by) {
  const auto what = summaries_->get(by);
  if (!what) return tl::unexpected(told(what.error()));
  auto shown = **what;
  // Remove findings about metrics that the caller may not read.
  if (by.who.view)
    std::erase_if(shown.unusual, [&](const finding& one) {
      return !one.metric.empty() && !model::may_read(by.who.view.get(), bare_entry(options_.name, one.metric));
    });
  rendered made;
  made.as = at.as.value_or(format::json);
  made.text = made.as == format::text ? text_of(shown) : json_of(shown);
  made.ttl = std::chrono::milliseconds(options_.from->interval());
  return made;
}

result<metrics_provider::rendered> metrics_provider::render_list(const address& at, const call& by) {
  rendered made;
  made.ttl = std::chrono::milliseconds(options_.from->interval());
  const auto take = [&](auto all) -> result<rendered> {
    if (!all) return tl::unexpected(told(std::move(all.error())));
    if (options_.redact) made.masked = mask_all(*all);
    made.text = json_of(options_.name, *all);
    return made;
  };
  if (at.of == place::targets) return take(options_.from->targets(by));
  if (at.of == place::alerts) return take(options_.from->alerts(by));
  if (at.of == place::rules) return take(options_.from->rules(by));
  const auto known = names_->get(by);
  if (!known) return tl::unexpected(told(known.error()));
  std::vector<metric> all;
  for (const auto& one : (*known)->all) {
    // The list contains only metrics that the caller may list.
    const auto* through = by.who.view.get();
    const auto entry = through == nullptr ? resource() : bare_entry(options_.name, one.of.name);
    if (!model::may_see(through, entry)) continue;
    // If the caller may not read a metric, show only its name. The metadata was scraped with the values.
    all.push_back(model::may_read(through, entry) ? one.of : metric{one.of.name, {}});
    if (options_.redact) made.masked += mask(all.back().of);
  }
  made.text = json_of(options_.name, all, (*known)->are_more, options_.from->interval());
  return made;
}

result<metrics_provider::rendered> metrics_provider::render(const address& at, const call& asked) {
  const auto by = bounded(asked);
  switch (at.of) {
    case place::metric:
    case place::query:
      return render_values(at, by);
    case place::summary:
      return render_summary(at, by);
    default:
      return render_list(at, by);
  }
}

result<reading> metrics_provider::read(const read_request& request) {
  HONDANA_TRY(const auto at, find(request.uri));
  HONDANA_TRY(auto made, render(at, request));
  if (made.text.size() > request.max_bytes)
    return fail(errc::response_too_large,
                "The answer has " + std::to_string(made.text.size()) + " bytes, and at most " +
                    std::to_string(request.max_bytes) +
                    " may be sent. Select fewer series with match or agg, a longer step, or a shorter time range.");
  reading answer;
  answer.version = bytes::to_hex(bytes::digest_of(made.text));
  answer.ttl = made.ttl;
  if (request.if_version == answer.version) return answer;
  content item;
  item.name =
      at.of == place::metric ? at.metric : options_.name + (at.of == place::index ? "" : "/") + std::string(word_of(at.of));
  item.mimeType = mime_of(made.as);
  item.form = made.as == format::png ? content_form::blob : content_form::text;
  if (made.masked > 0) item.metadata = secrets::facts_of(made.masked);
  item.data = std::make_shared<const std::string>(std::move(made.text));
  answer.contents.push_back(std::move(item));
  return answer;
}

result<resource> metrics_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto at, find(request.uri));
  resource entry;
  if (at.of == place::metric) {
    HONDANA_TRY(check(at, bounded(request), false));
    auto of = options_.from->find(at.metric, bounded(request));
    if (!of) return tl::unexpected(told(std::move(of.error())));
    auto shown = of->value_or(metric{at.metric, {}});
    if (options_.redact) mask(shown.of);
    entry = entry_of(options_.name, shown);
  } else {
    entry = entry_of(options_.name, at.of);
  }
  entry.uri = request.uri;
  entry.mimeType = mime_of(at.as.value_or(format::json));
  entry = entry_with_priority(std::move(entry));
  entry.version = request.known_version;
  // The version is a digest of the contents, so only readers may get it.
  const bool is_readable =
      at.of != place::metric || model::may_read(request.who.view.get(), bare_entry(options_.name, at.metric));
  if (!entry.version.empty() || !is_readable) return entry;
  HONDANA_TRY(auto made, render(at, request));
  entry.version = bytes::to_hex(bytes::digest_of(made.text));
  return entry;
}

}  // namespace hondana::metrics
