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

std::size_t mask_text(std::string& text) {
  auto safe = secrets::redact_text(text);
  if (safe == text) return 0;
  text = std::move(safe);
  return 1;
}

std::size_t mask_labels(std::vector<series::label>& labels) {
  std::size_t count = 0;
  for (auto& [name, value] : labels) {
    auto safe = masked_label(name, value);
    if (safe == value) continue;
    value = std::move(safe);
    ++count;
  }
  return count;
}

}  // namespace

bool is_secret_name(std::string_view label_name) { return secrets::classify_name(label_name) == secrets::sensitivity::strong; }

std::string masked_label(std::string_view name, std::string_view value) {
  if (is_secret_name(name)) return std::string(value.size(), '*');
  return secrets::redact_text(value);
}

bool has_secret(std::string_view name, std::string_view value) { return masked_label(name, value) != value; }

std::size_t mask(series::identity& identity) { return mask_labels(identity.labels); }

std::size_t mask(series::metadata& metadata) { return mask_text(metadata.help); }

std::size_t mask(range_answer& answer) {
  std::size_t count = mask(answer.metadata);
  for (auto& series : answer.series) count += mask(series.id);
  for (auto& warning : answer.warnings) count += mask_text(warning);
  return count;
}

std::size_t mask(alert& alert) {
  std::size_t count = mask_labels(alert.labels) + mask_text(alert.expression);
  for (auto& [name, value] : alert.annotations) count += mask_text(value);
  return count;
}

std::size_t mask(scraping::target_state& target) {
  return mask_text(target.url) + mask_text(target.last_error) + mask_text(target.instance);
}

std::size_t mask(rule& rule) { return mask_text(rule.expression) + mask_text(rule.last_error); }

namespace {

bool is_name_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

}  // namespace

result<std::set<std::string, std::less<>>> extract_labels(std::string_view promql) {
  std::set<std::string, std::less<>> out;
  const auto add = [&](std::string_view name) {
    // Newer Prometheus versions allow any text as a label name.
    if (series::is_label_name(name) || is_secret_name(name)) out.emplace(name);
  };
  std::size_t depth = 0;
  bool is_value = false;  // inside braces, after the operator of a matcher
  for (std::size_t position = 0; position < promql.size();) {
    const char c = promql[position];
    if (ascii::is_json_space(c)) {
      ++position;
    } else if (c == '#') {
      position = std::min(promql.find_first_of("\r\n", position), promql.size());
    } else if (c == '"' || c == '\'' || c == '`') {
      const auto text = series::read_quoted(promql, position);
      if (!text) return fail(errc::invalid_argument, "promql, " + text.error().public_text);
      if (!is_value) add(text->value);
      is_value = false;
      position = text->end;
    } else if (is_name_char(c)) {
      const auto begin = position;
      while (position < promql.size() && is_name_char(promql[position])) ++position;
      if (depth > 0) add(promql.substr(begin, position - begin));
      is_value = false;
    } else {
      if (c == '{') ++depth;
      if (c == '}' && depth > 0) --depth;
      is_value = depth > 0 && (c == '=' || c == '~');
      ++position;
    }
  }
  return out;
}

namespace {

constexpr std::chrono::seconds cache_ttl{60};
constexpr std::size_t max_cached_labels = 1000;

}  // namespace

result<bool> secret_labels::has_secrets(const std::string& metric, const std::string& label, const request_context& context) {
  if (is_secret_name(label)) return true;
  const auto now = monotonic_clock::now();
  const std::pair key(metric, label);
  {
    const std::lock_guard lock(mutex_);
    const auto cached = labels_.find(key);
    if (cached != labels_.end() && cached->second.expires_at > now) return cached->second.has_secrets;
  }
  const auto values = backend_->label_values({metric, {}}, label, {}, context);
  if (!values) return tl::unexpected(values.error());
  // If the list of values may be incomplete, the missing ones may have secrets.
  const bool has_some =
      values->size() >= max_label_values ||
      std::any_of(values->begin(), values->end(), [&](const auto& value) { return has_secret(label, value); });
  const std::lock_guard lock(mutex_);
  if (labels_.size() >= max_cached_labels) labels_.clear();
  labels_[key] = {has_some, now + cache_ttl};
  return has_some;
}

result<void> secret_labels::check(const std::string& metric, const std::vector<series::matcher>& matchers,
                                  const request_context& context) {
  for (const auto& matcher : matchers) {
    HONDANA_TRY(const auto has_some, has_secrets(metric, matcher.label_name(), context));
    if (has_some)
      return fail(errc::invalid_argument,
                  "match: the label " + matcher.label_name() +
                      " contains secrets, which are masked, so it cannot be matched. Match other labels.");
  }
  return {};
}

result<bool> secret_labels::has_label(const std::string& label, const request_context& context) {
  const auto now = monotonic_clock::now();
  {
    const std::lock_guard lock(mutex_);
    if (names_.expires_at > now) return names_.names.contains(label);
  }
  HONDANA_TRY(const auto names, backend_->label_names({}, context));
  const std::lock_guard lock(mutex_);
  names_ = {{names.begin(), names.end()}, now + cache_ttl};
  return names_.names.contains(label);
}

result<void> secret_labels::check_query(std::string_view promql, const request_context& context) {
  const auto reject = [](const std::string& label) {
    return fail(errc::invalid_argument, "promql: the label " + label +
                                            " contains secrets, which are masked, so expressions cannot use it. Leave it out.");
  };
  const auto labels = extract_labels(promql);
  if (!labels) return tl::unexpected(labels.error());
  for (const auto& label : *labels)
    if (is_secret_name(label)) return reject(label);
  for (const auto& label : *labels) {
    HONDANA_TRY(const auto exists, has_label(label, context));
    if (!exists) continue;
    HONDANA_TRY(const auto has_some, has_secrets({}, label, context));
    if (has_some) return reject(label);
  }
  return {};
}

}  // namespace hondana::metrics
