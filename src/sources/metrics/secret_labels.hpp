/// Labels that nobody may match, since that would tell their secrets bit by bit.
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
#include "sources/metrics/series/selector.hpp"

namespace hondana::metrics {

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
