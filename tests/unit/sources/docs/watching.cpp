/// Changes that nobody asks for.
#include <memory>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/docs/served_documents.hpp"

namespace hondana::docs {
namespace {

using testing::Contains;

struct watched_documents : served_documents {
  std::shared_ptr<recorded_changes> told = std::make_shared<recorded_changes>();
  std::shared_ptr<docs_provider> from;

  void begin() {
    auto how = plain_options();
    how.watch = true;
    how.renderer = paper;
    from = serve(how);
    from->set_listener(told);
    from->watch_list();
    ASSERT_TRUE(told->await("list"));
    told->forget();
  }
  ~watched_documents() override {
    if (from) from->set_listener(nullptr);
  }
};

TEST_F(watched_documents, tell_of_changed_new_and_deleted_ones) {
  write("a.md", "# A\n");
  begin();
  write("a.md", "# A\n\nMore.\n");
  EXPECT_TRUE(told->await("docs://book/a.md"));
  told->forget();
  write("new/b.md", "# B\n");
  EXPECT_TRUE(told->await("docs://book/new/b.md"));
  EXPECT_TRUE(told->await("docs://book/"));
  EXPECT_TRUE(told->await("list"));
  told->forget();
  fs::remove(root / "a.md");
  EXPECT_TRUE(told->await("docs://book/a.md"));
  EXPECT_EQ(error_at(*from, "docs://book/a.md"), errc::resource_not_found);
}

TEST_F(watched_documents, tell_whoever_watches_another_spelling_that_reads_take) {
  write("a(1)/FULL.md", "# A\n");
  begin();
  const std::string other = "docs://book/A(1)/full.md";
  from->watch(other);
  from->watch("docs://book/b.md");
  replace("a(1)/FULL.md", "# A\n\nMore.\n");
  EXPECT_TRUE(told->await(other));
  EXPECT_FALSE(told->has("docs://book/b.md"));
  from->unwatch(other);
  told->forget();
  replace("a(1)/FULL.md", "# A\n\nEven more.\n");
  EXPECT_TRUE(told->await("docs://book/a%281%29/FULL.md"));
  EXPECT_FALSE(told->has(other));
}

TEST_F(watched_documents, tell_nobody_of_another_document_whose_name_differs_in_case_alone) {
  write("README.md", "# A\n");
  write("readme.md", "# B\n");
  write("z.md", "# Z\n");
  begin();
  from->watch("docs://book/readme.md");
  write("README.md", "# A\n\nMore.\n");
  ASSERT_TRUE(told->await("docs://book/README.md"));
  // Whatever is told of the first has been told before this.
  write("z.md", "# Z\n\nMore.\n");
  ASSERT_TRUE(told->await("docs://book/z.md"));
  EXPECT_FALSE(told->has("docs://book/readme.md"));
  write("readme.md", "# B\n\nMore.\n");
  EXPECT_TRUE(told->await("docs://book/readme.md"));
}

TEST_F(watched_documents, tell_of_changed_rules) {
  write("a.md", "# A\n");
  begin();
  write(".hondana-docs.toml", "[[rule]]\nmatch = \"a.md\"\nexclude = true\n");
  EXPECT_TRUE(told->await("docs://book/a.md"));
  EXPECT_EQ(error_at(*from, "docs://book/a.md"), errc::resource_not_found);
}

TEST_F(watched_documents, tell_of_titles_that_come_with_rendering) {
  write("a.md", "# A\n");
  begin();
  write("new.pdf", "%PDF-1.7\ntitle: Rendered\nx\n\f");
  ASSERT_TRUE(told->await("docs://book/new.pdf"));
  for (int lists = told->lists(); entry_at(*from, "docs://book/new.pdf").title != "Rendered"; ++lists)
    ASSERT_TRUE(told->await_lists(lists + 1));
}

TEST_F(watched_documents, do_not_tell_of_a_list_that_is_the_same) {
  write("a.md", "# A\n\nOne.\n\n## Part\n\nold\n");
  write("z.md", "# Z\n\nOne.\n\n## Part\n\nold\n");
  begin();
  replace("a.md", "# A\n\nOne.\n\n## Part\n\nnew text\n");
  ASSERT_TRUE(told->await("docs://book/a.md"));
  // Whatever is told of the first has been told before this.
  replace("z.md", "# Z\n\nOne.\n\n## Part\n\nnew text\n");
  ASSERT_TRUE(told->await("docs://book/z.md"));
  EXPECT_FALSE(told->has("list"));
}

}  // namespace
}  // namespace hondana::docs
