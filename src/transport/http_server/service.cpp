/// The HTTP server behind `hondana::http_service`: listens, and runs its event loops.
#include "transport/http_server/service.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <hondana/clock.hpp>
#include <hondana/server.hpp>

#include "base/counters/metrics.hpp"
#include "base/executor/thread_guards.hpp"
#include "os/disk/file_descriptor.hpp"
#include "os/reactor/reactor.hpp"
#include "server/core/core.hpp"
#include "transport/http_server/connection.hpp"
#include "transport/http_server/connection_limits.hpp"
#include "transport/http_server/io_loop.hpp"
#include "transport/http_server/limits.hpp"
#include "transport/http_server/listener.hpp"
#include "transport/http_server/status_pages.hpp"
#include "transport/tls/tls_session.hpp"

namespace hondana::transport::http_server {
namespace {

// Connections for reports have a limit of their own, so that many messages do not block them.
constexpr std::size_t admin_connections = 64;

// Limits for authentication that blocks, for example at an authorization server. They bound a flood of unknown tokens. A single
// network cannot use all of it.
constexpr executor::pool_limits asking{.threads = 4, .waiting = 256, .waiting_each = 32, .running_each = 2};

/// The processors that this process may use; a container or taskset may allow fewer than the machine has.
unsigned usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return std::thread::hardware_concurrency();
  return static_cast<unsigned>(CPU_COUNT(&set));
}

unsigned loops_for(const limits& within) { return within.loops != 0 ? within.loops : std::clamp(usable_processors(), 1u, 4u); }

// Idle sessions need no descriptor, but about 6 KiB each, so they have a limit of their own.
constexpr std::size_t most_sessions = 16'384;

/// Fills in the limits that depend on the descriptor limit.
limits settled(limits within) {
  if (within.connections == 0) within.connections = connections_within_descriptors();
  if (within.sessions == 0) within.sessions = std::min(within.connections, most_sessions);
  return within;
}

result<std::shared_ptr<const identification>> identification_by(const http_options& where) {
  HONDANA_TRY(auto proxies, trusted_proxies::make(where.trusted_proxies));
  auto made = std::make_shared<identification>();
  made->proxies = std::move(proxies);
  made->asked = where.authenticator;
  if (made->asked) made->pool = std::make_shared<executor::pool>("authentication", asking);
  return std::shared_ptr<const identification>(std::move(made));
}

}  // namespace

struct service::state {
  state(std::shared_ptr<core> with, const limits& given, std::shared_ptr<const identification> identifies)
      : engine(std::move(with)),
        within(settled(given)),
        about(std::make_shared<reports>(engine)),
        callers(std::move(identifies)),
        messages({within.connections, within.turned_away, within.connections_per_address}),
        watchers({admin_connections, within.turned_away}) {
    const auto bodies = std::make_shared<byte_budget>(within.unfinished_bytes);
    const auto unsent = std::make_shared<byte_budget>(within.unsent_bytes);
    const auto kept = std::make_shared<http_server::sessions>(within);
    const auto count = loops_for(within);
    while (loops.size() < count) loops.push_back(std::make_shared<loop>(bodies, unsent, about, kept, callers));
    sweeper.emplace(*this);
  }

  void listen(place on);
  void run();
  void sweep_later();
  void sweep();
  result<void> load_certificates();
  [[nodiscard]] std::shared_ptr<const tls::context> present_context();
  void admit(disk::handle accepted, const peer_address& from, const std::shared_ptr<const site>& at);
  /// Calls `what` for each connection, on its loop.
  template <class What>
  void for_each(What what);
  void log(std::string_view line) const;
  void tell_figures();

  std::shared_ptr<core> engine;
  limits within;
  std::shared_ptr<const limits> present;  // limits of new connections; used by the accepting thread
  std::shared_ptr<reports> about;
  std::shared_ptr<const identification> callers;
  admission messages;
  admission watchers;
  tls_options files;
  std::mutex securing;
  std::shared_ptr<const tls::context> secured;  // null without TLS; guarded by `securing`
  std::uint16_t port = 0;
  std::uint16_t admin_port = 0;
  std::vector<std::shared_ptr<loop>> loops;
  // Used by the first loop, up to `threads`.
  std::vector<std::unique_ptr<listener>> for_messages;
  std::vector<std::unique_ptr<listener>> for_reports;
  /// Timer for the removal of idle sessions.
  struct sweeping final : reactor::waiter {
    explicit sweeping(state& of) : of_(of), timer(of.loops.front()->io, *this) {}
    void due() override { of_.sweep(); }

