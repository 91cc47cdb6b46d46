/// The table of tools and prompts: what it takes, lists and calls.
#include <gtest/gtest.h>

#include <future>
#include <memory>
#include <string>

#include <hondana/tool_arguments.hpp>

#include "server/handlers/handler_table.hpp"

namespace hondana::handlers {
namespace {

std::shared_ptr<const table> empty_table(std::size_t page_size = 500) {
  return table::empty({std::make_shared<executor::thread_pool>("handlers", 2), std::make_shared<executor::timers>()},
                      page_size);
}

tool named(std::string name) {
  tool out;
  out.name = std::move(name);
  return out;
}

const tool_handler silent = [](const tool_call&) { return text_result("done"); };

std::string refusal(tool entry) {
  const auto made = empty_table()->with_tool(std::move(entry), silent);
  return made ? "taken" : made.error().public_text;
}

tool with_header(std::string_view property) {
  auto out = named("t");
  out.input_schema = value::parse(R"({"type":"object","properties":{"a":)" + std::string(property) + "}}").value();
  return out;
}

TEST(handlers, tools_that_cannot_be_are_refused_by_what_to_change) {
  EXPECT_NE(refusal(named("a b")).find("its name must be"), std::string::npos);
  EXPECT_NE(refusal(named("")).find("its name must be"), std::string::npos);
  auto untyped = named("t");
  untyped.input_schema = value::object{};
  EXPECT_NE(refusal(untyped).find("\"type\": \"object\""), std::string::npos);
  auto remote = named("t");
  remote.input_schema = value::parse(R"({"type":"object","$ref":"https://example.com/s"})").value();
  EXPECT_NE(refusal(remote).find("Schemas are never fetched"), std::string::npos);
}

TEST(handlers, headers_may_be_declared_only_where_they_can_be_found) {
  EXPECT_EQ(refusal(with_header(R"({"type":"string","x-mcp-header":"Region"})")), "taken");
  for (const auto* bad :
       {R"({"type":"number","x-mcp-header":"A"})", R"({"type":"string","x-mcp-header":""})",
        R"({"type":"string","x-mcp-header":"A B"})", R"({"type":"string","x-mcp-header":"A\r\nB"})",
        R"({"type":"string","x-mcp-header":7})", R"({"type":"array","items":{"type":"string","x-mcp-header":"A"}})",
        R"({"anyOf":[{"type":"string","x-mcp-header":"A"}]})"}) {
    EXPECT_NE(refusal(with_header(bad)).find("x-mcp-header"), std::string::npos) << bad;
  }
  auto twins = named("t");
  twins.input_schema =
      value::parse(
          R"({"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}})")
          .value();
  EXPECT_NE(refusal(twins).find("another property has the header"), std::string::npos);
}

TEST(handlers, pages_go_through_all_tools_in_the_order_of_their_names) {
  auto all = empty_table(2);
  for (const auto* name : {"c", "a", "e", "b", "d"}) all = all->with_tool(named(name), silent).value();
  std::string seen;
  std::optional<std::string> cursor;
  do {
    const auto page = all->tools(cursor).value();
    for (const auto& one : page.tools) seen += one->name;
    cursor = page.next_cursor;
  } while (cursor);
  EXPECT_EQ(seen, "abcde");
  EXPECT_FALSE(all->tools("nonsense"));
  EXPECT_TRUE(all->without_tool("a")->without_tool("b")->has_tools());
  EXPECT_EQ(all->without_tool("x"), nullptr);
}

result<tool_outcome> call(const std::shared_ptr<const table>& all, tool_call what) {
  std::promise<result<tool_outcome>> answered;
  all->call(std::move(what), {}, [&answered](auto outcome) { answered.set_value(std::move(outcome)); });
  return answered.get_future().get();
}

TEST(handlers, a_handler_that_is_late_is_answered_for) {
  auto stopped = std::make_shared<std::promise<void>>();
  const auto all = empty_table()
                       ->with_tool(named("slow"),
                                   [gate = stopped->get_future().share()](const tool_call&) {
                                     gate.wait();
                                     return text_result("late");
                                   })
                       .value();
  tool_call what;
  what.name = "slow";
  what.deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  const auto outcome = call(all, what);
  stopped->set_value();
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().code, errc::timed_out);
}

struct trip {
  std::string city;
  int days = 0;
  std::optional<std::string> hotel;
  std::vector<double> prices;
};

TEST(fields, a_struct_gives_schema_and_decoding) {
  tool_arguments<trip> arguments;
  arguments.add("city", &trip::city, {.description = "Where to", .header = "City"})
      .add("days", &trip::days, {.default_value = 3, .min = 1, .max = 30})
      .add("hotel", &trip::hotel, {.choices = {"Ritz", "Savoy"}})
      .add("prices", &trip::prices, {.max = 2});
  EXPECT_EQ(
      arguments.schema().to_text(),
      R"({"type":"object","properties":{"city":{"type":"string","description":"Where to","x-mcp-header":"City"},)"
      R"("days":{"type":"integer","minimum":1,"maximum":30,"default":3},"hotel":{"type":"string","enum":["Ritz","Savoy"]},)"
      R"("prices":{"type":"array","items":{"type":"number"},"maxItems":2}},"required":["city","prices"],)"
      R"("additionalProperties":false})");
  const auto decoded = arguments.decode(value::parse(R"({"city":"Oslo","prices":[1,2.5]})").value());
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->city, "Oslo");
  EXPECT_EQ(decoded->days, 3);
  EXPECT_FALSE(decoded->hotel);
  EXPECT_EQ(decoded->prices, (std::vector<double>{1, 2.5}));
  EXPECT_EQ(arguments.decode(value::object{}).error().public_text, "city: missing");
  EXPECT_FALSE(arguments.decode(value::parse(R"({"city":"Oslo","prices":[],"days":99999999999})").value()));
}

}  // namespace
}  // namespace hondana::handlers
