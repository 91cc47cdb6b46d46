/// What a caller may not see is, in every answer, as if it were not there; no source is asked about it.
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>
#include <hondana/memory_provider.hpp>
#include <hondana/server.hpp>

#include "base/json/base64.hpp"
#include "support/must.hpp"
#include "unit/transport/memory/asker.hpp"

namespace hondana::transport {
namespace {

/// Counts what it is asked about what lies below a prefix, and forwards it all.
class counting_provider final : public memory_provider, public skill_source, public watch_source {
 public:
  counting_provider() : memory_provider("shelf", "memo:///") {}
  result<read_result> read(const read_request& request) override {
    return counted(request.uri), memory_provider::read(request);
  }
  result<resource> describe(const describe_request& request) override {
    return counted(request.uri), memory_provider::describe(request);
  }
  result<list_result> children(const children_request& request) override {
    return counted(request.uri), memory_provider::children(request);
  }
  result<complete_result> complete(const complete_request& request) override {
    return counted(request.uri_template), memory_provider::complete(request);
  }
  result<skills_result> skills(const list_request&) override { return skills_result{}; }
  result<skill> find_skill(const skill_request& request) override {
    return counted(request.uri), fail(errc::resource_not_found, "no skills");
  }
  void watch(const std::string& uri) override { counted(uri); }
  void unwatch(const std::string&) override {}

  [[nodiscard]] int of_hidden() const { return of_hidden_; }
  [[nodiscard]] int of_others() const { return of_others_; }

