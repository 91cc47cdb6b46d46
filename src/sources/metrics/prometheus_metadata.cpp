/// Decodes metric names, metadata, targets, alerts and rules from answers of Prometheus.
#include "sources/metrics/prometheus_metadata.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sources/metrics/prometheus_response.hpp"

namespace hondana::metrics {
namespace {

constexpr std::size_t longest_help = 1000;

/// The metadata of one metric, such as node_cpu_seconds_total. Versions of an exporter may disagree: the first entry with a
/// type wins.
json::decoded<series::metadata> metadata_in(const json::value& from) {
  const auto list = from.as_array("data{}");
  if (!list) return tl::make_unexpected(list.error());
  series::metadata out;
  for (const auto& one : list->elements()) {
    const auto entry = one.as_object("data{}[]");
    if (!entry) return tl::make_unexpected(entry.error());
    const auto type = entry->find_string("type");
    const auto help = entry->find_string("help");
    const auto unit = entry->find_string("unit");
    for (const auto* text : {&type, &help, &unit}) {
      if (!*text) return tl::make_unexpected(text->error());
    }
    const auto kind = series::kind_of(type->value_or(""));
    if (out.kind == series::kind::unknown) {
      out.kind = kind;
      out.help = shown(help->value_or(""), longest_help);
      out.unit = shown(unit->value_or(""), 60);
    }
    if (out.kind != series::kind::unknown) break;
  }
  return out;
}

/// Removes user name, password and query.
std::string bare_url(std::string_view url) {
  std::string out(url.substr(0, url.find_first_of("?#")));
  const auto authority = out.find("://");
  if (authority == std::string::npos) return shown(out);
  const auto end = out.find('/', authority + 3);
  const auto user = out.rfind('@', end == std::string::npos ? end : end - 1);
  if (user != std::string::npos && user > authority) out.erase(authority + 3, user - authority - 2);
  return shown(out);
}

std::string without(std::string text, std::string_view what, const std::string& instead) {
  if (what.empty() || what == instead) return text;
  std::string out;
  std::size_t from = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, from)) {
    out.append(text, from, at - from).append(instead);
    from = at + what.size();
  }
  return out.append(text, from);
}

json::decoded<scraping::target_state> target_in(const json::value& from, std::size_t at) {
  const auto entry = from.as_object("data.activeTargets[" + std::to_string(at) + ']');
  if (!entry) return tl::make_unexpected(entry.error());
  const auto labels = entry->get_object("labels");
  if (!labels) return tl::make_unexpected(labels.error());
  const auto job = labels->find_string("job");
  const auto instance = labels->find_string("instance");
  const auto url = entry->find_string("scrapeUrl");
  const auto health = entry->find_string("health");
  const auto error = entry->find_string("lastError");
  const auto last = entry->find_string("lastScrape");
  const auto every = entry->find_string("scrapeInterval");
  for (const auto* text : {&job, &instance, &url, &health, &error, &last, &every}) {
    if (!*text) return tl::make_unexpected(text->error());
  }
  scraping::target_state out;
  out.job = shown(job->value_or(""));
  out.instance = shown(instance->value_or(""));
  const auto spelled = url->value_or("");
  out.url = bare_url(spelled);
  out.is_up = health->value_or("") == "up";
  // Error texts of Go contain the requested URL with its query.
  out.last_error = shown(without(std::string(error->value_or("").substr(0, 4096)), spelled, out.url));
  out.last_scrape = instant_in(last->value_or(""));
  const auto took = entry->find("lastScrapeDuration");
  if (!took) return tl::make_unexpected(took.error());
  if (*took) {
    const auto seconds = (*took)->as_number(entry->path_of("lastScrapeDuration"));
    if (!seconds) return tl::make_unexpected(seconds.error());
    if (*seconds >= 0 && *seconds < 1e6) out.took = std::chrono::microseconds(std::llround(*seconds * 1e6));
  }
  if (const auto read = series::parse_duration(every->value_or("")); read) out.every = std::chrono::milliseconds(*read);
  return out;
}