    state& of_;
    reactor::timer timer;
  };
  std::optional<sweeping> sweeper;
  std::size_t next = 0;
  bool draining = false;
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<const counters::part>> told;
};

void service::state::listen(place on) {
  const bool is_admin = !on.at->offers_messages();
  auto& known_port = is_admin ? admin_port : port;
  if (known_port == 0) known_port = on.socket.port();
  auto admits = [this, at = on.at](disk::handle accepted, const peer_address& from) { admit(std::move(accepted), from, at); };
  auto made = std::make_unique<listener>(loops.front(), std::move(on.socket), within.accept_pause, std::move(admits),
                                         [this](std::string_view line) { log(line); });
  (is_admin ? for_reports : for_messages).push_back(std::move(made));
}

void service::state::run() {
  const executor::signals_blocked meanwhile;
  for (const auto* all : {&for_messages, &for_reports}) {
    for (const auto& one : *all) one->start();
  }
  sweep_later();
  for (const auto& one : loops) {
    threads.emplace_back([this, one] {
      // Connections catch their own exceptions. Others come from our own handlers or a lack of memory, and the loop continues.
      for (;;) {
        try {
          return one->io.run();
        } catch (const std::exception& error) {
          executor::without_throwing([&] { log(std::string("an HTTP loop continued after: ") + error.what()); });
        }
      }
    });
  }
}

void service::state::sweep_later() {
  sweeper->timer.set(reactor::clock::now() +
                     std::min<std::chrono::milliseconds>(within.session_idle / 2, std::chrono::seconds(30)));
}

/// Ends sessions that have been idle for too long.
void service::state::sweep() {
  if (draining) return;
  sweep_later();  // first, in case the rest throws
  loops.front()->kept->expire(monotonic_clock::now());
}

result<void> service::state::load_certificates() {
  if (files == tls_options{}) return {};
  HONDANA_TRY(auto made, tls::context::make(files));
  for (const auto& line : made->warnings()) log(line);
  const std::shared_ptr<const tls::context> now = std::move(made);
  std::shared_ptr<const tls::context> before;
  {
    const std::lock_guard lock(securing);
    before = std::exchange(secured, now);
  }
  if (!before || before->authorities() == now->authorities()) return {};
  // Posted behind connections that the first loop is accepting with the old authorities.
  loops.front()->io.post([this, now] {
    if (!draining) for_each([now](connection& one) { one.judge_by(now); });
  });
  return {};
}

std::shared_ptr<const tls::context> service::state::present_context() {
  const std::lock_guard lock(securing);
  return secured;
}

void service::state::admit(disk::handle accepted, const peer_address& from, const std::shared_ptr<const site>& at) {
  const auto& on = loops[next++ % loops.size()];
  auto entry = (at->offers_messages() ? messages : watchers).enter(from.counted());
  if (entry.how == admission::welcome::closed) return;
  std::unique_ptr<tls::session> by_tls;
  if (const auto with = at->offers_messages() && from.is_network() ? present_context() : nullptr) {
    by_tls = tls::session::make(*with, accepted.get());
    if (!by_tls) return log("cannot accept a connection: no memory for TLS");
  }
  const auto options = engine->options();
  if (!present || present->stall != options.stall_limit || present->pull_time != options.call_deadline) {
    auto now = within;
    now.stall = options.stall_limit;
    now.pull_time = options.call_deadline;
    present = std::make_shared<const limits>(now);
  }
  auto one = std::make_shared<connection>(on, byte_stream(std::move(accepted), std::move(by_tls)), std::move(entry.place),
                                          engine, present, at, from.text());
  const bool is_welcome = entry.how == admission::welcome::served;
  on->io.post([on, one = std::move(one), is_welcome] {
    on->connections.insert(one);
    one->start(is_welcome);
  });
}

template <class What>
void service::state::for_each(What what) {
  for (const auto& one : loops) {
    one->io.post([one, what] {
      const std::vector<std::shared_ptr<connection>> now(one->connections.begin(), one->connections.end());
      for (const auto& each : now) what(*each);
    });
  }
}

void service::state::log(std::string_view line) const {
  if (const auto with = engine->current(); with->log) with->log(line);
}

