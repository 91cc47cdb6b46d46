/// Children of folders: routing, pages, views, and cursors that belong to one folder.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/entry_snapshot.hpp>

#include "unit/server/catalog/scripted_provider.hpp"

namespace {

using namespace hondana;
using namespace hondana::test;
using strings = std::vector<std::string>;
using page_of_children = model::directory_page;

resource entry(const std::string& uri, const std::string& type = {}) {
  resource made;
  made.uri = uri;
  made.name = "n";
  made.mime_type = type;
  return made;
}

/// Folders and files from a snapshot.
class folders final : public scripted_provider, public folder_source {
 public:
  folders(std::string name, std::vector<std::string> claims, std::vector<resource> entries)
      : scripted_provider(std::move(name), std::move(claims)), entries_(std::move(entries)) {
    on_list = [this](const list_request& request) { return entries_.page(request); };
  }
  [[nodiscard]] result<list_result> children(const children_request& request) override {
    const auto there = entries_.find(request.uri);
    if (!there) return fail(errc::resource_not_found, "none");
    if (there->mime_type != "inode/directory") return fail(errc::invalid_argument, "no folder");
    return entries_.children(request);
  }

 private:
  entry_snapshot entries_;
};

/// A folder `memo:///f` with a folder and files in it.
std::shared_ptr<const catalog::catalog> memo(std::size_t page_size = 500) {
  std::vector<resource> entries;
  for (const auto* uri : {"memo:///f/a", "memo:///f/a/deep", "memo:///f/b", "memo:///f-x", "memo:///f/c/d/e", "memo:///g"}) {
    entries.push_back(entry(uri));
  }
  for (const auto* uri : {"memo:///", "memo:///e", "memo:///f", "memo:///f/z"})
    entries.push_back(entry(uri, "inode/directory"));
  auto made = arrange({std::make_shared<folders>("memo", strings{"memo:///"}, std::move(entries))}, {.page_size = page_size});
  if (!made) throw std::logic_error(made.error().public_text);
  return *made;
}

result<page_of_children> ask(const catalog::catalog& from, const std::string& uri,
                             const std::optional<std::string>& cursor = {}, const request_context& who = {}) {
  const answer<page_of_children> taken;
  from.children(who, uri, cursor, taken.taker());
  return taken.wait();
}

strings uris_of(const page_of_children& page) {
  strings all;
  for (const auto& one : page.resources) all.push_back(one.uri);
  return all;
}

// requires: 2026-07-28/skills.directory_children
TEST(children, are_those_one_segment_below_in_segment_order) {
  const auto from = memo();
  EXPECT_EQ(uris_of(*ask(*from, "memo:///f")), (strings{"memo:///f/a", "memo:///f/b", "memo:///f/z"}));
  EXPECT_EQ(uris_of(*ask(*from, "memo:///f/")), (strings{"memo:///f/a", "memo:///f/b", "memo:///f/z"}));
  EXPECT_EQ(uris_of(*ask(*from, "memo:///")), (strings{"memo:///e", "memo:///f", "memo:///f-x", "memo:///g"}));
  EXPECT_TRUE(ask(*from, "memo:///e")->resources.empty());
}

TEST(children, of_what_is_no_folder_are_an_error) {
  const auto from = memo();
  EXPECT_EQ(ask(*from, "memo:///g").error().code, errc::invalid_argument);
  EXPECT_EQ(ask(*from, "memo:///none").error().code, errc::resource_not_found);
  EXPECT_EQ(ask(*from, "other:///f").error().code, errc::resource_not_found);
  EXPECT_TRUE(from->has_folders());
  const auto plain = arrange({std::make_shared<scripted_provider>("plain", strings{"plain:///"})});
  EXPECT_EQ(ask(**plain, "plain:///a").error().code, errc::unsupported);
  EXPECT_FALSE((*plain)->has_folders());
}

TEST(children, come_in_pages_whose_cursors_belong_to_their_folder) {
  const auto from = memo(2);
  const auto first = ask(*from, "memo:///f");
  ASSERT_TRUE(first && first->next_cursor);
  EXPECT_EQ(uris_of(*first), (strings{"memo:///f/a", "memo:///f/b"}));
  const auto second = ask(*from, "memo:///f", first->next_cursor);
  ASSERT_TRUE(second);
  EXPECT_EQ(uris_of(*second), (strings{"memo:///f/z"}));
  EXPECT_FALSE(second->next_cursor);
  EXPECT_EQ(ask(*from, "memo:///", first->next_cursor).error().code, errc::invalid_argument);
  EXPECT_EQ(ask(*from, "memo:///f", "").error().code, errc::invalid_argument);
  const auto through = std::make_shared<hiding_view>(7, [](auto) { return false; });
  EXPECT_EQ(ask(*from, "memo:///f", first->next_cursor, by(through)).error().code, errc::invalid_argument);
  // A cursor of the list of all resources is one of another list.
  const answer<model::resource_page> listed;
  from->list({}, {}, listed.taker());
  ASSERT_TRUE(listed.wait()->next_cursor);
  EXPECT_EQ(ask(*from, "memo:///f", listed.wait()->next_cursor).error().code, errc::invalid_argument);
}

TEST(children, that_a_view_hides_are_not_there) {
  const auto from = memo();
  const auto through = std::make_shared<hiding_view>(7, [](std::string_view uri) { return uri.ends_with("/b"); });
  EXPECT_EQ(uris_of(*ask(*from, "memo:///f", {}, by(through))), (strings{"memo:///f/a", "memo:///f/z"}));
  const auto blind = std::make_shared<hiding_view>(8, [](std::string_view uri) { return uri == "memo:///f"; });
  EXPECT_EQ(ask(*from, "memo:///f", {}, by(blind)).error().code, errc::resource_not_found);
}

/// Answers with whatever a test wants.
class odd_provider final : public scripted_provider, public folder_source {
 public:
  using scripted_provider::scripted_provider;
  list_result answer;
  [[nodiscard]] result<list_result> children(const children_request&) override { return answer; }
};

TEST(children, that_a_provider_lists_wrongly_are_not_passed_on) {
  const auto odd = std::make_shared<odd_provider>("odd", strings{"odd:///"});
  const auto from = arrange({odd});
  odd->answer.entries = {entry("odd:///b"), entry("odd:///a")};
  EXPECT_EQ(ask(**from, "odd:///").error().code, errc::internal);
  odd->answer.entries = {entry("other:///a")};
  EXPECT_EQ(ask(**from, "odd:///").error().code, errc::internal);
  odd->answer.entries = {entry("odd:///a")};
  EXPECT_EQ(uris_of(*ask(**from, "odd:///")), (strings{"odd:///a"}));
}

TEST(children, pages_add_up_whatever_the_size) {
  for (std::size_t size = 1; size < 6; ++size) {
    const auto from = memo(size);
    strings all;
    std::optional<std::string> cursor;
    do {
      const auto page = ask(*from, "memo:///f", cursor);
      ASSERT_TRUE(page);
      EXPECT_LE(page->resources.size(), size);
      for (const auto& one : page->resources) all.push_back(one.uri);
      cursor = page->next_cursor;
    } while (cursor);
    EXPECT_EQ(all, (strings{"memo:///f/a", "memo:///f/b", "memo:///f/z"})) << size;
  }
}

}  // namespace
