/// Random small templates against a backtracking regular expression, whose greedy order is the one promised.
#include <gtest/gtest.h>

#include <algorithm>
#include <hondana/uri.hpp>
#include <optional>
#include <random>
#include <regex>
#include <string>
#include <vector>

#include "unit/base/uri/template_values.hpp"

namespace {

using uri_test::values;

struct piece {
  const char* text;
  const char* expression;
  bool is_variable;
};

// Without captures for what is no variable; `@` stands for the variable's name.
const piece pieces[] = {
    {"-", "-", false},
    {"/", "/", false},
    {"b", "b", false},
    {".", "\\.", false},
    {"{@}", "((?:[ab.-]|%41|%2F)*)", true},
    {"{+@}", "((?:[ab./,-]|%2F)*)", true},
    {"{@:2}", "((?:[ab.-]|%2F){0,2})", true},
};

TEST(uri_template, agrees_with_a_backtracking_matcher_on_random_templates) {
  std::mt19937 random(20'260'601);
  const auto below = [&](std::size_t limit) { return static_cast<std::size_t>(random() % limit); };
  int compared = 0;
  int matched = 0;
  for (int round = 0; round < 6'000; ++round) {
    std::string text;
    std::string expression;
    std::vector<std::string> names;
    bool after_variable = false;
    for (std::size_t count = 1 + below(6); count > 0; --count) {
      const piece& one = pieces[below(std::size(pieces))];
      if (one.is_variable && after_variable) continue;
      after_variable = one.is_variable;
      std::string piece_text = one.text;
      if (one.is_variable) {
        names.emplace_back(1, static_cast<char>('p' + static_cast<char>(names.size())));
        piece_text.replace(piece_text.find('@'), 1, names.back());
      }
      text += piece_text;
      expression += one.expression;
    }
    const auto compiled = hondana::uri_template::compile(text);
    ASSERT_TRUE(compiled) << text;
    const std::regex oracle(expression);
    for (int try_ = 0; try_ < 12; ++try_) {
      std::string uri;
      for (std::size_t length = below(9); length > 0; --length) {
        const char* units[] = {"a", "b", "-", ".", "/", "%2F", ","};
        uri += units[below(std::size(units))];
      }
      std::smatch found;
      std::optional<values> expected;
      if (std::regex_match(uri, found, oracle)) {
        expected.emplace();
        for (std::size_t i = 0; i < names.size(); ++i) {
          std::string value = found[i + 1].str();
          if (value.empty()) continue;
          const bool reserved = text.find("{+" + names[i]) != std::string::npos;
          expected->emplace(names[i], reserved ? value : hondana::percent_decode(value).value());
        }
        ++matched;
      }
      EXPECT_EQ(compiled->match(uri), expected) << text << " on " << uri;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 72'000);
  EXPECT_GT(matched, 2'000);
}

}  // namespace
