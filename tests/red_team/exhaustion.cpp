/// Subscriptions without end: as many as may be asked for, and one that is asked for again and again.
#include <cstddef>
#include <cstdio>
#include <string>

#include <gtest/gtest.h>

#include "red_team/lines.hpp"

namespace {

using red_team::shelf;
using red_team::target;

class red_team_exhaustion : public testing::TestWithParam<red_team::way> {};
INSTANTIATE_TEST_SUITE_P(over, red_team_exhaustion,
                         testing::Values(red_team::way{"stdio", false}, red_team::way{"http", false},
                                         red_team::way{"unix", false}),
                         [](const auto& one) { return red_team::name_of(one.param); });

TEST_P(red_team_exhaustion, of_subscriptions_ends_in_a_refusal_and_not_in_memory) {
  const shelf what;
  target under(what, GetParam().transport, false);
  ASSERT_TRUE(under.serves(what));
  const auto before = under.program().memory();
  const auto count = red_team::scaled(1'000'000);
  std::size_t refused = 0;
  // A thousand of them at once, as the dialect allows.
  for (std::size_t i = 0; i < count; i += 1'000) {
    std::string uris;
    for (std::size_t j = i; j < i + 1'000; ++j) {
      if (!uris.empty()) uris += ',';
      uris += '"' + what.root_uri("/" + std::to_string(j)) + '"';
    }
    const auto answer = under.peer().ask("resources/subscribe", "\"uris\":[" + uris + "],");
    if (answer.find("\"error\":{") != std::string::npos) ++refused;
  }
  std::printf("%zu of %zu thousand subscriptions were refused\n", refused, count / 1'000);
  EXPECT_GT(refused, 0u) << "everything was taken";
#ifndef HONDANA_IS_SANITIZED
  EXPECT_LT(under.program().memory(), before + 200'000) << "KiB";
#else
  static_cast<void>(before);
#endif
  EXPECT_TRUE(under.serves(what));
}

TEST_P(red_team_exhaustion, of_subscribing_and_unsubscribing_leaves_nothing_behind) {
  const shelf what;
  target under(what, GetParam().transport, false);
  ASSERT_TRUE(under.serves(what));
  const auto uri = "\"uri\":\"" + what.root_uri("/inside.txt") + "\",";
  const auto churn = [&](std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
      EXPECT_NE(under.peer().ask("resources/subscribe", uri).find("\"result\""), std::string::npos);
      EXPECT_NE(under.peer().ask("resources/unsubscribe", uri).find("\"result\""), std::string::npos);
    }
  };
  churn(200);
  const auto before = under.program().memory();
  const auto open = under.program().descriptors();
  churn(red_team::scaled(100'000));
#ifndef HONDANA_IS_SANITIZED
  EXPECT_LT(under.program().memory(), before + 8'000) << "KiB";
#else
  static_cast<void>(before);
#endif
  EXPECT_LE(under.program().descriptors(), open + 2);
  EXPECT_TRUE(under.serves(what));
}

}  // namespace