 private:
  void counted(const std::string& uri) { ++(uri_covers("memo:///hidden", uri) ? of_hidden_ : of_others_); }
  std::atomic<int> of_hidden_{0};
  std::atomic<int> of_others_{0};
};

resource entry_of(std::string uri, std::string title = {}) {
  resource made;
  made.uri = std::move(uri);
  made.name = "n";
  made.title = std::move(title);
  return made;
}

/// With or without what is hidden.
std::shared_ptr<counting_provider> shelf(bool has_it) {
  auto made = std::make_shared<counting_provider>();
  EXPECT_TRUE(made->add(entry_of("memo:///open"), "open"));
  // What a server declares is about all that it has: both have templates.
  resource_template open{.uri_template = "memo:///open/{id}", .name = "open"};
  EXPECT_TRUE(made->add_template(open, [](const read_request&) { return text_read_result("open"); }));
  if (!has_it) return made;
  for (int i = 0; i < 30; ++i) EXPECT_TRUE(made->add(entry_of("memo:///hidden/" + std::to_string(i), "SECRET"), "SECRET"));
  auto folder = entry_of("memo:///hidden/folder");
  folder.mime_type = "inode/directory";
  EXPECT_TRUE(made->add(folder, "SECRET"));
  EXPECT_TRUE(made->add(entry_of("memo:///hidden/SKILL.md"), "SECRET"));
  resource_template offered{.uri_template = "memo:///hidden/{id}", .name = "SECRET"};
  EXPECT_TRUE(made->add_template(offered, [](const read_request&) { return text_read_result("SECRET"); }));
  return made;
}

std::vector<std::string> questions() {
  const auto ref = R"("ref":{"type":"ref/resource","uri":"memo:///hidden/{id}"},"argument":{"name":"id","value":""})";
  return {asker::about("resources/read", "memo:///hidden/1"),
          asker::about("resources/read", "memo:///hidden/1?lines=1-2"),
          asker::about("resources/read", "MEMO:///x/../hidden/1"),
          asker::about("resources/read", "memo:///hidden/unlisted"),
          asker::about("resources/get", "memo:///hidden/1"),
          asker::about("resources/subscribe", "memo:///hidden/1"),
          asker::request("resources/subscribe", R"("uris":["memo:///hidden/2","memo:///open"])"),
          asker::about("resources/unsubscribe", "memo:///hidden/1"),
          asker::request("completion/complete", ref),
          asker::request("resources/templates/list", ""),
          asker::request("resources/list", ""),
          asker::request("resources/list", R"("filter":{"uriPrefix":"memo:///hidden"})"),
          asker::request("tools/list", ""),
          asker::request("tools/call", R"("name":"SECRET","arguments":{})"),
          asker::request("tools/call", R"("name":"SECRET","arguments":{"wrong":1})"),
          asker::request("prompts/list", ""),
          asker::request("prompts/get", R"("name":"SECRET")"),
          asker::request("completion/complete",
                         R"("ref":{"type":"ref/prompt","name":"SECRET"},"argument":{"name":"a","value":""})")};
}

std::vector<std::string> modern_questions() {
  return {asker::modern("resources/read", R"("uri":"memo:///hidden/1")"),
          asker::modern("resources/directory/read", R"("uri":"memo:///hidden/folder")"),
          asker::modern("resources/directory/read", R"("uri":"memo:///hidden/folder/")"),
          asker::modern("resources/list", ""),
          asker::modern("skills/list", ""),
          asker::modern("skills/get", R"("uri":"memo:///hidden/SKILL.md")"),
          asker::modern("tools/call", R"("name":"SECRET","arguments":{},"requestState":"broken")"),
          asker::modern("prompts/get", R"("name":"SECRET","requestState":"broken")"),
          asker::modern("subscriptions/listen", R"("notifications":{"resourceSubscriptions":["memo:///hidden/1"]})")};
}

tool named_tool(const std::string& name) {
  tool made;
  made.name = name;
  made.input_schema = value::object{{"type", "object"}, {"additionalProperties", false}};
  return made;
}

void add_handlers(server& to, const std::string& name) {
  EXPECT_TRUE(to.add_tool(named_tool(name), [](const tool_call&) { return text_result("SECRET"); }));
  prompt asked;
  asked.name = name;
  EXPECT_TRUE(to.add_prompt(asked, [](const prompt_call&) -> result<prompt_outcome> { return prompt_result{}; }));
}

access_rule handlers_rule() {
  access_rule made;
  made.tools = made.prompts = {"open*"};
  made.level = access_level::read;
  return made;
}

TEST(hiding, answers_are_byte_for_byte_those_of_a_server_that_does_not_have_it_and_no_source_is_asked) {
  const manual_clock clock;  // That tools were added is not told.
  const auto options =
      with_rules({rule({}, {"memo:///"}), rule({"eve"}, {"memo:///hidden"}, access_level::none), handlers_rule()});
  const auto full = shelf(true);
  server has = must(server::create(options));
  server lacks = must(server::create(options));
  ASSERT_TRUE(has.add(full));
  ASSERT_TRUE(lacks.add(shelf(false)));
  for (auto* one : {&has, &lacks}) add_handlers(*one, "open");
  add_handlers(has, "SECRET");
  for (const std::string revision : {"2024-11-05", "2025-06-18", "2025-11-25"}) {
    asker eve(has, named("eve"));
    asker nobody(lacks, named("eve"));
    for (auto* one : {&eve, &nobody}) one->shake_hands(revision);
    for (const auto& question : questions()) EXPECT_EQ(eve.ask(question), nobody.ask(question)) << revision << question;
  }
  for (const auto& question : modern_questions()) {
    EXPECT_EQ(asker(has, named("eve")).ask(question), asker(lacks, named("eve")).ask(question)) << question;
  }
  EXPECT_EQ(full->of_hidden(), 0);
  asker owner(has, named("ann"));
  owner.shake_hands();
  EXPECT_NE(owner.ask(asker::about("resources/read", "memo:///hidden/1")).find("SECRET"), std::string::npos);
  EXPECT_EQ(full->of_hidden(), 1);
}

std::string by_tool(const std::string& name, const std::string& prefix, const std::string& more) {
  return asker::request("tools/call", R"("name":")" + name + R"(","arguments":{"uriPrefix":")" + prefix + '"' + more + '}');
}

// A prefix is no resource: nothing is decided about it, so that it must not be seen to be one of something.
TEST(hiding, a_prefix_of_what_is_hidden_is_to_tools_as_one_of_nothing) {
  auto options = with_rules({rule({}, {"memo:///"}), rule({"eve"}, {"memo:///hidden"}, access_level::none)});
  options.has_resource_tools = true;
  const auto full = shelf(true);
  server has = must(server::create(options));
  server lacks = must(server::create(options));
  ASSERT_TRUE(has.add(full));
  ASSERT_TRUE(lacks.add(shelf(false)));
  asker eve(has, named("eve"));
  asker nobody(lacks, named("eve"));
  asker owner(has, named("ann"));
  for (auto* one : {&eve, &nobody, &owner}) one->shake_hands();
  for (const auto& [name, more] : std::vector<std::pair<std::string, std::string>>{{"list_resources", ""},
                                                                                   {"list_resources", R"(,"limit":1)"},
                                                                                   {"search_resources", R"(,"q":"SECRET")"},
                                                                                   {"search_resources", R"(,"q":"n")"}}) {
    for (const std::string prefix : {"memo:///hidden", "memo:///hidden/", "memo:///hidden/1", "memo:///h"}) {
      const auto answer = eve.ask(by_tool(name, prefix, more));
      EXPECT_EQ(answer, nobody.ask(by_tool(name, prefix, more))) << prefix;
      EXPECT_EQ(answer, eve.ask(by_tool(name, "memo:///nothing", more))) << prefix;
      EXPECT_NE(owner.ask(by_tool(name, prefix, more)).find("memo:///hidden/"), std::string::npos) << prefix;
    }
    // Around both what is hidden and what is not.
    const auto answer = eve.ask(by_tool(name, "memo:///", more));
    EXPECT_EQ(answer, nobody.ask(by_tool(name, "memo:///", more)));
    EXPECT_EQ(answer.find("hidden"), std::string::npos) << answer;
  }
}

TEST(hiding, cursors_name_no_hidden_key_and_lead_through_all_pages) {
  auto options = with_rules({rule({}, {"memo:///open"}), rule({}, {"memo:///z"})});
  options.page_size = 1;
  server of = must(server::create(options));
  const auto full = shelf(true);
  ASSERT_TRUE(full->add(entry_of("memo:///z"), "z"));
  ASSERT_TRUE(of.add(full));
  asker eve(of, named("eve"));
  eve.shake_hands();
  std::string cursor;
  std::string all;
  for (int pages = 0; pages < 100; ++pages) {
    const auto page = eve.ask(asker::request("resources/list", cursor.empty() ? "" : R"("cursor":")" + cursor + '"'));
    all += page;
    const auto at = page.find(R"("nextCursor":")");
    if (at == std::string::npos) break;
    cursor = page.substr(at + 14, page.find('"', at + 14) - at - 14);
    EXPECT_EQ(json::decode_base64url(cursor).value_or("memo").find("memo"), std::string::npos);
  }
  EXPECT_NE(all.find("memo:///open"), std::string::npos);
  EXPECT_NE(all.find("memo:///z"), std::string::npos);
  EXPECT_EQ(all.find("hidden"), std::string::npos);
}

TEST(hiding, what_may_be_listed_alone_is_listed_without_what_stands_in_it_and_is_not_read) {
  server of = must(server::create(with_rules({rule({}, {"memo:///"}, access_level::list)})));
  ASSERT_TRUE(of.add(shelf(true)));
  asker eve(of, named("eve"));
  eve.shake_hands();
  const auto page = eve.ask(asker::request("resources/list", ""));
  EXPECT_NE(page.find("memo:///hidden/1"), std::string::npos);
  EXPECT_EQ(page.find("SECRET"), std::string::npos);
  EXPECT_NE(eve.ask(asker::about("resources/read", "memo:///hidden/1")).find("Resource not found"), std::string::npos);
  EXPECT_NE(eve.ask(asker::about("resources/get", "memo:///hidden/1")).find("Resource not found"), std::string::npos);
}

TEST(hiding, by_kind_holds_in_lists_reads_completions_and_updates) {
  access_rule keys;
  keys.kinds = {"key"};
  server of = must(server::create(with_rules({rule({}, {"memo:///"}), keys})));
  const auto full = std::make_shared<memory_provider>("shelf", "memo:///");
  for (const std::string name : {"key", "note"}) {
    auto entry = entry_of("memo:///" + name);
    entry.kind = name;
    ASSERT_TRUE(full->add(entry, "content of " + name));
  }
  resource_template offered{.uri_template = "memo:///{id}", .name = "things"};
  const auto tells_all = [](const complete_request&) -> result<complete_result> {
    return complete_result{{"key", "note"}, 2, false};
  };
  ASSERT_TRUE(full->add_template(offered, [](const read_request&) { return text_read_result("made"); }, tells_all));
  ASSERT_TRUE(of.add(full));
  asker eve(of, named("eve"));
  eve.shake_hands();
  for (const auto& question :
       {asker::request("resources/list", ""),
        asker::request("completion/complete",
                       R"("ref":{"type":"ref/resource","uri":"memo:///{id}"},"argument":{"name":"id","value":""})")}) {
    const auto answer = eve.ask(question);
    EXPECT_NE(answer.find("note"), std::string::npos) << answer;
    EXPECT_EQ(answer.find("key"), std::string::npos) << answer;
  }
  EXPECT_NE(eve.ask(asker::about("resources/read", "memo:///key")).find("Resource not found"), std::string::npos);
  EXPECT_NE(eve.ask(asker::about("resources/read", "memo:///note")).find("content of note"), std::string::npos);
  for (const std::string name : {"key", "note"}) (void)eve.ask(asker::about("resources/subscribe", "memo:///" + name));
  for (const std::string name : {"key", "note"}) ASSERT_TRUE(of.notify_resource_updated("memo:///" + name));
  for (const auto& message : eve.receive_until("memo:///note")) EXPECT_EQ(message.find("key"), std::string::npos) << message;
}

TEST(hiding, values_of_a_completer_that_looks_at_no_view_are_left_out_with_their_number) {
  server of = must(server::create(with_rules({rule({}, {"memo:///open"}), rule({}, {"memo:///b/1"})})));
  const auto full = std::make_shared<memory_provider>("shelf", "memo:///");
  const auto tells_all = [](const complete_request& request) -> result<complete_result> {
    if (request.argument == "id") return complete_result{{"1", "2"}, 2, false};
    return complete_result{{"open", "hidden", "b"}, 3, true};
  };
  const auto make = [](const read_request&) { return text_read_result("made"); };
  ASSERT_TRUE(full->add_template({.uri_template = "memo:///{who}", .name = "one"}, make, tells_all));
  ASSERT_TRUE(full->add_template({.uri_template = "memo:///{who}/{id}", .name = "two"}, make, tells_all));
  ASSERT_TRUE(of.add(full));
  asker eve(of, named("eve"));
  eve.shake_hands();
  const auto values = [&](const std::string& uri, const std::string& argument, const std::string& context = {}) {
    const auto answer = eve.ask(asker::request("completion/complete", R"("ref":{"type":"ref/resource","uri":")" + uri +
                                                                          R"("},"argument":{"name":")" + argument +
                                                                          R"(","value":""})" + context));
    const auto from = answer.find(R"("completion":)");
    return from == std::string::npos ? answer : answer.substr(from);
  };
  EXPECT_EQ(values("memo:///{who}", "who"), R"("completion":{"values":["open"],"hasMore":false}}})");
  EXPECT_EQ(values("memo:///{who}/{id}", "who"), R"("completion":{"values":["open","b"],"hasMore":false}}})");
  EXPECT_EQ(values("memo:///{who}/{id}", "id", R"(,"context":{"arguments":{"who":"b"}})"),
            R"("completion":{"values":["1"],"hasMore":false}}})");
}

}  // namespace
}  // namespace hondana::transport
