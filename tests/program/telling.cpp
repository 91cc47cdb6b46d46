/// `hondana stdio` tells who listens of changed lists, though nobody has listed.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "program/folder.hpp"
#include "program/messages.hpp"
#include "program/process.hpp"

namespace {

using program_test::folder;
using program_test::message;
using program_test::patience;
using program_test::process;
using program_test::request;
using program_test::within;

constexpr std::string_view skill = "---\nname: added\ndescription: It was not there before.\n---\n";

/// Whether one of the next lines is this notification.
bool tells(process& by, std::string_view method) {
  while (const auto line = by.read_line(within(patience))) {
    const auto said = message(*line);
    if (said.contains("method") && said.at("method").as_string().c_str() == method) return true;
  }
  return false;
}

bool tells_of_the_list(process& by) { return tells(by, "notifications/resources/list_changed"); }

/// A peer of the revision before the newest, which hears of lists from its handshake on.
bool shakes_hands(process& with) {
  const std::string opening =
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},)"
      R"("clientInfo":{"name":"test","version":"0"}}})";
  const std::string settled = R"({"jsonrpc":"2.0","method":"notifications/initialized"})";
  const std::string ping = R"({"jsonrpc":"2.0","id":2,"method":"ping"})";
  if (!with.write(opening + '\n' + settled + '\n' + ping + '\n', within(patience))) return false;
  return with.read_line(within(patience)) && with.read_line(within(patience));
}

bool listens(process& to) {
  const auto wish = request(1, "subscriptions/listen", R"("notifications":{"resourcesListChanged":true},)");
  return to.write(wish + '\n', within(patience)) && tells(to, "notifications/subscriptions/acknowledged");
}

TEST(program_telling, a_file_comes_to_a_peer_that_has_shaken_hands) {
  const folder what;
  what.put("a", "1");
  process program({"stdio", what.path()});
  ASSERT_TRUE(shakes_hands(program)) << program.errors();
  what.put("b", "1");
  EXPECT_TRUE(tells_of_the_list(program)) << program.errors();
}

TEST(program_telling, a_file_comes_to_a_peer_that_listens) {
  const folder what;
  what.put("a", "1");
  process program({"stdio", what.path()});
  ASSERT_TRUE(listens(program)) << program.errors();
  what.put("b", "1");
  EXPECT_TRUE(tells_of_the_list(program)) << program.errors();
}

TEST(program_telling, a_skill_comes) {
  const folder what;
  what.put("skills/other/readme.md", "none");
  what.put("hondana.toml", "[[source]]\ntype = \"skills\"\npaths = [\"skills\"]\n");
  process program({"stdio", "--config", what.path("hondana.toml")});
  ASSERT_TRUE(listens(program)) << program.errors();
  what.put("skills/added/SKILL.md", skill);
  EXPECT_TRUE(tells_of_the_list(program)) << program.errors();
}

TEST(program_telling, a_file_of_a_mounted_server_comes) {
  const folder what;
  what.put("theirs/a", "1");
  what.put("hondana.toml", "[[source]]\ntype = \"mcp\"\nname = \"other\"\ncommand = [\"" + std::string(HONDANA_PROGRAM) +
                               "\", \"stdio\", \"" + what.path("theirs") + "\"]\n");
  process program({"stdio", "--config", what.path("hondana.toml")});
  ASSERT_TRUE(listens(program)) << program.errors();
  // What it had before its lists were known here comes first.
  ASSERT_TRUE(tells_of_the_list(program)) << program.errors();
  what.put("theirs/b", "1");
  EXPECT_TRUE(tells_of_the_list(program)) << program.errors();
}

}  // namespace
