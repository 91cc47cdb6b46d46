/// Listens, accepts, and runs the I/O loops.
#include "transport/http/service.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/ip/address.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <boost/asio/post.hpp>
#include <condition_variable>
#include <csignal>
#include <exception>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "server/core.hpp"
#include "transport/http/body_budget.hpp"
#include "transport/http/connection.hpp"
#include "transport/http/loop.hpp"

namespace hondana::transport::http {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using acceptor = asio::basic_socket_acceptor<tcp, executor>;

constexpr int backlog = 1024;

std::string spell(const tcp::endpoint& where) {
  const auto address = where.address().to_string();
  return (where.address().is_v6() ? "[" + address + "]" : address) + ":" + std::to_string(where.port());
}

result<tcp::endpoint> endpoint_of(const http_options& where) {
  error_code malformed;
  const auto address = asio::ip::make_address(where.address, malformed);
  if (malformed) {
    return fail(errc::invalid_argument,
                "Cannot listen on \"" + where.address + "\": that is not a literal address. Use one such as 127.0.0.1 or ::1.");
  }
  tcp::endpoint endpoint(address, where.port);
  if (!address.is_loopback()) {
    return fail(errc::invalid_argument,
                "Cannot listen on " + spell(endpoint) +
                    ": without authentication only loopback addresses are served. Use 127.0.0.1 or ::1.");
  }
  return endpoint;
}

tl::unexpected<failure> cannot_listen(const tcp::endpoint& where, const error_code& why) {
  std::string text = "Cannot listen on " + spell(where) + ": ";
  if (why == asio::error::address_in_use) {
    text +=
        "the port is already in use. Stop the program that uses it, or choose another port with --port (0 takes any free one).";
  } else if (why == asio::error::access_denied) {
    text += "this user may not use the port. Choose one above 1023 with --port.";
  } else if (why == boost::system::errc::address_not_available) {
    text += "this machine does not have the address. Use 127.0.0.1.";
  } else {
    text += why.message() + ". Choose another address or port.";
  }
  return fail(errc::source_unavailable, std::move(text), why.message());
}

result<void> listen(acceptor& on, const tcp::endpoint& where) {
  error_code failed;
  const auto step = [&failed](auto&& call) {
    if (!failed) call();
  };
  step([&] { (void)on.open(where.protocol(), failed); });
  // Not SO_REUSEPORT: a second server would start unnoticed.
  step([&] { (void)on.set_option(asio::socket_base::reuse_address(true), failed); });
  if (where.address().is_v6()) step([&] { (void)on.set_option(asio::ip::v6_only(true), failed); });
  step([&] { (void)on.bind(where, failed); });
  step([&] { (void)on.listen(backlog, failed); });
  if (failed) return cannot_listen(where, failed);
  return {};
}

unsigned loops_for(const limits& within) {
  return within.loops != 0 ? within.loops : std::clamp(std::thread::hardware_concurrency(), 1u, 4u);
}

/// Keeps signals for the threads that expect them while others are started.
class signals_blocked {
 public:
  signals_blocked() {
    sigset_t all{};
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before_);
  }
  ~signals_blocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

struct service::state {
  state(std::shared_ptr<core> with, const limits& given)
      : engine(std::move(with)),
        within(given),
        loops(make_loops(given)),
        listener(loops.front()->io.get_executor()),
        pause(loops.front()->io.get_executor()) {}

  static std::vector<std::shared_ptr<loop>> make_loops(const limits& within) {
    const auto bodies = std::make_shared<body_budget>(within.unfinished_bytes);
    const auto count = loops_for(within);
    std::vector<std::shared_ptr<loop>> out;
    while (out.size() < count) out.push_back(std::make_shared<loop>(bodies));
    return out;
  }

  void run();
  void accept();
  void admit(const std::shared_ptr<loop>& on, socket accepted, const std::string& from);
  /// Calls `what` with every connection, on its loop.
  void for_each(void (connection::*what)());
  void one_left();
  void log(std::string_view line) const;

  std::shared_ptr<core> engine;
  limits within;
  std::string address;
  std::uint16_t port = 0;
  std::vector<std::shared_ptr<loop>> loops;
  acceptor listener;  // the first loop's, with all that accepting needs
  timer pause;
  tcp::endpoint peer;     // of the connection being accepted
  bool is_short = false;  // the last accept found no room in the process
  std::size_t next = 0;
  std::vector<asio::executor_work_guard<executor>> guards;
  std::vector<std::thread> threads;

