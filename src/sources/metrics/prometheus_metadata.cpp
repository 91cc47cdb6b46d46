/// Decodes metric names, metadata, targets, alerts and rules from answers of Prometheus.
#include "sources/metrics/prometheus_metadata.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sources/metrics/prometheus_response.hpp"

namespace hondana::metrics {
namespace {

constexpr std::size_t max_help_bytes = 1000;

/// The metadata of one metric, such as node_cpu_seconds_total. Versions of an exporter may disagree: the first entry with a
/// type wins.
json::decoded<series::metadata> parse_metadata(const json::value& input) {
  const auto list = input.as_array("data{}");
  if (!list) return tl::make_unexpected(list.error());
  series::metadata out;
  for (const auto& element : list->elements()) {
    const auto entry = element.as_object("data{}[]");
    if (!entry) return tl::make_unexpected(entry.error());
    const auto type = entry->find_string("type");
    const auto help = entry->find_string("help");
    const auto unit = entry->find_string("unit");
    for (const auto* text : {&type, &help, &unit}) {
      if (!*text) return tl::make_unexpected(text->error());
    }
    const auto kind = series::parse_kind(type->value_or(""));
    if (out.kind == series::kind::unknown) {
      out.kind = kind;
      out.help = sanitize_text(help->value_or(""), max_help_bytes);
      out.unit = sanitize_text(unit->value_or(""), 60);
    }
    if (out.kind != series::kind::unknown) break;
  }
  return out;
}

/// Removes user name, password and query.
std::string bare_url(std::string_view url) {
  std::string out(url.substr(0, url.find_first_of("?#")));
  const auto authority = out.find("://");
  if (authority == std::string::npos) return sanitize_text(out);
  const auto end = out.find('/', authority + 3);
  const auto user = out.rfind('@', end == std::string::npos ? end : end - 1);
  if (user != std::string::npos && user > authority) out.erase(authority + 3, user - authority - 2);
  return sanitize_text(out);
}

std::string replace_all(std::string text, std::string_view pattern, const std::string& replacement) {
  if (pattern.empty() || pattern == replacement) return text;
  std::string out;
  std::size_t begin = 0;
  for (auto position = text.find(pattern); position != std::string::npos; position = text.find(pattern, begin)) {
    out.append(text, begin, position - begin).append(replacement);
    begin = position + pattern.size();
  }
  return out.append(text, begin);
}

json::decoded<scraping::target_state> parse_target(const json::value& input, std::size_t index) {
  const auto entry = input.as_object("data.activeTargets[" + std::to_string(index) + ']');
  if (!entry) return tl::make_unexpected(entry.error());
  const auto labels = entry->get_object("labels");
  if (!labels) return tl::make_unexpected(labels.error());
  const auto job = labels->find_string("job");
  const auto instance = labels->find_string("instance");
  const auto url = entry->find_string("scrapeUrl");
  const auto health = entry->find_string("health");
  const auto error = entry->find_string("lastError");
  const auto last = entry->find_string("lastScrape");
  const auto interval = entry->find_string("scrapeInterval");
  for (const auto* text : {&job, &instance, &url, &health, &error, &last, &interval}) {
    if (!*text) return tl::make_unexpected(text->error());
  }
  scraping::target_state out;
  out.job = sanitize_text(job->value_or(""));
  out.instance = sanitize_text(instance->value_or(""));
  const auto raw_url = url->value_or("");
  out.url = bare_url(raw_url);
  out.is_up = health->value_or("") == "up";
  // Error texts of Go contain the requested URL with its query.
  out.last_error = sanitize_text(replace_all(std::string(error->value_or("").substr(0, 4096)), raw_url, out.url));
  out.last_scrape = parse_timestamp(last->value_or(""));
  const auto duration = entry->find("lastScrapeDuration");
  if (!duration) return tl::make_unexpected(duration.error());
  if (*duration) {
    const auto seconds = (*duration)->as_number(entry->path_of("lastScrapeDuration"));
    if (!seconds) return tl::make_unexpected(seconds.error());
    if (*seconds >= 0 && *seconds < 1e6) out.duration = std::chrono::microseconds(std::llround(*seconds * 1e6));
  }
  if (const auto parsed = series::parse_duration(interval->value_or("")); parsed)
    out.interval = std::chrono::milliseconds(*parsed);
  return out;
}

/// Parses `count` digits of `text` at `offset`. Returns nothing if other characters are there.
std::optional<int> parse_digits(std::string_view text, std::size_t offset, std::size_t count) {
  if (text.size() < offset + count) return std::nullopt;
  int out = 0;
  for (const char c : text.substr(offset, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    out = out * 10 + (c - '0');
  }
  return out;
}

}  // namespace

std::optional<series::instant> parse_timestamp(std::string_view text) {
  const auto year = parse_digits(text, 0, 4), month_number = parse_digits(text, 5, 2), day_number = parse_digits(text, 8, 2);
  const auto hour_number = parse_digits(text, 11, 2), minute_number = parse_digits(text, 14, 2),
             second_number = parse_digits(text, 17, 2);
  if (!year || !month_number || !day_number || !hour_number || !minute_number || !second_number || text[4] != '-' ||
      text[7] != '-' || (text[10] != 'T' && text[10] != 't') || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month_number)),
                                         std::chrono::day(static_cast<unsigned>(*day_number)));
  if (!date.ok() || *hour_number > 23 || *minute_number > 59 || *second_number > 60 || *year == 1) return std::nullopt;
  auto remaining = text.substr(19);
  series::instant thousandths = 0;
  if (remaining.starts_with('.')) {
    const auto end = std::min(remaining.find_first_not_of("0123456789", 1), remaining.size());
    if (end == 1) return std::nullopt;
    for (std::size_t i = 1; i < 4; ++i) thousandths = thousandths * 10 + (i < end ? remaining[i] - '0' : 0);
    remaining.remove_prefix(end);
  }
  series::instant offset = 0;
  if (remaining != "Z" && remaining != "z") {
    const auto hours = parse_digits(remaining, 1, 2), minutes = parse_digits(remaining, 4, 2);
    if (remaining.size() != 6 || (remaining[0] != '+' && remaining[0] != '-') || remaining[3] != ':' || !hours || !minutes ||
        *hours > 23 || *minutes > 59)
      return std::nullopt;
    offset = (remaining[0] == '-' ? -1 : 1) * (*hours * 60 + *minutes) * 60'000LL;
  }
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * 24LL + *hour_number) * 60 + *minute_number) * 60'000 + *second_number * 1000LL + thousandths - offset;
}

