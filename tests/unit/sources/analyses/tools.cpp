/// The tools in a server: what goes in and out, what is refused, and what a change of the context does.
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <hondana/memory_provider.hpp>
#include <hondana/server.hpp>
#include <hondana/value.hpp>

#include "deadline.hpp"
#include "sources/analyses/analysis_resources.hpp"
#include "sources/analyses/cache/analysis_key.hpp"
#include "support/must.hpp"
#include "unit/sources/analyses/made.hpp"

namespace hondana::analyses_source {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

constexpr const char* meta =
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}})";

class tools_of_analyses : public testing::Test {
 protected:
  void serve(server_options how = {}) {
    server_ = std::make_unique<server>(must(server::create(std::move(how))));
    resource entry;
    entry.uri = "memo:///design.md";
    entry.name = "design.md";
    ASSERT_TRUE(shelf_->add(entry, "the first design"));
    ASSERT_TRUE(server_->add(shelf_));
    ASSERT_TRUE(server_->add(test::provider_of(kept_)));
  }
  void SetUp() override { serve(); }
  void TearDown() override { server_.reset(); }

  void change_design(const std::string& text) {
    resource entry;
    entry.uri = "memo:///design.md";
    entry.name = "design.md";
    ASSERT_TRUE(shelf_->add(entry, text));
  }
  static std::string request(const std::string& method, const std::string& params) {
    return R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{)" + params + "," + meta + "}}";
  }
  std::string ask(const std::string& method, const std::string& params) {
    memory_peer peer(*server_);
    peer.send(request(method, params));
    return peer.receive(std::chrono::steady_clock::now() + hondana_test::event_deadline).value_or("no answer");
  }
  std::string answer_of(const std::string& tool, const std::string& arguments) {
    return ask("tools/call", R"("name":")" + tool + R"(","arguments":)" + arguments);
  }
  /// The structured content; a text where the call went wrong.
  value call(const std::string& tool, const value& arguments) {
    const auto answer = value::parse(answer_of(tool, arguments.to_text()));
    EXPECT_TRUE(answer);
    if (const auto found = answer->at("/result/structuredContent")) return *found;
    if (const auto text = answer->string_at("/result/content/0/text")) return *text;
    return answer->string_at("/error/message").value_or(answer->to_text());
  }
  static std::string said(const value& what) {
    const auto* text = what.as_string();
    return text == nullptr ? what.to_text() : *text;
  }
  static std::string at(const value& of, const std::string& member) { return of.string_at(member).value_or("nothing"); }

  static value question(const std::string& prompt, bool has_context = false) {
    value::object out{{"prompt", prompt}, {"models", value::array{"a-large", "b-large", "c-large", "d-large"}}};
    if (has_context) out.emplace_back("context", value::array{value::object{{"uri", "memo:///design.md"}}});
    return out;
  }
  static value with(const value& base, value::object more) {
    auto all = *base.as_object();
    for (auto& one : more) all.push_back(std::move(one));
    return all;
  }
  /// As a caller writes it.
  static value whole(const std::string& prompt, const value* context = nullptr, double confidence = 0.95) {
    auto all = *value::parse(analyses::encode(test::made_analysis(prompt, confidence))).value().as_object();
    if (context != nullptr) all.emplace_back("context", *context);
    return all;
  }
  std::string read(const std::string& uri) { return ask("resources/read", R"("uri":")" + uri + "\""); }

  std::shared_ptr<analyses::cache> kept_ = test::cache_in_memory();
  std::shared_ptr<memory_provider> shelf_ = std::make_shared<memory_provider>("shelf", "memo:///");
  std::unique_ptr<server> server_;
};

