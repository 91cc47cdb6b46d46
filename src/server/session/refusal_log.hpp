/// Who was refused, for the operator's log: a line each, and not a flood of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/clock.hpp>

namespace hondana::session {

/// Threads: any.
class refusal_log {
 public:
  using clock = monotonic_clock;
  /// Lines at once; after that one a second.
  static constexpr std::size_t at_once = 20;

  /// The line to write, without an end; nothing when there were too many lately. The next one says how many were left out.
  /// `address`: empty where there is none. `identity`: empty where it is not known. Neither it nor `why` may hold a token.
  [[nodiscard]] std::optional<std::string> line(int status, std::string_view address, std::string_view identity,
                                                std::string_view why, clock::time_point now = clock::now());

 private:
  std::mutex mutex_;
  std::size_t left_ = at_once;
  clock::time_point filled_{};
  std::size_t left_out_ = 0;
};

}  // namespace hondana::session
