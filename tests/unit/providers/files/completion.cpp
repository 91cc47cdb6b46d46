/// Completing paths.
#include "providers/files/completion.hpp"

#include <gtest/gtest.h>

#include <string>

#include <hondana/uri.hpp>

#include "scratch_folder.hpp"

namespace hondana::files {
namespace {

class completion : public testing::Test {
 protected:
  std::vector<std::string> values(const std::string& typed, const std::string& argument = "path") {
    return complete(typed, argument).values;
  }
  complete_result complete(const std::string& typed, const std::string& argument = "path") {
    if (!files_) files_ = open_provider(root_);
    complete_request request;
    request.uriTemplate = root_.uri("{+path}{?lines,bytes}");
    request.argument = argument;
    request.value = typed;
    auto found = files_->complete(request);
    EXPECT_TRUE(found.has_value());
    return found.value_or(complete_result{});
  }

  scratch_folder root_;
  std::shared_ptr<files_provider> files_;
};

using strings = std::vector<std::string>;

TEST_F(completion, goes_folder_by_folder_and_folders_end_in_a_slash) {
  root_.write("src/main.cpp", "x");
  root_.write("src/map/a", "x");
  root_.write("README.md", "x");
  EXPECT_EQ(values(""), (strings{"README.md", "src/"}));
  EXPECT_EQ(values("s"), strings{"src/"});
  EXPECT_EQ(values("src"), strings{"src/"});
  EXPECT_EQ(values("src/"), (strings{"src/main.cpp", "src/map/"}));
  EXPECT_EQ(values("src/main"), strings{"src/main.cpp"});
  EXPECT_EQ(values("src/map/"), strings{"src/map/a"});
  EXPECT_EQ(values("absent/"), strings{});
  EXPECT_EQ(values("README.md/"), strings{});
}

TEST_F(completion, goes_on_into_folders_and_links_to_folders) {
  root_.write("src/a", "x");
  root_.link("source", "src");
  root_.link("stone", "src/a");
  EXPECT_EQ(values("s"), (strings{"source/", "src/", "stone"}));
  EXPECT_EQ(values("source/"), strings{"source/a"});
}

// requires: */completion.fuzzy
TEST_F(completion, puts_exact_beginnings_first_then_other_case_then_letters_in_order) {
  for (const char* name : {"provider.hpp", "Provider.md", "pvh.txt", "pro", "xprovider", "other"}) root_.write(name, "x");
  EXPECT_EQ(values("pro"), (strings{"pro", "provider.hpp", "Provider.md", "xprovider"}));
  EXPECT_EQ(values("pvh"), (strings{"pvh.txt", "provider.hpp"}));
  EXPECT_EQ(values("zzz"), strings{});
}

// attacks: secrets; traversal
TEST_F(completion, never_tells_what_is_not_served) {
  for (const char* name : {".env", ".hidden", "id_rsa", "kept.txt", "main.o", ".git/HEAD", "private/a"}) root_.write(name, "x");
  root_.write(".gitignore", "*.o\nprivate/\n");
  root_.link("out", "/etc");
  EXPECT_EQ(values(""), strings{"kept.txt"});
  for (const char* typed :
       {".e", ".env", ".git/", ".git/H", "id", "main", "private/", "out/", "out/pass", "../", "..", "/etc/", "//", "a//b"}) {
    EXPECT_EQ(values(typed), strings{}) << typed;
  }
}

TEST_F(completion, gives_values_that_expand_to_the_files_own_uri) {
  for (const char* name : {"日本語.txt", "with space", "100%", "a?b", "c#d", "[e]", "\x93\xfa", "two\nlines", "{x}"})
    root_.write(name, "content");
  const auto compiled = uri_template::compile(root_.uri("{+path}{?lines,bytes}"));
  ASSERT_TRUE(compiled.has_value());
  const auto found = values("");
  EXPECT_EQ(found.size(), 9u);
  for (const auto& value : found) {
    const auto expanded = compiled->expand({{"path", value}});
    ASSERT_TRUE(expanded.has_value()) << value;
    EXPECT_EQ(read_text(*files_, *expanded), "content") << *expanded;
    EXPECT_EQ(values(value), strings{value});
  }
  EXPECT_EQ(values("日"), strings{"日本語.txt"});
  EXPECT_EQ(values("c%23"), strings{"c%23d"});
}

TEST_F(completion, is_capped_at_a_hundred) {
  for (int i = 100; i < 300; ++i) root_.write(std::string("f").append(std::to_string(i)), "");
  const auto many = complete("f");
  EXPECT_EQ(many.values.size(), 100u);
  EXPECT_FALSE(many.total.has_value());
  EXPECT_TRUE(many.has_more);
  const auto few = complete("f1");
  EXPECT_EQ(few.values.size(), 100u);
  EXPECT_TRUE(few.has_more);  // f210 and its like hold the letters too
  const auto one = complete("f123");
  EXPECT_EQ(one.values, strings{"f123"});
  EXPECT_EQ(one.total, 1u);
  EXPECT_FALSE(one.has_more);
}

TEST_F(completion, has_a_total_when_what_is_left_over_is_not_served) {
  for (int i = 100; i < 200; ++i) root_.write(std::string("f").append(std::to_string(i)), "");
  for (int i = 200; i < 250; ++i) root_.write(std::string("f").append(std::to_string(i)).append(".o"), "");
  root_.write(".gitignore", "*.o\n");
  const auto all = complete("f");
  EXPECT_EQ(all.values.size(), 100u);
  EXPECT_EQ(all.total, 100u);
  EXPECT_FALSE(all.has_more);
}

TEST_F(completion, has_nothing_to_say_about_lines_and_bytes) {
  root_.write("a.txt", "x");
  EXPECT_EQ(values("1", "lines"), strings{});
  EXPECT_EQ(values("", "bytes"), strings{});
}

TEST_F(completion, of_another_template_is_an_error) {
  files_ = open_provider(root_);
  complete_request request;
  request.uriTemplate = "file:///{+path}";
  request.argument = "path";
  EXPECT_EQ(files_->complete(request).error().code, errc::invalid_argument);
}

TEST_F(completion, survives_long_and_odd_input) {
  root_.write("a.txt", "x");
  EXPECT_EQ(values(std::string(100'000, 'a')), strings{});
  EXPECT_EQ(values(std::string("a\0b", 3)), strings{});
  EXPECT_EQ(values("%"), strings{});
  EXPECT_EQ(values("%zz/"), strings{});
  EXPECT_EQ(values("\xff"), strings{});
}

}  // namespace
}  // namespace hondana::files
