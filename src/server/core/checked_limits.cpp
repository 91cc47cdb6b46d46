/// What limits may be.
#include <cmath>
#include <string>
#include <string_view>

#include <hondana/limits.hpp>

#include "server/gate/request_names.hpp"

namespace hondana::inline v0 {
namespace {

constexpr std::chrono::hours longest_time{24};
constexpr std::size_t most_threads = 1024;

tl::unexpected<failure> refuse(const std::string& member, const std::string& why) {
  return fail(errc::invalid_argument, "server_limits::" + member + ": " + why);
}

bool is_amount(double one) { return std::isfinite(one) && one >= 0; }

result<void> check_rates(const rates& all, const std::string& member) {
  for (const auto& [name, one] : {std::pair<const char*, const rate&>{"requests", all.requests},
                                  {"bytes", all.bytes},
                                  {"completions", all.completions}}) {
    if (is_amount(one.per_second) && is_amount(one.burst)) continue;
    return refuse(member + '.' + name, "expected numbers of at least 0; 0 per second means no limit");
  }
  return {};
}

result<void> check_time(std::chrono::milliseconds one, const std::string& member) {
  if (one.count() > 0 && one <= longest_time) return {};
  return refuse(member, "expected a time of up to a day, not " + std::to_string(one.count()) + " ms");
}

}  // namespace

result<void> check(const server_limits& what) {
  HONDANA_TRY(check_rates(what.per_identity, "per_identity"));
  HONDANA_TRY(check_rates(what.per_address, "per_address"));
  if (what.callers == 0) return refuse("callers", "expected 1 or more");
  HONDANA_TRY(check_time(what.longest_call, "longest_call"));
  for (const auto& [method, time] : what.deadlines) {
    if (!gate::is_method(method)) {
      return refuse("deadlines",
                    "\"" + method + "\" is not a method that can have a deadline. Use, for example, resources/read.");
    }
    HONDANA_TRY(check_time(time, "deadlines[\"" + method + "\"]"));
  }
  for (const auto& [of, one] : what.sources) {
    if (one.concurrency > most_threads) {
      return refuse("sources", "a source can have at most " + std::to_string(most_threads) + " calls at once");
    }
    if (one.deadline.count() == 0) continue;
    HONDANA_TRY(check_time(one.deadline, "sources"));
  }
  return {};
}

}  // namespace hondana::inline v0
