/// Opening roots: what is refused, and in which words.
#include <gtest/gtest.h>

#include "scratch_folder.hpp"

namespace hondana::files {
namespace {

std::string refusal_to_serve(std::vector<std::string> paths) {
  options from;
  for (auto& path : paths) from.roots.emplace_back().path = std::move(path);
  const auto opened = files_provider::open(std::move(from));
  return opened ? "it opened" : opened.error().public_text;
}

TEST(roots, that_do_not_exist_are_refused_naming_path_reason_and_remedy) {
  EXPECT_EQ(refusal_to_serve({"/nonexistent/folder"}),
            "Cannot serve \"/nonexistent/folder\": No such file or directory. Give the path of a folder that exists.");
}

TEST(roots, that_are_files_are_refused) {
  const scratch_folder whole;
  whole.write("file.txt", "x");
  EXPECT_EQ(refusal_to_serve({whole.path("file.txt")}),
            "Cannot serve \"" + whole.path("file.txt") +
                "\": Not a directory. Give the path of a folder, such as the one this file is in.");
}

TEST(roots, need_a_path) {
  EXPECT_EQ(refusal_to_serve({""}),
            "Cannot serve \"\": the path is empty. Give the path of a folder, or . for the current one.");
  EXPECT_EQ(refusal_to_serve({}), "No folder to serve was given. Give the path of one.");
  EXPECT_NE(refusal_to_serve({std::string("/tmp\0/x", 7)}), "it opened");
}

TEST(roots, within_each_other_or_equal_are_refused_naming_both) {
  const scratch_folder whole;
  whole.make_folder("a/b");
  whole.make_folder("a-b");
  whole.link("alias", "a");
  EXPECT_EQ(refusal_to_serve({whole.path("a/b"), whole.path("a")}), "The folder \"" + whole.path("a/b") + "\" lies within \"" +
                                                                        whole.path("a") +
                                                                        "\", which is also served. Remove one of the two.");
  EXPECT_EQ(refusal_to_serve({whole.path("a"), whole.path("alias/")}),
            "The folder \"" + whole.path("a") + "\" is served twice. Remove one of the two.");
  EXPECT_EQ(refusal_to_serve({whole.path("a"), whole.path("a-b")}), "it opened");
  EXPECT_NE(refusal_to_serve({whole.path("a"), whole.path("a-b"), whole.path("a/b")}), "it opened");
}

TEST(roots, several_are_listed_in_the_order_of_their_uris_with_names_below_their_own) {
  const scratch_folder whole;
  whole.write("b/two.txt", "2");
  whole.write("a/one.txt", "1");
  options from;
  from.roots.emplace_back().path = whole.path("b");
  from.roots.emplace_back().path = whole.path("a");
  const auto files = open_provider(std::move(from));
  const auto entries = list_all(*files, 1);
  EXPECT_EQ(names_of(entries), (std::vector<std::string>{"a", "one.txt", "b", "two.txt"}));
  EXPECT_EQ(entries[1].uri, whole.uri("a/one.txt"));
  EXPECT_EQ(files->claims(), (std::vector<std::string>{whole.uri("a"), whole.uri("b")}));
  ASSERT_EQ(files->requirements().folders.size(), 2u);
  EXPECT_EQ(files->requirements().folders[0].path, whole.path("a"));
  EXPECT_FALSE(files->requirements().folders[0].is_writable);
  EXPECT_EQ(files->templates()[1].uri_template, whole.uri("b/{+path}{?lines,bytes}"));
}

TEST(roots, offer_a_documented_template_each) {
  const scratch_folder root;
  const auto files = open_provider(root);
  const auto offered = files->templates();
  ASSERT_EQ(offered.size(), 1u);
  EXPECT_EQ(offered[0].uri_template, root.uri("{+path}{?lines,bytes}"));
  EXPECT_FALSE(offered[0].name.empty());
  EXPECT_FALSE(offered[0].title.empty());
  EXPECT_NE(offered[0].description.find("lines=10-40"), std::string::npos);
  EXPECT_TRUE(offered[0].annotations.priority.has_value());
  const auto documented = files->documentation();
  EXPECT_EQ(documented.scheme, "file");
  ASSERT_EQ(documented.kinds.size(), 4u);
  EXPECT_EQ(documented.kinds[0].name, "file");
  EXPECT_EQ(documented.forms.size(), 3u);
}

}  // namespace
}  // namespace hondana::files