result<families> parse_families(const json::value& data, std::size_t max_entries, std::string_view server_name) {
  families out;
  if (data.is_null()) return out;
  const auto body = data.as_object("data");
  if (!body) return malformed_answer(server_name, body.error());
  for (const auto& [name, entries] : body->members()) {
    if (out.size() == max_entries) break;
    auto metadata = parse_metadata(entries);
    if (!metadata) return malformed_answer(server_name, metadata.error());
    if (series::is_metric_name(name)) out.emplace(name, std::move(*metadata));
  }
  return out;
}

result<std::vector<scraping::target_state>> parse_targets(const json::value& data, std::size_t max_entries,
                                                          std::string_view server_name) {
  const auto body = data.as_object("data");
  if (!body) return malformed_answer(server_name, body.error());
  const auto active = body->get("activeTargets");
  if (!active) return malformed_answer(server_name, active.error());
  std::vector<scraping::target_state> out;
  if (active->is_null()) return out;
  const auto list = active->as_array("data.activeTargets");
  if (!list) return malformed_answer(server_name, list.error());
  for (const auto& element : list->elements()) {
    if (out.size() == max_entries) break;
    auto target = parse_target(element, out.size());
    if (!target) return malformed_answer(server_name, target.error());
    out.push_back(std::move(*target));
  }
  return out;
}

std::optional<series::duration> parse_scrape_interval(const json::value& data) {
  const auto body = data.as_object("data");
  if (!body) return std::nullopt;
  const auto text = body->find_string("yaml");
  if (!text || !*text) return std::nullopt;
  // Prometheus prints its whole configuration in normalized form: one member per line, with the indented members of `global`
  // first.
  constexpr std::string_view member = "  scrape_interval:";
  std::string_view remaining = **text;
  bool is_global = false;
  while (!remaining.empty()) {
    const auto line = remaining.substr(0, remaining.find('\n'));
    remaining.remove_prefix(std::min(line.size() + 1, remaining.size()));
    if (line.starts_with("global:")) {
      is_global = true;
    } else if (!line.starts_with(' ')) {
      is_global = false;
    } else if (is_global && line.starts_with(member)) {
      auto interval_text = line.substr(member.size());
      while (interval_text.starts_with(' ')) interval_text.remove_prefix(1);
      const auto interval = series::parse_duration(interval_text);
      if (!interval) return std::nullopt;
      return *interval;
    }
  }
  return std::nullopt;
}

