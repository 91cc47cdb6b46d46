/// Which sources are told that somebody hears of them.
#include "server/catalog/attachments.hpp"

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/server/catalog/scripted_provider.hpp"

namespace {

using namespace hondana;
using catalog::change_feed;
using catalog::source_watches;
using test::scripted_provider;

class deaf final : public catalog::listener {
 public:
  void on_change(const model::change&) override {}
};

/// Writes down what it is told, as "+URI" and "-URI", the list as "+" and "-".
template <class Watch>
class recording_provider final : public scripted_provider, public Watch, public list_watch_source {
 public:
  using scripted_provider::scripted_provider;
  void watch(const std::string& uri) override { said.push_back('+' + uri); }
  void unwatch(const std::string& uri) override { said.push_back('-' + uri); }
  void watch_list() override {
    said.emplace_back("+");
    if (is_broken) throw std::runtime_error("no room");
  }
  void unwatch_list() override { said.emplace_back("-"); }
  std::vector<std::string> said;
  bool is_broken = false;
};
using attached_provider = recording_provider<watch_source>;
using part_attached_provider = recording_provider<part_watch_source>;

struct attaching : testing::Test {
  using all = std::vector<std::string>;

  attaching() {
    listened_to->on_interest([this](const std::string& uri) { attached.sync(uri); });
    listened_to->on_list_interest([this] { attached.sync_lists(); });
  }
  std::shared_ptr<attached_provider> memos = std::make_shared<attached_provider>("memo", std::vector<std::string>{"memo:///"});
  std::shared_ptr<attached_provider> notes = std::make_shared<attached_provider>("note", std::vector<std::string>{"note:///"});
  std::shared_ptr<change_feed> listened_to = std::make_shared<change_feed>();
  std::string log;
  source_watches attached{listened_to, [this](std::string_view line) { log += line; }};
  std::shared_ptr<deaf> peer = std::make_shared<deaf>();
};

TEST_F(attaching, lists_follows_the_peers_and_the_arrangement) {
  const auto both = test::arrange({memos, notes});
  ASSERT_TRUE(both);
  attached.set_catalog(*both);
  EXPECT_EQ(memos->said, all{});
  listened_to->add_listener(peer, false);
  EXPECT_EQ(memos->said, all{});
  listened_to->add_listener(peer);
  listened_to->add_listener(std::make_shared<deaf>());
  EXPECT_EQ(memos->said, all{"+"});
  EXPECT_EQ(notes->said, all{"+"});
  attached.set_catalog(nullptr);
  EXPECT_EQ(notes->said, (all{"+", "-"}));
  attached.set_catalog(*both);
  EXPECT_EQ(notes->said, (all{"+", "-", "+"}));
}

TEST_F(attaching, lists_ends_with_the_last_peer) {
  const auto made = test::arrange({memos});
  ASSERT_TRUE(made);
  attached.set_catalog(*made);
  listened_to->add_listener(peer);
  ASSERT_TRUE(listened_to->watch(peer, "memo:///a"));
  listened_to->remove_listener(*peer);
  EXPECT_EQ(memos->said, (all{"+", "+memo:///a", "-memo:///a", "-"}));
}

TEST_F(attaching, parts_of_a_usual_source_attaches_the_whole) {
  const auto made = test::arrange({memos});
  ASSERT_TRUE(made);
  attached.set_catalog(*made);
  ASSERT_TRUE(listened_to->watch(peer, "memo:///a?x=1"));
  ASSERT_TRUE(listened_to->watch(peer, "memo:///a?x=2"));
  ASSERT_TRUE(listened_to->watch(peer, "memo:///a"));
  listened_to->unwatch(*peer, "memo:///a");
  EXPECT_EQ(memos->said, all{"+memo:///a"});
  listened_to->remove_listener(*peer);
  EXPECT_EQ(memos->said, (all{"+memo:///a", "-memo:///a"}));
  EXPECT_EQ(attached.size(), 0u);
}

TEST_F(attaching, parts_of_a_source_that_tells_of_them_attaches_each_spelling_once) {
  const auto telling = std::make_shared<part_attached_provider>("memo", std::vector<std::string>{"memo:///"});
  const auto made = test::arrange({telling});
  ASSERT_TRUE(made);
  attached.set_catalog(*made);
  const auto other = std::make_shared<deaf>();
  ASSERT_TRUE(listened_to->watch(peer, "memo:///a?x=1"));
  ASSERT_TRUE(listened_to->watch(other, "memo:///a?x=1"));
  EXPECT_EQ(telling->said, all{"+memo:///a?x=1"});
  ASSERT_TRUE(listened_to->watch(peer, "memo:///a"));
  listened_to->unwatch(*peer, "memo:///a?x=1");
  EXPECT_EQ(telling->said, (all{"+memo:///a?x=1", "+memo:///a"}));
  listened_to->remove_listener(*other);
  EXPECT_EQ(telling->said.back(), "-memo:///a?x=1");
  attached.set_catalog(nullptr);
  EXPECT_EQ(telling->said.back(), "-memo:///a");
  EXPECT_EQ(attached.size(), 0u);
}

TEST_F(attaching, parts_moves_them_with_the_arrangement) {
  const auto usual = test::arrange({memos});
  const auto telling = std::make_shared<part_attached_provider>("telling", std::vector<std::string>{"memo:///"});
  const auto then = test::arrange({telling});
  ASSERT_TRUE(usual && then);
  attached.set_catalog(*usual);
  ASSERT_TRUE(listened_to->watch(peer, "memo:///a?x=1"));
  attached.set_catalog(*then);
  EXPECT_EQ(memos->said, (all{"+memo:///a", "-memo:///a"}));
  EXPECT_EQ(telling->said, all{"+memo:///a?x=1"});
  attached.set_catalog(*usual);
  EXPECT_EQ(telling->said, (all{"+memo:///a?x=1", "-memo:///a?x=1"}));
  EXPECT_EQ(memos->said.back(), "+memo:///a");
  EXPECT_EQ(attached.size(), 1u);
}

TEST_F(attaching, lists_of_a_source_that_throws_leaves_the_others_alone) {
  memos->is_broken = true;
  const auto both = test::arrange({memos, notes});
  ASSERT_TRUE(both);
  attached.set_catalog(*both);
  listened_to->add_listener(peer);
  EXPECT_EQ(notes->said, all{"+"});
  EXPECT_EQ(log, "the source \"memo\" cannot watch its list: no room");
}

}  // namespace
