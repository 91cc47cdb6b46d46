/// Samples of one look, as they are gathered.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "sources/metrics/samples/store.hpp"

namespace hondana::host {

/// Threads: one at a time.
class gathering {
 public:
  static constexpr std::size_t most_samples = 50'000;

  gathering(series::instant now, samples::batch& into) noexcept : into_(into), now_(now) {}

  /// Names that no metric can have are left out, and what is beyond the cap. Label values are made UTF-8.
  void add(std::string_view name, series::kind of, std::string_view help, double value, std::vector<series::label> labels = {});
  void counter(std::string_view name, std::string_view help, double value, std::vector<series::label> labels = {}) {
    add(name, series::kind::counter, help, value, std::move(labels));
  }
  void gauge(std::string_view name, std::string_view help, double value, std::vector<series::label> labels = {}) {
    add(name, series::kind::gauge, help, value, std::move(labels));
  }
  [[nodiscard]] series::instant now() const noexcept { return now_; }

 private:
  samples::batch& into_;
  series::instant now_;
  std::size_t count_ = 0;
};

}  // namespace hondana::host
