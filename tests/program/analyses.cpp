/// Analyses in the real program: in by a tool, out by reads, tools and the command line, and forgotten when a file changes.
#include <signal.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "program/folder.hpp"
#include "program/http_client.hpp"
#include "program/messages.hpp"
#include "program/process.hpp"
#include "program/served.hpp"

namespace {

using program_test::folder;
using program_test::http_client;
using program_test::message;
using program_test::misused;
using program_test::not_found;
using program_test::patience;
using program_test::process;
using program_test::read_request;
using program_test::request;
using program_test::run;
using program_test::served;
using program_test::well;
using program_test::within;

namespace json = boost::json;

/// A folder of files and a store that is served beside it.
struct analyses_shelf {
  explicit analyses_shelf(std::string_view more = {}) {
    kept.put("hondana.toml", "[[source]]\ntype = \"files\"\npaths = [\"" + files.path() +
                                 "\"]\n\n[[source]]\ntype = \"analyses\"\nstore = \"store/analyses.db\"\n" + std::string(more));
  }
  [[nodiscard]] std::vector<std::string> options() const { return {"--config", kept.path("hondana.toml")}; }
  [[nodiscard]] std::vector<std::string> command(std::vector<std::string> words) const {
    words.insert(words.begin(), "analysis");
    words.insert(words.end(), {"--config", kept.path("hondana.toml")});
    return words;
  }
  folder files;
  folder kept;
};

std::string long_text(int seed) {
  static const std::vector<std::string> sentences{"この設計では、読み取りの経路を書き込みの経路から切り離しています。",
                                                  "整合性は版番号で確かめ、古い版を最新として返すことはありません。",
                                                  "しかし、通知が遅れた場合の扱いには注意が必要です。",
                                                  "計測では九十九パーセンタイルで二ミリ秒を下回りました。",
                                                  "「壁打ち」の各回で、根拠の弱い主張は取り下げられました。",
                                                  "運用上は、期限切れの扱いを文書に明記すべきです。\n\n"};
  std::string out = "## 見解 " + std::to_string(seed) + "\n\n";
  for (int i = 0; i < 24; ++i) out += sentences[static_cast<std::size_t>(seed * 7 + i * 5) % sentences.size()];
  return out + "🙂 \"引用\" \\ 終わり";
}

json::object vote(const std::string& provider, int seed) {
  return {{"provider", provider},
          {"model", provider + "-大"},
          {"content", long_text(seed)},
          {"confidence", (90 + seed % 7) / 100.0},
          {"reasoning", long_text(seed + 1)},
          {"cost", 0.0125},
          {"tokens", 1800 + seed},
          {"agreement", 0.93}};
}

const std::vector<std::string> providers{"claude", "gemini", "gpt", "qwen"};

/// Four providers, three rounds, Japanese.
json::object realistic(const std::string& prompt, const json::value& context = {}) {
  json::array votes, rounds, flow;
  for (int round = 1; round <= 3; ++round) {
    json::array of_round;
    for (std::size_t i = 0; i < providers.size(); ++i) {
      of_round.push_back(vote(providers[i], round * 10 + static_cast<int>(i)));
      flow.push_back(json::object{{"round", round},
                                  {"provider", providers[i]},
                                  {"action", "answered"},
                                  {"milliseconds", 2100},
                                  {"at", "2026-11-26T03:04:05.678Z"},
                                  {"note", "第" + std::to_string(round) + "回"}});
    }
    rounds.push_back(
        json::object{{"number", round},
                     {"votes", of_round},
                     {"milliseconds", 9000},
                     {"consensus", json::object{{"content", long_text(round)}, {"confidence", (80 + round * 5) / 100.0}}}});
    votes = of_round;
  }
  json::object out{{"prompt", prompt},
                   {"options", json::object{{"temperature", 0.2}, {"language", "ja"}}},
                   {"models", json::array{"claude-大", "gemini-大", "gpt-大", "qwen-大"}},
                   {"task", "critical"},
                   {"consensus", json::object{{"content", long_text(3)}, {"confidence", 0.95}, {"reasoning", long_text(4)}}},
                   {"votes", votes},
                   {"rounds", rounds},
                   {"flow", flow},
                   {"errors", json::array{json::object{{"provider", "qwen"}, {"round", 1}, {"message", "一度目は時間切れ"}}}},
                   {"totals", json::object{{"cost", 0.15}, {"tokens", 21600}, {"milliseconds", 27000}}},
                   {"session", "設計会議"},
                   {"tags", json::array{"review", "設計"}}};
  if (!context.is_null()) out["context"] = context;
  return out;
}

/// The structured content; an object with `said` where the call went wrong.
json::object call_tool(std::uint16_t port, const std::string& name, const json::object& arguments) {
  http_client by(port);
  const auto text =
      by.post(request(1, "tools/call", "\"name\":\"" + name + "\",\"arguments\":" + json::serialize(arguments) + ","),
              "tools/call", name);
  const auto answer = message(text);
  const auto* result = answer.if_contains("result");
  const auto* found = result == nullptr ? nullptr : result->as_object().if_contains("structuredContent");
  return found == nullptr ? json::object{{"said", text}} : found->as_object();
}

std::string at(const json::object& of, std::string_view member) {
  const auto* found = of.if_contains(member);
  return found == nullptr || !found->is_string() ? json::serialize(of) : std::string(found->as_string());
}

/// As the program's own client reads it, however long it is.
std::string read_text(const served& server, const std::string& uri) {
  const auto got = run({"read", uri, "--on", server.url()});
  EXPECT_EQ(got.how, well) << uri << ": " << got.errors;
  return got.output;
}

/// Without what the store gives.
json::object as_written(json::object of) {
  for (const auto* name : {"id", "status", "created", "expires"}) of.erase(name);
  return of;
}

json::object object_in(const std::string& text) { return json::parse(text).as_object(); }

TEST(program_analyses, of_a_realistic_size_go_in_by_the_tool_and_out_by_reads_tools_and_commands_equal) {
  const analyses_shelf what;
  served server(what.options());
  const auto whole = realistic("分散キャッシュの設計を評価してください。");
  EXPECT_GT(json::serialize(whole).size(), 40'000u);
  const auto claimed = call_tool(server.port(), "analysis_claim",
                                 {{"prompt", whole.at("prompt")},
                                  {"options", whole.at("options")},
                                  {"models", whole.at("models")},
                                  {"task", "critical"},
                                  {"session", "設計会議"}});
  ASSERT_EQ(at(claimed, "outcome"), "claimed");
  const auto put = call_tool(server.port(), "analysis_put", {{"ticket", claimed.at("ticket")}, {"analysis", whole}});
  ASSERT_EQ(at(put, "status"), "complete");
  const auto uri = at(put, "uri");
  const auto id = at(put, "id");
  EXPECT_EQ(as_written(object_in(read_text(server, uri + "?format=json"))), whole);
  EXPECT_EQ(as_written(object_in(read_text(server, at(put, "byPrompt") + "?format=json"))), whole);
  const auto got = call_tool(server.port(), "analysis_get", {{"uri", uri}});
  ASSERT_EQ(at(got, "outcome"), "fresh");
  EXPECT_EQ(as_written(got.at("analysis").as_object()), whole);
  const auto fresh = call_tool(
      server.port(), "analysis_claim",
      {{"prompt", whole.at("prompt")}, {"options", whole.at("options")}, {"models", whole.at("models")}, {"task", "critical"}});
  EXPECT_EQ(at(fresh, "outcome"), "fresh");
  const auto printed = run(what.command({"get", id, "--json"}));
  EXPECT_EQ(printed.how, well) << printed.errors;
  EXPECT_EQ(as_written(object_in(printed.output)), whole) << "beside the server";
  const auto shown = run(what.command({"get", id.substr(0, 14)}));
  EXPECT_EQ(shown.how, well) << shown.errors;
  EXPECT_NE(shown.output.find("## Consensus"), std::string::npos) << shown.output;
  EXPECT_EQ(shown.output, read_text(server, uri));
  const auto vote_read = object_in(read_text(server, uri + "/votes/gpt?format=json"));
  EXPECT_EQ(vote_read, whole.at("votes").at(2).as_object());
  const auto flow_read = object_in(read_text(server, uri + "/flow?format=json"));
  EXPECT_EQ(flow_read.at("rounds"), whole.at("rounds"));
  EXPECT_EQ(server.stop(SIGTERM), well) << server.program().errors();
  const auto later = run(what.command({"get", uri, "--json"}));
  EXPECT_EQ(as_written(object_in(later.output)), whole) << "without the server";
}

TEST(program_analyses, based_on_a_file_are_missed_once_it_changes_and_the_subscriber_hears_of_it) {
  const analyses_shelf what;
  what.files.put("design.md", "一つ目の設計\n");
  served server(what.options());
  const json::array context{json::object{{"uri", what.files.uri("design.md")}}};
  const json::object question{{"prompt", "この設計は妥当ですか。"}, {"context", context}};
  const auto claimed = call_tool(server.port(), "analysis_claim", question);
  ASSERT_EQ(at(claimed, "outcome"), "claimed");
  auto whole = realistic("この設計は妥当ですか。", claimed.at("context"));
  whole.erase("options");
  whole.erase("models");
  whole.erase("task");
  const auto put = call_tool(server.port(), "analysis_put", {{"ticket", claimed.at("ticket")}, {"analysis", whole}});
  ASSERT_EQ(at(put, "status"), "complete");
  const auto uri = at(put, "uri");
  EXPECT_EQ(at(call_tool(server.port(), "analysis_get", question), "outcome"), "fresh");
  process watching({"watch", uri, "--on", server.url()});
  ASSERT_TRUE(watching.error_line_with("watching", within(patience))) << watching.errors();
  what.files.put("design.md", "二つ目の設計\n");
  EXPECT_EQ(at(call_tool(server.port(), "analysis_get", question), "outcome"), "missing");
  const auto heard = watching.read_line(within(patience));
  ASSERT_TRUE(heard) << watching.errors();
  EXPECT_NE(heard->find(uri), std::string::npos) << *heard;
  const auto gone = call_tool(server.port(), "analysis_get", {{"uri", uri}});
  EXPECT_NE(at(gone, "said").find("Analysis not found"), std::string::npos) << json::serialize(gone);
  EXPECT_EQ(at(call_tool(server.port(), "analysis_claim", question), "outcome"), "claimed");
}

TEST(program_analyses, based_on_a_file_that_changed_while_no_server_ran_are_not_served) {
  const analyses_shelf what;
  what.files.put("design.md", "一つ目の設計\n");
  std::string uri, by_prompt;
  {
    served server(what.options());
    const json::array context{json::object{{"uri", what.files.uri("design.md")}}};
    auto whole = realistic("止まっている間", context);
    const auto put = call_tool(server.port(), "analysis_put", {{"analysis", whole}});
    uri = at(put, "uri");
    by_prompt = at(put, "byPrompt");
    EXPECT_NE(read_text(server, by_prompt).find("final"), std::string::npos);
    EXPECT_EQ(server.stop(SIGTERM), well);
  }
  what.files.put("design.md", "二つ目の設計\n");
  served server(what.options());
  http_client by(server.port());
  std::string said;
  try {
    said = by.post(read_request(1, by_prompt), "resources/read", by_prompt);
  } catch (const std::exception& refused) {
    said = refused.what();
  }
  EXPECT_EQ(said.find("final"), std::string::npos) << said;
  ASSERT_TRUE(server.program().error_line_with("deleted, because", within(patience))) << server.program().errors();
}

TEST(program_analyses, are_kept_listed_and_forgotten_by_commands_beside_a_server) {
  const analyses_shelf what;
  served server(what.options());
  what.kept.put("one.json", json::serialize(realistic("命令行から")));
  const auto put = run(what.command({"put", what.kept.path("one.json")}));
  EXPECT_EQ(put.how, well) << put.errors;
  ASSERT_EQ(put.output.find("wallbounce://analyses/"), 0u) << put.output;
  const auto uri = put.output.substr(0, put.output.size() - 1);
  EXPECT_NE(read_text(server, uri).find("命令行から"), std::string::npos);
  EXPECT_EQ(put.errors.find("version"), std::string::npos) << put.errors;
  what.files.put("design.md", "設計\n");
  const json::array context{json::object{{"uri", what.files.uri("design.md")}}};
  what.kept.put("unknown.json", json::serialize(realistic("版なし", context)));
  const auto unknown = run(what.command({"put", what.kept.path("unknown.json")}));
  EXPECT_EQ(unknown.how, well);
  EXPECT_NE(unknown.errors.find("the version is missing for 1 resource"), std::string::npos) << unknown.errors;
  EXPECT_EQ(run(what.command({"rm", unknown.output.substr(0, unknown.output.size() - 1)})).how, well);
  auto weak = realistic("自信のない答え");
  weak["consensus"] = json::object{{"content", "わからない"}, {"confidence", 0.1}};
  what.kept.put("weak.json", json::serialize(weak));
  const auto below = run(what.command({"put", what.kept.path("weak.json"), "--json"}));
  EXPECT_EQ(below.how, well);
  EXPECT_EQ(at(object_in(below.output), "status"), "below");
  EXPECT_NE(below.errors.find("not served as final"), std::string::npos) << below.errors;
  const auto listed = run(what.command({"ls"}));
  EXPECT_EQ(listed.how, well);
  EXPECT_LT(listed.output.find("自信のない答え"), listed.output.find("命令行から")) << "the newest first: " << listed.output;
  const auto one = run(what.command({"ls", "--json", "-n", "1", "--session", "設計会議"}));
  EXPECT_EQ(object_in(one.output).at("analyses").as_array().size(), 1u) << one.output;
  const auto stats = run(what.command({"stats", "--json"}));
  EXPECT_EQ(object_in(stats.output).at("kept").at("entries").to_number<int>(), 2) << stats.output;
  process watching({"watch", uri, "--on", server.url()});
  ASSERT_TRUE(watching.error_line_with("watching", within(patience))) << watching.errors();
  const auto removed = run(what.command({"rm", "--session", "設計会議"}));
  EXPECT_EQ(removed.how, well) << removed.errors;
  EXPECT_EQ(removed.output, "2\n");
  const auto heard = watching.read_line(within(patience));
  ASSERT_TRUE(heard) << watching.errors();
  EXPECT_NE(heard->find(uri), std::string::npos) << *heard;
  EXPECT_EQ(run(what.command({"get", uri})).how, not_found);
  EXPECT_EQ(run(what.command({"rm", uri})).how, not_found);
}

TEST(program_analyses, are_in_the_record_of_requests_with_what_they_rest_on) {
  const analyses_shelf what("\n[audit]\npath = \"audit/record.jsonl\"\n");
  what.files.put("design.md", "設計\n");
  what.kept.put("audit/placeholder", "");
  served server(what.options());
  const auto uri = what.files.uri("design.md");
  const auto claimed =
      call_tool(server.port(), "analysis_claim", {{"prompt", "記録"}, {"context", json::array{json::object{{"uri", uri}}}}});
  ASSERT_EQ(at(claimed, "outcome"), "claimed");
  EXPECT_EQ(server.stop(SIGTERM), well);
  std::ifstream in(what.kept.path("audit/record.jsonl"));
  std::string found;
  for (std::string line; std::getline(in, line);)
    if (line.find("analysis_claim") != std::string::npos) found += line;
  EXPECT_NE(found.find(uri), std::string::npos) << found;
}

TEST(program_analyses, are_found_by_search_as_documents_are) {
  const analyses_shelf what("\n[search]\nwords = \"trigrams\"\n");
  served server(what.options());
  auto whole = realistic("検索で見つかるか");
  whole["consensus"] = json::object{{"content", "結論は翡翠色の看板です。"}, {"confidence", 0.95}};
  const auto put = call_tool(server.port(), "analysis_put", {{"analysis", whole}});
  ASSERT_EQ(at(put, "status"), "complete");
  read_text(server, "search:///?wait=complete");
  const auto found = call_tool(server.port(), "search_resources", {{"q", "翡翠色の看板"}});
  EXPECT_NE(json::serialize(found).find(at(put, "uri")), std::string::npos) << json::serialize(found);
  call_tool(server.port(), "analysis_invalidate", {{"uri", put.at("uri")}});
  const auto gone = call_tool(server.port(), "search_resources", {{"q", "翡翠色の看板"}});
  EXPECT_EQ(json::serialize(gone).find(at(put, "uri")), std::string::npos) << json::serialize(gone);
}

TEST(program_analyses, that_cannot_be_kept_are_refused_with_what_is_wrong) {
  const analyses_shelf what;
  const auto refused = [&](const std::string& text, std::string_view said) {
    what.kept.put("bad.json", text);
    const auto got = run(what.command({"put", what.kept.path("bad.json")}));
    EXPECT_EQ(got.how, misused) << text.substr(0, 100) << got.output << got.errors;
    EXPECT_NE(got.errors.find(said), std::string::npos) << said << " is not in " << got.errors;
    EXPECT_EQ(got.output, "");
  };
  refused("", "");
  refused("{", "");
  refused(R"({"prompt":"p","consensus":{"content":"c","confidence":7}})", "consensus.confidence");
  refused(R"({"prompt":"p","more":1})", "more");
  refused("{\"prompt\":\"\xff\"}", "");
  refused("{\"prompt\":\"" + std::string(20u << 20, 'a') + "\"}", "16 MiB");
  EXPECT_EQ(run(what.command({"put", what.kept.path("none.json")})).how, misused);
  EXPECT_EQ(run(what.command({"get", "ab"})).how, not_found) << "nothing has made a store";
  what.kept.put("good.json", R"({"prompt":"p"})");
  EXPECT_EQ(run(what.command({"put", what.kept.path("good.json")})).how, well);
  EXPECT_EQ(run(what.command({"get", "zz"})).how, misused);
  EXPECT_EQ(run(what.command({"rm"})).how, misused);
  EXPECT_EQ(run(what.command({"rm", "--all", "--tag", "a"})).how, misused);
  EXPECT_EQ(run({"analysis", "ls", "--store", what.kept.path("none.db")}).how, not_found);
  EXPECT_EQ(run({"analysis", "ls", "--config", what.files.path("none.toml")}).how, misused);
}

TEST(program_analyses, are_in_what_check_and_schemes_say) {
  const analyses_shelf what;
  auto arguments = what.options();
  arguments.insert(arguments.begin(), "check");
  const auto checked = run(arguments);
  EXPECT_EQ(checked.how, well) << checked.errors;
  for (const auto& part : {std::string("analyses  wallbounce://analyses"), "to write " + what.kept.path("store")})
    EXPECT_NE(checked.output.find(part), std::string::npos) << part << " is not in\n" << checked.output;
  EXPECT_NE(run({"schemes"}).output.find("wallbounce://by-prompt/{digest}"), std::string::npos);
  const auto explained = run({"check", "--config", what.kept.path("hondana.toml"), "--as", "ci", "--tool", "analysis_put"});
  EXPECT_EQ(explained.how, well) << explained.errors;
  EXPECT_EQ(explained.output.find("no such tool"), std::string::npos) << explained.output;
}

TEST(program_analyses, configured_wrongly_are_refused_by_file_line_and_key) {
  const std::vector<std::pair<std::string, std::string_view>> all{
      {"stores = 1\n", "source.stores"},
      {"redis_url = \"redis://127.0.0.1:1/0\"\n", "source.store"},
      {"failure_ttl = \"soon\"\n", "source.failure_ttl"},
      {"lease_ttl = \"2h\"\n", "source.lease_ttl"},
      {"max_store_bytes = \"1KiB\"\n", "source.max_store_bytes"},
      {"[source.basic]\nmin_confidence = 7\n", "confidence"},
      {"[source.critical]\nmin_providers = 0\n", "providers"},
      {"[source.premium]\nfresh_ttl = \"0s\"\n", "fresh"},
      {"[source.other]\nfresh_ttl = \"1s\"\n", "source.other"},
  };
  for (const auto& [text, said] : all) {
    const analyses_shelf what(text);
    auto arguments = what.options();
    arguments.insert(arguments.begin(), "check");
    const auto got = run(arguments);
    EXPECT_EQ(got.how, misused) << text << got.output << got.errors;
    EXPECT_NE(got.errors.find(said), std::string::npos) << text << got.errors;
    EXPECT_NE(got.errors.find("hondana.toml:"), std::string::npos) << got.errors;
  }
  const analyses_shelf two("\n[[source]]\ntype = \"analyses\"\nstore = \"other/a.db\"\n");
  auto arguments = two.options();
  arguments.insert(arguments.begin(), "check");
  const auto got = run(arguments);
  EXPECT_NE(got.how, well) << "one server has one cache: " << got.output << got.errors;
}

}  // namespace