TEST_F(tools_of_analyses, are_four_with_schemas_both_ways) {
  memory_peer peer(*server_);
  peer.send(R"({"jsonrpc":"2.0","id":1,"method":"tools/list","params":{)" + std::string(meta) + "}}");
  const auto answer = value::parse(peer.receive(std::chrono::steady_clock::now() + hondana_test::event_deadline).value());
  ASSERT_TRUE(answer);
  std::vector<std::string> names;
  const auto tools = answer->array_at("/result/tools").value();
  for (const auto& one : tools) {
    names.push_back(at(one, "name"));
    EXPECT_NE(one.find("inputSchema"), nullptr);
    EXPECT_NE(one.find("outputSchema"), nullptr) << names.back();
  }
  EXPECT_THAT(names, testing::ElementsAre("analysis_claim", "analysis_get", "analysis_invalidate", "analysis_put"));
}

TEST_F(tools_of_analyses, have_one_caller_compute_and_serve_the_others) {
  const auto first = call("analysis_claim", question("新しい設計"));
  ASSERT_EQ(at(first, "outcome"), "claimed") << said(first);
  const auto second = call("analysis_claim", question("新しい 設計"));
  EXPECT_EQ(at(second, "outcome"), "claimed") << "another prompt";
  const auto third = call("analysis_claim", question("  新しい設計 "));
  ASSERT_EQ(at(third, "outcome"), "computing") << said(third);
  EXPECT_EQ(at(third, "uri"), at(first, "uri"));
  EXPECT_GE(third.integer_at("retryAfterMs").value_or(-1), 0);
  EXPECT_EQ(at(call("analysis_get", question("新しい設計")), "outcome"), "computing");
  const auto part =
      call("analysis_put",
           value::object{{"ticket", at(first, "ticket")}, {"step", "partial"}, {"analysis", question("新しい設計")}});
  EXPECT_EQ(at(part, "status"), "computing") << said(part);
  const auto put = call("analysis_put", value::object{{"ticket", at(first, "ticket")}, {"analysis", whole("新しい設計")}});
  EXPECT_EQ(at(put, "status"), "complete") << said(put);
  const auto fresh = call("analysis_claim", question("新しい設計"));
  EXPECT_EQ(at(fresh, "outcome"), "fresh") << said(fresh);
  const auto found = call("analysis_get", question("新しい設計"));
  ASSERT_EQ(at(found, "outcome"), "fresh") << said(found);
  const auto served = analyses::decode(found.at("analysis").value(), {});
  ASSERT_TRUE(served);
  auto same = *served;
  same.id.clear();
  same.status.reset();
  same.created_at.reset();
  same.expires_at.reset();
  EXPECT_EQ(same, test::made_analysis("新しい設計"));
  for (const auto& named : {value::object{{"uri", at(found, "uri")}}, value::object{{"uri", at(found, "byPrompt")}},
                            value::object{{"digest", at(found, "byPrompt").substr(by_prompt_prefix.size())}}}) {
    const auto same_one = call("analysis_get", named);
    EXPECT_EQ(same_one.at("analysis").value_or(value()), found.at("analysis").value()) << said(same_one);
  }
  const auto late = call("analysis_put", value::object{{"ticket", at(first, "ticket")}, {"analysis", whole("新しい設計")}});
  EXPECT_NE(late.as_string(), nullptr) << "a ticket is good for one whole: " << said(late);
}

TEST_F(tools_of_analyses, keep_what_is_below_its_thresholds_and_never_serve_it_as_final) {
  const auto put = call("analysis_put", value::object{{"analysis", whole("自信なし", nullptr, 0.2)}});
  EXPECT_EQ(at(put, "status"), "below") << said(put);
  EXPECT_THAT(at(put, "notFinalReason"), HasSubstr("0.2"));
  EXPECT_EQ(at(call("analysis_get", question("自信なし")), "outcome"), "missing");
  EXPECT_EQ(at(call("analysis_get", value::object{{"uri", at(put, "uri")}}), "outcome"), "below");
  EXPECT_EQ(at(call("analysis_claim", question("自信なし")), "outcome"), "claimed");
}

