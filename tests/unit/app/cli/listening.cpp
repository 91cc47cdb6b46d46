/// Where `hondana serve` listens when flags, file and supervisor all have something to say.
#include "app/cli/listening.hpp"

#include <cstdlib>
#include <string>

#include <unistd.h>

#include <gtest/gtest.h>

namespace hondana::cli {
namespace {

TEST(listening, flags_outweigh_the_file_and_names_add_up) {
  config::http_settings file;
  file.address = "::1";
  file.port = 1;
  file.socket = "/run/s";
  file.admin = "127.0.0.1:2";
  file.hosts = {"a"};
  file.origins = {"https://a"};
  file.max_connections = 9;
  serve_command asked;
  auto made = listening_options(asked, file, {});
  EXPECT_EQ(made.socket, "/run/s");
  EXPECT_EQ(made.admin, "127.0.0.1:2");
  EXPECT_EQ(made.max_connections, 9u);
  EXPECT_FALSE(made.without_authentication);
  asked.port = 3;
  asked.admin = "127.0.0.1:4";
  asked.hosts = {"b"};
  asked.origins = {"https://b"};
  asked.without_authentication = true;
  made = listening_options(asked, file, {{5}, 6});
  EXPECT_EQ(made.socket, "");
  EXPECT_EQ(made.address, "::1");
  EXPECT_EQ(made.port, 3);
  EXPECT_EQ(made.admin, "127.0.0.1:4");
  EXPECT_EQ(made.hosts, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(made.origins, (std::vector<std::string>{"https://a", "https://b"}));
  EXPECT_TRUE(made.without_authentication);
  EXPECT_EQ(made.inherited, (std::vector<int>{5}));
  EXPECT_EQ(made.inherited_admin, 6);
}

TEST(listening, a_certificate_of_the_line_outweighs_that_of_the_file) {
  config::http_settings file;
  file.tls = {"/etc/c", "/etc/k", "/etc/clients", true};
  serve_command asked;
  EXPECT_EQ(listening_options(asked, file, {}).tls, file.tls);
  asked.tls_certificate = "c";
  asked.tls_key = "k";
  EXPECT_EQ(listening_options(asked, file, {}).tls, (tls_options{"c", "k", "/etc/clients", true}));
}

TEST(listening, is_described_by_what_one_can_connect_to) {
  http_options http;
  EXPECT_EQ(place_of(http, 80).url, "http://127.0.0.1:80/mcp");
  http.tls.certificate = "c";
  EXPECT_EQ(place_of(http, 80).url, "https://127.0.0.1:80/mcp");
  http.tls.certificate.clear();
  http.address = "::1";
  EXPECT_EQ(place_of(http, 80).url, "http://[::1]:80/mcp");
  http.address = "0.0.0.0";
  http.hosts = {"shelf.example"};
  EXPECT_EQ(place_of(http, 81).url, "http://shelf.example:81/mcp");
  http.hosts = {"shelf.example:8080"};
  EXPECT_EQ(place_of(http, 81).url, "http://shelf.example:8080/mcp");
  http.socket = "/run/s";
  EXPECT_EQ(place_of(http, 0).socket, "/run/s");
  EXPECT_EQ(place_of(http, 0).url, "");
  http.inherited = {3};
  EXPECT_TRUE(place_of(http, 0).is_inherited);
}

struct environment {
  environment(const std::string& pid, const char* count, const char* names) {
    ::setenv("LISTEN_PID", pid.c_str(), 1);
    ::setenv("LISTEN_FDS", count, 1);
    ::setenv("LISTEN_FDNAMES", names, 1);
  }
};

TEST(inherited_sockets, are_taken_by_number_and_name_once) {
  const environment given(std::to_string(::getpid()), "3", "web:admin:web");
  auto taken = take_inherited_sockets();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->messages, (std::vector<int>{3, 5}));
  EXPECT_EQ(taken->admin, 4);
  EXPECT_EQ(std::getenv("LISTEN_FDS"), nullptr);
  taken = take_inherited_sockets();
  ASSERT_TRUE(taken);
  EXPECT_TRUE(taken->messages.empty());
}

TEST(inherited_sockets, of_another_process_are_left_alone) {
  const environment given("1", "1", "");
  const auto taken = take_inherited_sockets();
  ASSERT_TRUE(taken);
  EXPECT_TRUE(taken->messages.empty());
  EXPECT_EQ(taken->admin, -1);
}

TEST(inherited_sockets, in_absurd_numbers_are_an_error) {
  for (const auto* count : {"65", "-1", "many", "3x"}) {
    const environment given(std::to_string(::getpid()), count, "");
    const auto taken = take_inherited_sockets();
    ASSERT_FALSE(taken) << count;
    EXPECT_NE(taken.error().public_text.find("LISTEN_FDS"), std::string::npos);
  }
}

}  // namespace
}  // namespace hondana::cli
