/// What is read for an index, and what is said of its troubles.
#include "search/index/document_reader.hpp"

#include <memory>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "search/index/shared_index.hpp"

namespace hondana::search {
namespace {

TEST(seeing_one_resource_alone, shows_it_with_its_parts_and_nothing_else) {
  const auto through = make_single_resource_filter("docs://manual/a.md");
  for (const auto* uri : {"docs://manual/a.md", "docs://manual/a.md?format=original", "docs://manual/a.md#top"}) {
    EXPECT_TRUE(through->may_see(uri)) << uri;
    EXPECT_TRUE(through->may_read(uri)) << uri;
  }
  for (const auto* uri : {"docs://manual/", "docs://manual/a.md/b", "docs://manual/a.mdx", "docs://manual/b.md", ""})
    EXPECT_FALSE(through->may_see(uri)) << uri;
  EXPECT_NE(through->id(), make_single_resource_filter("docs://manual/a.md")->id());
}

TEST(seeing_one_resource_alone, shows_the_whole_of_a_part_but_none_of_its_other_parts) {
  const auto through = make_single_resource_filter("gdrive://my-drive/Book?sheet=Q2");
  for (const auto* uri : {"gdrive://my-drive/Book?sheet=Q2", "gdrive://my-drive/Book"}) {
    EXPECT_TRUE(through->may_see(uri)) << uri;
    EXPECT_TRUE(through->may_read(uri)) << uri;
  }
  for (const auto* uri : {"gdrive://my-drive/Book?sheet=Q1", "gdrive://my-drive/Book?sheet=Q23", "gdrive://my-drive/Booking",
                          "gdrive://my-drive", "gdrive://my-drive/Book/Q2", ""})
    EXPECT_FALSE(through->may_see(uri)) << uri;
}

TEST(seeing_one_resource_alone, is_not_tried_with_lists_of_others) {
  const auto with = [](const char* type, const char* kind) {
    resource out;
    out.mime_type = type;
    out.kind = kind;
    return is_listing(out);
  };
  EXPECT_TRUE(with("inode/directory", ""));
  EXPECT_TRUE(with("Inode/Directory; x=y", "file"));
  EXPECT_TRUE(with("text/markdown", "outline"));
  EXPECT_TRUE(with("", "folder"));
  EXPECT_FALSE(with("text/markdown", "document"));
  EXPECT_FALSE(with("", ""));
}

TEST(troubles_of_an_index, are_told_in_fixed_words_logged_once_and_end) {
  const auto on = std::make_shared<shared_index>();
  std::string log;
  on->options.log = [&log](std::string_view line) { log += std::string(line) + '\n'; };
  problem_tracker all(on);
  all.report(problem_kind::vectors, failure{errc::timed_out, "http://gpu.internal is slow", "poll"});
  EXPECT_EQ(on->state().problem, problem_text(problem_kind::vectors));
  for (int i = 0; i < 3; ++i)
    all.report(problem_kind::store, failure{errc::source_unavailable, "/var/lib/index.db is full", {}});
  EXPECT_EQ(on->state().problem, problem_text(problem_kind::store)) << "the graver one";
  EXPECT_EQ(log, "search: http://gpu.internal is slow (poll)\nsearch: /var/lib/index.db is full\n");
  all.resolve(problem_kind::store);
  EXPECT_EQ(on->state().problem, problem_text(problem_kind::vectors));
  all.resolve(problem_kind::vectors);
  EXPECT_EQ(on->state().problem, "");
  all.report(problem_kind::store, failure{errc::source_unavailable, "/var/lib/index.db is full", {}});
  EXPECT_EQ(log.find("full", log.find("full") + 1) != std::string::npos, true) << "another time it is said again";
}

}  // namespace
}  // namespace hondana::search