TEST_F(tools_of_analyses, remember_failures_and_hand_over_what_was_given_up) {
  const auto first = call("analysis_claim", question("失敗"));
  EXPECT_EQ(
      at(call("analysis_put", value::object{{"ticket", at(first, "ticket")}, {"step", "fail"}, {"reason", "三社とも応答なし"}}),
         "step"),
      "fail");
  const auto second = call("analysis_claim", question("失敗"));
  EXPECT_EQ(at(second, "outcome"), "failed") << said(second);
  EXPECT_EQ(at(second, "reason"), "三社とも応答なし");
  const auto forced = call("analysis_claim", with(question("失敗"), {{"force", true}}));
  ASSERT_EQ(at(forced, "outcome"), "claimed") << said(forced);
  EXPECT_EQ(
      at(call("analysis_put", value::object{{"ticket", at(forced, "ticket")}, {"step", "renew"}, {"leaseMs", 5000}}), "step"),
      "renew");
  EXPECT_EQ(at(call("analysis_put", value::object{{"ticket", at(forced, "ticket")}, {"step", "abandon"}}), "step"), "abandon");
  EXPECT_EQ(at(call("analysis_claim", question("失敗")), "outcome"), "claimed") << "the forced claim has ended that";
}

TEST_F(tools_of_analyses, give_nobody_a_ticket_that_another_can_guess) {
  const auto claimed = call("analysis_claim", question("人の解析")), own = call("analysis_claim", question("自分の解析"));
  const auto ticket = at(claimed, "ticket");
  const auto computing = call("analysis_claim", question("人の解析"));
  ASSERT_EQ(at(computing, "outcome"), "computing") << said(computing);
  // What others are told: the id, and by their own ticket the number.
  const auto id = at(computing, "uri").substr(at(computing, "uri").rfind('/') + 1);
  const auto mine = at(own, "ticket");
  const auto number = std::stoull(mine.substr(mine.find('.') + 1)) - 1;
  const auto guess = id + '.' + std::to_string(number);
  ASSERT_TRUE(ticket.starts_with(guess + '.')) << "the rest is what cannot be guessed: " << ticket;
  EXPECT_EQ(ticket.size(), guess.size() + 17);
  EXPECT_THAT(said(computing), Not(HasSubstr(ticket.substr(guess.size() + 1))));
  for (const auto& guessed : {guess, guess + '.', guess + mine.substr(mine.rfind('.')), guess + ".0000000000000000"}) {
    const auto steps = {value::object{{"ticket", guessed}, {"analysis", whole("人の解析")}},
                        value::object{{"ticket", guessed}, {"step", "partial"}, {"analysis", question("人の解析")}},
                        value::object{{"ticket", guessed}, {"step", "renew"}, {"leaseMs", 5000}},
                        value::object{{"ticket", guessed}, {"step", "fail"}, {"reason", "嘘"}},
                        value::object{{"ticket", guessed}, {"step", "abandon"}}};
    for (const auto& step : steps) {
      const auto answer = call("analysis_put", step);
      EXPECT_NE(answer.as_string(), nullptr) << said(answer);
      EXPECT_THAT(said(answer), testing::AnyOf(HasSubstr("Claim again"), HasSubstr("or claim again"))) << guessed;
    }
  }
  const auto put = call("analysis_put", value::object{{"ticket", ticket}, {"analysis", whole("人の解析")}});
  EXPECT_EQ(at(put, "status"), "complete") << said(put);
}

