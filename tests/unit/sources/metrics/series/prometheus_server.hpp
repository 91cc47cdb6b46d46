/// A Prometheus of a test's own, with samples from a text.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sources/metrics/series/data_model.hpp"

namespace hondana::series {

struct query_answer {
  std::string error{};  ///< Empty: there is none.
  std::vector<time_series> result{};
};

/// Runs `prometheus` on a free port of the loopback until it is destroyed; its data lies in a folder that goes with it.
class prometheus_server {
 public:
  /// `open_metrics`: made into blocks by `promtool`. Without the programs the test fails.
  explicit prometheus_server(const std::string& open_metrics);
  ~prometheus_server();
  prometheus_server(const prometheus_server&) = delete;
  prometheus_server& operator=(const prometheus_server&) = delete;

  [[nodiscard]] bool is_ready() const noexcept { return is_ready_; }
  /// A range query; `start` and `end` in milliseconds.
  [[nodiscard]] query_answer range(std::string_view promql, instant start, instant end, duration step) const;

 private:
  [[nodiscard]] std::string get(const std::string& target) const;

  std::string folder_;
  int port_ = 0;
  pid_t child_ = 0;
  int messages_ = -1;
  bool is_ready_ = false;
};

}  // namespace hondana::series
