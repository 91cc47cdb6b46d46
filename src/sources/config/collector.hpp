/// Reading a table in one line a key.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include <hondana/error.hpp>

#include "sources/config/section.hpp"

namespace hondana::config {

/// Collects the first error of a row of reads.
class collector {
 public:
  template <class Read, class To>
  void take(result<std::optional<Read>> from, To& into) {
    if (!from) {
      note(std::move(from.error()));
    } else if (*from) {
      if constexpr (std::is_same_v<To, std::optional<Read>>) {
        into = std::move(*from);
      } else {
        into = static_cast<To>(**from);
      }
    }
  }
  /// Milliseconds from 1 to an hour.
  void take_time(section& from, std::string_view key, std::chrono::milliseconds& into) {
    auto ms = into.count();
    take(from.integer(key, 1, 3'600'000), ms);
    into = std::chrono::milliseconds(ms);
  }
  void check(result<void> outcome) {
    if (!outcome) note(std::move(outcome.error()));
  }
  void note(failure why) {
    if (!first_) first_ = std::move(why);
  }
  [[nodiscard]] std::optional<failure>& first() noexcept { return first_; }

 private:
  std::optional<failure> first_;
};

}  // namespace hondana::config
