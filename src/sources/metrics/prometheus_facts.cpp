/// Reads metadata, targets and what Prometheus says of itself.
#include "sources/metrics/prometheus_facts.hpp"

#include <algorithm>
#include <cmath>

#include "sources/metrics/prometheus_answers.hpp"

namespace hondana::metrics {
namespace {

constexpr std::size_t longest_help = 1000;

/// "node_cpu_seconds_total" → its metadata: of several, as versions of an exporter differ, the first with a type.
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

/// Without user name, password and query.
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
  // Go's errors name the address that was asked, with its query.
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

/// `count` digits of `text` at `at`; nothing: there is something else.
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
  const auto year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
  const auto hour = digits(text, 11, 2), minute = digits(text, 14, 2), second = digits(text, 17, 2);
  if (!year || !month || !day || !hour || !minute || !second || text[4] != '-' || text[7] != '-' ||
      (text[10] != 'T' && text[10] != 't') || text[13] != ':' || text[16] != ':')
    return std::nullopt;
  const std::chrono::year_month_day date(std::chrono::year(*year), std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60 || *year == 1) return std::nullopt;
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
  return ((days * 24LL + *hour) * 60 + *minute) * 60'000 + *second * 1000LL + thousandths - offset;
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
  // Prometheus writes its whole configuration anew: one member a line, those of `global` first and indented.
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

}  // namespace hondana::metrics
