/// Reading `[limits]`.
#include "sources/config/limit_settings.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "server/gate/request_names.hpp"
#include "sources/config/collector.hpp"

namespace hondana::config {
namespace {

constexpr double most_per_second = 1e9;
constexpr std::int64_t most_callers = 10'000'000;
constexpr std::int64_t most_calls = 1024;
constexpr std::int64_t most_waiting = 1'000'000;
constexpr std::int64_t longest_ms = 86'400'000;

/// A rate that is given alone has the burst that goes with it, and not that of the default.
void read_rate(section& from, const std::string& name, rate& into, collector& errors) {
  std::optional<double> given;
  errors.take(from.number(name, 0, most_per_second), given);
  if (given) into = {*given, 0};
  errors.take(from.number(name + "_burst", 0, most_per_second), into.burst);
}

void read_bytes(section& from, rate& into, collector& errors) {
  std::optional<std::uint64_t> given;
  errors.take(from.bytes("bytes"), given);
  if (given) into = {static_cast<double>(*given), 0};
  errors.take(from.bytes("bytes_burst"), into.burst);
}

void read_rates(section from, rates& into, collector& errors) {
  read_rate(from, "requests", into.requests, errors);
  read_bytes(from, into.bytes, errors);
  read_rate(from, "completions", into.completions, errors);
  errors.check(from.finish());
}

}  // namespace

result<server_limits> read_limits(section from) {
  server_limits made;
  collector errors;
  auto longest = made.longest_call.count();
  errors.take(from.integer("longest_call_ms", 1, longest_ms), longest);
  made.longest_call = std::chrono::milliseconds(longest);
  errors.take(from.integer("callers", 1, most_callers), made.callers);
  errors.take(from.boolean("count_loopback"), made.count_loopback);
  std::optional<section> given;
  errors.take(from.subsection("identity"), given);
  if (given) read_rates(std::move(*given), made.per_identity, errors);
  given.reset();
  errors.take(from.subsection("address"), given);
  if (given) read_rates(std::move(*given), made.per_address, errors);
  given.reset();
  errors.take(from.subsection("deadlines_ms"), given);
  if (given) {
    auto all = given->integers_by_name(1, longest_ms);
    if (!all) {
      errors.note(std::move(all.error()));
    } else {
      for (auto& [method, ms] : *all) {
        if (!gate::is_method(method)) {
          errors.note(given->wrong(method, "is not a method with a deadline. Write for example \"resources/read\""));
        }
        made.deadlines.insert_or_assign(std::move(method), std::chrono::milliseconds(ms));
      }
    }
  }
  errors.check(from.finish());
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return made;
}

result<source_limits> read_source_limits(section& from) {
  source_limits made;
  collector errors;
  errors.take(from.integer("concurrency", 1, most_calls), made.concurrency);
  errors.take(from.integer("waiting", 1, most_waiting), made.waiting);
  errors.take(from.integer("per_caller", 1, most_calls), made.per_caller);
  std::int64_t deadline = 0;
  errors.take(from.integer("deadline_ms", 1, longest_ms), deadline);
  made.deadline = std::chrono::milliseconds(deadline);
  if (errors.first()) return tl::unexpected(std::move(*errors.first()));
  return made;
}

}  // namespace hondana::config
