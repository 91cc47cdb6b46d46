/// Asks the HTTP API v1 of a Prometheus.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "sources/metrics/prometheus_answers.hpp"
#include "transport/endpoint/endpoint.hpp"

namespace hondana::metrics {

/// Threads: any. Errors: those of `backend` and broken_protocol; unsupported where the server has no such part.
class prometheus_api {
 public:
  using form = std::vector<std::pair<std::string, std::string>>;

  /// `most_bytes`: of one answer, unpacked.
  prometheus_api(std::shared_ptr<endpoint::endpoint> at, std::size_t most_bytes);

  /// `path` goes behind `/api/v1`. The trace of `by` goes with it.
  [[nodiscard]] result<prometheus_answer> get(std::string_view path, form query, const call& by) const;
  /// The form as body: expressions may be longer than URLs, and are in no log of URLs.
  [[nodiscard]] result<prometheus_answer> post(std::string_view path, form query, const call& by) const;

  [[nodiscard]] const endpoint::endpoint& at() const noexcept { return *at_; }
  /// "Prometheus at http://host:port".
  [[nodiscard]] const std::string& whose() const noexcept { return whose_; }
  /// What the last request that reached it, or could not, has told; empty: nothing is wrong.
  [[nodiscard]] std::string trouble() const;

 private:
  [[nodiscard]] result<prometheus_answer> ask(endpoint::request what, const call& by) const;
  [[nodiscard]] result<prometheus_answer> answered(endpoint::request what, const call& by) const;

  std::shared_ptr<endpoint::endpoint> at_;
  std::size_t most_bytes_;
  std::string whose_;
  mutable std::mutex mutex_;
  mutable std::string trouble_{};
};

}  // namespace hondana::metrics