/// Parses `count` digits of `text` at `at`. Returns nothing if other characters are there.
std::optional<int> digits(std::string_view text, std::size_t at, std::size_t count) {
  if (text.size() < at + count) return std::nullopt;
  int out = 0;
  for (const char c : text.substr(at, count)) {
    if (c < '0' || c > '9') return std::nullopt;
    out = out * 10 + (c - '0');
  }
  return out;
}

}  // namespace

std::optional<series::instant> instant_in(std::string_view text) {
  const auto year = digits(text, 0, 4), month_number = digits(text, 5, 2), day_number = digits(text, 8, 2);
  const auto hour_number = digits(text, 11, 2), minute_number = digits(text, 14, 2), second_number = digits(text, 17, 2);
  if (!year || !month_number || !day_number || !hour_number || !minute_number || !second_number || text[4] != '-' ||
      text[7] != '-' || (text[10] != 'T' && text[10] != 't') || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month_number)),
                                         std::chrono::day(static_cast<unsigned>(*day_number)));
  if (!date.ok() || *hour_number > 23 || *minute_number > 59 || *second_number > 60 || *year == 1) return std::nullopt;
  auto rest = text.substr(19);
  series::instant thousandths = 0;
  if (rest.starts_with('.')) {
    const auto end = std::min(rest.find_first_not_of("0123456789", 1), rest.size());
    if (end == 1) return std::nullopt;
    for (std::size_t i = 1; i < 4; ++i) thousandths = thousandths * 10 + (i < end ? rest[i] - '0' : 0);
    rest.remove_prefix(end);
  }
  series::instant offset = 0;
  if (rest != "Z" && rest != "z") {
    const auto hours = digits(rest, 1, 2), minutes = digits(rest, 4, 2);
    if (rest.size() != 6 || (rest[0] != '+' && rest[0] != '-') || rest[3] != ':' || !hours || !minutes || *hours > 23 ||
        *minutes > 59)
      return std::nullopt;
    offset = (rest[0] == '-' ? -1 : 1) * (*hours * 60 + *minutes) * 60'000LL;
  }
  const auto days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * 24LL + *hour_number) * 60 + *minute_number) * 60'000 + *second_number * 1000LL + thousandths - offset;
}

result<families> families_of(const json::value& data, std::size_t most, std::string_view whose) {
  families out;
  if (data.is_null()) return out;
  const auto body = data.as_object("data");
  if (!body) return broken_answer(whose, body.error());
  for (const auto& [name, entries] : body->members()) {
    if (out.size() == most) break;
    auto one = metadata_in(entries);
    if (!one) return broken_answer(whose, one.error());
    if (series::is_metric_name(name)) out.emplace(name, std::move(*one));
  }
  return out;
}

result<std::vector<scraping::target_state>> targets_of(const json::value& data, std::size_t most, std::string_view whose) {
  const auto body = data.as_object("data");
  if (!body) return broken_answer(whose, body.error());
  const auto active = body->get("activeTargets");
  if (!active) return broken_answer(whose, active.error());
  std::vector<scraping::target_state> out;
  if (active->is_null()) return out;
  const auto list = active->as_array("data.activeTargets");
  if (!list) return broken_answer(whose, list.error());
  for (const auto& one : list->elements()) {
    if (out.size() == most) break;
    auto next = target_in(one, out.size());
    if (!next) return broken_answer(whose, next.error());
    out.push_back(std::move(*next));
  }
  return out;
}