std::string parse_version(const json::value& data) {
  const auto body = data.as_object("data");
  if (!body) return {};
  const auto text = body->find_string("version");
  return text && *text ? sanitize_text(**text, 60) : std::string();
}

namespace {

constexpr std::size_t max_text_bytes = 4096;
constexpr std::size_t max_pairs = 64;

using string_pairs = std::vector<std::pair<std::string, std::string>>;

/// The string members of an object. Empty if the object is missing.
json::decoded<string_pairs> parse_string_members(const json::object& object, std::string_view member) {
  string_pairs out;
  const auto match = object.find(member);
  if (!match) return tl::make_unexpected(match.error());
  if (!*match || (*match)->is_null()) return out;
  const auto body = (*match)->as_object(object.path_of(member));
  if (!body) return tl::make_unexpected(body.error());
  for (const auto& [name, value] : body->members()) {
    const auto text = value.as_string(body->path());
    if (!text) return tl::make_unexpected(text.error());
    if (out.size() == max_pairs) break;
    out.emplace_back(sanitize_text(name), sanitize_text(*text, max_text_bytes));
  }
  return out;
}

std::string find_value(const string_pairs& pairs, std::string_view name) {
  for (const auto& [key, value] : pairs) {
    if (key == name) return value;
  }
  return {};
}

json::decoded<alert> parse_alert(const json::value& input, const std::string& path) {
  const auto entry = input.as_object(path);
  if (!entry) return tl::make_unexpected(entry.error());
  auto labels = parse_string_members(*entry, "labels");
  auto annotations = parse_string_members(*entry, "annotations");
  if (!labels) return tl::make_unexpected(std::move(labels.error()));
  if (!annotations) return tl::make_unexpected(std::move(annotations.error()));
  const auto state = entry->get_string("state");
  if (!state) return tl::make_unexpected(state.error());
  const auto value = entry->find_string("value");
  const auto active_at = entry->find_string("activeAt");
  if (!value) return tl::make_unexpected(value.error());
  if (!active_at) return tl::make_unexpected(active_at.error());
  alert out;
  out.name = find_value(*labels, "alertname");
  out.severity = find_value(*labels, "severity");
  out.state = sanitize_text(*state, 40);
  out.value = sanitize_text(value->value_or(""), 60);
  out.active_at = parse_timestamp(active_at->value_or(""));
  out.labels = std::move(*labels);
  std::erase_if(out.labels, [](const auto& label) { return label.first == "alertname"; });
  std::sort(out.labels.begin(), out.labels.end());
  out.annotations = std::move(*annotations);
  return out;
}

/// A number that may be absent.
json::decoded<std::optional<double>> find_number(const json::object& object, std::string_view member) {
  const auto match = object.find(member);
  if (!match) return tl::make_unexpected(match.error());
  if (!*match || (*match)->is_null()) return std::nullopt;
  const auto number = (*match)->as_number(object.path_of(member));
  if (!number) return tl::make_unexpected(number.error());
  return *number;
}

/// Adds a rule and its alerts to `output`, up to `max_entries` of each.
json::decoded<void> parse_rule(const json::value& input, const std::string& path, std::string_view group,
                               std::size_t max_entries, rules_and_alerts& output) {
  const auto entry = input.as_object(path);
  if (!entry) return tl::make_unexpected(entry.error());
  const auto name = entry->get_string("name");
  const auto query = entry->get_string("query");
  const auto type = entry->get_string("type");
  for (const auto* text : {&name, &query, &type}) {
    if (!*text) return tl::make_unexpected(text->error());
  }
  const auto state = entry->find_string("state");
  const auto health = entry->find_string("health");
  const auto error = entry->find_string("lastError");
  for (const auto* text : {&state, &health, &error}) {
    if (!*text) return tl::make_unexpected(text->error());
  }
  const auto hold_duration = find_number(*entry, "duration");
  const auto evaluation_time = find_number(*entry, "evaluationTime");
  if (!hold_duration) return tl::make_unexpected(hold_duration.error());
  if (!evaluation_time) return tl::make_unexpected(evaluation_time.error());
  rule out;
  out.group = sanitize_text(group);
  out.name = sanitize_text(*name);
  out.kind = sanitize_text(*type, 40);
  out.expression = sanitize_text(*query, max_text_bytes);
  out.state = sanitize_text(state->value_or(""), 40);
  out.health = sanitize_text(health->value_or(""), 40);
  out.last_error = sanitize_text(error->value_or(""));
  out.evaluation_seconds = *evaluation_time;
  if (*hold_duration && **hold_duration >= 0 && **hold_duration < 1e10)
    out.hold_duration = std::llround(**hold_duration * 1000);
  const auto alerts = entry->find("alerts");
  if (!alerts) return tl::make_unexpected(alerts.error());
  if (*alerts && !(*alerts)->is_null()) {
    const auto list = (*alerts)->as_array(path + ".alerts");
    if (!list) return tl::make_unexpected(list.error());
    for (const auto& element : list->elements()) {
      if (output.alerts.size() == max_entries) break;
      auto alert = parse_alert(element, path + ".alerts[]");
      if (!alert) return tl::make_unexpected(std::move(alert.error()));
      if (alert->name.empty()) alert->name = out.name;
      alert->expression = out.expression;
      output.alerts.push_back(std::move(*alert));
    }
  }
  output.rules.push_back(std::move(out));
  return {};
}

}  // namespace

