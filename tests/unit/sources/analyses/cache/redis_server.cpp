/// Starts and ends Redis.
#include "unit/sources/analyses/cache/redis_server.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "sources/analyses/cache/redis/redis_connection.hpp"
#include "unit/started/program.hpp"
#include "unit/transport/tls/certificates.hpp"

namespace hondana::analyses {
namespace {

void write_file(const std::string& path, const std::string& text) {
  std::ofstream out(path);
  out << text;
  out.close();
  EXPECT_TRUE(out) << path;
  std::filesystem::permissions(path, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

}  // namespace

redis_server::redis_server(std::vector<std::string> settings, bool is_tls) : settings_(std::move(settings)), is_tls_(is_tls) {
  folder_ = "/tmp/analyses_XXXXXX";
  if (::mkdtemp(folder_.data()) == nullptr) {
    ADD_FAILURE() << "no temporary folder";
    return;
  }
  if (is_tls) {
    hondana_test::wanted_certificate wanted;
    wanted.name = "an authority";
    wanted.is_authority = true;
    const hondana_test::issued authority(wanted);
    const hondana_test::issued own({}, &authority);
    write_file(folder_ + "/authorities.pem", authority.certificate_text());
    write_file(folder_ + "/own.pem", own.certificate_text());
    write_file(folder_ + "/key.pem", own.key_text());
  }
  port_ = started::free_port();
  start();
}

void redis_server::start() {
  std::vector<std::string> words{"redis-server",
                                 "--dir",
                                 folder_,
                                 "--unixsocket",
                                 folder_ + "/socket",
                                 "--bind",
                                 "127.0.0.1",
                                 "--requirepass",
                                 password,
                                 "--appendonly",
                                 "yes",
                                 "--appendfsync",
                                 "always",
                                 "--save",
                                 "",
                                 "--daemonize",
                                 "no",
                                 "--io-threads",
                                 "1"};
  const auto port = std::to_string(port_);
  if (is_tls_) {
    words.insert(words.end(),
                 {"--port", "0", "--tls-port", port, "--tls-cert-file", folder_ + "/own.pem", "--tls-key-file",
                  folder_ + "/key.pem", "--tls-ca-cert-file", folder_ + "/authorities.pem", "--tls-auth-clients", "no"});
  } else {
    words.insert(words.end(), {"--port", port});
  }
  words.insert(words.end(), settings_.begin(), settings_.end());
  child_ = started::start_program(words, messages_, true);
  const auto said =
      started::read_until(messages_, "server is now ready to accept connections at", hondana_test::event_deadline);
  EXPECT_NE(said.find("ready to accept connections at"), std::string::npos) << said;
}

void redis_server::kill() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
    child_ = 0;
  }
  if (messages_ >= 0) ::close(messages_);
  messages_ = -1;
}

void redis_server::pause() const { ::kill(child_, SIGSTOP); }
void redis_server::go_on() const { ::kill(child_, SIGCONT); }

redis_server::~redis_server() {
  kill();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

redis_options redis_server::options(const std::string& prefix) const {
  redis_options out;
  out.url = "unix://" + folder_ + "/socket";
  out.password = password;
  out.timeout = hondana_test::event_deadline;
  out.prefix = prefix;
  return out;
}

redis_options redis_server::tcp_options(const std::string& prefix) const {
  auto out = options(prefix);
  out.url = (is_tls_ ? "rediss" : "redis") + std::string("://127.0.0.1:") + std::to_string(port_);
  if (is_tls_) out.ca_file = folder_ + "/authorities.pem";
  return out;
}

std::string redis_server::ask(const std::vector<std::string>& words) const {
  const auto how = options();
  const auto where = parse_redis_url(how.url);
  auto on = redis_connection::open(*where, how, nullptr);
  if (!on) {
    ADD_FAILURE() << on.error().public_text << " | " << on.error().private_text;
    return {};
  }
  const std::vector<std::string_view> views(words.begin(), words.end());
  const auto said = on->execute(views);
  if (!said) {
    ADD_FAILURE() << said.error().public_text;
    return {};
  }
  return said->type == redis_reply::kind::integer ? std::to_string(said->integer) : said->text;
}

}  // namespace hondana::analyses
