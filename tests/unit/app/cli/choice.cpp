/// Which server a command asks, and what goes with each request.
#include "app/cli/target.hpp"

#include <stdlib.h>
#include <sys/stat.h>

#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "program/folder.hpp"

namespace hondana::cli {
namespace {

result<chosen_server> chosen(std::vector<const char*> words) {
  words.insert(words.begin(), {"hondana", "ls"});
  const auto outcome = parse_command_line(static_cast<int>(words.size()), words.data());
  return choose_server(std::get<command_line>(outcome));
}

std::string why_not(std::vector<const char*> words) {
  const auto made = chosen(std::move(words));
  return made ? "it is taken" : made.error().public_text;
}

/// Files that nobody else reads.
class private_folder : public program_test::folder {
 public:
  std::string write(const std::string& name, const std::string& text) const {
    put(name, text);
    if (::chmod(path(name).c_str(), 0600) != 0) throw std::runtime_error("chmod");
    return path(name);
  }
};

constexpr const char* here = "http://127.0.0.1:1/mcp";

TEST(choice, takes_variables_into_headers_and_never_tells_their_values) {
  ASSERT_EQ(::setenv("HONDANA_TEST_TOKEN", "s3cret", 1), 0);
  ASSERT_EQ(::setenv("HONDANA_TEST_LINES", "s3cret\r\nX: y", 1), 0);
  const auto made = chosen({"--on", here, "-H", "Authorization: Bearer ${env:HONDANA_TEST_TOKEN}"});
  ASSERT_TRUE(made) << made.error().public_text;
  const auto& headers = std::get<http_target>(made->target).headers;
  ASSERT_EQ(headers.size(), 1u);
  EXPECT_EQ(headers[0].second, "Bearer s3cret");
  EXPECT_EQ(why_not({"--on", here, "-H", "Authorization: Bearer ${env:HONDANA_NOT_SET}"}),
            "The --header Authorization the environment variable \"HONDANA_NOT_SET\" is not set.");
  const auto broken = why_not({"--on", here, "-H", "A: ${env:HONDANA_TEST_LINES}"});
  EXPECT_NE(broken.find("a line break"), std::string::npos) << broken;
  EXPECT_EQ(broken.find("s3cret"), std::string::npos) << broken;
}

TEST(choice, sends_the_token_of_a_file_and_reads_it_again_when_it_is_refused) {
  const private_folder where;
  const auto file = where.write("token", "first.token\n");
  const auto made = chosen({"--on", here, "--token-file", file.c_str()});
  ASSERT_TRUE(made) << made.error().public_text;
  const auto& tokens = std::get<http_target>(made->target).tokens;
  ASSERT_TRUE(tokens);
  EXPECT_EQ(tokens->token(), "first.token");
  const auto refused = tokens->obtain({here, 401, {}, "first.token", 1}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::unauthorized);
  EXPECT_NE(refused.error().public_text.find(file), std::string::npos);
  EXPECT_EQ(refused.error().public_text.find("first.token"), std::string::npos);
  where.write("token", "second");
  EXPECT_TRUE(tokens->obtain({here, 401, {}, "first.token", 1}, {}));
  EXPECT_EQ(tokens->token(), "second");
}

TEST(choice, takes_no_token_from_a_file_that_others_read_or_that_holds_none) {
  const private_folder where;
  const auto file = where.write("token", "s3cret");
  ASSERT_EQ(::chmod(file.c_str(), 0644), 0);
  EXPECT_NE(why_not({"--on", here, "--token-file", file.c_str()}).find("chmod 600"), std::string::npos);
  for (const std::string text : {"", "\n", "s3cret words", "Bearer s3cret"}) {
    const auto bad = where.write("bad", text);
    const auto why = why_not({"--on", here, "--token-file", bad.c_str()});
    EXPECT_NE(why.find("it must contain one token"), std::string::npos) << why;
    EXPECT_EQ(why.find("s3cret"), std::string::npos) << why;
  }
  EXPECT_NE(why_not({"--on", here, "--token-file", where.path("none").c_str()}).find("No such file"), std::string::npos);
}

// attacks: a token sent in the clear, which everybody on the way reads
TEST(choice, sends_no_token_of_a_file_where_others_could_read_it) {
  const private_folder where;
  const auto file = where.write("token", "s3cret");
  EXPECT_NE(why_not({"--on", "http://shelf.example/mcp", "--token-file", file.c_str()}).find("Use https:."), std::string::npos);
  EXPECT_EQ(why_not({"--on", "https://shelf.example/mcp", "--token-file", file.c_str()}), "it is taken");
  EXPECT_NE(why_not({"--token-file", file.c_str()}).find("is for servers behind a URL"), std::string::npos);
}

}  // namespace
}  // namespace hondana::cli
