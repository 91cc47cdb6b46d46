/// A gateway: several servers become one, each under a prefix of its own, and clients ask only that one.
///
/// `gateway NAME=URL...` serves them on a free loopback port until it is interrupted, and prints where; without arguments it
/// makes two servers, mounts both, and checks what a client finds.
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
#include <hondana/mcp.hpp>
#include <hondana/memory.hpp>
#include <hondana/server.hpp>

namespace {

int complain(const std::string& why) {
  std::fprintf(stderr, "gateway: %s\n", why.c_str());
  return 1;
}

hondana::result<void> mount(hondana::server& gateway, const std::string& name, hondana::client_target where) {
  hondana::mount_options options;
  options.name = name;
  options.target = std::move(where);
  options.log = [](std::string_view line) { std::fprintf(stderr, "%.*s\n", static_cast<int>(line.size()), line.data()); };
  auto made = hondana::make_mcp_provider(std::move(options));
  if (!made) return tl::unexpected(made.error());
  return gateway.add(std::move(*made));
}

/// A server that listens on a free port.
struct listening_server {
  explicit listening_server(const std::string& text) {
    auto added = memos->add({.uri = "memo:///greeting", .name = "greeting"}, text);
    if (added) added = here.add(memos);
    auto started = hondana::http_service::start(here, {.port = 0, .threads = 1});
    if (added && started) service = std::make_unique<hondana::http_service>(std::move(*started));
  }
  [[nodiscard]] hondana::http_target address() const {
    return {.url = "http://127.0.0.1:" + std::to_string(service->port()) + "/mcp"};
  }

  std::shared_ptr<hondana::memory_provider> memos = std::make_shared<hondana::memory_provider>("memos", "memo:///");
  hondana::server here;
  std::unique_ptr<hondana::http_service> service;
};

/// URIs that changed, and waiting for one.
class news {
 public:
  void add(const std::string& uri) {
    const std::lock_guard lock(mutex_);
    uris_.insert(uri);
    came_.notify_all();
  }
  bool has(const std::string& uri) {
    std::unique_lock lock(mutex_);
    return came_.wait_for(lock, std::chrono::minutes(3), [&] { return uris_.contains(uri); });
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    uris_.clear();
  }

 private:
  std::mutex mutex_;
  std::condition_variable came_;
  std::set<std::string> uris_;
};

int check() {
  listening_server kitchen("soup");
  listening_server library("books");
  if (!kitchen.service || !library.service) return complain("the two servers cannot be started");
  hondana::server gateway({.name = "gateway"});
  if (const auto done = mount(gateway, "kitchen", kitchen.address()); !done) return complain(done.error().public_text);
  if (const auto done = mount(gateway, "library", library.address()); !done) return complain(done.error().public_text);
  auto client = hondana::client::connect(hondana::memory_target{&gateway});
  if (!client) return complain(client.error().public_text);

  const std::string soup = "mcp://kitchen/memo:///greeting";
  const std::string books = "mcp://library/memo:///greeting";
  std::string listed;
  for (const auto& entry : client->resources()) {
    if (!entry) return complain(entry.error().public_text);
    listed += entry->uri + ' ';
  }
  if (listed != soup + ' ' + books + ' ') return complain("it lists " + listed);
  const auto text_of = [&client](const std::string& uri) {
    const auto answer = client->read(uri, {.afresh = true});
    return answer ? answer->items.at(0).bytes : answer.error().public_text;
  };
  if (text_of(soup) != "soup" || text_of(books) != "books")
    return complain("it reads " + text_of(soup) + ", " + text_of(books));

  news heard;
  const auto watching = client->watch({.uris = {books}}, [&heard](const hondana::change& what) { heard.add(what.uri); });
  if (!watching) return complain(watching.error().public_text);
  if (!heard.has(books)) return complain("it does not watch");  // once it does, what may have been missed is told
  heard.forget();
  if (!library.memos->add({.uri = "memo:///greeting", .name = "greeting"}, "more books")) return complain("cannot change it");
  if (!heard.has(books)) return complain("it does not tell of the change");
  if (text_of(books) != "more books") return complain("after the change it reads " + text_of(books));
  std::printf("two servers as one: %s\n", listed.c_str());
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 1) return check();
  // Before any thread is there, so that all of them leave these signals to sigwait.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  hondana::server gateway({.name = "gateway"});
  for (int i = 1; i < count; ++i) {
    const std::string_view one = arguments[i];
    const auto equals = one.find('=');
    if (equals == std::string_view::npos) return complain("usage: gateway NAME=URL...");
    const hondana::http_target where{.url = std::string(one.substr(equals + 1))};
    if (const auto done = mount(gateway, std::string(one.substr(0, equals)), where); !done)
      return complain(done.error().public_text);
  }
  const auto service = hondana::http_service::start(gateway, {.port = 0});
  if (!service) return complain(service.error().public_text);
  std::printf("http://127.0.0.1:%d/mcp\n", static_cast<int>(service->port()));
  std::fflush(stdout);
  int signal = 0;
  sigwait(&ends, &signal);
  return 0;
}
