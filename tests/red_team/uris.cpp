/// Every URI that led out of some server's folders, asked by every method that takes one, over every way in.
#include <cstdlib>

#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "red_team/lines.hpp"

namespace {

using red_team::canary;
using red_team::hostile_uris;
using red_team::line;
using red_team::name_of;
using red_team::shelf;
using red_team::target;
using red_team::way;

namespace json = boost::json;

std::string as_json(std::string_view text) { return json::serialize(json::string(text)); }

/// Whether an answer refuses, by an error of the protocol or of the tool that was called.
bool is_refusal(const std::string& answer) {
  const auto message = json::parse(answer).as_object();
  if (const auto* error = message.if_contains("error")) return !error->at("message").as_string().empty();
  const auto& result = message.at("result").as_object();
  return result.contains("isError") && result.at("isError").as_bool();
}

/// Nothing of what lies outside: the files with the mark, the passwords' file, and our environment.
testing::AssertionResult tells_nothing(std::string_view bytes) {
  for (const auto mark : {canary, std::string_view("root:x:"), std::string_view("HONDANA_MARK")}) {
    if (const auto at = bytes.find(mark); at != std::string_view::npos)
      return testing::AssertionFailure() << mark << " in " << bytes.substr(at < 300 ? 0 : at - 300, 600);
  }
  return testing::AssertionSuccess();
}

class red_team_uris : public testing::TestWithParam<way> {
 protected:
  red_team_uris() { ::setenv("HONDANA_MARK", std::string(canary).c_str(), 1); }
  ~red_team_uris() override { ::unsetenv("HONDANA_MARK"); }
};
INSTANTIATE_TEST_SUITE_P(over, red_team_uris, testing::ValuesIn(red_team::ways),
                         [](const auto& one) { return name_of(one.param); });

TEST_P(red_team_uris, that_lead_out_of_the_root_are_refused_by_all_that_reads) {
  const shelf what;
  target under(what, GetParam().transport, GetParam().stateless);
  auto& peer = under.peer();
  for (const auto& [kind, uri] : hostile_uris(what)) {
    const auto shown = std::string(kind) + ": " + uri.substr(0, 120);
    const auto asked = "\"uri\":" + as_json(uri) + ",";
    const auto refused = [&](std::string_view method, const std::string& members) {
      const auto answer = peer.ask(method, members);
      EXPECT_TRUE(is_refusal(answer)) << method << " of " << shown << ": " << answer.substr(0, 500);
      EXPECT_TRUE(tells_nothing(answer)) << method << " of " << shown;
    };
    refused("resources/read", asked);
    refused("resources/get", asked);
    refused("tools/call", R"("name":"read_resource","arguments":{"uri":)" + as_json(uri) + "},");
    if (peer.is_modern()) refused("resources/directory/read", asked);
  }
  EXPECT_TRUE(under.serves(what));
  EXPECT_TRUE(tells_nothing(under.program().errors()));
}

TEST_P(red_team_uris, that_lead_out_of_the_root_show_nothing_in_lists_completion_and_subscriptions) {
  const shelf what;
  target under(what, GetParam().transport, GetParam().stateless);
  auto& peer = under.peer();
  const auto templates = json::parse(peer.ask("resources/templates/list")).at("result").at("resourceTemplates").as_array();
  ASSERT_EQ(templates.size(), 1u);
  const auto reference = R"("ref":{"type":"ref/resource","uri":)" + json::serialize(templates[0].at("uriTemplate")) + "},";
  for (const auto& [kind, uri] : hostile_uris(what)) {
    const auto shown = std::string(kind) + ": " + uri.substr(0, 120);
    EXPECT_TRUE(tells_nothing(peer.ask("resources/list", R"("filter":{"prefix":)" + as_json(uri) + "},"))) << shown;
    const auto path = uri.starts_with(what.root_uri()) ? uri.substr(what.root_uri().size()) : uri;
    for (const auto& typed : {uri, path}) {
      const auto values =
          peer.ask("completion/complete", reference + R"("argument":{"name":"path","value":)" + as_json(typed) + "},");
      EXPECT_TRUE(tells_nothing(values)) << shown;
      for (const auto name : {".env", "id_rsa", "outside.txt", "not_yet", "project2", "credentials"}) {
        // What was typed may stand in an error; values are all that is told.
        const auto at = values.find("\"values\":");
        EXPECT_TRUE(at == std::string::npos || values.find(name, at) == std::string::npos) << shown << ": " << values;
      }
    }
    if (!peer.is_modern()) {
      EXPECT_TRUE(tells_nothing(peer.ask("resources/subscribe", "\"uri\":" + as_json(uri) + ","))) << shown;
    }
  }
  const auto list = peer.ask("resources/list");
  EXPECT_TRUE(tells_nothing(list));
  for (const auto name : {".env", "id_rsa", "server.key", ".git", "project2", "outside.txt", ".netrc"}) {
    EXPECT_EQ(list.find("/" + std::string(name)), std::string::npos) << name << " in " << list;
  }
  EXPECT_TRUE(under.serves(what));
}

TEST_P(red_team_uris, of_odd_names_lead_to_their_own_files_only) {
  const shelf what;
  struct named {
    std::string_view name;
    std::string_view encoded;
  };
  constexpr named odd[]{{"caf\xC3\xA9.txt", "caf%C3%A9.txt"},         {"cafe\xCC\x81.txt", "cafe%CC%81.txt"},
                        {"\x93\xFA\x96\x7B.txt", "%93%FA%96%7B.txt"}, {"100% sure.txt", "100%25%20sure.txt"},
                        {"a#b?c+d.txt", "a%23b%3Fc%2Bd.txt"},         {"two\nlines.txt", "two%0Alines.txt"},
                        {"..hidden not.txt.", "..hidden%20not.txt."}, {"--output=evil.txt", "--output=evil.txt"}};
  for (const auto& one : odd) what.put("project/odd/x" + std::string(one.name), "content of " + std::string(one.encoded));
  target under(what, GetParam().transport, GetParam().stateless);
  for (const auto& one : odd) {
    const auto answer =
        under.peer().ask("resources/read", "\"uri\":\"" + what.root_uri("/odd/x" + std::string(one.encoded)) + "\",");
    EXPECT_NE(answer.find("content of " + std::string(one.encoded) + "\""), std::string::npos) << answer;
  }
  EXPECT_TRUE(under.serves(what));
}

}  // namespace