TEST_F(tools_of_analyses, miss_once_a_resource_has_changed_and_tell_the_subscriber) {
  const auto claimed = call("analysis_claim", question("設計の評価", true));
  ASSERT_EQ(at(claimed, "outcome"), "claimed") << said(claimed);
  const auto context = claimed.at("context").value();
  const auto put =
      call("analysis_put", value::object{{"ticket", at(claimed, "ticket")}, {"analysis", whole("設計の評価", &context)}});
  ASSERT_EQ(at(put, "status"), "complete") << said(put);
  EXPECT_EQ(at(call("analysis_get", question("設計の評価", true)), "outcome"), "fresh");
  EXPECT_THAT(read(at(put, "byPrompt")), HasSubstr("contents"));

  memory_peer subscriber(*server_);
  subscriber.send(
      R"({"jsonrpc":"2.0","id":"s","method":"subscriptions/listen","params":{"notifications":{"resourceSubscriptions":[")" +
      at(put, "uri") + R"("]},)" + meta + "}}");
  const auto until = std::chrono::steady_clock::now() + hondana_test::event_deadline;
  ASSERT_THAT(subscriber.receive(until).value_or("nothing"), HasSubstr("acknowledged"));
  change_design("the second design");
  EXPECT_EQ(at(call("analysis_get", question("設計の評価", true)), "outcome"), "missing") << "at once";
  EXPECT_THAT(subscriber.receive(until).value_or("nothing"),
              AllOf(HasSubstr("notifications/resources/updated"), HasSubstr(at(put, "uri"))));
  EXPECT_THAT(read(at(put, "byPrompt")), Not(HasSubstr("contents")));
  EXPECT_THAT(said(call("analysis_get", value::object{{"uri", at(put, "uri")}})), HasSubstr("Analysis not found"));
}

TEST_F(tools_of_analyses, refuse_what_was_computed_from_what_has_changed_meanwhile) {
  const auto claimed = call("analysis_claim", question("途中で変わる", true));
  ASSERT_EQ(at(claimed, "outcome"), "claimed");
  const auto context = claimed.at("context").value();
  change_design("changed meanwhile");
  const auto put =
      call("analysis_put", value::object{{"ticket", at(claimed, "ticket")}, {"analysis", whole("途中で変わる", &context)}});
  EXPECT_THAT(said(put), AllOf(HasSubstr("analysis.context[0]"), HasSubstr("Claim again")));
}

TEST_F(tools_of_analyses, take_no_context_that_is_not_served_to_the_caller) {
  const auto foreign =
      call("analysis_claim",
           value::object{{"prompt", "x"}, {"context", value::array{value::object{{"uri", "file:///etc/passwd"}}}}});
  EXPECT_THAT(said(foreign), AllOf(HasSubstr("context[0]"), HasSubstr("you may not read it")));
  const auto twice =
      call("analysis_claim", value::object{{"prompt", "x"},
                                           {"context", value::array{value::object{{"uri", "memo:///design.md"}},
                                                                    value::object{{"uri", "memo:///design%2Emd"}}}}});
  EXPECT_THAT(said(twice), HasSubstr("twice"));
  EXPECT_THAT(
      said(call("analysis_claim", value::object{{"prompt", "x"}, {"context", value::array{value::object{{"uri", "no uri"}}}}})),
      HasSubstr("context[0].uri"));
}

