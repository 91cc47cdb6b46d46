/// The tools list_resources and search_resources.
#include <string>
#include <vector>

#include "server/tools/scanning_search.hpp"
#include "unit/server/tools/shelf.hpp"

namespace hondana::tools {
namespace {

using strings = std::vector<std::string>;

class list_resources : public bridged {};

TEST_F(list_resources, gives_entries_with_links_and_goes_on_with_a_cursor_of_its_own) {
  for (const char* name : {"a", "b", "c", "d", "e"}) add(name, "x");
  source->offered.push_back({.uri_template = "memo:///{id}", .name = "by id"});
  const auto first = call("list_resources", R"({"limit":2})");
  EXPECT_EQ(strings_at(first, "resources", "uri"), (strings{"memo:///a", "memo:///b"}));
  EXPECT_EQ(strings_at(first, "templates", "uriTemplate"), strings{"memo:///{id}"});
  ASSERT_EQ(first.content.size(), 4u);
  EXPECT_EQ(value::parse(std::get<text_block>(first.content.at(0)).text), *first.structured_content);
  EXPECT_NE(std::get<text_block>(first.content.at(1)).text.find("nextCursor as cursor"), std::string::npos);
  EXPECT_EQ(std::get<link_block>(first.content.at(2)).entry.uri, "memo:///a");
  const auto cursor = first.structured_content->string_at("nextCursor").value();
  const auto second = call("list_resources", R"({"limit":2,"cursor":")" + cursor + "\"}");
  EXPECT_EQ(strings_at(second, "resources", "uri"), (strings{"memo:///c", "memo:///d"}));
  EXPECT_EQ(second.structured_content->find("templates"), nullptr);
  const auto third =
      call("list_resources", R"({"limit":2,"cursor":")" + second.structured_content->string_at("nextCursor").value() + "\"}");
  EXPECT_EQ(strings_at(third, "resources", "uri"), strings{"memo:///e"});
  EXPECT_EQ(third.structured_content->find("nextCursor"), nullptr);
  EXPECT_EQ(strings_at(call("list_resources", "{}"), "resources", "uri").size(), 5u);  // of pages of three
}

