/// Growing values.
#include "made_values.hpp"

#include <array>
#include <cmath>
#include <cstdio>
#include <utility>

namespace metrics_bench {
namespace {

using hondana::series::kind;

constexpr std::array<manner, 20> in_a_set{manner::still,   manner::still,  manner::still,  manner::still,   manner::still,
                                          manner::still,   manner::bytes,  manner::bytes,  manner::bytes,   manner::bytes,
                                          manner::errors,  manner::errors, manner::errors, manner::seconds, manner::seconds,
                                          manner::seconds, manner::memory, manner::memory, manner::load,    manner::any};

struct described {
  const char* name;
  kind of;
};

described about(manner how) {
  switch (how) {
    case manner::still:
      return {"made_size_bytes", kind::gauge};
    case manner::bytes:
      return {"made_sent_bytes_total", kind::counter};
    case manner::errors:
      return {"made_errors_total", kind::counter};
    case manner::seconds:
      return {"made_cpu_seconds_total", kind::counter};
    case manner::memory:
      return {"made_memory_bytes", kind::gauge};
    case manner::load:
      return {"made_load", kind::gauge};
    default:
      return {"made_temperature_celsius", kind::gauge};
  }
}

}  // namespace

const std::vector<std::string>& made_names() {
  static const std::vector<std::string> all{"made_size_bytes",         "made_sent_bytes_total", "made_errors_total",
                                            "made_cpu_seconds_total",  "made_memory_bytes",     "made_load",
                                            "made_temperature_celsius"};
  return all;
}

made_values::made_values(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto how = in_a_set[i % in_a_set.size()];
    const auto [name, of] = about(how);
    manners_.push_back(how);
    now_.families[name] = {of, "", "Made up."};
    hondana::series::identity who{name,
                                  {{"device", "d" + std::to_string(i % in_a_set.size())},
                                   {"instance", "127.0.0.1:9100"},
                                   {"job", "made"},
                                   {"set", std::to_string(i / in_a_set.size())}}};
    const double first = how == manner::still    ? static_cast<double>(draw_() % 1'000'000) * 4096
                         : how == manner::memory ? static_cast<double>(draw_() % 1'000'000) * 4096
                         : how == manner::load   ? 1.5
                         : how == manner::any    ? 40
                                                 : static_cast<double>(draw_() % 100'000);
    now_.entries.push_back({std::move(who), {0, first}});
  }
}

double made_values::grown(manner how, double value) {
  const auto below = [&](std::uint64_t most) { return static_cast<double>(draw_() % most); };
  switch (how) {
    case manner::still:
      return value;
    case manner::bytes:
      return value + below(100'000);
    case manner::errors:
      return draw_() % 50 == 0 ? value + 1 : value;
    case manner::seconds:
      return (std::round(value * 100) + below(1500)) / 100;
    case manner::memory:
      return std::max(0.0, value + (below(2001) - 1000) * 4096);
    case manner::load:
      return std::max(0.0, std::round(value * 100 + below(21) - 10) / 100);
    default:
      return value + (below(1'000'001) / 1e6 - 0.5) * 1.618033988749895;
  }
}

const hondana::samples::batch& made_values::next(instant at) {
  for (std::size_t i = 0; i < manners_.size(); ++i) {
    auto& what = now_.entries[i].sample;
    what = {at, grown(manners_[i], what.value)};
  }
  return now_;
}

std::string made_values::exposed() const {
  std::string out;
  for (const auto& name : made_names()) {
    const auto& family = now_.families.at(name);
    out += "# HELP " + name + ' ' + family.help + "\n# TYPE " + name + ' ' +
           std::string(hondana::series::name_of(family.kind)) + '\n';
    for (const auto& one : now_.entries) {
      if (one.identity.name != name) continue;
      // The labels of the target come with the scrape.
      out += name + "{device=\"" + std::string(one.identity.value_of("device")) + "\",set=\"" +
             std::string(one.identity.value_of("set")) + "\"} " + hondana::series::format_number(one.sample.value) + '\n';
    }
  }
  return out;
}

}  // namespace metrics_bench
