/// What callers are told of documents that they may see and not read: nothing of the content.
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/sources/docs/served_documents.hpp"

namespace hondana::docs {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// Shows everything and lets nothing be read whose URI has a word in it.
class unreadable_word final : public access_filter {
 public:
  explicit unreadable_word(std::string word) : word_(std::move(word)) {}
  [[nodiscard]] std::uint64_t id() const noexcept override { return 8; }
  [[nodiscard]] bool may_see(std::string_view) const override { return true; }
  [[nodiscard]] bool may_read(std::string_view uri) const override { return uri.find(word_) == std::string_view::npos; }

 private:
  std::string word_;
};

struct unreadable_documents : served_documents {
  unreadable_documents() {
    write("priv/d.md", "# Treasure\n\nIt lies under the oak.\n\n## Map\nyak\n");
    write("pub/e.md", "# Open\n\n[there](../priv/d.md)\n");
    who.identity = "somebody";
    who.access_filter = std::make_shared<unreadable_word>("/priv");
  }

  [[nodiscard]] result<complete_result> completed(docs_provider& from, const std::string& argument,
                                                  const std::string& typed) const {
    complete_request request;
    request.caller = who;
    request.uri_template = "docs://book/{+path}{?section}";
    request.argument = argument;
    request.value = typed;
    if (argument == "section") request.context = {{"path", "priv/d.md"}};
    return from.complete(request);
  }

  caller_info who;
};

// attacks: authorization (content that a rule guards, through links, patches and outlines)
TEST_F(unreadable_documents, are_named_in_outlines_and_links_and_nothing_of_their_content_is_told) {
  const auto from = serve();
  for (const auto* uri : {"docs://book/", "docs://book/?format=json", "docs://book/priv?format=outline", "docs://book/priv",
                          "docs://book/pub/e.md?format=json"}) {
    const auto text = text_at(*from, uri, who);
    EXPECT_THAT(text, Not(testing::AnyOf(HasSubstr("Treasure"), HasSubstr("oak"), HasSubstr("Map")))) << uri;
    EXPECT_THAT(text, HasSubstr("priv/d.md")) << uri;
    EXPECT_THAT(text_at(*from, uri), HasSubstr(uri == std::string("docs://book/priv") ? "d.md" : "Treasure")) << uri;
  }
}

TEST_F(unreadable_documents, are_not_completed_by_their_titles_nor_are_their_sections) {
  const auto from = serve();
  EXPECT_THAT(completed(*from, "path", "Treasure")->values, IsEmpty());
  EXPECT_THAT(completed(*from, "path", "Open")->values, testing::ElementsAre("pub/e.md"));
  EXPECT_THAT(completed(*from, "path", "d.md")->values, testing::ElementsAre("priv/d.md"));
  EXPECT_THAT(completed(*from, "section", "")->values, IsEmpty());
}

}  // namespace
}  // namespace hondana::docs
