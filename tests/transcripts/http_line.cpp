/// A line over HTTP: every message is a POST on a connection of its own; a session also has a stream of its own.
#include "transcripts/line.hpp"

#include <poll.h>
#include <algorithm>
#include <deque>
#include <future>
#include <set>

#include <hondana/clock.hpp>
#include <hondana/server.hpp>

#include "transcripts/http_exchange.hpp"
#include "transcripts/servers.hpp"

namespace transcripts {
namespace {

using nothing_or = tl::expected<void, std::string>;

tl::unexpected<std::string> wrong(const std::string& what) { return tl::unexpected(what); }

class http_line final : public line {
 public:
  http_line(std::unique_ptr<hondana::manual_clock> clock, hondana::server&& server, bool bytewise)
      : clock_(std::move(clock)), server_(std::move(server)), bytewise_(bytewise) {}

  nothing_or listen() {
    hondana::http_options options;
    options.port = 0;
    // A clock that goes on faster than real time must not cut off what is still being sent.
    options.header_timeout = options.body_timeout = options.keep_alive_timeout = std::chrono::hours(24);
    auto service = hondana::http_service::start(server_, options);
    if (!service) return wrong(service.error().public_text);
    service_.emplace(std::move(*service));
    return {};
  }

  nothing_or send(const sending& what, time_point deadline) override {
    auto exchange = std::make_unique<http_exchange>(service_->port());
    auto asking =
        std::async(std::launch::async, [&] { return exchange->begin(head_of(what) + what.bytes, bytewise_, deadline); });
    while (asking.wait_for(step_pause) != std::future_status::ready) {
      if (what.passes_time) clock_->advance(time_step);
    }
    const auto begun = asking.get();
    if (!begun) return begun;
    status_ = exchange->status();
    if (exchange->session_id()) {
      if (what.bytes.find("\"initialize\"") == std::string::npos) return wrong("a session id that nobody asked for");
      session_id_ = exchange->session_id();
      standing_.reset();
    }
    if (auto taken = take(*exchange); !taken) return taken;
    if (exchange->is_open()) open_.push_back(std::move(exchange));
    return {};
  }

  std::optional<std::string> receive(time_point deadline, bool passes_time) override {
    while (messages_.empty()) {
      if (fault_ || !open_standing(deadline) || !wait(deadline, passes_time)) break;
    }
    if (messages_.empty()) return fault_;
    auto next = std::move(messages_.front());
    messages_.pop_front();
    return next;
  }

  void pass_time(std::chrono::milliseconds most) override {
    for (; most > most.zero(); most -= time_step) {
      clock_->advance(time_step);
      wait(std::chrono::steady_clock::now() + step_pause, false);
    }
  }
  std::optional<int> status() const override { return status_; }

  nothing_or send_end(std::string_view, time_point) override { return wrong("a POST has no end of its own"); }

  tl::expected<std::vector<std::string>, std::string> finish(time_point) override {
    if (fault_) return wrong(*fault_);
    return std::vector<std::string>(messages_.begin(), messages_.end());
  }

 private:
  std::string head_of(const sending& what) const {
    std::string head = what.method + " /mcp HTTP/1.1\r\n";
    bool names_session = false;
    for (const auto& [name, value] : what.headers) {
      names_session = names_session || name == "Mcp-Session-Id";
      head += name + ": " + value + "\r\n";
    }
    if (session_id_ && !names_session && !what.is_alone) head += "Mcp-Session-Id: " + *session_id_ + "\r\n";
    return head + "Host: 127.0.0.1:" + std::to_string(service_->port()) +
           "\r\nConnection: close\r\nContent-Length: " + std::to_string(what.bytes.size()) + "\r\n\r\n";
  }

  nothing_or take(http_exchange& from) {
    for (auto& one : from.take_messages()) messages_.push_back(std::move(one));
    for (auto& id : from.take_event_ids()) {
      if (!ids_.insert(id).second) return wrong("two events of this session have the id " + id);
    }
    return {};
  }

  /// What belongs to no request comes on a stream that the client asks for.
  bool open_standing(time_point deadline) {
    if (!session_id_ || (standing_ && standing_->is_open())) return true;
    standing_ = std::make_unique<http_exchange>(service_->port());
    const auto begun = standing_->begin(head_of({"", {{"Accept", "text/event-stream"}}, "GET"}), false, deadline);
    if (!begun || standing_->status() != 200) {
      fault_ = begun ? "the stream was refused with " + std::to_string(standing_->status()) : begun.error();
      return false;
    }
    return true;
  }

  /// Takes what comes next on any open stream; false when nothing does in time.
  bool wait(time_point deadline, bool passes_time) {
    std::vector<http_exchange*> streams;
    for (const auto& one : open_) streams.push_back(one.get());
    if (standing_) streams.push_back(standing_.get());
    std::vector<pollfd> ready;
    for (const auto* one : streams) ready.push_back({one->descriptor(), POLLIN, 0});
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (ready.empty() || left.count() <= 0) return false;
    const auto most = passes_time ? std::min(left, step_pause) : left;
    if (::poll(ready.data(), ready.size(), static_cast<int>(most.count())) <= 0) {
      if (passes_time) clock_->advance(time_step);
      return passes_time;
    }
    for (std::size_t i = 0; i < ready.size(); ++i) {
      if (ready[i].revents == 0) continue;
      auto arrived = streams[i]->take_arrived();
      if (arrived) arrived = take(*streams[i]);
      if (!arrived) {
        fault_ = arrived.error();
        return false;
      }
    }
    std::erase_if(open_, [](const auto& one) { return !one->is_open(); });
    return true;
  }

  std::unique_ptr<hondana::manual_clock> clock_;
  hondana::server server_;
  bool bytewise_;
  std::optional<hondana::http_service> service_;
  std::deque<std::string> messages_;
  std::vector<std::unique_ptr<http_exchange>> open_;  // answers that go on
  std::unique_ptr<http_exchange> standing_;
  std::optional<std::string> session_id_;
  std::set<std::string> ids_;  // of events
  std::optional<std::string> fault_;
  int status_ = 0;
};

}  // namespace

tl::expected<std::unique_ptr<line>, std::string> open_http_line(const std::string& server, bool bytewise) {
  auto clock = std::make_unique<hondana::manual_clock>();
  auto made = make_server(server);
  if (!made) return tl::unexpected(made.error());
  auto opened = std::make_unique<http_line>(std::move(clock), std::move(*made), bytewise);
  if (const auto listens = opened->listen(); !listens) return tl::unexpected(listens.error());
  return opened;
}

}  // namespace transcripts
