/// The interface of the backends that metrics come from: the embedded store, or a Prometheus server.
#include "sources/metrics/backend.hpp"

#include <chrono>

namespace hondana::metrics {

result<std::optional<series::instant>> backend::newest_sample_time(const series::selector& selector,
                                                                   const request_context& context) {
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch());
  const auto step = interval();
  range_request request;
  request.selector = selector;
  request.aggregation.time = series::over_time::count;
  request.aggregation.window = step;
  request.range = {now.count() / step * step - 4 * step, now.count() / step * step, step};
  const auto answer = range(request, context);
  if (!answer) return tl::unexpected(answer.error());
  std::optional<series::instant> last;
  for (const auto& series : answer->series)
    for (const auto& sample : series.samples)
      if (sample.value > 0 && (!last || sample.time > *last)) last = sample.time;
  return last;
}

}  // namespace hondana::metrics