TEST_F(list_resources, filters) {
  add("docs/a.md", "x", "text/markdown").annotations.priority = 0.9;
  add("docs/b.png", std::string("\0", 1), "image/png");
  add("src/c", "x").annotations.last_modified = std::chrono::sys_days(std::chrono::year(2025) / 6 / 1);
  const auto uris = [&](const std::string& arguments) {
    return strings_at(call("list_resources", arguments), "resources", "name");
  };
  EXPECT_EQ(uris(R"({"uriPrefix":"memo:///docs/"})"), (strings{"docs/a.md", "docs/b.png"}));
  EXPECT_EQ(uris(R"({"mimeType":"text/*"})"), (strings{"docs/a.md", "src/c"}));
  EXPECT_EQ(uris(R"({"mimeType":"image/*"})"), strings{"docs/b.png"});
  EXPECT_TRUE(refusal("list_resources", R"({"mimeType":"image"})").public_text.starts_with("mimeType: "));
  EXPECT_EQ(uris(R"({"mimeType":"Text/Markdown"})"), strings{"docs/a.md"});
  EXPECT_EQ(uris(R"({"minPriority":0.5})"), strings{"docs/a.md"});
  EXPECT_EQ(uris(R"({"modifiedSince":"2025-05-01"})"), strings{"src/c"});
  EXPECT_EQ(uris(R"({"modifiedSince":"2025-07-01"})"), strings{});
  EXPECT_TRUE(refusal("list_resources", R"({"modifiedSince":"yesterday"})").public_text.starts_with("modifiedSince: "));
  EXPECT_TRUE(refusal("list_resources", R"({"mimeType":"text/plain; charset=x"})").public_text.starts_with("mimeType: "));
  EXPECT_TRUE(refusal("list_resources", R"({"uriPrefix":"memo:///日"})").public_text.starts_with("uriPrefix: "));
  EXPECT_EQ(refusal("list_resources", R"({"cursor":"x"})").code, errc::invalid_argument);
}

// attacks: what the caller may not list
TEST_F(list_resources, shows_the_callers_view) {
  for (const char* name : {"a", "secret", "z"}) add(name, "hidden words");
  view =
      std::make_shared<test::hiding_view>(1, [](std::string_view uri) { return uri.find("secret") != std::string_view::npos; });
  EXPECT_EQ(strings_at(call("list_resources", "{}"), "resources", "name"), (strings{"a", "z"}));
  EXPECT_EQ(strings_at(call("search_resources", R"({"q":"hidden"})"), "results", "name"), (strings{"a", "z"}));
}

// attacks: what the caller may not list, from a source that leaves views to us
TEST_F(list_resources, and_searches_answer_for_a_prefix_of_what_is_hidden_as_for_one_of_nothing) {
  for (int i = 0; i < 20; ++i) add("secret/" + std::to_string(i), "words");
  for (const char* name : {"a", "z"}) add(name, "words");
  view =
      std::make_shared<test::hiding_view>(1, [](std::string_view uri) { return uri.find("secret") != std::string_view::npos; });
  const auto answer = [&](const char* tool, const std::string& prefix, const std::string& more) {
    const auto got = call(tool, R"({"uriPrefix":"memo:///)" + prefix + '"' + more + '}');
    return std::to_string(got.content.size()) + got.structured_content->to_text();
  };
  for (const std::string prefix : {"secret", "secret/", "secret/1", "s"}) {
    EXPECT_EQ(answer("list_resources", prefix, ""), answer("list_resources", "nothing", ""));
    EXPECT_EQ(answer("list_resources", prefix, R"(,"limit":1)"), answer("list_resources", "nothing", R"(,"limit":1)"));
    EXPECT_EQ(answer("search_resources", prefix, R"(,"q":"words")"), answer("search_resources", "nothing", R"(,"q":"words")"));
  }
  EXPECT_EQ(strings_at(call("list_resources", R"({"uriPrefix":"memo:///"})"), "resources", "name"), (strings{"a", "z"}));
}

// attacks: what lists tell of contents that the caller may not read
TEST_F(list_resources, tells_nothing_of_contents_that_need_more_scopes) {
  for (const char* name : {"a", "private/b"}) add(name, "x").description = "the combination is 1234";
  rules.rules = {{{"resources/read"}, {"memo:///private/"}, {}, {"private"}}};
  proved = std::make_shared<const auth_info>(auth_info{"t", {}, {}});
  const auto seen = call("list_resources", "{}");
  EXPECT_EQ(strings_at(seen, "resources", "uri"), (strings{"memo:///a", "memo:///private/b"}));
  EXPECT_EQ(strings_at(seen, "resources", "description"), (strings{"the combination is 1234", "-"}));
  proved = std::make_shared<const auth_info>(auth_info{"t", {"private"}, {}});
  EXPECT_EQ(strings_at(call("list_resources", "{}"), "resources", "description").back(), "the combination is 1234");
}

class search_resources : public bridged {};

// attacks: guessing words of what the caller may not read
TEST_F(search_resources, does_not_find_what_needs_more_scopes) {
  for (const char* name : {"a", "private/b"}) add(name, "the combination").title = "combination";
  rules.rules = {{{"resources/read"}, {"memo:///private/"}, {}, {"private"}}};
  proved = std::make_shared<const auth_info>(auth_info{"t", {}, {}});
  EXPECT_EQ(strings_at(call("search_resources", R"({"q":"combination"})"), "results", "uri"), strings{"memo:///a"});
  EXPECT_EQ(strings_at(call("search_resources", R"({"q":"private"})"), "results", "uri"), strings{});
  proved = std::make_shared<const auth_info>(auth_info{"t", {"private"}, {}});
  EXPECT_EQ(strings_at(call("search_resources", R"({"q":"combination"})"), "results", "uri").size(), 2u);
}

TEST_F(search_resources, finds_by_name_title_description_uri_and_content) {
  add("gate.cpp", "int x;\n");
  add("other.cpp", "first\nsecond has a gate and a key\nthird\nfourth\n");
  add("titled", "").title = "The Gate";
  add("told", "").description = "about the gate";
  add("gate/inner", "").name = "inner";
  add("nothing", "at all");
  const auto found = call("search_resources", R"({"q":"Gate"})");
  EXPECT_EQ(strings_at(found, "results", "uri"),
            (strings{"memo:///gate.cpp", "memo:///titled", "memo:///told", "memo:///other.cpp", "memo:///gate/inner"}));
  EXPECT_TRUE(found.structured_content->boolean_at("isComplete").value());
  EXPECT_EQ(strings_at(found, "results", "explanation"),
            (strings{"name has \"gate\"", "title has \"gate\"", "description has \"gate\"", "the content has \"gate\"",
                     "URI has \"gate\""}));
  const auto content = found.structured_content->array_at("results").value().at(3);
  EXPECT_EQ(content.string_at("range"), "lines=1-3");
  EXPECT_EQ(content.string_at("passage"), "first\nsecond has a gate and a key\nthird");
  double before = 1;
  const auto results = found.structured_content->array_at("results").value();
  for (const auto& one : results) {
    EXPECT_LE(one.number_at("score").value(), before);
    before = one.number_at("score").value();
    EXPECT_GT(before, 0);
  }
  EXPECT_EQ(value::parse(std::get<text_block>(found.content.at(0)).text), *found.structured_content);
  EXPECT_EQ(std::get<link_block>(found.content.at(1)).entry.uri, "memo:///gate.cpp");
}

TEST_F(search_resources, puts_what_has_more_of_the_words_first_and_says_what_is_nowhere) {
  add("both", "key\n\n\n\ngate\n");
  add("one-line", "the key of the gate\n");
  add("half", "a key\n");
  const auto found = call("search_resources", R"({"q":"key gate key"})");
  EXPECT_EQ(strings_at(found, "results", "name"), (strings{"one-line", "both", "half"}));
  EXPECT_EQ(strings_at(found, "results", "explanation").back(), "the content has \"key\"; nothing has \"gate\"");
  EXPECT_EQ(strings_at(call("search_resources", R"({"q":"key","limit":1})"), "results", "name").size(), 1u);
}

TEST_F(search_resources, reads_only_small_texts_and_what_passes_the_filter) {
  add("large", "needle" + std::string(300'000, '.'));
  add("binary", std::string("needle\0", 7), "application/zip");
  add("unsized", "needle").size.reset();
  add("docs/small.md", "needle", "text/markdown");
  add("docs/日本語.txt", "針はここ\n").uri = "memo:///docs/x";
  books["memo:///docs/x"] = books["memo:///docs/日本語.txt"];
  books.erase("memo:///docs/日本語.txt");
  int reads = 0;
  source->on_read = [&reads, before = source->on_read](const read_request& request) {
    ++reads;
    return before(request);
  };
  EXPECT_EQ(strings_at(call("search_resources", R"({"q":"needle"})"), "results", "name"), strings{"docs/small.md"});
  EXPECT_EQ(reads, 2);
  EXPECT_EQ(strings_at(call("search_resources", R"({"q":"針は"})"), "results", "name"), strings{"docs/日本語.txt"});
  EXPECT_EQ(strings_at(call("search_resources", R"({"q":"needle","mimeType":"text/plain"})"), "results", "name"), strings{});
}

TEST_F(search_resources, says_when_not_everything_was_looked_at) {
  for (int i = 0; i < 520; ++i) add("n" + std::to_string(1000 + i), "text" + std::string(66'000, '.'));
  const auto found = call("search_resources", R"({"q":"text"})");
  EXPECT_FALSE(found.structured_content->boolean_at("isComplete").value());
  EXPECT_EQ(strings_at(found, "results", "name").size(), 10u);
}

TEST_F(search_resources, goes_on_where_a_resource_cannot_be_read_and_fails_as_the_list_does) {
  add("a", "needle");
  add("b", "needle");
  source->on_read = [before = source->on_read](const read_request& request) -> result<read_result> {
    if (request.uri.ends_with('a')) return fail(errc::source_unavailable, "gone");
    return before(request);
  };
  EXPECT_EQ(strings_at(call("search_resources", R"({"q":"needle"})"), "results", "name"), strings{"b"});
  EXPECT_TRUE(refusal("search_resources", R"({"q":" \n "})").public_text.starts_with("q: "));
  source->on_list = [](const list_request&) -> result<list_result> {
    return fail(errc::source_unavailable, "The disk is gone.");
  };
  EXPECT_NE(refusal("search_resources", R"({"q":"needle"})").public_text.find("The disk is gone."), std::string::npos);
}

TEST(words, begin_after_what_is_no_letter) {
  EXPECT_EQ(words_of(" Gate  key GATE "), (strings{"gate", "key"}));
  EXPECT_EQ(presence_of("floodgate", "gate"), presence::inside);
  EXPECT_EQ(presence_of("flood gate", "gate"), presence::at_word_start);
  EXPECT_EQ(presence_of("floodgate gate", "gate"), presence::at_word_start);
  EXPECT_EQ(presence_of("日本語", "本"), presence::at_word_start);
  EXPECT_EQ(presence_of("", "gate"), presence::absent);
}

TEST(words, passages_are_short_and_whole) {
  const auto none = best_passage("nothing here\n", {"gate"});
  EXPECT_EQ(none.first_line, 0u);
  const auto only = best_passage("gate", {"gate"});
  EXPECT_EQ(only.first_line, 1u);
  EXPECT_EQ(only.last_line, 1u);
  EXPECT_EQ(only.text, "gate");
  std::string wide;
  for (int i = 0; i < 500; ++i) wide += "語";
  const auto cut = best_passage("a\n" + wide + " gate\nb\n", {"gate"});
  EXPECT_EQ(cut.first_line, 2u);
  EXPECT_EQ(cut.last_line, 2u);
  EXPECT_LE(cut.text.size(), 403u);
  EXPECT_TRUE(cut.text.starts_with("…語"));
  EXPECT_TRUE(cut.text.ends_with(" gate"));
}

TEST_F(search_resources, shows_the_match_in_a_long_line) {
  std::string line;
  for (int i = 0; i < 2000; ++i) line += "\u3042";
  add("long", line + " needle " + line);
  const auto passage = strings_at(call("search_resources", R"({"q":"needle"})"), "results", "passage");
  ASSERT_EQ(passage.size(), 1u);
  EXPECT_NE(passage.front().find("needle"), std::string::npos);
  EXPECT_LE(passage.front().size(), 410u);
  EXPECT_TRUE(passage.front().starts_with("…\u3042"));
  EXPECT_TRUE(passage.front().ends_with("\u3042…"));
}

TEST_F(search_resources, of_what_cannot_fit_may_be_any_number) {
  // In few pages, which is quicker.
  place->put({*test::arrange({source}, {.page_size = 1000}), std::make_shared<const gate::gate>(),
              std::make_shared<executor::timers>()});
  for (int i = 0; i < 6000; ++i) add("e" + std::to_string(i), "", "application/octet-stream");
  add("z", "a needle in it");
  const auto found = call("search_resources", R"({"q":"needle"})");
  EXPECT_EQ(strings_at(found, "results", "name"), strings{"z"});
  EXPECT_EQ(*found.structured_content->find("isComplete"), value(true));
}

}  // namespace
}  // namespace hondana::tools
