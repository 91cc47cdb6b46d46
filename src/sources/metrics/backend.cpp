/// The interface of the backends that metrics come from: the embedded store, or a Prometheus server.
#include "sources/metrics/backend.hpp"

#include <chrono>

namespace hondana::metrics {

result<std::optional<series::instant>> backend::newest(const series::selector& of, const call& by) {
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
  const auto step = interval();
  range_request asked;
  asked.which = of;
  asked.how.time = series::over_time::count;
  asked.how.window = step;
  asked.at = {now.count() / step * step - 4 * step, now.count() / step * step, step};
  const auto got = range(asked, by);
  if (!got) return tl::unexpected(got.error());
  std::optional<series::instant> last;
  for (const auto& one : got->series)
    for (const auto& each : one.samples)
      if (each.value > 0 && (!last || each.at > *last)) last = each.at;
  return last;
}

}  // namespace hondana::metrics
