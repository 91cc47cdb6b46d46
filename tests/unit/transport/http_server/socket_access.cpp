/// Mode and group of a Unix socket's file, whatever others do in its folder meanwhile.
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "transport/http_server/listening_socket.hpp"
#include "unit/transport/tls/certificates.hpp"

namespace {

using hondana::transport::http_server::listening_socket;
using hondana::transport::http_server::set_socket_access;

struct stat found(const std::string& path) {
  struct stat there{};
  EXPECT_EQ(::lstat(path.c_str(), &there), 0) << path;
  return there;
}

unsigned mode_of(const std::string& path) { return found(path).st_mode & 0777; }

// attacks: another file in the place of the socket before it has its mode
TEST(socket_access, is_given_to_what_was_bound_and_to_nothing_that_has_taken_its_place) {
  const hondana_test::pem_folder where;
  const auto path = where.path("s");
  const auto bound = listening_socket::bind_path(path);
  ASSERT_TRUE(bound) << bound.error().public_text;
  const auto ours = found(path);
  ASSERT_TRUE(set_socket_access(path, ours.st_dev, ours.st_ino, {0620, std::to_string(::getegid())}));
  EXPECT_EQ(mode_of(path), 0620u);

  const auto moved = where.path("moved");
  const auto precious = where.write("precious", "secret");
  std::filesystem::rename(path, moved);
  const auto expect_refused = [&](const char* what) {
    for (const auto& group : {std::string(), std::to_string(::getegid())}) {
      const auto given = set_socket_access(path, ours.st_dev, ours.st_ino, {0666, group});
      ASSERT_FALSE(given) << what;
      EXPECT_NE(given.error().public_text.find("replaced by another file"), std::string::npos) << given.error().public_text;
    }
    EXPECT_EQ(mode_of(moved), 0620u) << what;
    EXPECT_EQ(mode_of(precious), 0600u) << what;
  };
  std::filesystem::create_symlink(precious, path);
  expect_refused("a link to a file");
  std::filesystem::remove(path);
  std::filesystem::create_symlink(moved, path);
  expect_refused("a link to the socket");
  std::filesystem::remove(path);
  const auto another = listening_socket::bind_path(path);
  ASSERT_TRUE(another) << another.error().public_text;
  expect_refused("another socket");
  EXPECT_EQ(mode_of(path), 0600u);
}

}  // namespace