  std::mutex mutex;
  std::condition_variable left;
  std::atomic<std::size_t> open{0};
  std::atomic<bool> stopping{false};
};

void service::state::run() {
  const signals_blocked meanwhile;
  for (const auto& one : loops) guards.emplace_back(one->io.get_executor());
  accept();
  for (const auto& one : loops) {
    threads.emplace_back([this, one] {
      // Connections guard themselves; what comes through is a handler of ours or no memory, and the loop goes on.
      while (!one->io.stopped()) {
        try {
          one->io.run();
        } catch (const std::exception& error) {
          log(std::string("an HTTP loop went on after: ") + error.what());
        }
      }
    });
  }
}

void service::state::accept() {
  const auto& target = loops[next++ % loops.size()];
  listener.async_accept(target->io, peer, [this, target](error_code failed, socket accepted) {
    if (failed == asio::error::operation_aborted || stopping) return;
    if (!failed) {
      is_short = false;
      const auto address_of_peer = peer.address().to_string();
      accept();
      return admit(target, std::move(accepted), address_of_peer);
    }
    // A connection that ended before it was accepted is its own problem; the rest is a shortage that has to pass.
    if (failed == asio::error::connection_aborted) return accept();
    if (!std::exchange(is_short, true)) log("cannot accept connections for now: " + failed.message());
    pause.expires_after(within.accept_pause);
    pause.async_wait([this](error_code stopped) {
      if (!stopped && !stopping) accept();
    });
  });
}

void service::state::admit(const std::shared_ptr<loop>& on, socket accepted, const std::string& from) {
  const auto count = ++open;
  std::shared_ptr<void> place(nullptr, [this](void*) { one_left(); });
  if (count > within.connections + within.turned_away) return;
  const auto options = engine->options();
  auto limits_now = within;
  limits_now.stall = options.stall_limit;
  limits_now.pull_time = options.call_deadline;
  auto one = std::make_shared<connection>(on, std::move(accepted), std::move(place), engine, limits_now, address, from);
  asio::post(on->io, [this, on, one = std::move(one), is_welcome = count <= within.connections] {
    on->connections.insert(one);
    if (stopping) return one->close();
    one->start(is_welcome);
  });
}

void service::state::for_each(void (connection::*what)()) {
  for (const auto& one : loops) {
    asio::post(one->io, [one, what] {
      const std::vector<std::shared_ptr<connection>> now(one->connections.begin(), one->connections.end());
      for (const auto& each : now) (*each.*what)();
    });
  }
}

void service::state::log(std::string_view line) const {
  if (const auto with = engine->current(); with->log) with->log(line);
}

void service::state::one_left() {
  const std::lock_guard lock(mutex);
  --open;
  left.notify_all();
}

service::service(std::unique_ptr<state> made) noexcept : state_(std::move(made)) {}
service::~service() { drain(std::chrono::milliseconds(0)); }

result<std::unique_ptr<service>> service::start(std::shared_ptr<core> engine, const http_options& where, const limits& within) {
  const auto endpoint = endpoint_of(where);
  if (!endpoint) return tl::unexpected(endpoint.error());
  auto made = std::make_unique<state>(std::move(engine), within);
  if (auto listening = listen(made->listener, *endpoint); !listening) return tl::unexpected(std::move(listening.error()));
  error_code failed;
  const auto bound = made->listener.local_endpoint(failed);
  if (failed) return cannot_listen(*endpoint, failed);
  made->address = bound.address().to_string();
  made->port = bound.port();
  made->run();
  return std::unique_ptr<service>(new service(std::move(made)));
}

std::uint16_t service::port() const noexcept { return state_->port; }
std::size_t service::connections() const noexcept { return state_->open; }

void service::drain(std::chrono::milliseconds limit) {
  auto& with = *state_;
  if (with.threads.empty()) return;
  const auto until = std::chrono::steady_clock::now() + limit;
  asio::post(with.loops.front()->io, [&with] {
    error_code ignored;  // closing releases the descriptor in any case
    (void)with.listener.close(ignored);
    with.pause.cancel();
    with.for_each(&connection::drain);
    const std::lock_guard lock(with.mutex);
    with.stopping = true;
    with.left.notify_all();
  });
  std::unique_lock lock(with.mutex);
  // From here on no loop gets a connection that the closing below would miss.
  with.left.wait(lock, [&with] { return with.stopping.load(); });
  with.left.wait_until(lock, until, [&with] { return with.open == 0; });
  lock.unlock();
  with.for_each(&connection::close);
  with.guards.clear();
  for (auto& one : with.threads) one.join();
  with.threads.clear();
}

}  // namespace hondana::transport::http
