/// Starts and stops PostgreSQL.
#include "unit/search/index/postgres_server.hpp"

#include <pwd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "search/index/postgres/postgres_connection.hpp"
#include "unit/started/program.hpp"

namespace hondana::search {
namespace {

std::string folder_of_programs() {
  for (const auto* version : {"15", "16", "17"}) {
    auto folder = std::string("/usr/lib/postgresql/") + version + "/bin/";
    if (::access((folder + "initdb").c_str(), X_OK) == 0) return folder;
  }
  return {};
}

/// As postgres when we are root, who may not run it. What it writes to stderr comes out of `messages`.
pid_t start_as_postgres(std::vector<std::string> words, int& messages) {
  if (::geteuid() == 0)
    words.insert(words.begin(),
                 {"setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "--pdeathsig=QUIT", "--"});
  return started::start_program(std::move(words), messages);
}

std::unique_ptr<postgres_server>& only_one() {
  static std::unique_ptr<postgres_server> one;
  return one;
}

class ends_postgres final : public testing::Environment {
 public:
  void TearDown() override { only_one().reset(); }
};
const auto* const ends_with_the_tests = testing::AddGlobalTestEnvironment(new ends_postgres);

}  // namespace

postgres_server& postgres_server::instance() {
  if (!only_one()) only_one() = std::make_unique<postgres_server>();
  return *only_one();
}

postgres_server::postgres_server() {
  folder_ = "/tmp/search_pg_XXXXXX";
  if (::mkdtemp(folder_.data()) == nullptr) {
    ADD_FAILURE() << "no temporary folder";
    return;
  }
  if (::geteuid() == 0) {
    const auto* const user = ::getpwnam("postgres");
    if (user == nullptr || ::chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0) {
      ADD_FAILURE() << "there is no user postgres; it comes with the package postgresql-15";
      return;
    }
  }
  int said = -1;
  const auto made = start_as_postgres({folder_of_programs() + "initdb", "-D", folder_ + "/data", "-U", "hondana", "-E", "UTF8",
                                       "--locale=C.UTF-8", "--no-sync", "--auth-local=trust", "--auth-host=scram-sha-256"},
                                      said);
  const auto messages = started::read_until(said, {}, hondana_test::event_deadline);
  ::close(said);
  int status = -1;
  if (made > 0) ::waitpid(made, &status, 0);
  if (status != 0) {
    ADD_FAILURE() << "initdb of the package postgresql-15: " << messages;
    return;
  }
  port_ = started::free_port();
  start();
}

void postgres_server::start() {
  child_ = start_as_postgres({folder_of_programs() + "postgres", "-D", folder_ + "/data", "-k", folder_, "-p",
                              std::to_string(port_), "-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c",
                              "full_page_writes=off", "-c", "autovacuum_naptime=5", "-c", "logging_collector=off"},
                             messages_);
  const auto said = started::read_until(messages_, "ready to accept connections", hondana_test::event_deadline);
  EXPECT_NE(said.find("ready to accept connections"), std::string::npos) << said;
}

void postgres_server::stop() {
  if (child_ > 0) {
    ::kill(child_, SIGQUIT);
    ::waitpid(child_, nullptr, 0);
    child_ = 0;
  }
  if (messages_ >= 0) ::close(messages_);
  messages_ = -1;
}

postgres_server::~postgres_server() {
  stop();
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string postgres_server::url(const std::string& database) const {
  return "postgresql://hondana@/" + database + "?host=" + folder_ + "&port=" + std::to_string(port_);
}

std::string postgres_server::tcp_url(const std::string& user) const {
  return "postgresql://" + user + "@127.0.0.1:" + std::to_string(port_) + "/postgres?sslmode=disable";
}

std::string postgres_server::run(const std::string& sql, const std::string& database) const {
  const auto library = shared_libpq();
  if (!library) {
    ADD_FAILURE() << library.error().public_text;
    return {};
  }
  const auto& by = **library;
  const auto address = url(database);
  const std::array<const char*, 2> keywords{"dbname", nullptr};
  const std::array<const char*, 2> values{address.c_str(), nullptr};
  auto* const connection = by.connect(keywords.data(), values.data(), 1);
  by.set_notice_processor(connection, [](void*, const char*) {}, nullptr);
  auto* const got = by.exec(connection, sql.c_str());
  const auto status = by.result_status(got);
  EXPECT_TRUE(status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK) << sql << ": " << by.error_message(connection);
  std::string out = by.rows(got) > 0 ? by.value(got, 0, 0) : "";
  by.clear(got);
  by.finish(connection);
  return out;
}

}  // namespace hondana::search
