/// Implements `hondana::http_service`: listens, and runs the event loops.
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
constexpr std::size_t max_admin_connections = 64;

// Limits for authentication that blocks, for example at an authorization server. They bound a flood of unknown tokens. A single
// network cannot use all of it.
constexpr executor::pool_limits authentication_limits{
    .max_threads = 4, .max_waiting = 256, .max_waiting_per_caller = 32, .max_running_per_caller = 2};

/// The processors that this process may use; a container or taskset may allow fewer than the machine has.
unsigned usable_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return std::thread::hardware_concurrency();
  return static_cast<unsigned>(CPU_COUNT(&set));
}

unsigned loop_count(const limits& limits) { return limits.loops != 0 ? limits.loops : std::clamp(usable_processors(), 1u, 4u); }

// Idle sessions need no descriptor, but about 6 KiB each, so they have a limit of their own.
constexpr std::size_t max_sessions = 16'384;

/// Fills in the limits that depend on the descriptor limit.
limits resolve_limits(limits limits) {
  if (limits.max_connections == 0) limits.max_connections = max_connections_by_descriptors();
  if (limits.max_sessions == 0) limits.max_sessions = std::min(limits.max_connections, max_sessions);
  return limits;
}

result<std::shared_ptr<const authentication_settings>> make_authentication(const http_options& options) {
  HONDANA_TRY(auto proxies, trusted_proxies::make(options.trusted_proxies));
  auto created = std::make_shared<authentication_settings>();
  created->proxies = std::move(proxies);
  created->verifier = options.authenticator;
  if (created->verifier) created->pool = std::make_shared<executor::thread_pool>("authentication", authentication_limits);
  return std::shared_ptr<const authentication_settings>(std::move(created));
}

}  // namespace

struct service::state {
  state(std::shared_ptr<server_core> core, const limits& requested, std::shared_ptr<const authentication_settings> settings)
      : shared_core(std::move(core)),
        configured(resolve_limits(requested)),
        reports(std::make_shared<status_reports>(shared_core)),
        authentication(std::move(settings)),
        message_admission(
            {configured.max_connections, configured.max_rejected_connections, configured.max_connections_per_address}),
        admin_admission({max_admin_connections, configured.max_rejected_connections}) {
    const auto body_budget = std::make_shared<byte_budget>(configured.max_unfinished_bytes);
    const auto unsent_budget = std::make_shared<byte_budget>(configured.max_unsent_bytes);
    const auto sessions = std::make_shared<http_server::session_store>(configured);
    const auto count = loop_count(configured);
    while (loops.size() < count)
      loops.push_back(std::make_shared<io_loop>(body_budget, unsent_budget, reports, sessions, authentication));
    sweeper.emplace(*this);
  }

  void listen(bound_site bound);
  void run();
  void sweep_later();
  void sweep();
  result<void> load_certificates();
  [[nodiscard]] std::shared_ptr<const tls::context> current_tls_context();
  void admit(disk::handle accepted, const peer_address& peer, const std::shared_ptr<const site>& site);
  /// Calls `visit` for each connection, on its loop.
  template <class Visitor>
  void for_each(Visitor visit);
  void log(std::string_view line) const;
  void register_metrics();

  std::shared_ptr<server_core> shared_core;
  limits configured;
  std::shared_ptr<const limits> current_limits;  // limits of new connections; used by the accepting thread
  std::shared_ptr<status_reports> reports;
  std::shared_ptr<const authentication_settings> authentication;
  admission message_admission;
  admission admin_admission;
  std::optional<tls_options> tls_files;
  std::mutex tls_mutex;
  std::shared_ptr<const tls::context> tls_context;  // null without TLS; guarded by `tls_mutex`
  std::uint16_t port = 0;
  std::uint16_t admin_port = 0;
  std::vector<std::shared_ptr<io_loop>> loops;
  // Used by the first loop, up to `threads`.
  std::vector<std::unique_ptr<listener>> message_listeners;
  std::vector<std::unique_ptr<listener>> report_listeners;
  /// Timer for the removal of idle sessions.
  struct idle_sweeper final : reactor::event_handler {
    explicit idle_sweeper(state& owner) : owner_(owner), timer(owner.loops.front()->io, *this) {}
    void on_timer() override { owner_.sweep(); }

    state& owner_;
    reactor::timer timer;
  };
  std::optional<idle_sweeper> sweeper;
  std::size_t next_loop = 0;
  bool is_draining = false;
  std::vector<std::thread> threads;
  std::vector<std::shared_ptr<const counters::collector>> metrics;
};