std::optional<series::duration> interval_in(const json::value& data) {
  const auto body = data.as_object("data");
  if (!body) return std::nullopt;
  const auto text = body->find_string("yaml");
  if (!text || !*text) return std::nullopt;
  // Prometheus prints its whole configuration in normalized form: one member per line, with the indented members of `global`
  // first.
  constexpr std::string_view member = "  scrape_interval:";
  std::string_view rest = **text;
  bool is_global = false;
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(line.size() + 1, rest.size()));
    if (line.starts_with("global:")) {
      is_global = true;
    } else if (!line.starts_with(' ')) {
      is_global = false;
    } else if (is_global && line.starts_with(member)) {
      auto spelled = line.substr(member.size());
      while (spelled.starts_with(' ')) spelled.remove_prefix(1);
      const auto read = series::parse_duration(spelled);
      if (!read) return std::nullopt;
      return *read;
    }
  }
  return std::nullopt;
}

std::string version_in(const json::value& data) {
  const auto body = data.as_object("data");
  if (!body) return {};
  const auto text = body->find_string("version");
  return text && *text ? shown(**text, 60) : std::string();
}

namespace {

constexpr std::size_t longest_text = 4096;
constexpr std::size_t most_texts = 64;

using texts = std::vector<std::pair<std::string, std::string>>;

/// The string members of an object. Empty if the object is missing.
json::decoded<texts> texts_in(const json::object& of, std::string_view member) {
  texts out;
  const auto found = of.find(member);
  if (!found) return tl::make_unexpected(found.error());
  if (!*found || (*found)->is_null()) return out;
  const auto body = (*found)->as_object(of.path_of(member));
  if (!body) return tl::make_unexpected(body.error());
  for (const auto& [name, value] : body->members()) {
    const auto text = value.as_string(body->path());
    if (!text) return tl::make_unexpected(text.error());
    if (out.size() == most_texts) break;
    out.emplace_back(shown(name), shown(*text, longest_text));
  }
  return out;
}

std::string value_in(const texts& of, std::string_view name) {
  for (const auto& [key, value] : of) {
    if (key == name) return value;
  }
  return {};
}

json::decoded<alert> alert_in(const json::value& from, const std::string& path) {
  const auto entry = from.as_object(path);
  if (!entry) return tl::make_unexpected(entry.error());
  auto labels = texts_in(*entry, "labels");
  auto annotations = texts_in(*entry, "annotations");
  if (!labels) return tl::make_unexpected(std::move(labels.error()));
  if (!annotations) return tl::make_unexpected(std::move(annotations.error()));
  const auto state = entry->get_string("state");
  if (!state) return tl::make_unexpected(state.error());
  const auto value = entry->find_string("value");
  const auto since = entry->find_string("activeAt");
  if (!value) return tl::make_unexpected(value.error());
  if (!since) return tl::make_unexpected(since.error());
  alert out;
  out.name = value_in(*labels, "alertname");
  out.severity = value_in(*labels, "severity");
  out.state = shown(*state, 40);
  out.value = shown(value->value_or(""), 60);
  out.since = instant_in(since->value_or(""));
  out.labels = std::move(*labels);
  std::erase_if(out.labels, [](const auto& one) { return one.first == "alertname"; });
  std::sort(out.labels.begin(), out.labels.end());
  out.annotations = std::move(*annotations);
  return out;
}

/// A number that may be absent.
json::decoded<std::optional<double>> number_in(const json::object& of, std::string_view member) {
  const auto found = of.find(member);
  if (!found) return tl::make_unexpected(found.error());
  if (!*found || (*found)->is_null()) return std::nullopt;
  const auto read = (*found)->as_number(of.path_of(member));
  if (!read) return tl::make_unexpected(read.error());
  return *read;
}

/// Adds a rule and its alerts to `into`, up to `most` of each.
json::decoded<void> take_rule(const json::value& from, const std::string& path, std::string_view group, std::size_t most,
                              rules_and_alerts& into) {
  const auto entry = from.as_object(path);
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
  const auto wait = number_in(*entry, "duration");
  const auto took = number_in(*entry, "evaluationTime");
  if (!wait) return tl::make_unexpected(wait.error());
  if (!took) return tl::make_unexpected(took.error());
  rule out;
  out.group = shown(group);
  out.name = shown(*name);
  out.kind = shown(*type, 40);
  out.expression = shown(*query, longest_text);
  out.state = shown(state->value_or(""), 40);
  out.health = shown(health->value_or(""), 40);
  out.last_error = shown(error->value_or(""));
  out.evaluation_seconds = *took;
  if (*wait && **wait >= 0 && **wait < 1e10) out.wait = std::llround(**wait * 1000);
  const auto alerts = entry->find("alerts");
  if (!alerts) return tl::make_unexpected(alerts.error());
  if (*alerts && !(*alerts)->is_null()) {
    const auto list = (*alerts)->as_array(path + ".alerts");
    if (!list) return tl::make_unexpected(list.error());
    for (const auto& one : list->elements()) {
      if (into.alerts.size() == most) break;
      auto next = alert_in(one, path + ".alerts[]");
      if (!next) return tl::make_unexpected(std::move(next.error()));
      if (next->name.empty()) next->name = out.name;
      next->expression = out.expression;
      into.alerts.push_back(std::move(*next));
    }
  }
  into.rules.push_back(std::move(out));
  return {};
}

}  // namespace

