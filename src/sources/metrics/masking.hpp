/// Masks secrets in labels, help texts and errors, and rejects matchers on labels whose values hold secrets.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/metrics/backend.hpp"
#include "sources/metrics/series/data_model.hpp"
#include "sources/metrics/series/selector.hpp"

namespace hondana::metrics {

/// Returns the value of a label with its secrets masked by asterisks. Masks all of it if `is_secret_name`.
[[nodiscard]] std::string masked_label(std::string_view name, std::string_view value);
/// Whether `masked_label` would change the value.
[[nodiscard]] bool has_secret(std::string_view name, std::string_view value);
/// Whether the name of a label shows that its values are secret.
[[nodiscard]] bool is_secret_name(std::string_view label_name);

// Each of these functions masks secrets in place, and returns the number of texts that had secrets.
std::size_t mask(series::identity& identity);
std::size_t mask(series::metadata& metadata);
std::size_t mask(range_answer& answer);
std::size_t mask(alert& alert);
std::size_t mask(scraping::target_state& target);
std::size_t mask(rule& rule);

/// Returns the names of the labels whose values an expression can test. These are the labels matched within braces, and every
/// quoted string that can be a label name, since functions such as `label_replace` take names as strings. Quoted values of
/// matchers are not included. Labels of `by`, `without`, `on` and `ignoring` are not included: they appear in the answer and
/// are masked there. Errors: invalid_argument for a malformed quoted string, since the rest cannot be parsed. Takes linear
/// time.
[[nodiscard]] result<std::set<std::string, std::less<>>> extract_labels(std::string_view promql);

/// Rejects expressions that could be used to guess secret values of labels. Caches what it knows about labels for a minute, for
/// up to 1000 labels. Threads: any.
class secret_labels {
 public:
  explicit secret_labels(std::shared_ptr<backend> backend) : backend_(std::move(backend)) {}

  /// Checks the matchers for a metric. Errors: invalid_argument if `has_secrets` of a matched label; those of the source.
  [[nodiscard]] result<void> check(const std::string& metric, const std::vector<series::matcher>& matchers,
                                   const request_context& context);
  /// Checks a PromQL expression, for the labels of any metric. Errors: as `check`, and those of `extract_labels`.
  [[nodiscard]] result<void> check_query(std::string_view promql, const request_context& context);
  /// Whether values of a label are or contain secrets, or are too many to know. `metric`: empty means any metric. Errors: those
  /// of the source.
  [[nodiscard]] result<bool> has_secrets(const std::string& metric, const std::string& label, const request_context& context);

 private:
  struct cached_label {
    bool has_secrets = false;
    std::chrono::steady_clock::time_point expires_at{};
  };
  struct cached_names {
    std::set<std::string, std::less<>> names{};
    std::chrono::steady_clock::time_point expires_at{};
  };
  /// Whether any series has the label. Errors: those of the source.
  [[nodiscard]] result<bool> has_label(const std::string& label, const request_context& context);

  const std::shared_ptr<backend> backend_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, cached_label> labels_;
  cached_names names_;  // of the labels of all series
};

}  // namespace hondana::metrics