void service::state::listen(bound_site bound) {
  const bool is_admin = !bound.served_site->offers_messages();
  auto& known_port = is_admin ? admin_port : port;
  if (known_port == 0) known_port = bound.socket.port();
  auto accept = [this, site = bound.served_site](disk::handle accepted, const peer_address& peer) {
    admit(std::move(accepted), peer, site);
  };
  auto created = std::make_unique<listener>(loops.front(), std::move(bound.socket), configured.accept_retry_delay,
                                            std::move(accept), [this](std::string_view line) { log(line); });
  (is_admin ? report_listeners : message_listeners).push_back(std::move(created));
}

void service::state::run() {
  const executor::signal_blocker blocker;
  for (const auto* listeners : {&message_listeners, &report_listeners}) {
    for (const auto& listener : *listeners) listener->start();
  }
  sweep_later();
  for (const auto& loop : loops) {
    threads.emplace_back([this, loop] {
      // Connections catch their own exceptions. Others come from our own handlers or a lack of memory, and the loop continues.
      for (;;) {
        try {
          return loop->io.run();
        } catch (const std::exception& error) {
          executor::run_noexcept([&] { log(std::string("an HTTP loop continued after: ") + error.what()); });
        }
      }
    });
  }
}

void service::state::sweep_later() {
  sweeper->timer.set(reactor::clock::now() +
                     std::min<std::chrono::milliseconds>(configured.session_idle_timeout / 2, std::chrono::seconds(30)));
}

/// Ends sessions that have been idle for too long.
void service::state::sweep() {
  if (is_draining) return;
  sweep_later();  // first, in case the rest throws
  loops.front()->sessions->expire(monotonic_clock::now());
}

result<void> service::state::load_certificates() {
  if (!tls_files) return {};
  HONDANA_TRY(auto created, tls::context::make(*tls_files));
  for (const auto& line : created->warnings()) log(line);
  const std::shared_ptr<const tls::context> current = std::move(created);
  std::shared_ptr<const tls::context> previous;
  {
    const std::lock_guard lock(tls_mutex);
    previous = std::exchange(tls_context, current);
  }
  if (!previous || previous->authorities() == current->authorities()) return {};
  // Posted behind connections that the first loop is accepting with the old authorities.
  loops.front()->io.post([this, current] {
    if (!is_draining) for_each([current](connection& connection) { connection.set_authorities(current); });
  });
  return {};
}

std::shared_ptr<const tls::context> service::state::current_tls_context() {
  const std::lock_guard lock(tls_mutex);
  return tls_context;
}

void service::state::admit(disk::handle accepted, const peer_address& peer, const std::shared_ptr<const site>& site) {
  const auto& loop = loops[next_loop++ % loops.size()];
  auto admitted = (site->offers_messages() ? message_admission : admin_admission).admit(peer.counted());
  if (admitted.status == admission::decision::drop) return;
  std::unique_ptr<tls::session> tls_session;
  if (const auto context = site->offers_messages() && peer.is_network() ? current_tls_context() : nullptr) {
    tls_session = tls::session::make(*context, accepted.get());
    if (!tls_session) return log("cannot accept a connection: no memory for TLS");
  }
  const auto options = shared_core->options();
  if (!current_limits || current_limits->stall_timeout != options.stall_timeout ||
      current_limits->pull_timeout != options.call_timeout) {
    auto updated = configured;
    updated.stall_timeout = options.stall_timeout;
    updated.pull_timeout = options.call_timeout;
    current_limits = std::make_shared<const limits>(updated);
  }
  auto created = std::make_shared<connection>(loop, byte_stream(std::move(accepted), std::move(tls_session)),
                                              std::move(admitted.slot), shared_core, current_limits, site, peer.text());
  const bool is_welcome = admitted.status == admission::decision::accept;
  loop->io.post([loop, opened = std::move(created), is_welcome] {
    loop->connections.insert(opened);
    opened->start(is_welcome);
  });
}

template <class Visitor>
void service::state::for_each(Visitor visit) {
  for (const auto& loop : loops) {
    loop->io.post([loop, visit] {
      const std::vector<std::shared_ptr<connection>> open(loop->connections.begin(), loop->connections.end());
      for (const auto& target : open) visit(*target);
    });
  }
}

void service::state::log(std::string_view line) const {
  if (const auto config = shared_core->current(); config->log) config->log(line);
}

void service::state::register_metrics() {
  using counters::kind;
  using counters::register_collector;
  using sample_callback = counters::collector::sample_callback;
  const auto connections = [counts = message_admission](const sample_callback& emit) {
    emit("", {}, static_cast<double>(counts.open_connections()));
  };
  const auto sessions = [weak_sessions = std::weak_ptr(loops.front()->sessions)](const sample_callback& emit) {
    const auto store = weak_sessions.lock();
    emit("", {}, store ? static_cast<double>(store->size()) : 0);
  };
  metrics = {register_collector({"hondana_http_connections", kind::gauge, "", "Open connections of MCP clients."}, connections),
             register_collector({"hondana_http_sessions", kind::gauge, "", "Open sessions of clients with older revisions."},
                                sessions)};
}

