/// Routing reads and completions to the right source with the right template.
#include <memory>
#include <string>
#include <variant>

#include <gtest/gtest.h>

#include "unit/server/catalog/scripted_provider.hpp"

namespace {

using namespace hondana;
using catalog::read_answer;
using test::answer;
using test::arrange;
using test::scripted_provider;

std::shared_ptr<scripted_provider> echo(std::string name, std::vector<std::string> claims) {
  auto made = std::make_shared<scripted_provider>(name, std::move(claims));
  made->is_inline = true;
  made->on_read = [name](const read_request& request) {
    auto text = name + " " + request.uri;
    if (request.match) {
      text += " " + request.match->uri_template;
      for (const auto& [variable, value] : request.match->variables)
        text += " " + variable + "=" + std::get<std::string>(value);
    }
    return text_read_result(text);
  };
  return made;
}

void offer(scripted_provider& by, const std::string& text) {
  resource_template entry;
  entry.uri_template = text;
  entry.name = text;
  by.offered.push_back(entry);
}

result<read_answer> read(const catalog::catalog& from, const std::string& uri, const request_context& by = {}) {
  const answer<read_answer> found;
  from.read(by, uri, uri, found.taker());
  EXPECT_EQ(found.count(), 1);
  return found.wait();
}

std::string text_of(const result<read_answer>& found) {
  return found ? *std::get<shared_bytes>(found->reading.contents.at(0).data) : found.error().public_text;
}

TEST(read, goes_to_the_source_with_the_covering_claim) {
  const auto catalog = arrange({echo("a", {"file:///a"}), echo("ab", {"file:///ab"}), echo("memo", {"memo:///"})});
  ASSERT_TRUE(catalog);
  EXPECT_EQ(text_of(read(**catalog, "file:///a")), "a file:///a");
  EXPECT_EQ(text_of(read(**catalog, "file:///a/b/c")), "a file:///a/b/c");
  EXPECT_EQ(text_of(read(**catalog, "file:///a?lines=1-2")), "a file:///a?lines=1-2");
  EXPECT_EQ(text_of(read(**catalog, "file:///ab/a")), "ab file:///ab/a");
  EXPECT_EQ(text_of(read(**catalog, "memo:///")), "memo memo:///");
  EXPECT_EQ(text_of(read(**catalog, "memo:///x/y")), "memo memo:///x/y");
}

TEST(read, of_what_no_source_claims_answers_not_found) {
  const auto catalog = arrange({echo("a", {"file:///a"}), echo("web", {"https://example.com/x", "https://example.com/x/y"})});
  ASSERT_TRUE(catalog);
  for (const auto* uri : {"file:///", "file:///b", "file:///a-b", "https://example.com/xy", "https://example.com", "x:y"}) {
    const auto found = read(**catalog, uri);
    ASSERT_FALSE(found) << uri;
    EXPECT_EQ(found.error().code, errc::resource_not_found);
    EXPECT_EQ(found.error().public_text, "Resource not found");
  }
}

TEST(read, hands_over_the_template_with_the_longest_literal_prefix) {
  auto files = echo("f", {"file:///r"});
  offer(*files, "file:///r/{+path}");
  offer(*files, "file:///r/docs/{name}");
  offer(*files, "file:///r/docs/{page}");
  auto other = echo("m", {"memo:///"});
  offer(*other, "memo:///{id}");
  const auto catalog = arrange({files, other});
  ASSERT_TRUE(catalog);
  EXPECT_EQ(text_of(read(**catalog, "file:///r/src/x.c")), "f file:///r/src/x.c file:///r/{+path} path=src/x.c");
  EXPECT_EQ(text_of(read(**catalog, "file:///r/docs/x%20y")), "f file:///r/docs/x%20y file:///r/docs/{name} name=x y");
  EXPECT_EQ(text_of(read(**catalog, "file:///r/docs/x/y")), "f file:///r/docs/x/y file:///r/{+path} path=docs/x/y");
  EXPECT_EQ(text_of(read(**catalog, "file:///r")), "f file:///r");
  EXPECT_EQ(text_of(read(**catalog, "memo:///7")), "m memo:///7 memo:///{id} id=7");
}

TEST(read, of_a_hidden_resource_differs_in_nothing_from_one_that_is_not_there) {
  auto files = echo("f", {"file:///r"});
  files->on_read = [](const read_request& request) -> result<read_result> {
    if (request.uri == "file:///r/none") return fail(errc::resource_not_found, "No file none here.", "ENOENT");
    return text_read_result("content");
  };
  const auto catalog = arrange({files});
  ASSERT_TRUE(catalog);
  const auto through = std::make_shared<test::hiding_view>(1, [](std::string_view uri) { return uri == "file:///r/hidden"; });
  for (const auto* uri :
       {"file:///r/none", "file:///r/hidden", "file:///r/hidden?lines=1-2", "file:///r/hidden#part", "file:///q"}) {
    const auto found = read(**catalog, uri, test::by(through));
    ASSERT_FALSE(found) << uri;
    EXPECT_EQ(found.error().code, errc::resource_not_found);
    EXPECT_EQ(found.error().public_text, "Resource not found");
  }
  const auto seen = read(**catalog, "file:///r/seen", test::by(through));
  ASSERT_TRUE(seen);
  EXPECT_TRUE(seen->cache.is_private);
  EXPECT_TRUE(read(**catalog, "file:///r/hidden"));
  EXPECT_FALSE(read(**catalog, "file:///r/hidden")->cache.is_private);
}

TEST(read, prepares_contents_within_the_limit_on_the_sources_lane) {
  auto memo = echo("m", {"memo:///"});
  memo->on_read = [](const read_request& request) {
    EXPECT_EQ(request.max_bytes, 5);
    auto made = blob_read_result(request.uri == "memo:///big" ? "123456" : "12345");
    made.version = "v1";
    made.ttl = std::chrono::milliseconds(2000);
    return made;
  };
  const auto catalog = arrange({memo}, {.max_read_bytes = 5});
  ASSERT_TRUE(catalog);
  const auto found = read(**catalog, "memo:///small");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->reading.version, "v1");
  EXPECT_EQ(found->cache.ttl, std::chrono::milliseconds(2000));
  EXPECT_EQ(found->reading.contents[0].uri, "memo:///small");
  EXPECT_FALSE(found->reading.contents[0].is_text);
  EXPECT_EQ(found->executor, (*catalog)->sources()[0]->executor());
  const auto refused = read(**catalog, "memo:///big");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::response_too_large);
}