void service::state::tell_figures() {
  using counters::asked;
  using counters::kind;
  using teller = counters::part::teller;
  const auto connections = [counts = messages](const teller& to) { to("", {}, static_cast<double>(counts.open())); };
  const auto sessions = [kept = std::weak_ptr(loops.front()->kept)](const teller& to) {
    const auto there = kept.lock();
    to("", {}, there ? static_cast<double>(there->size()) : 0);
  };
  told = {asked({"hondana_http_connections", kind::gauge, "", "Open connections of MCP clients."}, connections),
          asked({"hondana_http_sessions", kind::gauge, "", "Open sessions of clients with older revisions."}, sessions)};
}

service::service(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}
service::~service() { drain(std::chrono::milliseconds(0)); }

result<std::unique_ptr<service>> service::start(std::shared_ptr<core> engine, const http_options& where, const limits& within) {
  auto places = open_places(where);
  if (!places) return tl::unexpected(std::move(places.error()));
  HONDANA_TRY(auto callers, identification_by(where));
  auto made = std::make_unique<state>(std::move(engine), within, std::move(callers));
  made->tell_figures();
  made->files = where.tls;
  HONDANA_TRY(made->load_certificates());
  for (auto& one : *places) made->listen(std::move(one));
  made->run();
  return std::unique_ptr<service>(new service(std::move(made)));
}

std::uint16_t service::port() const noexcept { return state_->port; }
std::uint16_t service::admin_port() const noexcept { return state_->admin_port; }
result<void> service::reload_certificates() { return state_->load_certificates(); }
std::size_t service::connections() const { return state_->messages.open(); }
std::size_t service::sessions() const { return state_->loops.front()->kept->size(); }

void service::drain(std::chrono::milliseconds limit) {
  auto& with = *state_;
  if (with.threads.empty()) return;
  const auto until = monotonic_clock::now() + limit;
  with.about->begin_to_stop();
  std::promise<void> refused;
  with.loops.front()->io.post([&with, &refused] {
    for (const auto& one : with.for_messages) one->stop();
    with.draining = true;
    with.sweeper->timer.cancel();
    refused.set_value();
  });
  // After this, no loop gets a new connection for messages, so the next step reaches all of them.
  refused.get_future().wait();
  with.for_each([](connection& one) {
    if (one.at().offers_messages()) one.drain();
  });
  with.messages.wait_until_empty(until);
  with.loops.front()->io.post([&with] {
    for (const auto& one : with.for_reports) one->stop();
    with.for_each([](connection& one) { one.close(); });
    with.loops.front()->kept->end_all();
  });
  // The loops end when their last connection has ended.
  with.loops.front()->io.post([&with] {
    for (const auto& one : with.loops) one->io.post([&io = one->io] { io.release(); });
  });
  for (auto& one : with.threads) one.join();
  with.threads.clear();
  if (with.callers->pool) with.callers->pool->close(monotonic_clock::now());
}

}  // namespace hondana::transport::http_server

namespace hondana::inline v0 {

struct http_service::state {
  std::unique_ptr<transport::http_server::service> service;
};

http_service::http_service(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}
http_service::~http_service() = default;
http_service::http_service(http_service&&) noexcept = default;
http_service& http_service::operator=(http_service&&) noexcept = default;

result<http_service> http_service::start(server& server, http_options options) {
  transport::http_server::limits limits;
  const auto set = [](auto& limit, auto wanted) {
    if (wanted != decltype(wanted){}) limit = wanted;
  };
  set(limits.body_bytes, options.max_body_bytes);
  set(limits.header_bytes, options.max_header_bytes);
  set(limits.header_time, options.header_time);
  set(limits.body_time, options.body_time);
  set(limits.keep_alive, options.keep_alive_time);
  set(limits.session_idle, options.session_idle_time);
  limits.connections = options.max_connections;
  limits.connections_per_address = options.max_connections_per_address;
  limits.sessions = options.max_sessions;
  limits.sessions_per_address = options.max_sessions_per_address;
  limits.loops = options.threads;
  HONDANA_TRY(auto started, transport::http_server::service::start(server.engine(), options, limits));
  return http_service(std::make_unique<state>(state{std::move(started)}));
}

std::uint16_t http_service::port() const noexcept { return state_->service->port(); }
std::uint16_t http_service::admin_port() const noexcept { return state_->service->admin_port(); }
result<void> http_service::reload_certificates() { return state_->service->reload_certificates(); }
void http_service::drain(std::chrono::milliseconds limit) { state_->service->drain(limit); }

}  // namespace hondana::inline v0
