/// Naming the figures of pools.
#include "base/executor/pool_figures.hpp"

#include <array>

namespace hondana::executor {
namespace {

std::shared_ptr<const counters::part> gauge(std::string_view name, std::string_view help, const std::string& pool,
                                            const std::function<pool_counts()>& now, std::size_t pool_counts::* which) {
  return counters::asked({name, counters::kind::gauge, "", help}, [pool, now, which](const counters::part::teller& to) {
    const std::array labels{counters::label{"pool", pool}};
    to("", labels, static_cast<double>(now().*which));
  });
}

}  // namespace

pool_figures::pool_figures(const std::string& name, const std::function<pool_counts()>& now)
    : waited(counters::times::make(
          {"hondana_pool_wait_seconds", counters::kind::histogram, "seconds", "Time that jobs wait for a thread of a pool."},
          {{"pool", {name}}})),
      rejected(
          counters::sums::make({"hondana_pool_rejected", counters::kind::counter, "", "Jobs that a pool rejected, by reason."},
                               {{"pool", {name}}, {"reason", {"full", "callers_share", "stuck", "closed", "no_thread"}}})),
      gauges{gauge("hondana_pool_threads", "Maximum number of threads of a pool.", name, now, &pool_counts::threads),
             gauge("hondana_pool_running", "Jobs that are running in a pool.", name, now, &pool_counts::running),
             gauge("hondana_pool_waiting", "Jobs that are waiting for a thread of a pool.", name, now, &pool_counts::waiting)} {
}

}  // namespace hondana::executor