result<std::vector<alert>> alerts_of(const json::value& data, std::size_t most, std::string_view whose) {
  const auto body = data.as_object("data");
  if (!body) return broken_answer(whose, body.error());
  const auto found = body->get("alerts");
  if (!found) return broken_answer(whose, found.error());
  std::vector<alert> out;
  if (found->is_null()) return out;
  const auto list = found->as_array("data.alerts");
  if (!list) return broken_answer(whose, list.error());
  for (const auto& one : list->elements()) {
    if (out.size() == most) break;
    auto next = alert_in(one, "data.alerts[" + std::to_string(out.size()) + ']');
    if (!next) return broken_answer(whose, next.error());
    out.push_back(std::move(*next));
  }
  return out;
}

result<rules_and_alerts> rules_of(const json::value& data, std::size_t most, std::string_view whose) {
  const auto body = data.as_object("data");
  if (!body) return broken_answer(whose, body.error());
  const auto found = body->get("groups");
  if (!found) return broken_answer(whose, found.error());
  rules_and_alerts out;
  if (found->is_null()) return out;
  const auto groups = found->as_array("data.groups");
  if (!groups) return broken_answer(whose, groups.error());
  std::size_t at = 0;
  for (const auto& one : groups->elements()) {
    const auto path = "data.groups[" + std::to_string(at++) + ']';
    const auto group = one.as_object(path);
    if (!group) return broken_answer(whose, group.error());
    const auto name = group->get_string("name");
    if (!name) return broken_answer(whose, name.error());
    const auto all = group->get("rules");
    if (!all) return broken_answer(whose, all.error());
    if (all->is_null()) continue;
    const auto list = all->as_array(path + ".rules");
    if (!list) return broken_answer(whose, list.error());
    for (const auto& next : list->elements()) {
      if (out.rules.size() == most) break;
      const auto taken = take_rule(next, path + ".rules[]", *name, most, out);
      if (!taken) return broken_answer(whose, taken.error());
    }
  }
  return out;
}

namespace {

constexpr std::array<std::string_view, 3> parts{"_bucket", "_sum", "_count"};

std::string joined(std::string_view name, std::string_view ending) { return std::string(name).append(ending); }

/// `x` for `x_bucket`, `x_sum` and `x_count`. Empty for other names.
std::string_view whole_of(std::string_view name) noexcept {
  for (const auto part : parts) {
    if (name.ends_with(part)) return name.substr(0, name.size() - part.size());
  }
  return {};
}

series::metadata with_unit(series::metadata of, std::string_view name) {
  if (of.unit.empty()) of.unit = series::unit_in(name);
  return of;
}

}  // namespace

