/// Completing revisions among very many branches: the view is asked about few, and all can be stopped.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/uri.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "os/disk/private_file.hpp"
#include "sources/git/completion.hpp"
#include "sources/git/ignored_paths.hpp"
#include "unit/sources/git/made_history.hpp"
#include "unit/sources/git/served_repository.hpp"

namespace hondana::git {
namespace {

using testing::SizeIs;

constexpr int branches_made = 3000;

void fill_with_branches(made_repository& made) {
  const auto id = made.commit("first");
  std::ofstream packed(made.path() + "/.git/packed-refs");
  packed << "# pack-refs with: peeled fully-peeled sorted \n";
  for (int i = 0; i < branches_made; ++i) packed << id << " refs/heads/b" << 10'000 + i << '\n';
  ASSERT_TRUE(packed.flush());
}

/// Sees trees of revisions that end in an even digit, and counts how often it is asked.
class even_view final : public access_filter {
 public:
  [[nodiscard]] std::uint64_t id() const noexcept override { return 8; }
  [[nodiscard]] bool may_see(std::string_view uri) const override {
    ++asked;
    return (uri.back() - '0') % 2 == 0;
  }
  [[nodiscard]] bool may_see_any(const uri_template&) const override { return false; }

  mutable std::size_t asked = 0;
};

complete_request typed_revision(const std::string& value) {
  complete_request typed;
  typed.uri_template = "git://{repo}/tree/{rev}/{+path}{?cursor,format}";
  typed.argument = "rev";
  typed.value = value;
  typed.context = {{"repo", "shelf"}};
  return typed;
}

TEST(git_many_names, of_which_those_that_fit_best_are_held_against_the_view) {
  made_repository made;
  fill_with_branches(made);
  const served_repository shelf(made);
  const auto through = std::make_shared<const even_view>();
  const auto complete = [&](const std::string& value) {
    auto typed = typed_revision(value);
    typed.caller.access_filter = through;
    through->asked = 0;
    auto found = shelf.provider().complete(typed);
    EXPECT_TRUE(found);
    return found ? std::move(*found) : complete_result{};
  };
  const auto few = complete("b10010");
  EXPECT_LT(through->asked, 100u);
  ASSERT_FALSE(few.values.empty());
  EXPECT_EQ(few.values.front(), "b10010");
  EXPECT_EQ(few.total, few.values.size());
  EXPECT_FALSE(few.has_more);
  for (const auto& one : few.values) EXPECT_EQ((one.back() - '0') % 2, 0) << one;
  const auto many = complete("b");
  EXPECT_LE(through->asked, 1000u);
  EXPECT_THAT(many.values, SizeIs(100));
  EXPECT_EQ(many.values.front(), "b10000");
  EXPECT_EQ(many.values.at(1), "b10002");
  EXPECT_TRUE(many.has_more);
  EXPECT_FALSE(many.total);
}

TEST(git_many_names, are_left_when_nobody_waits_any_more) {
  made_repository made;
  fill_with_branches(made);
  const auto repository = opened(made.path());
  const disk::own_files own{};
  ignored_paths ignored(repository.get(), false);
  const visibility_filter hides(true, nullptr, "shelf", own, ignored);
  const auto typed = typed_revision("b");
  std::size_t stopped = 0;
  for (std::size_t answers = 0;; ++answers) {
    std::size_t left = answers;
    const std::function<bool()> is_stopped = [&left] { return left-- == 0; };
    const auto found = completer(typed).values(repository.get(), hides, is_stopped);
    if (found) break;
    ASSERT_EQ(found.error().code, errc::cancelled);
    ++stopped;
  }
  EXPECT_GE(stopped, 5u);
}

}  // namespace
}  // namespace hondana::git
