/// A gateway: mounts several servers in one server, each under its own prefix. Clients connect to that server only.
///
/// `gateway NAME=URL...` serves them on a free loopback port until it is interrupted, and prints its URL. Without arguments, it
/// starts two servers, mounts both, and checks what a client reads.
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include <hondana/client.hpp>
#include <hondana/memory_provider.hpp>
#include <hondana/mount.hpp>
#include <hondana/server.hpp>

namespace {

int report_error(const std::string& message) {
  std::fprintf(stderr, "gateway: %s\n", message.c_str());
  return 1;
}

hondana::result<void> mount(hondana::server& gateway, const std::string& name, hondana::client_target target) {
  hondana::mount_options options;
  options.name = name;
  options.target = std::move(target);
  options.log = [](std::string_view line) { std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data()); };
  auto provider = hondana::make_mcp_provider(std::move(options));
  if (!provider) return tl::unexpected(provider.error());
  return gateway.add(std::move(*provider));
}

/// A server that listens on a free port.
struct listening_server {
  explicit listening_server(const std::string& text) {
    if (!server) return;
    auto added = memos->add({.uri = "memo:///greeting", .name = "greeting"}, text);
    if (added) added = server->add(memos);
    auto started = hondana::http_service::start(*server, {.port = 0, .threads = 1});
    if (added && started) service = std::make_unique<hondana::http_service>(std::move(*started));
  }
  [[nodiscard]] hondana::http_target address() const {
    return {.url = "http://127.0.0.1:" + std::to_string(service->port()) + "/mcp"};
  }

  std::shared_ptr<hondana::memory_provider> memos = std::make_shared<hondana::memory_provider>("memos", "memo:///");
  hondana::result<hondana::server> server = hondana::server::create();
  /// Null if the server cannot be started.
  std::unique_ptr<hondana::http_service> service;
};

/// The URIs that changed. Threads: any.
class changed_uris {
 public:
  void add(const std::string& uri) {
    const std::lock_guard lock(mutex_);
    uris_.insert(uri);
    added_.notify_all();
  }
  bool wait_for(const std::string& uri) {
    std::unique_lock lock(mutex_);
    return added_.wait_for(lock, std::chrono::minutes(3), [&] { return uris_.contains(uri); });
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    uris_.clear();
  }

 private:
  std::mutex mutex_;
  std::condition_variable added_;
  std::set<std::string> uris_;
};

int self_test() {
  listening_server kitchen("soup");
  listening_server library("books");
  if (!kitchen.service || !library.service) return report_error("the two servers cannot be started");
  auto gateway = hondana::server::create({.name = "gateway"});
  if (!gateway) return report_error(gateway.error().public_text);
  if (const auto kitchen_mounted = mount(*gateway, "kitchen", kitchen.address()); !kitchen_mounted)
    return report_error(kitchen_mounted.error().public_text);
  if (const auto library_mounted = mount(*gateway, "library", library.address()); !library_mounted)
    return report_error(library_mounted.error().public_text);
  auto client = hondana::client::connect(hondana::memory_target{&*gateway});
  if (!client) return report_error(client.error().public_text);

  const std::string soup = "mcp://kitchen/memo:///greeting";
  const std::string books = "mcp://library/memo:///greeting";
  std::string listed;
  for (const auto& entry : client->resources()) {
    if (!entry) return report_error(entry.error().public_text);
    listed += entry->uri + ' ';
  }
  if (listed != soup + ' ' + books + ' ') return report_error("it lists " + listed);
  const auto text_of = [&client](const std::string& uri) {
    const auto response = client->read(uri, {.bypass_cache = true});
    return response ? response->contents.at(0).bytes : response.error().public_text;
  };
  if (text_of(soup) != "soup" || text_of(books) != "books")
    return report_error("it reads " + text_of(soup) + ", " + text_of(books));

  changed_uris changed;
  const auto watch =
      client->watch({.uris = {books}}, [&changed](const hondana::watch_event& event) { changed.add(event.uri); });
  if (!watch) return report_error(watch.error().public_text);
  if (!changed.wait_for(books)) return report_error("it does not watch");  // a new watch reports possibly missed changes first
  changed.clear();
  if (!library.memos->add({.uri = "memo:///greeting", .name = "greeting"}, "more books"))
    return report_error("cannot change it");
  if (!changed.wait_for(books)) return report_error("it does not tell of the change");
  if (text_of(books) != "more books") return report_error("after the change it reads " + text_of(books));
  std::printf("two servers as one: %s\n", listed.c_str());
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 1) return self_test();
  // Blocked before any thread starts, so that only `sigwait` receives these signals.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  auto gateway = hondana::server::create({.name = "gateway"});
  if (!gateway) return report_error(gateway.error().public_text);
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    const auto equals = argument.find('=');
    if (equals == std::string_view::npos) return report_error("usage: gateway NAME=URL...");
    const hondana::http_target target{.url = std::string(argument.substr(equals + 1))};
    if (const auto mounted = mount(*gateway, std::string(argument.substr(0, equals)), target); !mounted)
      return report_error(mounted.error().public_text);
  }
  const auto service = hondana::http_service::start(*gateway, {.port = 0});
  if (!service) return report_error(service.error().public_text);
  std::printf("http://127.0.0.1:%d/mcp\n", static_cast<int>(service->port()));
  std::fflush(stdout);
  int received = 0;
  sigwait(&signals, &received);
  return 0;
}
