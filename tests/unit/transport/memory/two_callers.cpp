/// Two callers with different views at once, over warm caches: nothing of one reaches the other.
#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/memory_provider.hpp>
#include <hondana/server.hpp>

#include "base/json/base64.hpp"
#include "support/must.hpp"
#include "unit/transport/memory/asker.hpp"

namespace hondana::transport {
namespace {

constexpr int resources_each = 40;
constexpr int rounds_each = 2'500;  // of twenty requests each, with two callers 10^5
constexpr int at_once = 20;

std::string number_of(int i) { return std::to_string(i % resources_each); }

std::shared_ptr<memory_provider> shelf_of_two() {
  auto made = std::make_shared<memory_provider>("shelf", "memo:///");
  for (const std::string who : {"ann", "bob", "both"}) {
    resource folder;
    folder.uri = "memo:///" + who;
    folder.name = who;
    folder.mime_type = "inode/directory";
    EXPECT_TRUE(made->add(folder, "folder of " + who));
    for (int i = 0; i < resources_each; ++i) {
      resource entry;
      entry.uri = "memo:///" + who + '/' + who + std::to_string(i);
      entry.name = who + std::to_string(i);
      entry.title = "title of " + who;
      entry.version = "v1";
      EXPECT_TRUE(made->add(entry, "content of " + who));
    }
    resource_template offered{.uri_template = "memo:///" + who + "/{id}", .name = "things of " + who};
    EXPECT_TRUE(made->add_template(offered, [who](const read_request&) { return text_read_result("made for " + who); }));
  }
  resource_template all{.uri_template = "memo:///{who}/{id}", .name = "things"};
  EXPECT_TRUE(made->add_template(all, [](const read_request&) { return text_read_result("made"); }));
  return made;
}

/// The words of the other that a message must not hold; what was asked for itself is repeated in errors.
void expect_nothing_of(const std::string& other, const std::string& message, const std::string& asked = {}) {
  auto rest = message;
  for (auto at = asked.empty() ? std::string::npos : rest.find(asked); at != std::string::npos; at = rest.find(asked)) {
    rest.erase(at, asked.size());
  }
  ASSERT_EQ(rest.find(other), std::string::npos) << message;
}

std::string cursor_in(const std::string& page) {
  constexpr std::string_view mark = R"("nextCursor":")";
  const auto at = page.find(mark);
  if (at == std::string::npos) return {};
  return page.substr(at + mark.size(), page.find('"', at + mark.size()) - at - mark.size());
}

class one_of_two {
 public:
  one_of_two(server& of, const std::string& me, std::string other) : me_(me), other_(std::move(other)), peer_(of, named(me)) {
    peer_.shake_hands();
    for (int i = 0; i < resources_each; ++i) {
      for (const auto& who : {me_, other_}) {
        const auto answer = peer_.ask(asker::about("resources/subscribe", uri_of(who, i)));
        EXPECT_NE(answer.find(R"("result")"), std::string::npos) << answer;
      }
    }
  }

  void run() {
    // Longer where changes are told of too rarely for the test to show anything.
    for (int i = 0; (i < rounds_each || updates_ <= 10) && !testing::Test::HasFatalFailure(); ++i) {
      for (int slot = 0; slot < at_once; ++slot) send(i, slot);
      for (int answers = 0; answers < at_once;) {
        const auto message = peer_.receive();
        ASSERT_TRUE(message);
        const bool is_answer = message->find(R"("id":)") != std::string::npos;
        answers += is_answer ? 1 : 0;
        updates_ += is_answer ? 0 : 1;
        take(*message, is_answer);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
  [[nodiscard]] int updates() const { return updates_; }
  [[nodiscard]] int pages() const { return pages_; }

 private:
  static std::string uri_of(const std::string& who, int i) { return "memo:///" + who + '/' + who + number_of(i); }

  void send(int i, int slot) {
    const auto id = '"' + std::to_string(slot) + '"';
    const auto completing = [&](const std::string& of, const std::string& argument) {
      return asker::request(
          "completion/complete",
          R"("ref":{"type":"ref/resource","uri":")" + of + R"("},"argument":{"name":")" + argument + R"(","value":""})", id);
    };
    switch (slot % 10) {
      case 0:
      case 1:
        return peer_.send(asker::request("resources/list", cursor_.empty() ? "" : R"("cursor":")" + cursor_ + '"', id));
      case 2:
      case 3:
        return peer_.send(asker::about("resources/read", uri_of(me_, i), id));
      case 4:
        return peer_.send(asker::about("resources/read", uri_of(other_, i), id));
      case 5:
        return peer_.send(completing("memo:///{who}/{id}", i % 2 == 0 ? "who" : "id"));
      case 6:
        return peer_.send(completing("memo:///" + other_ + "/{id}", "id"));
      case 7:
        return peer_.send(asker::request("resources/templates/list", "", id));
      case 8:
        return peer_.send(asker::about("resources/read", "memo:///both/both" + number_of(i), id));
      default:
        return peer_.send(asker::about("resources/read", "memo:///" + other_, id));
    }
  }

  void take(const std::string& message, bool is_answer) {
    if (!is_answer) return expect_nothing_of(other_, message);
    const auto from = message.find(R"("id":")") + 6;
    const auto slot = std::stoi(message.substr(from, message.find('"', from) - from)) % 10;
    if (slot == 4 || slot == 9) {
      ASSERT_NE(message.find("Resource not found"), std::string::npos) << message;
      return expect_nothing_of("content of " + other_, message);
    }
    if (slot == 6) {
      ASSERT_NE(message.find("ref.uri: unknown template"), std::string::npos) << message;
    } else {
      ASSERT_NE(message.find(R"("result")"), std::string::npos) << message;
    }
    if (slot < 2) take_page(message);
    if (slot == 2 || slot == 3) {
      ASSERT_NE(message.find("content of " + me_), std::string::npos) << message;
    }
    // A cursor is random text, in which three letters may stand by chance; what is in it has been looked at.
    expect_nothing_of(other_, message, cursor_);
  }

  void take_page(const std::string& page) {
    cursor_ = cursor_in(page);
    ++pages_;
    if (!cursor_.empty()) expect_nothing_of(other_, json::decode_base64url(cursor_).value_or(other_));
  }

  std::string me_;
  std::string other_;
  asker peer_;
  std::string cursor_;
  int updates_ = 0;
  int pages_ = 0;
};

TEST(two_callers, of_different_views_get_nothing_of_each_other_in_100000_interleaved_requests) {
  server_options options =
      with_rules({rule({"ann"}, {"memo:///ann"}), rule({"bob"}, {"memo:///bob"}), rule({}, {"memo:///both"})});
  options.page_size = 7;
  server of = must(server::create(options));
  ASSERT_TRUE(of.add(shelf_of_two()));
  one_of_two ann(of, "ann", "bob");
  one_of_two bob(of, "bob", "ann");
  std::atomic<bool> is_over{false};
  std::thread changing([&] {
    for (int i = 0; !is_over; ++i) {
      for (const std::string who : {"ann", "bob"}) {
        EXPECT_TRUE(of.notify_resource_updated("memo:///" + who + '/' + who + number_of(i), "title of " + who));
      }
      std::this_thread::yield();
    }
  });
  std::thread asking([&] { bob.run(); });
  ann.run();
  asking.join();
  is_over = true;
  changing.join();
  for (const auto* one : {&ann, &bob}) {
    EXPECT_GT(one->updates(), 10);
    EXPECT_GT(one->pages(), rounds_each);
  }
  EXPECT_GT(of.read_statistics().hits, 1000u);
}

}  // namespace
}  // namespace hondana::transport