TEST_F(tools_of_analyses, refuse_bad_input_by_its_place) {
  struct bad {
    std::string arguments;
    std::string_view said;
  };
  const std::vector<bad> all{
      {R"({"analysis":{"prompt":"p","consensus":{"content":"c","confidence":7}}})", "confidence"},
      {R"({"analysis":{"prompt":"p","consensus":{"content":"c","confidence":-0.1}}})", "confidence"},
      {R"({"analysis":{"prompt":"p","consensus":{"content":"c"}}})", "confidence"},
      {R"({"analysis":{"consensus":{"content":"c","confidence":1}}})", "prompt"},
      {R"({"analysis":{"prompt":"p","votes":[{"content":"c","confidence":1}]}})", "provider"},
      {R"({"analysis":{"prompt":"p","votes":[{"provider":"a","content":"c","confidence":1},{"provider":"a","content":"d","confidence":1}]}})",
       "votes[1]"},
      {R"({"analysis":{"prompt":"p","more":1}})", "more"},
      {R"({"analysis":{"prompt":"p","totals":{"cost":-1}}})", "cost"},
      {R"({"analysis":{"prompt":"p","rounds":[{"number":2},{"number":1}]}})", "rounds[1]"},
      {R"({"analysis":{"prompt":"p","task":"huge"}})", "task"},
      {R"({"analysis":{"prompt":"p","options":{"seeds":[1,18446744073709551615]}}})", "options.seeds[1]"},
      {R"({"analysis":"p"})", "analysis"},
      {R"({"ticket":"no ticket","analysis":{"prompt":"p"}})", "ticket"},
      {R"({"step":"partial","analysis":{"prompt":"p"}})", "ticket"},
      {R"({"step":"else","analysis":{"prompt":"p"}})", "step"},
      {R"({})", "analysis"},
  };
  for (const auto& one : all) {
    const auto answer = answer_of("analysis_put", one.arguments);
    EXPECT_THAT(answer, AllOf(HasSubstr("isError\":true"), HasSubstr(std::string(one.said)))) << one.arguments;
  }
  EXPECT_THAT(answer_of("analysis_get", "{}"), HasSubstr("Give one of"));
  EXPECT_THAT(answer_of("analysis_get", R"({"uri":"wallbounce://analyses/1","prompt":"p"})"), HasSubstr("Give one of"));
  EXPECT_THAT(answer_of("analysis_get", R"({"uri":"wallbounce://analyses/1"})"),
              HasSubstr("expected wallbounce://analyses/ID"));
  EXPECT_THAT(answer_of("analysis_get", R"({"digest":"abc"})"), HasSubstr("isError\":true"));
  EXPECT_THAT(answer_of("analysis_invalidate", "{}"),
              AllOf(HasSubstr("isError\":true"), HasSubstr("Give one of uri"), HasSubstr("session, tag, digest"),
                    HasSubstr("context"), HasSubstr("none of them was given")));
  EXPECT_THAT(answer_of("analysis_invalidate", R"({"tag":"a","session":"b"})"),
              AllOf(HasSubstr("isError\":true"), HasSubstr("Give one of uri"), HasSubstr("2 of them were given")));
  EXPECT_THAT(answer_of("analysis_invalidate", R"({"id":"a"})"), AllOf(HasSubstr("isError\":true"), HasSubstr("id")));
  EXPECT_THAT(answer_of("analysis_claim", R"({"prompt":""})"), HasSubstr("isError\":true"));
  EXPECT_THAT(answer_of("analysis_claim", R"({"prompt":"p","leaseMs":1})"), HasSubstr("leaseMs"));
  EXPECT_THAT(answer_of("analysis_get", R"({"prompt":"p","options":{"seed":9223372036854775808}})"),
              AllOf(HasSubstr("options.seed"), HasSubstr("write it as a string")));
  // By their characters they would do.
  std::string many;
  for (int i = 0; i < 100; ++i) many += "議";
  EXPECT_THAT(answer_of("analysis_claim", R"({"prompt":"p","session":")" + many + "\"}"),
              HasSubstr("session: it has 300 bytes"));
  EXPECT_THAT(answer_of("analysis_claim", R"({"prompt":"p","tags":[")" + many + "\"]}"), HasSubstr("tags[0]"));
  EXPECT_THAT(answer_of("analysis_claim", R"({"prompt":"p","tags":["a\nb"]})"), HasSubstr("tags[0]"));
  EXPECT_THAT(answer_of("analysis_claim", "{\"prompt\":\"\xff\xfe\"}"), HasSubstr("error")) << "ill-formed UTF-8";
  EXPECT_EQ(kept_->store().read_info().value().entries, 0u) << "nothing half written";
}

TEST_F(tools_of_analyses, forget_by_what_is_named) {
  const auto put = [this](const std::string& prompt, const std::string& session) {
    auto all = test::made_analysis(prompt, 0.95, session);
    all.tags = {"t-" + session};
    return test::put_into(*kept_, all);
  };
  const auto forgotten = [this](value::object which) {
    return call("analysis_invalidate", value(std::move(which))).integer_at("forgotten").value_or(-1);
  };
  const auto id = put("一", "x");
  put("二", "y");
  put("三", "y");
  put("四", "z");
  EXPECT_EQ(forgotten({{"uri", analysis_uri(id)}}), 1);
  EXPECT_EQ(forgotten({{"session", "y"}}), 2);
  EXPECT_EQ(forgotten({{"session", "y"}}), 0);
  analyses::model_question asked;
  asked.prompt = "四";
  EXPECT_EQ(forgotten({{"digest", analyses::digest_to_hex(analyses::make_key(asked).prompt_digest)}}), 1);
  put("五", "w");
  EXPECT_EQ(forgotten({{"tag", "t-w"}}), 1);
  const auto claimed = call("analysis_claim", question("六", true));
  const auto context = claimed.at("context").value();
  call("analysis_put", value::object{{"ticket", at(claimed, "ticket")}, {"analysis", whole("六", &context)}});
  EXPECT_EQ(forgotten({{"context", "memo:///design.md"}}), 1);
  EXPECT_THAT(said(call("analysis_invalidate", value::object{{"uri", analysis_uri(id)}})), HasSubstr("Analysis not found"));
}

TEST_F(tools_of_analyses, mask_secrets_as_reads_do) {
  auto what = test::made_analysis("秘密を含む");
  what.consensus->content = "password = hunter2hunter2hunter2";
  const auto id = test::put_into(*kept_, what);
  const auto got = said(call("analysis_get", value::object{{"uri", analysis_uri(id)}}));
  EXPECT_THAT(got, Not(HasSubstr("hunter2")));
  EXPECT_THAT(read(analysis_uri(id)), Not(HasSubstr("hunter2"))) << "before it is quoted";
  EXPECT_THAT(read(analysis_uri(id) + "?format=json"), Not(HasSubstr("hunter2")));
  EXPECT_THAT(read(flow_uri(id)), Not(HasSubstr("hunter2")));
  const auto claimed = call("analysis_claim", question("失敗の理由"));
  call("analysis_put",
       value::object{
           {"ticket", at(claimed, "ticket")}, {"step", "fail"}, {"reason", "401 for password = hunter2hunter2hunter2"}});
  EXPECT_THAT(at(call("analysis_claim", question("失敗の理由")), "reason"), AllOf(HasSubstr("401"), Not(HasSubstr("hunter2"))));
  // Drawn, so that it is nobody's.
  std::mt19937 drawn(7);
  std::string token = "ghp_";
  constexpr std::string_view letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789";
  while (token.size() < 40) token += letters[drawn() % letters.size()];
  const auto front = token.substr(4, 6);
  test::put_into(*kept_, test::made_analysis("鍵は " + token + " です"));
  test::put_into(*kept_, test::made_analysis(std::string(100, 'x') + " " + token));
  for (const auto* uri : {"wallbounce://analyses", "wallbounce://analyses?format=json"})
    EXPECT_THAT(read(uri), AllOf(HasSubstr("鍵は"), Not(HasSubstr(front)))) << uri;
  memory_peer peer(*server_);
  peer.send(R"({"jsonrpc":"2.0","id":1,"method":"resources/list","params":{)" + std::string(meta) + "}}");
  EXPECT_THAT(peer.receive(std::chrono::steady_clock::now() + hondana_test::event_deadline).value_or("no answer"),
              AllOf(HasSubstr("鍵は"), Not(HasSubstr(front))));
}

TEST_F(tools_of_analyses, mask_connection_strings_so_that_the_json_around_them_stays_json) {
  for (const std::string secret :
       {"var c = \"Server=db;User Id=app;Password=S3cretPw\";", "Server=db;Password=\"S3cretPw\";Timeout=3",
        "postgres \"host=db user=app password=S3cretPw\"", "export X=\"host=db;pwd=S3cretPw\"",
        "password = \"\" and Server=db;Password=S3cretPw\nbehind it"}) {
    auto what = test::made_analysis("接続: " + secret);
    what.consensus->content = secret;
    const auto id = test::put_into(*kept_, what);
    const auto got = call("analysis_get", value::object{{"uri", analysis_uri(id)}});
    EXPECT_EQ(at(got, "outcome"), "fresh") << said(got);
    EXPECT_THAT(said(got), Not(HasSubstr("S3cret")));
    const auto answer = value::parse(read(analysis_uri(id) + "?format=json"));
    const auto json = answer->string_at("/result/contents/0/text");
    ASSERT_TRUE(json) << answer->to_text();
    EXPECT_TRUE(value::parse(*json)) << *json;
    EXPECT_THAT(*json, Not(HasSubstr("S3cret")));
    EXPECT_THAT(read(vote_uri(id, "a")), HasSubstr("結論は"));
  }
}

TEST_F(tools_of_analyses, give_what_masks_have_made_alike) {
  std::mt19937 drawn(11);
  const auto token = [&drawn] {
    std::string out = "ghp_";
    constexpr std::string_view letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789";
    while (out.size() < 40) out += letters[drawn() % letters.size()];
    return out;
  };
  auto what = test::made_analysis("鍵の名前");
  const auto first = token();
  what.question.options = value(value::object{{first, 1}, {token(), 2}});
  for (auto& vote : what.votes) vote.provider = token();
  const auto id = test::put_into(*kept_, what);
  const auto got = call("analysis_get", value::object{{"uri", analysis_uri(id)}});
  EXPECT_EQ(at(got, "outcome"), "fresh") << said(got);
  EXPECT_THAT(said(got), Not(HasSubstr(first.substr(4, 6))));
  EXPECT_THAT(read(analysis_uri(id)), AllOf(HasSubstr("鍵の名前"), Not(HasSubstr("is unreadable"))));
  const auto answer = value::parse(read(analysis_uri(id) + "?format=json"));
  const auto json = answer->string_at("/result/contents/0/text");
  EXPECT_TRUE(json && value::parse(*json)) << answer->to_text();
}

class restricted_tools : public tools_of_analyses {
 protected:
  void SetUp() override {}
  static access_rule rule(std::vector<std::string> uris, std::vector<std::string> tools, access_level gives) {
    access_rule out;
    out.uris = std::move(uris);
    out.tools = std::move(tools);
    out.level = gives;
    return out;
  }
};

TEST_F(restricted_tools, are_there_only_for_whom_rules_name) {
  server_options how;
  how.access.rules = {rule({"memo:///", "wallbounce://analyses"}, {}, access_level::read),
                      rule({}, {"analysis_get"}, access_level::read)};
  serve(how);
  EXPECT_THAT(answer_of("analysis_put", R"({"analysis":{"prompt":"p"}})"), HasSubstr("Unknown tool"));
  EXPECT_THAT(answer_of("analysis_get", R"({"prompt":"p"})"), HasSubstr("missing"));
}

TEST_F(restricted_tools, find_and_forget_nothing_that_rules_hide) {
  server_options how;
  how.access.rules = {rule({"memo:///"}, {}, access_level::read), rule({}, {"analysis_*"}, access_level::read)};
  serve(how);
  const auto id = test::put_into(*kept_, test::made_analysis("隠された", 0.95, "s"));
  EXPECT_EQ(at(call("analysis_get", question("隠された")), "outcome"), "missing");
  EXPECT_EQ(kept_->read_statistics()->for_task(analyses::task_type::basic).hits, 0u) << "statistics tell nothing of it either";
  EXPECT_THAT(said(call("analysis_get", value::object{{"uri", analysis_uri(id)}})), HasSubstr("Analysis not found"));
  const auto claimed = call("analysis_claim", question("隠された"));
  EXPECT_EQ(at(claimed, "outcome"), "claimed") << "it computes its own: " << said(claimed);
  EXPECT_EQ(claimed.find("analysis"), nullptr);
  const auto other = call("analysis_claim", question("隠された"));
  EXPECT_EQ(at(other, "outcome"), "computing") << "and nothing else is told: " << said(other);
  EXPECT_GE(other.integer_at("retryAfterMs").value_or(-1), 0);
  EXPECT_EQ(call("analysis_invalidate", value::object{{"session", "s"}}).integer_at("forgotten").value_or(-1), 0);
  EXPECT_THAT(said(call("analysis_invalidate", value::object{{"uri", analysis_uri(id)}})), HasSubstr("Analysis not found"));
  EXPECT_TRUE(kept_->get(id).value());
}

}  // namespace
}  // namespace hondana::analyses_source
