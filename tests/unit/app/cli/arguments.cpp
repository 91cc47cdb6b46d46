/// The command line: what each flag means, and what a wrong one is answered with.
#include "app/cli/arguments.hpp"

#include <gtest/gtest.h>

namespace hondana::cli {
namespace {

parsed_command parsed(std::vector<const char*> arguments) {
  arguments.insert(arguments.begin(), "hondana");
  return parse_arguments(static_cast<int>(arguments.size()), arguments.data());
}

TEST(arguments, serve_takes_paths_port_and_address) {
  const auto what = std::get<serve_command>(parsed({"serve", "--port", "0", "--address", "::1", "a", "b"}));
  EXPECT_EQ(what.port, 0);
  EXPECT_EQ(what.address, "::1");
  EXPECT_EQ(what.sources.paths, (std::vector<std::string>{"a", "b"}));
}

TEST(arguments, stdio_without_paths_leaves_them_empty) {
  const auto what = std::get<stdio_command>(parsed({"stdio"}));
  EXPECT_TRUE(what.sources.paths.empty());
  EXPECT_TRUE(what.sources.config_file.empty());
  EXPECT_FALSE(what.sources.includes_hidden);
}

TEST(arguments, allow_takes_one_pattern_at_a_time) {
  const auto what = std::get<stdio_command>(parsed({"stdio", "--allow", ".env.example", "--allow", "*.pem", "folder"}));
  EXPECT_EQ(what.sources.allow, (std::vector<std::string>{".env.example", "*.pem"}));
  EXPECT_EQ(what.sources.paths, (std::vector<std::string>{"folder"}));
}

TEST(arguments, help_goes_to_standard_output_and_fits_a_screen) {
  for (const auto& line : std::vector<std::vector<const char*>>{{"--help"}, {"serve", "--help"}, {"check", "--help"}}) {
    const auto what = std::get<print_command>(parsed(line));
    EXPECT_EQ(what.exit_code, 0);
    EXPECT_LE(std::count(what.text.begin(), what.text.end(), '\n'), 48);
    EXPECT_NE(what.text.find("Usage"), std::string::npos);
  }
}

TEST(arguments, a_wrong_flag_is_named_with_a_way_on) {
  const auto what = std::get<print_command>(parsed({"serve", "--prot", "1"}));
  EXPECT_EQ(what.exit_code, 1);
  EXPECT_NE(what.text.find("--prot"), std::string::npos);
  EXPECT_NE(what.text.find("hondana serve --help"), std::string::npos);
}

TEST(arguments, a_port_out_of_range_is_refused) {
  EXPECT_EQ(std::get<print_command>(parsed({"serve", "--port", "70000"})).exit_code, 1);
  EXPECT_EQ(std::get<print_command>(parsed({"serve", "--port", "x"})).exit_code, 1);
}

TEST(arguments, a_socket_together_with_a_port_or_an_address_is_refused) {
  EXPECT_EQ(std::get<print_command>(parsed({"serve", "--socket", "s", "--port", "1"})).text,
            "hondana: --socket listens on a Unix socket and --port on TCP, but a server listens on one of them; leave one out\n"
            "Try 'hondana serve --help'.\n");
  const auto address = std::get<print_command>(parsed({"serve", "--address", "127.0.0.1", "--socket", "s"}));
  EXPECT_EQ(address.exit_code, 1);
  EXPECT_NE(address.text.find("--address on TCP"), std::string::npos);
  EXPECT_EQ(std::get<serve_command>(parsed({"serve", "--socket", "s"})).socket_path, "s");
}

TEST(arguments, a_certificate_comes_with_its_key_and_not_to_a_socket) {
  const auto both = std::get<serve_command>(parsed({"serve", "--tls-certificate", "c", "--tls-key", "k"}));
  EXPECT_EQ(both.tls_certificate_file, "c");
  EXPECT_EQ(both.tls_key_file, "k");
  for (const char* one : {"--tls-certificate", "--tls-key"}) {
    const auto half = std::get<print_command>(parsed({"serve", one, "f"}));
    EXPECT_EQ(half.exit_code, 1);
    EXPECT_NE(half.text.find("give both"), std::string::npos) << half.text;
  }
  const auto socket = std::get<print_command>(parsed({"serve", "--socket", "s", "--tls-certificate", "c", "--tls-key", "k"}));
  EXPECT_NE(socket.text.find("is for TCP"), std::string::npos) << socket.text;
}

TEST(arguments, an_unknown_command_is_named_with_the_known_ones) {
  EXPECT_EQ(
      std::get<print_command>(parsed({"srve"})).text,
      "hondana: unknown command \"srve\"; did you mean \"serve\"? The commands are serve, stdio, check, schemes, audit, ls, "
      "tree, "
      "read, templates, complete, watch, info, search, skills, call, login, logout, analysis, token, config, completions, "
      "help, "
      "version\n"
      "Try 'hondana --help'.\n");
}

TEST(arguments, no_command_at_all_is_a_usage_error) { EXPECT_EQ(std::get<print_command>(parsed({})).exit_code, 1); }

}  // namespace
}  // namespace hondana::cli
