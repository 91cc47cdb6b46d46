/// A line inside the process.
#include "transcripts/line.hpp"

#include <future>

#include <hondana/clock.hpp>
#include <hondana/server.hpp>

#include "transcripts/servers.hpp"

namespace transcripts {
namespace {

class memory_line final : public line {
 public:
  memory_line(std::unique_ptr<hondana::manual_clock> clock, hondana::server&& server)
      : clock_(std::move(clock)), server_(std::move(server)), peer_(server_) {}

  tl::expected<void, std::string> send(const sending& what, time_point) override {
    peer_.send(what.bytes);
    return {};
  }
  ~memory_line() override {
    if (next_.valid()) clock_->advance(2 * never);
  }
  std::optional<std::string> receive(time_point deadline, bool passes_time) override {
    while (!comes()) {
      if (passes_time) clock_->advance(time_step);
      if (std::chrono::steady_clock::now() >= deadline) {
        clock_->advance(2 * never);
        break;
      }
    }
    return next_.get();
  }
  void pass_time(std::chrono::milliseconds most) override {
    for (; most > most.zero(); most -= time_step) {
      clock_->advance(time_step);
      static_cast<void>(comes());
    }
  }
  tl::expected<void, std::string> send_end(std::string_view, time_point) override {
    return tl::unexpected(std::string("input in memory has no end"));
  }
  tl::expected<std::vector<std::string>, std::string> finish(time_point) override {
    std::vector<std::string> rest;
    if (next_.valid()) {
      clock_->advance(2 * never);
      if (auto one = next_.get()) rest.push_back(std::move(*one));
    }
    while (auto more = peer_.receive(hondana::monotonic_clock::now())) rest.push_back(std::move(*more));
    return rest;
  }

 private:
  static constexpr std::chrono::hours never{1'000};

  /// Whether the next message comes within a moment.
  bool comes() {
    if (!next_.valid())
      next_ = std::async(std::launch::async, [this] { return peer_.receive(hondana::monotonic_clock::now() + never); });
    return next_.wait_for(step_pause) == std::future_status::ready;
  }

  std::unique_ptr<hondana::manual_clock> clock_;
  hondana::server server_;
  hondana::memory_peer peer_;
  std::future<std::optional<std::string>> next_;  // message
};

}  // namespace

tl::expected<std::unique_ptr<line>, std::string> open_memory_line(const std::string& server) {
  auto clock = std::make_unique<hondana::manual_clock>();
  auto made = make_server(server);
  if (!made) return tl::unexpected(made.error());
  return std::make_unique<memory_line>(std::move(clock), std::move(*made));
}

}  // namespace transcripts
