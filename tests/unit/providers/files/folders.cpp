/// Reading folders, and their children.
#include <gtest/gtest.h>

#include <string>

#include "scratch_folder.hpp"

namespace hondana::files {
namespace {

std::shared_ptr<files_provider> with_budget(const scratch_folder& root, std::uint64_t budget) {
  auto from = serving(root.path());
  from.folder_budget = budget;
  return open_provider(std::move(from));
}

std::vector<std::string> uris_of(const result<reading>& answer) {
  std::vector<std::string> uris;
  for (const auto& item : answer->contents) uris.push_back(item.uri);
  return uris;
}

TEST(folders, are_their_listing_and_then_their_direct_text_files) {
  const scratch_folder root;
  root.write("src/b.txt", "bravo");
  root.write("src/a.txt", "alpha");
  root.write("src/deep/c.txt", "charlie");
  root.write("src/image.png", std::string("\x89PNG\r\n\x1a\n\0", 9));
  root.write("src/unknown", std::string("\0\1\2", 3));
  root.write("src/empty.txt", "");
  root.write("src/.env", "SECRET=1");
  root.write("src/.gitignore", "*.o\n");
  root.write("src/main.o", "object");
  root.link("src/link.txt", "a.txt");
  root.link("src/out.txt", "/etc/passwd");
  root.make_fifo("src/pipe");
  const auto files = open_provider(root);
  for (const char* uri : {"src", "src/"}) {
    const auto answer = read(*files, root.uri(uri));
    ASSERT_TRUE(answer.has_value());
    EXPECT_EQ(uris_of(answer), (std::vector<std::string>{"", root.uri("src/a.txt"), root.uri("src/b.txt")}));
    const auto& self = answer->contents[0];
    EXPECT_EQ(self.mimeType, "inode/directory");
    EXPECT_EQ(self.name, "src");
    EXPECT_EQ(self.form, content_form::text);
    std::string expected;
    for (const char* child : {"a.txt", "b.txt", "deep", "empty.txt", "image.png", "link.txt", "pipe", "unknown"}) {
      expected += root.uri("src/") + child + "\n";
    }
    EXPECT_EQ(bytes_of(self), expected);
    EXPECT_EQ(bytes_of(answer->contents[1]), "alpha");
    EXPECT_EQ(answer->contents[1].mimeType, "text/plain");
    EXPECT_EQ(answer->contents[1].name, "src/a.txt");
  }
}

TEST(folders, without_a_budget_are_the_listing_only) {
  const scratch_folder root;
  root.write("a.txt", "alpha");
  const auto answer = read(*with_budget(root, 0), root.uri());
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(uris_of(answer), std::vector<std::string>{""});
}

TEST(folders, stop_at_the_first_text_file_that_does_not_fit) {
  const scratch_folder root;
  root.write("a.txt", std::string(60, 'a'));
  root.write("b.png", std::string(500, '\0'));
  root.write("c.txt", std::string(41, 'c'));
  root.write("d.txt", "d");
  EXPECT_EQ(uris_of(read(*with_budget(root, 100), root.uri())), (std::vector<std::string>{"", root.uri("a.txt")}));
  EXPECT_EQ(uris_of(read(*with_budget(root, 101), root.uri())),
            (std::vector<std::string>{"", root.uri("a.txt"), root.uri("c.txt")}));
  EXPECT_EQ(uris_of(read(*with_budget(root, 102), root.uri())).size(), 4u);
}

TEST(folders, have_a_budget_of_64_kib_unless_told_otherwise) {
  const scratch_folder root;
  root.write("a.txt", std::string(65'535, 'a'));
  root.write("b.txt", "bc");
  EXPECT_EQ(uris_of(read(*open_provider(root), root.uri())).size(), 2u);
  root.write("b.txt", "b");
  EXPECT_EQ(uris_of(read(*open_provider(root), root.uri())).size(), 3u);
}

TEST(folders, that_are_empty_have_an_empty_listing) {
  const scratch_folder root;
  EXPECT_EQ(read_text(*open_provider(root), root.uri()), "");
}

TEST(folders, change_their_version_with_their_files) {
  const scratch_folder root;
  root.write("a.txt", "alpha");
  const auto files = open_provider(root);
  const auto first = read(*files, root.uri())->version;
  EXPECT_EQ(read(*files, root.uri())->version, first);
  root.write("a.txt", "other");
  const auto second = read(*files, root.uri())->version;
  EXPECT_NE(second, first);
  root.write("b", "");
  EXPECT_NE(read(*files, root.uri())->version, second);
}

TEST(folders, with_a_listing_beyond_the_read_limit_are_an_error) {
  const scratch_folder root;
  for (int i = 0; i < 20; ++i) root.write(std::to_string(i), "");
  const auto answer = read(*open_provider(root), root.uri(), 100);
  ASSERT_FALSE(answer.has_value());
  EXPECT_EQ(answer.error().code, errc::response_too_large);
}

TEST(folders, behind_a_link_are_read_where_they_are) {
  const scratch_folder root;
  root.write("real/a.txt", "alpha");
  root.link("alias", "real");
  const auto answer = read(*open_provider(root), root.uri("alias"));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(bytes_of(answer->contents[0]), root.uri("real/a.txt") + "\n");
}

TEST(children, are_paged_in_order) {
  const scratch_folder root;
  for (const char* path : {"f/c.txt", "f/a/deep.txt", "f/a-b.txt", "f/.hidden", "g.txt"}) root.write(path, "x");
  const auto files = open_provider(root);
  children_request request;
  request.uri = root.uri("f");
  request.limit = 2;
  const auto first = files->children(request);
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(names_of(first->entries), (std::vector<std::string>{"f/a", "f/a-b.txt"}));
  EXPECT_EQ(first->entries[0].mimeType, "inode/directory");
  ASSERT_TRUE(first->resume.has_value());
  request.after = *first->resume;
  const auto second = files->children(request);
  EXPECT_EQ(names_of(second->entries), std::vector<std::string>{"f/c.txt"});
  EXPECT_FALSE(second->resume.has_value());
}

TEST(children, of_files_and_of_nothing_are_errors) {
  const scratch_folder root;
  root.write("a.txt", "x");
  const auto files = open_provider(root);
  children_request request;
  request.uri = root.uri("a.txt");
  EXPECT_EQ(files->children(request).error().code, errc::invalid_argument);
  request.uri = root.uri("absent");
  EXPECT_EQ(files->children(request).error().code, errc::resource_not_found);
  request.uri = "file:///elsewhere";
  EXPECT_EQ(files->children(request).error().code, errc::resource_not_found);
}

}  // namespace
}  // namespace hondana::files
