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

/// The value of a label with asterisks over the secrets in it; all of it where the label's name says that it is one.
[[nodiscard]] std::string masked_label(std::string_view name, std::string_view value);
[[nodiscard]] bool holds_secret(std::string_view name, std::string_view value);
/// Whether the name alone says so.
[[nodiscard]] bool tells_secret(std::string_view label_name);

/// Masks in place. Returns how many values had secrets in them.
std::size_t mask(series::identity& of);
std::size_t mask(series::metadata& of);
std::size_t mask(range_answer& all);
std::size_t mask(alert& of);
std::size_t mask(scraping::target_state& of);
std::size_t mask(rule& of);

/// Labels that are matched within braces, and every quoted text that a label may be called like, but for the values that
/// matchers have: `label_replace` and its like name labels so. Not those of `by`, `without`, `on` and `ignoring`, which are in
/// the answer and masked there. Errors: invalid_argument for a quoted text that cannot be read, since what is behind it cannot
/// either. Linear time.
[[nodiscard]] result<std::set<std::string, std::less<>>> labels_in(std::string_view promql);

/// Remembers for a minute, of 1000 labels at a time. Threads: any.
class secret_labels {
 public:
  explicit secret_labels(std::shared_ptr<backend> from) : from_(std::move(from)) {}

  /// Errors: invalid_argument for a matcher of a label whose name says that it is a secret, or some of whose values have one in
  /// them; those of the source.
  [[nodiscard]] result<void> check(const std::string& metric, const std::vector<series::matcher>& matchers, const call& by);
  /// The same for an expression of PromQL, and labels of any metric; invalid_argument for one that cannot be read.
  [[nodiscard]] result<void> check_query(std::string_view promql, const call& by);
  /// Whether a label of a metric is such. Empty name: of any metric. Errors: of the source.
  [[nodiscard]] result<bool> has_secrets(const std::string& metric, const std::string& label, const call& by);

 private:
  struct known {
    bool has_secrets = false;
    std::chrono::steady_clock::time_point until{};
  };
  struct known_names {
    std::set<std::string, std::less<>> all{};
    std::chrono::steady_clock::time_point until{};
  };
  /// Whether any series has it.
  [[nodiscard]] result<bool> is_there(const std::string& label, const call& by);

  const std::shared_ptr<backend> from_;
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, known> known_;
  known_names names_;
};

}  // namespace hondana::metrics
