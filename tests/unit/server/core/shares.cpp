/// Who calls tools and prompts without end leaves room for others.
#include <hondana/server.hpp>

#include <atomic>
#include <latch>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "server/core/core.hpp"
#include "support/must.hpp"

namespace {

using namespace hondana;

/// More than one caller may have waiting, and fewer than all may.
constexpr int many = 2000;

class slow_provider final : public provider {
 public:
  explicit slow_provider(std::shared_ptr<std::latch> until) : until_(std::move(until)) {}
  std::string name() const override { return "memo"; }
  std::vector<std::string> claims() const override { return {"memo:///"}; }
  scheme_documentation documentation() const override { return {"memo", "Test entries.", {}, {}}; }
  result<list_result> list(const list_request&) override { return list_result{}; }
  result<read_result> read(const read_request&) override {
    until_->wait();
    return text_read_result("late");
  }

 private:
  const std::shared_ptr<std::latch> until_;
};

class queues_of_handlers : public testing::Test {
 protected:
  queues_of_handlers() {
    const auto held = [until = opened_] { until->wait(); };
    EXPECT_TRUE(server_.add_tool({.name = "slow", .input_schema = value::object{{"type", "object"}}},
                                 [held](const tool_call&) -> result<tool_outcome> {
                                   held();
                                   return tool_result();
                                 }));
    EXPECT_TRUE(server_.add_prompt({.name = "slow"}, [held](const prompt_call&) -> result<prompt_outcome> {
      held();
      return prompt_result();
    }));
    EXPECT_TRUE(server_.add(std::make_shared<slow_provider>(opened_)));
  }
  ~queues_of_handlers() override { opened_->count_down(); }

  static handler_call by(const std::string& who) {
    handler_call out;
    out.caller.identity = who;
    return out;
  }
  /// Calls so often, and says how many were refused at once.
  int refused(const std::string& who, const std::string& tool, int times) {
    const auto count = std::make_shared<std::atomic<int>>(0);
    for (int i = 0; i < times; ++i) {
      server_.core()->current()->handlers->call({by(who), tool, value::object{{"uri", "memo:///slow"}}}, {},
                                                [count](auto answer) {
                                                  if (!answer && answer.error().code == errc::overloaded) ++*count;
                                                });
    }
    return *count;
  }
  int refused_prompts(const std::string& who, int times) {
    const auto count = std::make_shared<std::atomic<int>>(0);
    for (int i = 0; i < times; ++i) {
      server_.core()->current()->handlers->get({by(who), "slow", {}}, [count](auto answer) {
        if (!answer && answer.error().code == errc::overloaded) ++*count;
      });
    }
    return *count;
  }

  const std::shared_ptr<std::latch> opened_ = std::make_shared<std::latch>(1);
  server server_ = must(server::create({.name = "s", .version = "1", .has_resource_tools = true}));
};

TEST_F(queues_of_handlers, of_tools_have_room_for_others) {
  EXPECT_GT(refused("alice", "slow", many), 0);
  EXPECT_EQ(refused("bob", "slow", 100), 0);
}

TEST_F(queues_of_handlers, of_prompts_have_room_for_others) {
  EXPECT_GT(refused_prompts("alice", many), 0);
  EXPECT_EQ(refused_prompts("bob", 100), 0);
}

TEST_F(queues_of_handlers, of_tools_of_the_server_have_room_for_others) {
  EXPECT_GT(refused("alice", "read_resource", many), 0);
  EXPECT_EQ(refused("bob", "read_resource", 100), 0);
}

}  // namespace
