/// Where a server may listen: addresses, Unix sockets, inherited descriptors, and an address for reports.
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <future>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <hondana/audit.hpp>

#include "support/must.hpp"
#include "transport/http_server/listener.hpp"
#include "unit/transport/http_server/client.hpp"
#include "unit/transport/http_server/guarded.hpp"
#include "unit/transport/http_server/shelf.hpp"

namespace {

namespace http = hondana::transport::http_server;
using hondana::http_options;
using hondana::http_service;
using hondana_test::client;
using hondana_test::get;
using hondana_test::post;

const std::string discovery = hondana_test::modern("server/discover");

std::string refusal(const http_options& options) {
  hondana::server server = must(hondana::server::create());
  const auto service = http_service::start(server, options);
  return service ? "listens" : service.error().public_text;
}

http_options at(std::string address, std::vector<std::string> hosts = {}, bool without_authentication = false) {
  http_options out;
  out.address = std::move(address);
  out.port = 0;
  out.allowed_hosts = std::move(hosts);
  out.without_authentication = without_authentication;
  return out;
}

/// A folder that is removed with what the tests put there.
class folder {
 public:
  folder() {
    path_ = testing::TempDir() + "places-XXXXXX";
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no folder");
  }
  ~folder() {
    for (const auto* name : {"/s", "/file", "/admin"}) ::unlink((path_ + name).c_str());
    ::rmdir(path_.c_str());
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  std::string path(const char* name) const { return path_ + '/' + name; }

 private:
  std::string path_;
};

// requires: */transports.localhost_only
TEST(listening, beyond_loopback_needs_hosts_and_a_switch_that_says_what_it_means) {
  for (const auto* address : {"0.0.0.0", "::", "192.0.2.1"}) {
    EXPECT_NE(refusal(at(address)).find("--without-authentication"), std::string::npos) << refusal(at(address));
    EXPECT_NE(refusal(at(address, {"shelf.example"})).find("without authentication they could read everything"),
              std::string::npos);
    EXPECT_NE(refusal(at(address, {}, true)).find("--host"), std::string::npos);
  }
  EXPECT_EQ(refusal(at("0.0.0.0", {"shelf.example"}, true)), "listens");
  EXPECT_NE(refusal(at("0.0.0.0")).find("[auth]"), std::string::npos) << "the other way is not named";
  auto asking = at("0.0.0.0");
  asking.authenticator = std::make_shared<hondana_test::notary>();
  EXPECT_NE(refusal(asking).find("host names are not configured"), std::string::npos) << refusal(asking);
  asking.allowed_hosts = {"shelf.example"};
  EXPECT_EQ(refusal(asking), "listens");
  EXPECT_NE(refusal(at("127.0.0.1", {"*"})).find("\"*\""), std::string::npos);
  auto origin = at("127.0.0.1");
  origin.allowed_origins = {"app.example"};
  EXPECT_NE(refusal(origin).find("\"app.example\""), std::string::npos);
}

TEST(listening, on_all_addresses_answers_to_its_configured_hosts_only) {
  hondana::server server = must(hondana::server::create());
  const auto service = http_service::start(server, at("0.0.0.0", {"shelf.example:80"}, true));
  ASSERT_TRUE(service) << service.error().public_text;
  for (const auto& [host, status] : std::vector<std::pair<std::string, int>>{
           {"shelf.example:80", 200}, {"localhost", 200}, {"shelf.example:81", 403}, {"0.0.0.0", 403}, {"evil.example", 403}}) {
    client peer(service->port());
    peer.send("GET /healthz HTTP/1.1\r\nHost: " + host + "\r\n\r\n");
    EXPECT_EQ(peer.receive().status, status) << host;
  }
}

TEST(listening, rejects_limits_and_timeouts_of_zero) {
  const std::string zero = "http_options: limits, timeouts and threads must be greater than 0";
  auto options = at("127.0.0.1");
  options.max_sessions = 0;
  EXPECT_EQ(refusal(options), zero);
  options = at("127.0.0.1");
  options.header_timeout = std::chrono::milliseconds(0);
  EXPECT_EQ(refusal(options), zero);
}

TEST(unix_socket, is_for_its_owner_and_speaks_http) {
  const folder where;
  hondana::server server = must(hondana::server::create());
  http_options options;
  options.socket_path = where.path("s");
  {
    const auto service = http_service::start(server, options);
    ASSERT_TRUE(service) << service.error().public_text;
    EXPECT_EQ(service->port(), 0);
    struct stat there{};
    ASSERT_EQ(::lstat(options.socket_path->c_str(), &there), 0);
    EXPECT_TRUE(S_ISSOCK(there.st_mode));
    EXPECT_EQ(there.st_mode & 0777, 0600u);
    auto peer = client::at_path(*options.socket_path);
    peer.send(post(discovery));
    EXPECT_EQ(peer.receive().status, 200);
    peer.send("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n");
    EXPECT_EQ(peer.receive().status, 403);
  }
  struct stat there{};
  EXPECT_NE(::lstat(options.socket_path->c_str(), &there), 0) << "the file outlived its server";
}

TEST(unix_socket, lets_in_whom_mode_and_group_say) {
  const folder where;
  hondana::server server = must(hondana::server::create());
  http_options options;
  options.socket_path = where.path("s");
  options.socket_mode = 0660;
  // One that it need not be root to choose.
  options.socket_group = std::to_string(::getegid());
  const auto service = http_service::start(server, options);
  ASSERT_TRUE(service) << service.error().public_text;
  struct stat there{};
  ASSERT_EQ(::lstat(options.socket_path->c_str(), &there), 0);
  EXPECT_EQ(there.st_mode & 0777, 0660u);
  EXPECT_EQ(there.st_gid, ::getegid());
  options.socket_path = where.path("another");
  options.socket_group = "no such group";
  const auto refused = http_service::start(server, options);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().public_text.find("this machine has no group \"no such group\""), std::string::npos)
      << refused.error().public_text;
}

TEST(unix_socket, replaces_one_that_nobody_answers_on_and_no_other) {
  const folder where;
  http_options options;
  options.socket_path = where.path("s");
  {
    // What a killed server leaves.
    const int stale = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, options.socket_path->c_str(), sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(stale, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    ::close(stale);
  }
  hondana::server server = must(hondana::server::create());
  const auto first = http_service::start(server, options);
  ASSERT_TRUE(first) << first.error().public_text;
  EXPECT_NE(refusal(options).find("another program answers there"), std::string::npos) << refusal(options);
  auto peer = client::at_path(*options.socket_path);
  peer.send(post(discovery));
  EXPECT_EQ(peer.receive().status, 200) << "the second server disturbed the first";

  options.socket_path = where.path("file");
  std::ofstream(*options.socket_path) << "precious";
  EXPECT_NE(refusal(options).find("is not a socket"), std::string::npos) << refusal(options);
  std::string kept;
  std::ifstream(*options.socket_path) >> kept;
  EXPECT_EQ(kept, "precious");

  options.socket_path = where.path("missing/s");
  EXPECT_NE(refusal(options).find("its folder"), std::string::npos) << refusal(options);
  options.socket_path = where.path(std::string(200, 'x').c_str());
  EXPECT_NE(refusal(options).find("1 to 107 bytes"), std::string::npos) << refusal(options);
}

TEST(unix_socket, that_was_replaced_meanwhile_is_left_alone) {
  const folder where;
  http_options options;
  options.socket_path = where.path("s");
  hondana::server server = must(hondana::server::create());
  auto service = http_service::start(server, options);
  ASSERT_TRUE(service);
  ASSERT_EQ(::unlink(options.socket_path->c_str()), 0);
  std::ofstream(*options.socket_path) << "somebody else's";
  service->drain(std::chrono::milliseconds(0));
  struct stat there{};
  EXPECT_EQ(::lstat(options.socket_path->c_str(), &there), 0);
}

int listening_descriptor(bool listens = true) {
  const int made = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in any{};
  any.sin_family = AF_INET;
  any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::bind(made, reinterpret_cast<const sockaddr*>(&any), sizeof any) != 0) throw std::runtime_error("cannot bind");
  if (listens && ::listen(made, 16) != 0) throw std::runtime_error("cannot listen");
  return made;
}

TEST(inherited_sockets, are_listened_on_instead_and_closed_at_the_end) {
  hondana::server server = must(hondana::server::create());
  http_options options;
  options.inherited_sockets = {listening_descriptor(), listening_descriptor()};
  options.inherited_admin_socket = listening_descriptor();
  std::vector<std::uint16_t> ports;
  for (const int one : {options.inherited_sockets[0], options.inherited_sockets[1], *options.inherited_admin_socket}) {
    sockaddr_in bound{};
    socklen_t size = sizeof bound;
    ::getsockname(one, reinterpret_cast<sockaddr*>(&bound), &size);
    ports.push_back(ntohs(bound.sin_port));
  }
  {
    const auto service = http_service::start(server, options);
    ASSERT_TRUE(service) << service.error().public_text;
    EXPECT_EQ(service->port(), ports[0]);
    EXPECT_EQ(service->admin_port(), ports[2]);
    for (std::size_t i = 0; i < ports.size(); ++i) {
      client peer(ports[i]);
      peer.send(post(discovery));
      EXPECT_EQ(peer.receive().status, i < 2 ? 200 : 404);
    }
  }
  for (const auto port : ports) {
    EXPECT_THROW(client{port}, std::runtime_error);
  }
}

TEST(inherited_sockets, that_cannot_be_accepted_from_are_refused) {
  http_options options;
  options.inherited_sockets = {listening_descriptor(false)};
  EXPECT_NE(refusal(options).find("does not listen"), std::string::npos);
  options.inherited_sockets = {::open("/dev/null", O_RDONLY | O_CLOEXEC)};
  EXPECT_NE(refusal(options).find("not a stream socket"), std::string::npos);
}

TEST(admin_address, reports_while_messages_drain) {
  hondana_test::library with({}, {}, "127.0.0.1:0");
  hondana_test::tally begun;
  std::promise<void> go;
  with.source->entries["memo:///slow"] = [&](const auto&) {
    begun.add();
    go.get_future().wait();
    return hondana::text_read_result("finished");
  };
  client watcher(with.service->admin_port());
  watcher.send(get("/readyz"));
  EXPECT_EQ(watcher.receive().body, R"({"status":"ready","sources":[{"name":"shelf","ok":true}]})");
  client busy(with.port());
  busy.send(post(hondana_test::library::read("memo:///slow")));
  ASSERT_TRUE(begun.reaches(1));
  auto drained = std::async(std::launch::async, [&] { with.service->drain(hondana_test::event_deadline); });
  // The new connection is refused only once the drain has begun, and so is readiness.
  int status = 200;
  EXPECT_TRUE(hondana_test::eventually([&] {
    watcher.send(get("/readyz"));
    status = watcher.receive().status;
    return status != 200;
  }));
  EXPECT_EQ(status, 503);
  client late(with.service->admin_port());
  late.send(get("/readyz"));
  EXPECT_EQ(late.receive().body, R"({"status":"stopping"})");
  late.send(get("/healthz"));
  EXPECT_EQ(late.receive().status, 200);
  go.set_value();
  EXPECT_NE(busy.receive().body.find("finished"), std::string::npos);
  EXPECT_EQ(drained.wait_for(hondana_test::event_deadline), std::future_status::ready);
  EXPECT_TRUE(late.sees_the_end());
}

TEST(readiness, comes_with_the_first_time_all_sources_are_well_and_stays) {
  hondana_test::library with;
  with.source->is_well = false;
  client peer(with.port());
  peer.send(get("/readyz"));
  auto got = peer.receive();
  EXPECT_EQ(got.status, 503);
  EXPECT_EQ(got.body, R"({"status":"starting","sources":[{"name":"shelf","ok":false}]})");
  with.source->is_well = true;
  peer.send(get("/readyz"));
  EXPECT_EQ(peer.receive().status, 200);
  with.source->is_well = false;
  peer.send(get("/readyz"));
  got = peer.receive();
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, R"({"status":"ready","sources":[{"name":"shelf","ok":false}]})");
  peer.send("POST /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(peer.receive().status, 405);
}

/// Keeps nothing, and says whether it could.
class moody_record final : public hondana::auditor {
 public:
  hondana::result<std::uint64_t> record_decision(const hondana::audit_decision&) override { return 1; }
  void record_completion(std::uint64_t, const hondana::audit_completion&) override {}
  bool can_record() const override { return is_well; }
  std::atomic<bool> is_well{false};
};

TEST(readiness, is_gone_while_the_record_cannot_be_kept_and_health_says_so) {
  const auto record = std::make_shared<moody_record>();
  hondana::server_options options;
  options.audit = record;
  hondana_test::library with({}, options);
  client peer(with.port());
  const auto told = [&](const char* target) {
    peer.send(get(target));
    const auto got = peer.receive();
    return std::to_string(got.status) + ' ' + got.body;
  };
  EXPECT_EQ(told("/readyz"), R"(503 {"status":"degraded","sources":[{"name":"shelf","ok":true}],"audit":{"ok":false}})");
  EXPECT_EQ(told("/healthz"), R"(200 {"status":"degraded","sources":[{"name":"shelf","ok":true}],"audit":{"ok":false}})");
  record->is_well = true;
  EXPECT_EQ(told("/readyz"), R"(200 {"status":"ready","sources":[{"name":"shelf","ok":true}],"audit":{"ok":true}})");
  EXPECT_EQ(told("/healthz"), R"(200 {"status":"ok","sources":[{"name":"shelf","ok":true}],"audit":{"ok":true}})");
}

TEST(io_loops, share_the_connections_of_one_socket) {
  // A provider that never blocks runs on the loop of the connection that asks.
  struct mirror final : hondana::provider {
    std::string name() const override { return "mirror"; }
    std::vector<std::string> claims() const override { return {"memo:///"}; }
    hondana::scheme_documentation documentation() const override { return {"memo", "Threads.", {}, {}}; }
    hondana::provider_traits traits() const noexcept override { return {.never_blocks = true}; }
    hondana::result<hondana::list_result> list(const hondana::list_request&) override { return hondana::list_result{}; }
    hondana::result<hondana::read_result> read(const hondana::read_request&) override {
      return hondana::text_read_result("on " + std::to_string(::gettid()) + '.');
    }
  };
  hondana::server server = must(hondana::server::create());
  ASSERT_TRUE(server.add(std::make_shared<mirror>()));
  http_options options;
  options.port = 0;
  options.threads = 3;
  const auto service = http_service::start(server, options);
  ASSERT_TRUE(service) << service.error().public_text;
  std::vector<std::string> seen;
  for (int i = 0; i < 6; ++i) {
    client peer(service->port());
    peer.send(post(hondana_test::library::read("memo:///a")));
    const auto body = peer.receive().body;
    const auto begin = body.find("on ");
    ASSERT_NE(begin, std::string::npos) << body;
    seen.push_back(body.substr(begin, body.find('.', begin) - begin));
  }
  EXPECT_NE(seen[0], seen[1]);
  EXPECT_NE(seen[1], seen[2]);
  EXPECT_NE(seen[0], seen[2]);
  EXPECT_EQ(seen[3], seen[0]);
}

TEST(http_traffic, an_address_with_too_many_connections_is_told_and_others_are_served) {
  http::limits narrow;
  narrow.max_connections_per_address = 2;
  hondana_test::library with(narrow);
  client first(with.port());
  client second(with.port());
  for (auto* one : {&first, &second}) {
    one->send(post(discovery));
    EXPECT_EQ(one->receive().status, 200);
  }
  client third(with.port());
  EXPECT_EQ(third.receive().status, 503);
  auto other = client::from_address("127.0.0.2", with.port());
  other.send(post(discovery));
  EXPECT_EQ(other.receive().status, 200);
}

}  // namespace
