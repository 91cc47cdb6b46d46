/// Walking through the parameters of a query.
#include "base/uri/uri_syntax.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

using hondana::uri::pop_parameter;

std::vector<std::pair<std::string, std::string>> all_of(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> out;
  while (!query.empty()) {
    const auto one = pop_parameter(query);
    out.emplace_back(one.name, one.value);
  }
  return out;
}

using pairs = std::vector<std::pair<std::string, std::string>>;

TEST(uri_query, is_taken_apart_as_it_is_written) {
  EXPECT_EQ(all_of("q=%E6%9C%AC&limit=3"), (pairs{{"q", "%E6%9C%AC"}, {"limit", "3"}}));
  EXPECT_EQ(all_of("a=b=c"), (pairs{{"a", "b=c"}}));
  EXPECT_EQ(all_of(""), pairs{});
}

TEST(uri_query, has_parameters_without_a_name_or_a_value) {
  EXPECT_EQ(all_of("wait"), (pairs{{"wait", ""}}));
  EXPECT_EQ(all_of("wait=&=x"), (pairs{{"wait", ""}, {"", "x"}}));
  EXPECT_EQ(all_of("&&a"), (pairs{{"", ""}, {"", ""}, {"a", ""}}));
  EXPECT_EQ(all_of("a&"), (pairs{{"a", ""}})) << "an & at the end has nothing behind it";
}

}  // namespace
