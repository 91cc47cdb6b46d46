/// What clocks show somewhere.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "sources/metrics/charts/drawing_library.hpp"
#include "sources/metrics/series/sample.hpp"

namespace hondana::charts {

/// Threads: any.
class zone {
 public:
  /// As GLib reads the host's zone files. An empty name is UTC. What is unknown is UTC, too, and says so in `text`.
  zone(const drawing_library& with, std::string_view name);

  /// Milliseconds east of Greenwich.
  [[nodiscard]] series::duration offset_at(series::instant at) const noexcept;
  /// When clocks showed this, in milliseconds as if it were UTC; of the two times of an hour that comes twice, the first; of an
  /// hour that is left out, what it would have been.
  [[nodiscard]] series::instant instant_at(series::instant shown) const noexcept;
  /// "UTC", "Asia/Tokyo (UTC+09:00)", "Europe/Berlin (UTC+02:00, +01:00)", "UTC (unknown time zone Mars/Olympus)"; the offsets
  /// are those of both ends.
  [[nodiscard]] std::string text(series::instant start, series::instant end) const;

 private:
  struct unref {
    const drawing_library* with;
    void operator()(GTimeZone* of) const noexcept { with->time_zone_unref(of); }
  };

  const drawing_library* with_;
  std::string name_;
  std::unique_ptr<GTimeZone, unref> rules_{};
};

/// "2026-11-24 09:30", with seconds and thousandths where they are not zero.
[[nodiscard]] std::string instant_text(series::instant at, const zone& in);

}  // namespace hondana::charts
