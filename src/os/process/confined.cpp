/// Hearing a child until it ends, or ending it.
#include "os/process/confined.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <optional>
#include <utility>

#include <hondana/clock.hpp>

#include "os/disk/handle.hpp"
#include "os/process/starting.hpp"

namespace hondana::process {
namespace {

using clock = monotonic_clock;
constexpr std::size_t most_problems = 4096;
constexpr std::size_t piece_size = 64u << 10;
/// How often is looked where the kernel has no descriptor for what is waited for.
constexpr std::chrono::milliseconds without_descriptor{10};

/// Can be read once `stop` has been asked for.
class bell {
 public:
  explicit bell(const std::stop_token& stop)
      : rings_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)), when_(stop, [this] { ring(); }) {}
  [[nodiscard]] int get() const noexcept { return rings_.get(); }

 private:
  void ring() const noexcept {
    // It can only be full, and then it rings already.
    static_cast<void>(::eventfd_write(rings_.get(), 1));
  }
  disk::handle rings_;
  std::stop_callback<std::function<void()>> when_;
};

class hearing {
 public:
  hearing(child& of, const limits& most, const std::function<result<void>(std::string_view)>& hears)
      : child_(of), most_(most), hears_(hears), piece_(piece_size, '\0') {}

  [[nodiscard]] bool hears_output() const noexcept { return child_.output.is_open(); }
  [[nodiscard]] bool hears_problems() const noexcept { return child_.problems.is_open(); }

  /// One piece, or all that is there.
  result<void> take_output(bool all) {
    while (child_.output.is_open()) {
      const auto count = ::read(child_.output.get(), piece_.data(), piece_.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0 && errno == EAGAIN) return {};
      if (count <= 0) {
        child_.output = disk::handle();
        return {};
      }
      output_ += static_cast<std::uint64_t>(count);
      if (output_ > most_.output)
        return fail(errc::response_too_large,
                    "a document contains more text than the limit of " + std::to_string(most_.output) + " bytes");
      HONDANA_TRY(hears_(std::string_view(piece_.data(), static_cast<std::size_t>(count))));
      if (!all) return {};
    }
    return {};
  }

  void take_problems() {
    for (bool more = child_.problems.is_open(); more;) {
      const auto count = ::read(child_.problems.get(), piece_.data(), piece_.size());
      if (count < 0 && errno == EINTR) continue;
      more = count > 0;
      if (count == 0 || (count < 0 && errno != EAGAIN)) child_.problems = disk::handle();
      if (count <= 0) continue;
      const auto room = most_problems - std::min(most_problems, problems_.size());
      problems_.append(piece_, 0, std::min(room, static_cast<std::size_t>(count)));
    }
  }

  [[nodiscard]] std::string problems() {
    std::string line;
    bool ends_line = false;
    for (const char one : problems_) {
      if (one == '\n' || one == '\r') {
        ends_line = !line.empty();
        continue;
      }
      if (std::exchange(ends_line, false)) line += "; ";
      line += static_cast<unsigned char>(one) < 0x20 || one == 0x7f ? '?' : one;
    }
    return line;
  }

 private:
  child& child_;
  const limits& most_;
  const std::function<result<void>(std::string_view)>& hears_;
  std::string piece_;
  std::string problems_;
  std::uint64_t output_ = 0;
};

int time_to_poll(clock::time_point now, clock::time_point end, bool has_descriptor) {
  auto left = std::chrono::ceil<std::chrono::milliseconds>(end - now);
  left = std::clamp(left, std::chrono::milliseconds(0), std::chrono::milliseconds(60'000));
  if (!has_descriptor) left = std::min(left, without_descriptor);
  return static_cast<int>(left.count());
}

}  // namespace

result<ended> run_confined(const std::vector<std::string>& command, int input, const limits& most,
                           const std::function<result<void>(std::string_view)>& hears, const std::stop_token& stop,
                           clock::time_point until) {
  if (stop.stop_requested()) return fail(errc::cancelled, "the request for the document was cancelled");
  const bell rings(stop);
  HONDANA_TRY(auto started, child::start(command, input, most));
  const auto end = std::min(until, clock::now() + most.time);
  hearing all(started, most, hears);
  ended how;
  for (;;) {
    // Seen before its output is taken, so that all that it wrote is.
    const bool is_over = started.has_ended(how);
    HONDANA_TRY(all.take_output(is_over));
    all.take_problems();
    if (is_over) break;
    if (stop.stop_requested()) return fail(errc::cancelled, "the request for the document was cancelled");
    const auto now = clock::now();
    if (now >= end)
      return fail(errc::timed_out, "rendering a document timed out (limit: " + std::to_string(most.time.count()) +
                                       " ms, or the deadline of the request)");
    std::array<pollfd, 4> watched{{{all.hears_output() ? started.output.get() : -1, POLLIN, 0},
                                   {all.hears_problems() ? started.problems.get() : -1, POLLIN, 0},
                                   {started.ending(), POLLIN, 0},
                                   {rings.get(), POLLIN, 0}}};
    ::poll(watched.data(), watched.size(),
           monotonic_clock::poll_timeout(time_to_poll(now, end, started.ending() >= 0 && rings.get() >= 0)));
  }
  how.problems = all.problems();
  return how;
}

}  // namespace hondana::process
