/// Where the clocks stood that wrote times without an offset.
#pragma once

#include <optional>
#include <string_view>

#include "sources/logs/records/query.hpp"

namespace hondana::records {

/// A time as a calendar and a clock show it.
struct civil {
  int year = 1970;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int micros = 0;
};

/// Whether there is such a day and time; leap seconds are.
[[nodiscard]] bool is_sound(const civil& at) noexcept;
/// As in UTC.
[[nodiscard]] instant instant_of(const civil& at) noexcept;

/// The host's local time, or a fixed offset. Threads: any.
class zone {
 public:
  zone() = default;
  /// Minutes east of Greenwich.
  explicit zone(int minutes) noexcept : minutes_(minutes) {}
  /// "local", "UTC", "Z", "+09:00", "-0330", "+9".
  [[nodiscard]] static std::optional<zone> named(std::string_view name) noexcept;
  /// When clocks there showed this; of the two times of an hour that comes twice, either.
  [[nodiscard]] instant instant_at(const civil& shown) const noexcept;

 private:
  std::optional<int> minutes_;
};

/// "Z", "+hh:mm", "+hhmm", "+hh" at the front of a text: minutes east and how long it was.
struct offset_read {
  int minutes = 0;
  std::size_t size = 0;
};
[[nodiscard]] std::optional<offset_read> offset_at_front(std::string_view text) noexcept;

}  // namespace hondana::records