struct completing : testing::Test {
  std::shared_ptr<scripted_provider> memo = echo("m", {"memo:///"});
  complete_result given;

  result<complete_result> complete(const std::string& text, const std::string& argument) {
    offer(*memo, "memo:///{id}/{+part}");
    memo->on_complete = [this](const complete_request& request) {
      EXPECT_EQ(request.uri_template, "memo:///{id}/{+part}");
      EXPECT_EQ(request.value, "va");
      EXPECT_EQ(request.context.at(0).second, "7");
      return given;
    };
    const auto catalog = arrange({memo});
    const answer<complete_result> found;
    (*catalog)->complete({}, {text, argument, "va", {{"id", "7"}}}, found.taker());
    return found.wait();
  }
};

TEST_F(completing, asks_the_source_of_the_template) {
  given.values = {"one", "two"};
  const auto found = complete("memo:///{id}/{+part}", "part");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->values, (std::vector<std::string>{"one", "two"}));
  EXPECT_FALSE(found->has_more);
  EXPECT_FALSE(found->total);
}

TEST_F(completing, sends_at_most_a_hundred_values_and_tells_of_the_rest) {
  given.values.assign(101, "x");
  const auto found = complete("memo:///{id}/{+part}", "part");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->values.size(), 100);
  EXPECT_TRUE(found->has_more);
  EXPECT_EQ(found->total, 101);
}

TEST_F(completing, keeps_a_total_that_is_right_and_mends_one_that_is_not) {
  given.values.assign(100, "x");
  given.total = 5;
  const auto mended = complete("memo:///{id}/{+part}", "part");
  EXPECT_EQ(mended->total, 100);
  EXPECT_FALSE(mended->has_more);
}

TEST_F(completing, says_there_is_more_when_the_total_says_so) {
  given.values.assign(3, "x");
  given.total = 4000;
  const auto found = complete("memo:///{id}/{+part}", "part");
  EXPECT_EQ(found->total, 4000);
  EXPECT_TRUE(found->has_more);
}

TEST_F(completing, refuses_a_template_that_is_not_offered_verbatim) {
  const auto found = complete("memo:///{id}/{part}", "part");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, errc::part_not_found);
  EXPECT_TRUE(found.error().public_text.starts_with("ref.uri:"));
}

TEST_F(completing, refuses_a_variable_the_template_does_not_have) {
  const auto found = complete("memo:///{id}/{+part}", "pa");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, errc::invalid_argument);
  EXPECT_EQ(found.error().public_text,
            "argument.name: the template memo:///{id}/{+part} has no variable of that name. Its variables: id, part.");
}

TEST(read, retries_once_what_changed_before_the_first_byte) {
  for (const int changes : {0, 1, 2}) {
    int calls = 0;
    auto source = echo("a", {"memo:///"});
    source->on_read = [&](const read_request& request) -> result<read_result> {
      if (calls++ < changes) return fail(errc::content_changed, "The file kept changing.");
      return text_read_result("settled " + request.uri);
    };
    const auto catalog = arrange({source});
    ASSERT_TRUE(catalog);
    EXPECT_EQ(text_of(read(**catalog, "memo:///x")), changes < 2 ? "settled memo:///x" : "The file kept changing.");
    EXPECT_EQ(calls, changes == 0 ? 1 : 2);
  }
}

}  // namespace
