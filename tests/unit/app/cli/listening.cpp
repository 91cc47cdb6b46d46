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
  file.socket_path = "/run/s";
  file.admin_address = "127.0.0.1:2";
  file.allowed_hosts = {"a"};
  file.allowed_origins = {"https://a"};
  file.max_connections = 9;
  serve_command asked;
  auto made = listening_options(asked, file, {});
  EXPECT_EQ(made.socket_path, "/run/s");
  EXPECT_EQ(made.admin_address, "127.0.0.1:2");
  EXPECT_EQ(made.max_connections, 9u);
  EXPECT_FALSE(made.without_authentication);
  asked.port = 3;
  asked.admin_address = "127.0.0.1:4";
  asked.allowed_hosts = {"b"};
  asked.allowed_origins = {"https://b"};
  asked.without_authentication = true;
  made = listening_options(asked, file, {{5}, 6});
  EXPECT_EQ(made.socket_path, std::nullopt);
  EXPECT_EQ(made.address, "::1");
  EXPECT_EQ(made.port, 3);
  EXPECT_EQ(made.admin_address, "127.0.0.1:4");
  EXPECT_EQ(made.allowed_hosts, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(made.allowed_origins, (std::vector<std::string>{"https://a", "https://b"}));
  EXPECT_TRUE(made.without_authentication);
  EXPECT_EQ(made.inherited_sockets, (std::vector<int>{5}));
  EXPECT_EQ(made.inherited_admin_socket, 6);
}

TEST(listening, a_certificate_of_the_line_outweighs_that_of_the_file) {
  config::http_settings file;
  file.tls = tls_options{"/etc/c", "/etc/k", "/etc/clients", true};
  serve_command asked;
  EXPECT_EQ(listening_options(asked, file, {}).tls, file.tls);
  asked.tls_certificate_file = "c";
  asked.tls_key_file = "k";
  EXPECT_EQ(listening_options(asked, file, {}).tls, (tls_options{"c", "k", "/etc/clients", true}));
}

TEST(listening, is_described_by_what_one_can_connect_to) {
  http_options http;
  EXPECT_EQ(make_greeting_info(http, 80).url, "http://127.0.0.1:80/mcp");
  http.tls = tls_options{.certificate_file = "c"};
  EXPECT_EQ(make_greeting_info(http, 80).url, "https://127.0.0.1:80/mcp");
  http.tls.reset();
  http.address = "::1";
  EXPECT_EQ(make_greeting_info(http, 80).url, "http://[::1]:80/mcp");
  http.address = "0.0.0.0";
  http.allowed_hosts = {"shelf.example"};
  EXPECT_EQ(make_greeting_info(http, 81).url, "http://shelf.example:81/mcp");
  http.allowed_hosts = {"shelf.example:8080"};
  EXPECT_EQ(make_greeting_info(http, 81).url, "http://shelf.example:8080/mcp");
  http.socket_path = "/run/s";
  EXPECT_EQ(make_greeting_info(http, 0).socket_path, "/run/s");
  EXPECT_EQ(make_greeting_info(http, 0).url, "");
  http.inherited_sockets = {3};
  EXPECT_TRUE(make_greeting_info(http, 0).is_inherited);
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
  auto taken = adopt_inherited_sockets();
  ASSERT_TRUE(taken);
  EXPECT_EQ(taken->message_sockets, (std::vector<int>{3, 5}));
  EXPECT_EQ(taken->admin_socket, 4);
  EXPECT_EQ(std::getenv("LISTEN_FDS"), nullptr);
  taken = adopt_inherited_sockets();
  ASSERT_TRUE(taken);
  EXPECT_TRUE(taken->message_sockets.empty());
}

TEST(inherited_sockets, of_another_process_are_left_alone) {
  const environment given("1", "1", "");
  const auto taken = adopt_inherited_sockets();
  ASSERT_TRUE(taken);
  EXPECT_TRUE(taken->message_sockets.empty());
  EXPECT_EQ(taken->admin_socket, std::nullopt);
}

TEST(inherited_sockets, in_absurd_numbers_are_an_error) {
  for (const auto* count : {"65", "-1", "many", "3x"}) {
    const environment given(std::to_string(::getpid()), count, "");
    const auto taken = adopt_inherited_sockets();
    ASSERT_FALSE(taken) << count;
    EXPECT_NE(taken.error().public_text.find("LISTEN_FDS"), std::string::npos);
  }
}

}  // namespace
}  // namespace hondana::cli
