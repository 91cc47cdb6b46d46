/// One object each.
#include "sources/metrics/documents.hpp"

#include "sources/metrics/address.hpp"
#include "sources/metrics/moment.hpp"
#include "sources/metrics/rendering.hpp"

namespace hondana::metrics {
namespace {

template <class All, class Write>
std::string list_of(std::string_view source, std::string_view name, const All& all, Write write) {
  std::string out;
  json::writer to(out);
  to.begin_object();
  to.member("source", source);
  to.key(name).begin_array();
  for (const auto& one : all) {
    to.begin_object();
    write(to, one);
    to.end_object();
  }
  to.end_array();
  to.end_object();
  return out;
}

}  // namespace

std::string json_of(std::string_view source, const std::vector<scraping::target_state>& all) {
  return list_of(source, "targets", all, [](json::writer& to, const scraping::target_state& one) {
    to.member("job", one.job);
    to.member("instance", one.instance);
    to.member_if("url", one.url);
    to.key("up").boolean(one.is_up);
    to.member_if("lastError", one.last_error);
    if (one.last_scrape) to.member("lastScrape", text_of(*one.last_scrape));
    constexpr double microseconds = 1e6;
    to.key("scrapeSeconds").number(static_cast<double>(one.took.count()) / microseconds);
    to.key("samples").unsigned_integer(one.samples);
    to.key("interval");
    write_seconds(to, one.every.count());
  });
}

std::string json_of(std::string_view source, const std::vector<alert>& all) {
  return list_of(source, "alerts", all, [](json::writer& to, const alert& one) {
    to.member("name", one.name);
    to.member("state", one.state);
    to.member_if("severity", one.severity);
    to.member_if("value", one.value);
    to.member_if("expression", one.expression);
    to.key("labels");
    write_labels(to, {"", one.labels});
    to.key("annotations").begin_object();
    for (const auto& [name, text] : one.annotations) to.member(name, text);
    to.end_object();
    if (one.since) to.member("since", text_of(*one.since));
  });
}

std::string json_of(std::string_view source, const std::vector<rule>& all) {
  return list_of(source, "rules", all, [](json::writer& to, const rule& one) {
    to.member_if("group", one.group);
    to.member("name", one.name);
    to.member("kind", one.kind);
    to.member("expression", one.expression);
    to.member_if("state", one.state);
    to.member_if("health", one.health);
    to.member_if("lastError", one.last_error);
    if (one.evaluation_seconds) to.key("evaluationSeconds").number(*one.evaluation_seconds);
    if (one.kind == "alerting") {
      to.key("for");
      write_seconds(to, one.wait);
    }
  });
}

std::string json_of(std::string_view source, const std::vector<metric>& all, bool are_more, series::duration interval) {
  std::string out;
  json::writer to(out);
  to.begin_object();
  to.member("source", source);
  to.key("interval");
  write_seconds(to, interval);
  to.key("metrics").begin_array();
  for (const auto& one : all) {
    to.begin_object();
    to.member("name", one.name);
    to.member("kind", series::name_of(one.of.kind));
    to.member_if("unit", one.of.unit);
    to.member_if("help", one.of.help);
    to.member("uri", metric_uri(source, one.name));
    to.end_object();
  }
  to.end_array();
  if (are_more) to.key("more").boolean(true);
  to.end_object();
  return out;
}

std::string mark_of(const std::vector<scraping::target_state>& all) {
  std::string out = "targets";
  for (const auto& one : all)
    out += '\n' + one.job + '\t' + one.instance + (one.is_up ? "\tup" : one.last_scrape ? "\tdown" : "\tnew");
  return out;
}

std::string mark_of(const std::vector<alert>& all) {
  std::string out = "alerts";
  for (const auto& one : all) out += '\n' + one.state + '\t' + series::to_text(series::identity{one.name, one.labels});
  return out;
}

std::string mark_of(const std::vector<rule>& all) {
  std::string out = "rules";
  for (const auto& one : all)
    out += '\n' + one.group + '\t' + one.name + '\t' + one.expression + '\t' + one.state + '\t' + one.health;
  return out;
}

}  // namespace hondana::metrics
