/// Completing paths.
#include "sources/files/completion.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>
#include <hondana/uri.hpp>

#include "scratch_folder.hpp"

namespace hondana::files {
namespace {

/// Hides every URI that holds a text.
class hiding final : public access_filter {
 public:
  explicit hiding(std::string text) : text_(std::move(text)) {}
  [[nodiscard]] std::uint64_t id() const noexcept override { return 7; }
  [[nodiscard]] bool may_see(std::string_view uri) const override { return uri.find(text_) == std::string_view::npos; }

 private:
  std::string text_;
};

class completion : public testing::Test {
 protected:
  std::vector<std::string> values(const std::string& typed, const std::string& argument = "path") {
    return complete(typed, argument).values;
  }
  complete_result complete(const std::string& typed, const std::string& argument = "path") {
    if (!files_) files_ = open_provider(root_);
    complete_request request;
    request.uri_template = root_.uri("{+path}{?lines,bytes}");
    request.argument = argument;
    request.value = typed;
    auto found = files_->complete(request);
    EXPECT_TRUE(found.has_value());
    return found.value_or(complete_result{});
  }

  const manual_clock clock_;  // what is waited for comes, however slow the machine is
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
  EXPECT_EQ(values("src"), (strings{"src/", "src/main.cpp"}));  // sr, and the c of cpp
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
  EXPECT_EQ(values("s"), (strings{"src/", "stone", "source/"}));
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
  EXPECT_EQ(many.total, 200u);
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

// requires: */completion.sorted
TEST_F(completion, finds_what_lies_deeper_by_its_name_and_by_its_path) {
  for (const char* name :
       {"src/catalog/list.cpp", "src/catalog/listing.cpp", "src/gate/gate.cpp", "docs/list.md", "list.txt"}) {
    root_.write(name, "x");
  }
  EXPECT_EQ(values("list"), (strings{"list.txt", "docs/list.md", "src/catalog/list.cpp", "src/catalog/listing.cpp"}));
  EXPECT_EQ(values("src/list"), (strings{"src/catalog/list.cpp", "src/catalog/listing.cpp"}));
  EXPECT_EQ(values("s/g/g"), (strings{"src/gate/gate.cpp", "src/catalog/listing.cpp"}));
  EXPECT_EQ(values("catlis"), (strings{"src/catalog/list.cpp", "src/catalog/listing.cpp"}));
  EXPECT_EQ(values("gate"), (strings{"src/gate/", "src/gate/gate.cpp"}));
  EXPECT_EQ(complete("list").total, 4u);
}

TEST_F(completion, of_equal_fits_offers_first_what_matters_more_and_what_changed_lately) {
  for (const char* name : {"aa.lock", "ab.c", "ac.md"}) root_.write(name, "x");
  EXPECT_EQ(values("a"), (strings{"ab.c", "ac.md", "aa.lock"}));  // the shorter first
  root_.write("axe.py", "x");
  root_.write("axe.md", "x");
  files_ = nullptr;
  EXPECT_EQ(values("axe"), (strings{"axe.md", "axe.py"}));  // documents matter more
  root_.write("old1.c", "x");
  root_.write("old2.c", "x");
  ASSERT_EQ(::utimensat(AT_FDCWD, root_.path("old1.c").c_str(), std::array<timespec, 2>{{{1, 0}, {1, 0}}}.data(), 0), 0);
  files_ = nullptr;
  EXPECT_EQ(values("old"), (strings{"old2.c", "old1.c"}));
}

/// What a view hides changes nothing, wherever it lies: values, total and `has_more` are those of a root without it.
// attacks: what the caller may not list
// requires: */completion.no_disclosure
TEST_F(completion, is_the_same_as_if_there_were_nothing_hidden) {
  scratch_folder bare;
  for (int i = 0; i < 120; ++i) {
    const auto name = "shown/a" + std::to_string(1000 + i);
    root_.write(name, "x");
    bare.write(name, "x");
  }
  for (int i = 0; i < 600; ++i) root_.write("shown/a-hidden" + std::to_string(i), "x");
  root_.write("hidden/a1", "x");
  root_.link("shown/ahidden-link", "a1000");
  root_.link("shown/a-link", "../hidden/a1");
  const auto full = open_provider(root_);
  const auto empty = open_provider(bare);
  for (const char* typed : {"", "shown/", "shown/a", "a", "a1", "shown/a10", "hidden/", "hidden", "h", "hidden/a", "sh/a11"}) {
    complete_request request;
    request.argument = "path";
    request.value = typed;
    request.uri_template = bare.uri("{+path}{?lines,bytes}");
    const auto expected = empty->complete(request);
    request.uri_template = root_.uri("{+path}{?lines,bytes}");
    request.caller.access_filter = std::make_shared<hiding>("hidden");
    const auto found = full->complete(request);
    ASSERT_TRUE(expected && found);
    EXPECT_EQ(found->values, expected->values) << typed;
    EXPECT_EQ(found->total, expected->total) << typed;
    EXPECT_EQ(found->has_more, expected->has_more) << typed;
  }
}

class ranges_of : public completion {
 protected:
  complete_result ranges(const std::string& argument, const std::string& typed, const std::string& path) {
    if (!files_) files_ = open_provider(root_);
    complete_request request;
    request.uri_template = root_.uri("{+path}{?lines,bytes}");
    request.argument = argument;
    request.value = typed;
    request.context = {{"bytes", "7"}, {"path", path}};
    request.caller.access_filter = view_;
    const auto found = files_->complete(request);
    EXPECT_TRUE(found.has_value());
    return found.value_or(complete_result{});
  }
  std::shared_ptr<const access_filter> view_;
};

TEST_F(ranges_of, a_file_are_its_lines_and_bytes_in_pages) {
  std::string text;
  for (int i = 1; i <= 450; ++i) text += "line\n";
  root_.write("a dir/日本.txt", text + "last");
  const auto all = ranges("lines", "", "a dir/日本.txt");
  EXPECT_EQ(all.values, (strings{"1-451", "1-200", "201-400", "401-451"}));
  EXPECT_EQ(all.total, 4u);
  EXPECT_FALSE(all.has_more);
  EXPECT_EQ(ranges("lines", "4", "a dir/日本.txt").values, (strings{"4-203", "4-451", "4", "401-451"}));
  EXPECT_EQ(ranges("lines", "440-", "a%20dir/日本.txt").values, (strings{"440-451"}));
  EXPECT_EQ(ranges("lines", "452", "a dir/日本.txt").values, strings{});
  EXPECT_EQ(ranges("lines", "x", "a dir/日本.txt").values, strings{});
  EXPECT_EQ(ranges("lines", "99999999999999999999999", "a dir/日本.txt").values, strings{});
  EXPECT_EQ(ranges("bytes", "", "a dir/日本.txt").values, (strings{"0-2253"}));
  EXPECT_EQ(read_text(*files_, root_.uri("a%20dir/%E6%97%A5%E6%9C%AC.txt") + "?lines=450-451"), "line\nlast");
}

TEST_F(ranges_of, what_cannot_be_read_in_parts_are_none) {
  root_.write("empty", "");
  root_.write("binary", std::string("a\0b\n", 4));
  root_.write("large.txt", std::string((8u << 20) + 1, 'x'));
  root_.write("hidden.txt", "x\n");
  root_.write(".env", "x\n");
  for (const char* path : {"empty", "absent", "", "../x", ".env", "binary", "large.txt"}) {
    EXPECT_EQ(ranges("lines", "", path).values, strings{}) << path;
    EXPECT_EQ(ranges("lines", "", path).total, 0u) << path;
  }
  EXPECT_EQ(ranges("bytes", "", "binary").values, strings{"0-3"});
  EXPECT_EQ(ranges("bytes", "", "large.txt").values.size(), 100u);
  EXPECT_EQ(ranges("bytes", "", "large.txt").total, 130u);  // all of it, and 129 pages
  EXPECT_EQ(ranges("lines", "", "hidden.txt").values.size(), 1u);
  view_ = std::make_shared<hiding>("hidden");
  EXPECT_EQ(ranges("lines", "", "hidden.txt").values, strings{});
  EXPECT_EQ(values("1", "lines"), strings{});  // no path in the context
}

TEST_F(completion, of_another_template_is_an_error) {
  files_ = open_provider(root_);
  complete_request request;
  request.uri_template = "file:///{+path}";
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