result<std::vector<alert>> parse_alerts(const json::value& data, std::size_t max_entries, std::string_view server_name) {
  const auto body = data.as_object("data");
  if (!body) return malformed_answer(server_name, body.error());
  const auto value = body->get("alerts");
  if (!value) return malformed_answer(server_name, value.error());
  std::vector<alert> out;
  if (value->is_null()) return out;
  const auto list = value->as_array("data.alerts");
  if (!list) return malformed_answer(server_name, list.error());
  for (const auto& element : list->elements()) {
    if (out.size() == max_entries) break;
    auto alert = parse_alert(element, "data.alerts[" + std::to_string(out.size()) + ']');
    if (!alert) return malformed_answer(server_name, alert.error());
    out.push_back(std::move(*alert));
  }
  return out;
}

result<rules_and_alerts> parse_rules(const json::value& data, std::size_t max_entries, std::string_view server_name) {
  const auto body = data.as_object("data");
  if (!body) return malformed_answer(server_name, body.error());
  const auto value = body->get("groups");
  if (!value) return malformed_answer(server_name, value.error());
  rules_and_alerts out;
  if (value->is_null()) return out;
  const auto groups = value->as_array("data.groups");
  if (!groups) return malformed_answer(server_name, groups.error());
  std::size_t index = 0;
  for (const auto& element : groups->elements()) {
    const auto path = "data.groups[" + std::to_string(index++) + ']';
    const auto group = element.as_object(path);
    if (!group) return malformed_answer(server_name, group.error());
    const auto name = group->get_string("name");
    if (!name) return malformed_answer(server_name, name.error());
    const auto rules = group->get("rules");
    if (!rules) return malformed_answer(server_name, rules.error());
    if (rules->is_null()) continue;
    const auto list = rules->as_array(path + ".rules");
    if (!list) return malformed_answer(server_name, list.error());
    for (const auto& rule_element : list->elements()) {
      if (out.rules.size() == max_entries) break;
      const auto parsed = parse_rule(rule_element, path + ".rules[]", *name, max_entries, out);
      if (!parsed) return malformed_answer(server_name, parsed.error());
    }
  }
  return out;
}