prometheus_names::prometheus_names(std::vector<std::string> names, families of)
    : names_(std::move(names)), families_(std::move(of)) {
  std::erase_if(names_, [](const auto& one) { return !series::is_metric_name(one); });
  for (const auto& name : names_) {
    const auto whole = whole_of(name);
    if (!whole.empty() && (is_histogram(whole) || is_summary(whole))) {
      listed_.push_back({std::string(whole), metadata_of(whole)});
    } else {
      listed_.push_back({name, metadata_of(name)});
    }
  }
  const auto before = [](const metric& a, const metric& b) { return a.name < b.name; };
  std::sort(listed_.begin(), listed_.end(), before);
  listed_.erase(std::unique(listed_.begin(), listed_.end(), [](const metric& a, const metric& b) { return a.name == b.name; }),
                listed_.end());
}

std::vector<metric> prometheus_names::page(std::string_view prefix, std::string_view after, std::size_t limit) const {
  auto from = std::lower_bound(listed_.begin(), listed_.end(), prefix,
                               [](const metric& one, std::string_view wanted) { return one.name < wanted; });
  if (!after.empty() && after >= prefix) {
    from = std::upper_bound(from, listed_.end(), after,
                            [](std::string_view wanted, const metric& one) { return wanted < one.name; });
  }
  std::vector<metric> out;
  for (; from != listed_.end() && out.size() < limit && from->name.starts_with(prefix); ++from) out.push_back(*from);
  return out;
}

std::optional<metric> prometheus_names::find(std::string_view name) const {
  if (!has(name) && !is_histogram(name) && !is_summary(name)) return std::nullopt;
  return metric{std::string(name), metadata_of(name)};
}

std::string prometheus_names::series_name(std::string_view name) const {
  if (has(name)) return std::string(name);
  if (is_histogram(name)) return joined(name, "_bucket");
  if (is_summary(name)) return joined(name, "_count");
  return std::string(name);
}

bool prometheus_names::has(std::string_view name) const { return std::binary_search(names_.begin(), names_.end(), name); }

const series::metadata* prometheus_names::family(std::string_view name) const {
  const auto found = families_.find(name);
  return found == families_.end() || found->second.kind == series::kind::unknown ? nullptr : &found->second;
}

bool prometheus_names::is_histogram(std::string_view name) const {
  if (has(name) || !has(joined(name, "_bucket"))) return false;
  const auto* const known = family(name);
  return known != nullptr ? known->kind == series::kind::histogram : has(joined(name, "_count"));
}

bool prometheus_names::is_summary(std::string_view name) const {
  const auto* const known = family(name);
  return known != nullptr && known->kind == series::kind::summary && has(joined(name, "_count"));
}

series::metadata prometheus_names::metadata_of(std::string_view name) const {
  if (const auto* const known = family(name); known != nullptr) return with_unit(*known, name);
  if (is_histogram(name)) return with_unit({series::kind::histogram, {}, {}}, name);
  const auto whole = whole_of(name);
  if (!whole.empty() && (is_histogram(whole) || is_summary(whole))) {
    auto out = metadata_of(whole);
    out.kind = series::kind::counter;
    if (!name.ends_with("_sum")) out.unit.clear();
    return out;
  }
  // OpenMetrics metadata is stored under the family's name.
  for (const auto kind : {series::kind::counter, series::kind::info}) {
    const auto shorter = series::family_of(name, kind);
    const auto* const known = shorter == name ? nullptr : family(shorter);
    if (known != nullptr && known->kind == kind) return with_unit(*known, name);
  }
  const auto untyped = families_.find(name);
  auto out = untyped == families_.end() ? series::metadata() : untyped->second;
  out.kind = series::kind_of_series(name, series::kind::unknown);
  return with_unit(std::move(out), name);
}

}  // namespace hondana::metrics
