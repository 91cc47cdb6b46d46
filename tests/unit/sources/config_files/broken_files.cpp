/// Files that are half written, broken, or cannot be read any more.
#include <sys/fsuid.h>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sources/config_files/value_cache.hpp"
#include "unit/sources/config_files/served_set.hpp"

namespace hondana::config_files {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

struct broken_files : served_set {
  std::shared_ptr<config_files_provider> serve_app() {
    return serve(
        "path = \"conf\"\nwatch = false\n"
        "[[layer]]\nname = \"base\"\nvalues = { port = \"1\", host = \"h\" }\n"
        "[[layer]]\nname = \"site\"\nfile = \"conf/app.toml\"\n");
  }
};

TEST_F(broken_files, say_what_they_said_before_and_that_they_are_broken) {
  write("conf/app.toml", "port = 80\n");
  write("conf/other.toml", "x = 1\n");
  const auto from = serve_app();
  const auto good_json = read(*from, "config://conf/file/app.toml?format=json");
  ASSERT_TRUE(good_json);
  EXPECT_EQ(fact_at(*from, "config://conf/file/app.toml?format=json", "dev.hondana/stale"), "");
  write("conf/app.toml", "# new\nport = 8080\nhost = \"exam");
  // The file itself is what is there, without values, since nobody knows which of them are secrets.
  EXPECT_EQ(text_at(*from, "config://conf/file/app.toml"), "# new\nport = ****\nhost = *****");
  EXPECT_EQ(text_at(*from, "config://conf/file/app.toml?format=json"), R"({"port":80})");
  EXPECT_THAT(fact_at(*from, "config://conf/file/app.toml?format=json", "dev.hondana/stale"), StartsWith("line 3: "));
  const auto broken_json = read(*from, "config://conf/file/app.toml?format=json");
  ASSERT_TRUE(broken_json);
  EXPECT_NE(broken_json->version, good_json->version);
  auto one = json_at(*from, "config://conf/file/app.toml?key=port");
  EXPECT_EQ(*one.find("value"), value(80));
  EXPECT_THAT(*one.at("/stale/error")->as_string(), StartsWith("line 3: "));
  const auto merged = json_at(*from, "config://conf/merged");
  EXPECT_EQ(*merged.find("value"), json(R"({"port":80,"host":"h"})"));
  EXPECT_THAT(*merged.at("/layers/1/stale/error")->as_string(), StartsWith("line 3: "));
  EXPECT_THAT(*json_at(*from, "config://conf/diff/base..site").at("/layers/1/stale/error")->as_string(),
              StartsWith("line 3: "));
  EXPECT_THAT(*json_at(*from, "config://conf/layers/site").at("/stale/error")->as_string(), StartsWith("line 3: "));
  EXPECT_EQ(text_at(*from, "config://conf/file/other.toml?format=json"), R"({"x":1})");
  EXPECT_THAT(from->health().detail, HasSubstr("not listed yet"));
  EXPECT_FALSE(from->health().is_healthy) << "before the first list";
  EXPECT_THAT(from->health().detail, HasSubstr("app.toml: line 3: "));
  ASSERT_TRUE(from->list({}));
  EXPECT_FALSE(from->health().is_healthy);
  EXPECT_THAT(from->health().detail, HasSubstr("app.toml: line 3: "));
  EXPECT_THAT(log,
              ElementsAre(StartsWith("config conf: app.toml cannot be read, so its last valid version is used: line 3: ")));
  replace("conf/app.toml", "port = 8080\n");
  one = json_at(*from, "config://conf/file/app.toml?key=port");
  EXPECT_EQ(one, json(R"({"key":"port","value":8080,"file":"app.toml","line":1})"));
  EXPECT_THAT(log, ElementsAre(HasSubstr("last valid version is used"), "config conf: app.toml can be read again"));
  EXPECT_THAT(from->health().detail, Not(HasSubstr("line 3")));
}

TEST_F(broken_files, are_an_error_where_nothing_is_known_of_before) {
  write("conf/app.toml", "port = \n");
  write("conf/bad.json", "{\"a\": 1, \"b\"");
  write("conf/bytes.yaml", "a: \xFF\xFE\n");
  const auto from = serve_app();
  EXPECT_THAT(text_at(*from, "config://conf/file/app.toml?key=port"),
              StartsWith("error: In the set \"conf\": \"app.toml\" cannot be read as toml: line 1: "));
  EXPECT_THAT(text_at(*from, "config://conf/merged"),
              StartsWith("error: The layer \"site\": In the set \"conf\": \"app.toml\" cannot be read as toml"));
  EXPECT_THAT(text_at(*from, "config://conf/file/bad.json?format=json"), HasSubstr("cannot be read as json: line 1: "));
  EXPECT_THAT(text_at(*from, "config://conf/file/bytes.yaml?format=json"), HasSubstr("cannot be read as yaml: "));
  EXPECT_EQ(text_at(*from, "config://conf/file/app.toml"), "port = \n");
  EXPECT_THAT(text_at(*from, "config://conf/file/bytes.yaml"), HasSubstr("is not UTF-8 or UTF-16 text"));
}

TEST_F(broken_files, that_are_emptied_to_be_written_anew_are_taken_as_they_were) {
  write("conf/app.toml", "port = 80\n");
  const auto from = serve_app();
  ASSERT_EQ(*json_at(*from, "config://conf/merged").at("/value/port"), value(80));
  fs::resize_file(root / "conf/app.toml", 0);
  EXPECT_EQ(text_at(*from, "config://conf/file/app.toml"), "");
  const auto merged = json_at(*from, "config://conf/merged");
  EXPECT_EQ(*merged.at("/value/port"), value(80));
  EXPECT_THAT(*merged.at("/layers/1/stale/error")->as_string(), HasSubstr("it is empty"));
  // One that stays empty is empty.
  settle("conf/app.toml");
  EXPECT_EQ(*json_at(*from, "config://conf/merged").at("/value/port"), value("1"));
}

TEST_F(broken_files, that_are_no_files_any_more_are_gone) {
  write("conf/app.toml", "port = 80\n");
  const auto from = serve_app();
  ASSERT_EQ(*json_at(*from, "config://conf/merged").at("/value/port"), value(80));
  fs::remove(root / "conf/app.toml");
  ASSERT_EQ(::mkfifo((root / "conf/app.toml").c_str(), 0600), 0);
  EXPECT_EQ(error_at(*from, "config://conf/file/app.toml"), errc::resource_not_found);
  EXPECT_EQ(*json_at(*from, "config://conf/merged").at("/value/port"), value("1"));
  fs::remove(root / "conf/app.toml");
  fs::create_directory(root / "conf/app.toml");
  EXPECT_EQ(*json_at(*from, "config://conf/merged").at("/layers/1/missing"), value(true));
}

TEST_F(broken_files, that_grew_beyond_what_is_read_are_taken_as_they_were) {
  write("conf/app.toml", "port = 80\n");
  write("conf/other.toml", "x = 1\n");
  const auto from = serve_app();
  ASSERT_EQ(*json_at(*from, "config://conf/merged").at("/value/port"), value(80));
  fs::resize_file(root / "conf/app.toml", 100u << 20);
  EXPECT_EQ(error_at(*from, "config://conf/file/app.toml"), errc::response_too_large);
  const auto merged = json_at(*from, "config://conf/merged");
  EXPECT_EQ(*merged.at("/value/port"), value(80));
  EXPECT_THAT(*merged.at("/layers/1/stale/error")->as_string(), HasSubstr("larger than 8 MiB"));
  EXPECT_EQ(text_at(*from, "config://conf/file/other.toml"), "x = 1\n");
}

/// This thread has no more rights to files than anybody, as long as it lives.
class as_nobody {
 public:
  as_nobody() : before_(::setfsuid(65534)) {}
  ~as_nobody() { ::setfsuid(static_cast<uid_t>(before_)); }
  as_nobody(const as_nobody&) = delete;
  as_nobody& operator=(const as_nobody&) = delete;