service::service(std::unique_ptr<state> initial) noexcept : state_(std::move(initial)) {}
service::~service() { drain(std::chrono::milliseconds(0)); }

result<std::unique_ptr<service>> service::start(std::shared_ptr<server_core> core, const http_options& options,
                                                const limits& limits) {
  auto sites = open_sockets(options);
  if (!sites) return tl::unexpected(std::move(sites.error()));
  HONDANA_TRY(auto authentication, make_authentication(options));
  auto created = std::make_unique<state>(std::move(core), limits, std::move(authentication));
  created->register_metrics();
  created->tls_files = options.tls;
  HONDANA_TRY(created->load_certificates());
  for (auto& bound : *sites) created->listen(std::move(bound));
  created->run();
  return std::unique_ptr<service>(new service(std::move(created)));
}

std::uint16_t service::port() const noexcept { return state_->port; }
std::uint16_t service::admin_port() const noexcept { return state_->admin_port; }
result<void> service::reload_certificates() { return state_->load_certificates(); }
std::size_t service::connections() const { return state_->message_admission.open_connections(); }
std::size_t service::sessions() const { return state_->loops.front()->sessions->size(); }

void service::drain(std::chrono::milliseconds timeout) {
  auto& running = *state_;
  if (running.threads.empty()) return;
  const auto deadline = monotonic_clock::now() + timeout;
  running.reports->set_stopping();
  std::promise<void> stopped;
  running.loops.front()->io.post([&running, &stopped] {
    for (const auto& listener : running.message_listeners) listener->stop();
    running.is_draining = true;
    running.sweeper->timer.cancel();
    stopped.set_value();
  });
  // After this, no loop gets a new connection for messages, so the next step reaches all of them.
  stopped.get_future().wait();
  running.for_each([](connection& connection) {
    if (connection.listening_site().offers_messages()) connection.drain();
  });
  running.message_admission.wait_until_empty(deadline);
  running.loops.front()->io.post([&running] {
    for (const auto& listener : running.report_listeners) listener->stop();
    running.for_each([](connection& connection) { connection.close(); });
    running.loops.front()->sessions->end_all();
  });
  // The loops end when their last connection has ended.
  running.loops.front()->io.post([&running] {
    for (const auto& loop : running.loops) loop->io.post([&io = loop->io] { io.release(); });
  });
  for (auto& thread : running.threads) thread.join();
  running.threads.clear();
  if (running.authentication->pool) running.authentication->pool->close(monotonic_clock::now());
}

}  // namespace hondana::transport::http_server

namespace hondana::inline v0 {

struct http_service::state {
  std::unique_ptr<transport::http_server::service> service;
};

http_service::http_service(std::unique_ptr<state> initial) noexcept : state_(std::move(initial)) {}
http_service::~http_service() = default;
http_service::http_service(http_service&&) noexcept = default;
http_service& http_service::operator=(http_service&&) noexcept = default;

result<http_service> http_service::start(server& server, http_options options) {
  transport::http_server::limits limits;
  bool has_zero = false;
  const auto set = [&has_zero](auto& limit, auto value) {
    has_zero = has_zero || value == decltype(value){};
    limit = value;
  };
  const auto set_optional = [&set](auto& limit, const auto& value) {
    if (value) set(limit, *value);
  };
  set(limits.max_body_bytes, options.max_body_bytes);
  set(limits.max_header_bytes, options.max_header_bytes);
  set(limits.header_timeout, options.header_timeout);
  set(limits.body_timeout, options.body_timeout);
  set(limits.keep_alive_timeout, options.keep_alive_timeout);
  set(limits.session_idle_timeout, options.session_idle_timeout);
  limits.max_connections = 0;
  limits.max_sessions = 0;
  set_optional(limits.max_connections, options.max_connections);
  set_optional(limits.max_connections_per_address, options.max_connections_per_address);
  set_optional(limits.max_sessions, options.max_sessions);
  set_optional(limits.max_sessions_per_address, options.max_sessions_per_address);
  set_optional(limits.loops, options.threads);
  if (has_zero) return fail(errc::invalid_argument, "http_options: limits, timeouts and threads must be greater than 0");
  HONDANA_TRY(auto started, transport::http_server::service::start(server.core(), options, limits));
  return http_service(std::make_unique<state>(state{std::move(started)}));
}

std::uint16_t http_service::port() const noexcept { return state_->service->port(); }
std::uint16_t http_service::admin_port() const noexcept { return state_->service->admin_port(); }
result<void> http_service::reload_certificates() { return state_->service->reload_certificates(); }
void http_service::drain(std::chrono::milliseconds timeout) { state_->service->drain(timeout); }

}  // namespace hondana::inline v0
