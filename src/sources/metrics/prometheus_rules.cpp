/// Reads alerts and rules.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sources/metrics/prometheus_answers.hpp"
#include "sources/metrics/prometheus_facts.hpp"

namespace hondana::metrics {
namespace {

constexpr std::size_t longest_text = 4096;
constexpr std::size_t most_texts = 64;

using texts = std::vector<std::pair<std::string, std::string>>;

/// The members of an object of texts; without it none.
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

/// Takes a rule and its alerts, as far as there is room.
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

}  // namespace hondana::metrics
