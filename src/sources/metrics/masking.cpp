/// Masks secrets in labels, help texts and errors, and rejects matchers on labels whose values hold secrets.
#include "sources/metrics/masking.hpp"

#include <algorithm>
#include <cstddef>

#include <hondana/clock.hpp>

#include "base/ascii/ascii.hpp"
#include "sources/metrics/series/data_model.hpp"
#include "sources/metrics/series/selector.hpp"
#include "text/secrets/redactor.hpp"
#include "text/secrets/secret_names.hpp"

namespace hondana::metrics {
namespace {

std::size_t mask_in(std::string& text) {
  auto safe = secrets::redact_text(text);
  if (safe == text) return 0;
  text = std::move(safe);
  return 1;
}

std::size_t mask_labels(std::vector<series::label>& all) {
  std::size_t count = 0;
  for (auto& [name, value] : all) {
    auto safe = masked_label(name, value);
    if (safe == value) continue;
    value = std::move(safe);
    ++count;
  }
  return count;
}

}  // namespace

bool tells_secret(std::string_view label_name) { return secrets::told_by(label_name) == secrets::telling::strong; }

std::string masked_label(std::string_view name, std::string_view value) {
  if (tells_secret(name)) return std::string(value.size(), '*');
  return secrets::redact_text(value);
}

bool holds_secret(std::string_view name, std::string_view value) { return masked_label(name, value) != value; }

std::size_t mask(series::identity& of) { return mask_labels(of.labels); }

std::size_t mask(series::metadata& of) { return mask_in(of.help); }

std::size_t mask(range_answer& all) {
  std::size_t count = mask(all.of);
  for (auto& one : all.series) count += mask(one.of);
  for (auto& one : all.warnings) count += mask_in(one);
  return count;
}

std::size_t mask(alert& of) {
  std::size_t count = mask_labels(of.labels) + mask_in(of.expression);
  for (auto& [name, value] : of.annotations) count += mask_in(value);
  return count;
}

std::size_t mask(scraping::target_state& of) { return mask_in(of.url) + mask_in(of.last_error) + mask_in(of.instance); }

std::size_t mask(rule& of) { return mask_in(of.expression) + mask_in(of.last_error); }

namespace {

bool is_in_name(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

}  // namespace

result<std::set<std::string, std::less<>>> labels_in(std::string_view promql) {
  std::set<std::string, std::less<>> out;
  const auto add = [&](std::string_view name) {
    // Newer Prometheus versions allow any text as a label name.
    if (series::is_label_name(name) || tells_secret(name)) out.emplace(name);
  };
  std::size_t depth = 0;
  bool is_value = false;  // inside braces, after the relation of a matcher
  for (std::size_t at = 0; at < promql.size();) {
    const char c = promql[at];
    if (ascii::is_json_space(c)) {
      ++at;
    } else if (c == '#') {
      at = std::min(promql.find_first_of("\r\n", at), promql.size());
    } else if (c == '"' || c == '\'' || c == '`') {
      const auto text = series::read_quoted(promql, at);
      if (!text) return fail(errc::invalid_argument, "promql, " + text.error().public_text);
      if (!is_value) add(text->value);
      is_value = false;
      at = text->end;
    } else if (is_in_name(c)) {
      const auto begin = at;
      while (at < promql.size() && is_in_name(promql[at])) ++at;
      if (depth > 0) add(promql.substr(begin, at - begin));
      is_value = false;
    } else {
      if (c == '{') ++depth;
      if (c == '}' && depth > 0) --depth;
      is_value = depth > 0 && (c == '=' || c == '~');
      ++at;
    }
  }
  return out;
}

namespace {

constexpr std::chrono::seconds remembered{60};
constexpr std::size_t most_remembered = 1000;

}  // namespace

result<bool> secret_labels::has_secrets(const std::string& metric, const std::string& label, const call& by) {
  if (tells_secret(label)) return true;
  const auto now = monotonic_clock::now();
  const std::pair key(metric, label);
  {
    const std::lock_guard lock(mutex_);
    const auto found = known_.find(key);
    if (found != known_.end() && found->second.until > now) return found->second.has_secrets;
  }
  const auto values = from_->label_values({metric, {}}, label, {}, by);
  if (!values) return tl::unexpected(values.error());
  // If the list of values may be incomplete, the missing ones may have secrets.
  const bool has_some = values->size() >= most_label_values ||
                        std::any_of(values->begin(), values->end(), [&](const auto& one) { return holds_secret(label, one); });
  const std::lock_guard lock(mutex_);
  if (known_.size() >= most_remembered) known_.clear();
  known_[key] = {has_some, now + remembered};
  return has_some;
}

result<void> secret_labels::check(const std::string& metric, const std::vector<series::matcher>& matchers, const call& by) {
  for (const auto& one : matchers) {
    HONDANA_TRY(const auto has_some, has_secrets(metric, one.label_name(), by));
    if (has_some)
      return fail(errc::invalid_argument,
                  "match: the label " + one.label_name() +
                      " contains secrets, which are masked, so it cannot be matched. Match other labels.");
  }
  return {};
}

result<bool> secret_labels::is_there(const std::string& label, const call& by) {
  const auto now = monotonic_clock::now();
  {
    const std::lock_guard lock(mutex_);
    if (names_.until > now) return names_.all.contains(label);
  }
  HONDANA_TRY(const auto all, from_->label_names({}, by));
  const std::lock_guard lock(mutex_);
  names_ = {{all.begin(), all.end()}, now + remembered};
  return names_.all.contains(label);
}

result<void> secret_labels::check_query(std::string_view promql, const call& by) {
  const auto refuse = [](const std::string& label) {
    return fail(errc::invalid_argument, "promql: the label " + label +
                                            " contains secrets, which are masked, so expressions cannot use it. Leave it out.");
  };
  const auto all = labels_in(promql);
  if (!all) return tl::unexpected(all.error());
  for (const auto& label : *all)
    if (tells_secret(label)) return refuse(label);
  for (const auto& label : *all) {
    HONDANA_TRY(const auto there, is_there(label, by));
    if (!there) continue;
    HONDANA_TRY(const auto has_some, has_secrets({}, label, by));
    if (has_some) return refuse(label);
  }
  return {};
}

}  // namespace hondana::metrics
