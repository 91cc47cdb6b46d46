/// What an index needs of the machine.
#include "search/index/index_location.hpp"

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/search.hpp>

namespace hondana::search {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::Not;
using testing::StartsWith;

TEST(options_of_an_index, that_cannot_be_are_refused_by_the_member_that_is_wrong) {
  const auto fault_of = [](const search_options& options) {
    const auto made = open_search_index(options);
    return made ? std::string() : made.error().public_text;
  };
  search_options wrong;
  wrong.path = "/a";
  wrong.postgres_url = "postgresql://b/c";
  EXPECT_THAT(fault_of(wrong), StartsWith("postgres_url: "));
  wrong = {};
  wrong.scan_interval = std::chrono::milliseconds(99);
  EXPECT_EQ(fault_of(wrong), "scan_interval: expected at least 100 ms");
  wrong = {};
  wrong.max_passages = 0;
  EXPECT_EQ(fault_of(wrong), "max_passages: expected at least 1");
}

class needs_of_postgres : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto* one : {"PGHOST", "PGHOSTADDR", "PGPORT", "PGPASSFILE", "PGSERVICEFILE", "PGSSLROOTCERT"}) ::unsetenv(one);
  }
  void TearDown() override { SetUp(); }
  static system_requirements of(const std::string& url) {
    search_options options;
    options.postgres_url = url;
    options.tokenizer = tokenizer_kind::trigrams;
    auto got = needs_of(options);
    EXPECT_TRUE(got);
    return got ? std::move(*got) : system_requirements();
  }
};

TEST_F(needs_of_postgres, are_its_hosts_and_ports_however_they_are_written) {
  EXPECT_THAT(of("postgresql://me@db.example/docs").sockets, ElementsAre("db.example:5432"));
  EXPECT_THAT(of("postgresql://db.example:6000/docs").sockets, ElementsAre("db.example:6000"));
  EXPECT_THAT(of("postgresql://me@a,b:6000/docs").sockets, ElementsAre("a:5432", "b:6000"));
  EXPECT_THAT(of("postgresql://[::1]:6000/docs").sockets, ElementsAre("[::1]:6000"));
  EXPECT_THAT(of("postgresql:///docs?host=db.example&port=6000").sockets, ElementsAre("db.example:6000"));
  EXPECT_THAT(of("postgresql:///docs?host=a,b&port=6000").sockets, ElementsAre("a:6000", "b:6000"));
  EXPECT_THAT(of("postgresql://db.example/docs?hostaddr=10.0.0.7").sockets, ElementsAre("10.0.0.7:5432"));
}

TEST_F(needs_of_postgres, are_its_socket_where_it_is_on_this_machine) {
  EXPECT_THAT(of("postgresql:///docs").sockets, ElementsAre("/var/run/postgresql/.s.PGSQL.5432", "/tmp/.s.PGSQL.5432"));
  EXPECT_THAT(of("postgresql://me@/docs?host=/srv/pg&port=6000").sockets, ElementsAre("/srv/pg/.s.PGSQL.6000"));
  EXPECT_THAT(of("postgresql://%2Fsrv%2Fpg/docs").sockets, ElementsAre("/srv/pg/.s.PGSQL.5432"));
  ::setenv("PGHOST", "/run/other", 1);
  ::setenv("PGPORT", "7000", 1);
  EXPECT_THAT(of("postgresql:///docs").sockets, ElementsAre("/run/other/.s.PGSQL.7000"));
  EXPECT_THAT(of("postgresql://db/docs").sockets, ElementsAre("db:7000"));
}

TEST_F(needs_of_postgres, are_the_files_with_its_secrets_and_certificates) {
  ::setenv("PGPASSFILE", "/etc/hondana/pgpass", 1);
  ::setenv("PGSERVICEFILE", "/etc/hondana/pg_service", 1);
  const auto got = of("postgresql://db/docs?sslmode=verify-full&sslrootcert=/etc/ca.pem&passfile=%2Fetc%2Fother");
  for (const auto* one : {"/etc/hondana/pgpass", "/etc/hondana/pg_service", "/etc/ca.pem", "/etc/other"})
    EXPECT_THAT(got.folders, Contains(Field(&system_requirements::folder::path, one)));
  EXPECT_THAT(of("postgresql://db/docs?sslrootcert=system").folders,
              Not(Contains(Field(&system_requirements::folder::path, "system"))));
  const auto* const home = std::getenv("HOME");
  if (home == nullptr) GTEST_SKIP() << "there is no home folder";
  EXPECT_THAT(got.folders, Contains(Field(&system_requirements::folder::path, std::string(home) + "/.pg_service.conf")));
}

}  // namespace
}  // namespace hondana::search
