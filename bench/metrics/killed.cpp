/// Writing children, and looking at what they leave.
#include "killed.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "../process/child.hpp"
#include "sources/metrics/samples/store.hpp"

namespace metrics_bench {
namespace {

using namespace hondana;
using steady = std::chrono::steady_clock;

constexpr std::size_t series_count = 40;
constexpr series::instant first_instant = 1'769'860'800'000;
constexpr series::duration between = 1000;

double value_of(std::uint64_t number, std::size_t which) {
  return which % 4 == 0 ? 1.0 / static_cast<double>(number + which + 1) : static_cast<double>(number * (which + 1));
}

series::identity series_of(std::size_t which) { return {"killed", {{"which", std::to_string(which)}}}; }

std::unique_ptr<samples::store> opened(const std::string& path, int& damaged) {
  samples::store_options how;
  how.path = path;
  // Memory is brought to its final form, synced and taken away all the time, so that it is killed in the midst of that, too.
  how.sync_interval = std::chrono::milliseconds(10);
  how.log = [&damaged](std::string_view line) { damaged += line.find("damaged") != std::string_view::npos ? 1 : 0; };
  how.clock = [] { return first_instant + 1000 * series::duration{86'400'000}; };
  auto made = samples::store::open(how);
  if (!made) throw std::runtime_error(made.error().public_text + " (" + made.error().private_text + ')');
  return std::move(*made);
}

/// Batches from `number` on, until it is killed.
void append_for_ever(const std::string& path, std::uint64_t number, int out) {
  int damaged = 0;
  const auto into = opened(path, damaged);
  samples::batch what;
  for (std::size_t i = 0; i < series_count; ++i) what.entries.push_back({series_of(i), {}});
  for (;; ++number) {
    for (std::size_t i = 0; i < series_count; ++i)
      what.entries[i].sample = {first_instant + static_cast<series::instant>(number) * between, value_of(number, i)};
    if (const auto done = into->append(what); !done) throw std::runtime_error(done.error().public_text);
    if (::write(out, &number, sizeof number) != sizeof number) throw std::runtime_error("nobody listens");
  }
}

struct left {
  std::uint64_t batches = 0;
  std::uint64_t partial = 0;
};

/// How many batches there are, from number `from` on.
left look_at(const samples::store& what, std::uint64_t from) {
  samples::query_limits all;
  all.max_samples = 100'000'000;
  const auto got = what.read({"killed", {}}, first_instant + static_cast<series::instant>(from) * between,
                             first_instant + 900 * series::duration{86'400'000}, all);
  if (!got) throw std::runtime_error(got.error().public_text);
  left out;
  std::vector<std::size_t> counts;
  for (std::size_t i = 0; i < series_count; ++i) {
    const auto who = series_of(i);
    const auto found = std::find_if(got->begin(), got->end(), [&](const auto& one) { return one.id == who; });
    counts.push_back(found == got->end() ? 0 : found->samples.size());
    for (std::size_t j = 0; j < counts.back(); ++j) {
      const auto number = from + j;
      const auto& sample = found->samples[j];
      const bool is_right =
          sample.time == first_instant + static_cast<series::instant>(number) * between && sample.value == value_of(number, i);
      out.partial += is_right ? 0 : 1;
    }
  }
  const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
  out.partial += *most - *least;
  out.batches = *least;
  return out;
}

}  // namespace

kills kill_again_and_again(const std::string& path, int times) {
  kills out;
  std::mt19937_64 draw(1);
  std::uint64_t next = 0;  // the number of the first batch of the next child
  std::unique_ptr<samples::store> kept;
  for (; out.times < times; ++out.times) {
    kept.reset();  // and with it all threads, before there is another process
    int ends[2];
    if (::pipe(ends) != 0) bench::fail("pipe");
    const auto writer = ::fork();
    if (writer < 0) bench::fail("fork");
    if (writer == 0) {
      ::close(ends[0]);
      try {
        append_for_ever(path, next, ends[1]);
      } catch (const std::exception& why) {
        std::fprintf(stderr, "metrics_bench: %s\n", why.what());
      }
      ::_exit(1);
    }
    ::close(ends[1]);
    // The moment is drawn; before the first word there is nothing to lose, and that happens, too.
    std::this_thread::sleep_for(std::chrono::microseconds(draw() % 150'000));
    ::kill(writer, SIGKILL);
    ::waitpid(writer, nullptr, 0);
    std::uint64_t told = 0, number = 0;
    while (::read(ends[0], &number, sizeof number) == sizeof number) {
      if (number != next + told) throw std::runtime_error("a child has told something else");
      ++told;
    }
    ::close(ends[0]);
    const auto begin = steady::now();
    kept = opened(path, out.set_aside);
    out.slowest_open = std::max(out.slowest_open, std::chrono::duration<double, std::milli>(steady::now() - begin).count());
    const auto there = look_at(*kept, next);
    out.acknowledged += told;
    out.lost += told > there.batches ? told - there.batches : 0;
    out.more += there.batches > told ? there.batches - told : 0;
    out.partial += there.partial;
    next += there.batches;
  }
  const auto whole = look_at(*kept, 0);
  out.partial += whole.partial;
  if (whole.batches != next) out.lost += next - whole.batches;
  out.samples = kept->statistics().samples;
  return out;
}

}  // namespace metrics_bench