namespace {

constexpr std::array<std::string_view, 3> family_suffixes{"_bucket", "_sum", "_count"};

std::string with_suffix(std::string_view name, std::string_view suffix) { return std::string(name).append(suffix); }

/// `x` for `x_bucket`, `x_sum` and `x_count`. Empty for other names.
std::string_view base_name(std::string_view name) noexcept {
  for (const auto suffix : family_suffixes) {
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return {};
}

series::metadata with_unit(series::metadata metadata, std::string_view name) {
  if (metadata.unit.empty()) metadata.unit = series::unit_from_name(name);
  return metadata;
}

}  // namespace

prometheus_names::prometheus_names(std::vector<std::string> names, families metadata)
    : names_(std::move(names)), families_(std::move(metadata)) {
  std::erase_if(names_, [](const auto& name) { return !series::is_metric_name(name); });
  for (const auto& series_name : names_) {
    const auto base = base_name(series_name);
    // As in `find`. A summary without quantiles is listed by its series, because no series has the name of the family.
    if (!base.empty() && (is_histogram(base) || (is_summary(base) && has(base)))) {
      metrics_.push_back({std::string(base), metadata_of(base)});
    } else {
      metrics_.push_back({series_name, metadata_of(series_name)});
    }
  }
  const auto by_name = [](const metric_info& a, const metric_info& b) { return a.name < b.name; };
  std::sort(metrics_.begin(), metrics_.end(), by_name);
  metrics_.erase(std::unique(metrics_.begin(), metrics_.end(),
                             [](const metric_info& a, const metric_info& b) { return a.name == b.name; }),
                 metrics_.end());
}

std::vector<metric_info> prometheus_names::page(std::string_view prefix, std::string_view after_key, std::size_t limit) const {
  auto it = std::lower_bound(metrics_.begin(), metrics_.end(), prefix,
                             [](const metric_info& metric, std::string_view key) { return metric.name < key; });
  if (!after_key.empty() && after_key >= prefix) {
    it = std::upper_bound(it, metrics_.end(), after_key,
                          [](std::string_view key, const metric_info& metric) { return key < metric.name; });
  }
  std::vector<metric_info> out;
  for (; it != metrics_.end() && out.size() < limit && it->name.starts_with(prefix); ++it) out.push_back(*it);
  return out;
}

std::optional<metric_info> prometheus_names::find(std::string_view name) const {
  if (!has(name) && !is_histogram(name)) return std::nullopt;
  return metric_info{std::string(name), metadata_of(name)};
}

std::string prometheus_names::series_name(std::string_view name) const {
  return is_histogram(name) ? with_suffix(name, "_bucket") : std::string(name);
}

bool prometheus_names::has(std::string_view name) const { return std::binary_search(names_.begin(), names_.end(), name); }

const series::metadata* prometheus_names::find_family(std::string_view name) const {
  const auto match = families_.find(name);
  return match == families_.end() || match->second.kind == series::kind::unknown ? nullptr : &match->second;
}

bool prometheus_names::is_histogram(std::string_view name) const {
  if (has(name) || !has(with_suffix(name, "_bucket"))) return false;
  const auto* const metadata = find_family(name);
  return metadata != nullptr ? metadata->kind == series::kind::histogram : has(with_suffix(name, "_count"));
}

bool prometheus_names::is_summary(std::string_view name) const {
  const auto* const metadata = find_family(name);
  return metadata != nullptr && metadata->kind == series::kind::summary && has(with_suffix(name, "_count"));
}

series::metadata prometheus_names::metadata_of(std::string_view name) const {
  if (const auto* const metadata = find_family(name); metadata != nullptr) return with_unit(*metadata, name);
  if (is_histogram(name)) return with_unit({series::kind::histogram, {}, {}}, name);
  const auto base = base_name(name);
  if (!base.empty() && (is_histogram(base) || is_summary(base))) {
    auto out = metadata_of(base);
    out.kind = series::kind::counter;
    if (!name.ends_with("_sum")) out.unit.clear();
    return out;
  }
  // OpenMetrics metadata is stored under the family's name.
  for (const auto kind : {series::kind::counter, series::kind::info}) {
    const auto family = series::family_of(name, kind);
    const auto* const family_metadata = family == name ? nullptr : find_family(family);
    if (family_metadata != nullptr && family_metadata->kind == kind) return with_unit(*family_metadata, name);
  }
  const auto untyped = families_.find(name);
  auto out = untyped == families_.end() ? series::metadata() : untyped->second;
  out.kind = series::kind_of_series(name, series::kind::unknown);
  return with_unit(std::move(out), name);
}

}  // namespace hondana::metrics