 private:
  int before_;
};

TEST_F(broken_files, that_the_system_does_not_let_be_read_any_more_are_taken_as_they_were) {
  write("conf/app.toml", "port = 80\n");
  write("conf/other.toml", "x = 1\n");
  const auto from = serve_app();
  ASSERT_EQ(*json_at(*from, "config://conf/merged").at("/value/port"), value(80));
  fs::permissions(root, fs::perms::all);
  fs::permissions(root / "conf/app.toml", fs::perms::none);
  const as_nobody nobody;
  EXPECT_EQ(error_at(*from, "config://conf/file/app.toml"), errc::access_denied);
  EXPECT_THAT(*json_at(*from, "config://conf/merged").at("/layers/1/stale/error")->as_string(),
              HasSubstr("Check its permissions"));
  EXPECT_EQ(text_at(*from, "config://conf/file/other.toml"), "x = 1\n");
}

TEST_F(broken_files, with_bombs_and_doubles_are_refused_or_remarked) {
  std::string bomb = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c <= 'k'; ++c) {
    bomb += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i) bomb += (i == 0 ? "*" : ", *") + std::string(1, static_cast<char>(c - 1));
    bomb += "]\n";
  }
  write("conf/bomb.yaml", bomb);
  write("conf/double.yaml", "a: 1\nb: 2\na: 3\n");
  write("conf/deep.json", std::string(5000, '[') + std::string(5000, ']'));
  const auto from = serve("path = \"conf\"\nwatch = false\n");
  EXPECT_THAT(text_at(*from, "config://conf/file/bomb.yaml?format=json"), HasSubstr("cannot be read as yaml"));
  EXPECT_THAT(text_at(*from, "config://conf/file/deep.json?format=json"), HasSubstr("cannot be read as json"));
  const auto twice = text_at(*from, "config://conf/file/double.yaml?format=json");
  EXPECT_TRUE(twice.find("cannot be read") != std::string::npos ||
              !fact_at(*from, "config://conf/file/double.yaml?format=json", "dev.hondana/warnings").empty())
      << twice;
}

file_text text_of_file(std::string bytes, std::uint64_t inode) {
  file_text made{std::move(bytes), {}, false};
  made.state.inode = inode;
  made.state.size = made.bytes.size();
  made.state.changed = static_cast<std::int64_t>(inode);  // the later, the higher the number
  return made;
}

TEST(kept_values, let_go_of_the_oldest_beyond_a_cap) {
  std::vector<std::string> log;
  value_cache known(true, [&log](const std::string& line) { log.push_back(line); }, 20'000);
  const auto text = text_of_file("a = \"" + std::string(4000, 'x') + "\"\n", 1);
  ASSERT_TRUE(known.parse("one", located::config_format::toml, text, known.next_sequence()));
  ASSERT_TRUE(known.find("one", text.state));
  ASSERT_TRUE(known.parse("two", located::config_format::toml, text, known.next_sequence()));
  ASSERT_TRUE(known.find("one", text.state));
  ASSERT_TRUE(known.parse("three", located::config_format::toml, text, known.next_sequence()));
  EXPECT_TRUE(known.contains("one"));
  EXPECT_FALSE(known.contains("two"));
  EXPECT_TRUE(known.contains("three"));
  // One that is larger than the cap is given and not kept.
  const auto large = text_of_file("a = \"" + std::string(40'000, 'x') + "\"\n", 2);
  EXPECT_TRUE(known.parse("large", located::config_format::toml, large, known.next_sequence()));
  EXPECT_FALSE(known.find("large", large.state));
  EXPECT_TRUE(log.empty());
}

TEST(kept_values, are_not_replaced_by_what_was_read_before_them) {
  value_cache known(true, {});
  const auto first = known.next_sequence();
  const auto second = known.next_sequence();
  ASSERT_TRUE(known.parse("a", located::config_format::toml, text_of_file("x = 2\n", 2), second));
  // Whoever read the older text is given that, and nobody after him.
  const auto late = known.parse("a", located::config_format::toml, text_of_file("x = 1\n", 1), first);
  ASSERT_TRUE(late);
  EXPECT_EQ(late->values->masked.root.find("x")->text, "1");
  const auto torn = known.parse("a", located::config_format::toml, text_of_file("x = ", 1), first);
  ASSERT_TRUE(torn);
  EXPECT_EQ(torn->values->masked.root.find("x")->text, "2");
  EXPECT_EQ(torn->stale_reason, "");
  const auto broken = known.parse("a", located::config_format::toml, text_of_file("x = ", 4), known.next_sequence());
  ASSERT_TRUE(broken);
  EXPECT_EQ(broken->values->masked.root.find("x")->text, "2");
  EXPECT_NE(broken->stale_reason, "");
  // What is broken does not keep a newer one out that was read before it.
  const auto third = known.next_sequence();
  ASSERT_TRUE(known.parse("a", located::config_format::toml, text_of_file("x = ", 6), known.next_sequence()));
  ASSERT_TRUE(known.parse("a", located::config_format::toml, text_of_file("x = 3\n", 5), third));
  const auto again = known.parse("a", located::config_format::toml, text_of_file("x = ", 7), known.next_sequence());
  ASSERT_TRUE(again);
  EXPECT_EQ(again->values->masked.root.find("x")->text, "3");
  // A clock that was set back keeps nothing out.
  ASSERT_TRUE(known.parse("a", located::config_format::toml, text_of_file("x = 4\n", 1), known.next_sequence()));
  EXPECT_EQ(known.find("a", text_of_file("x = 4\n", 1).state)->values->masked.root.find("x")->text, "4");
}

}  // namespace
}  // namespace hondana::config_files
