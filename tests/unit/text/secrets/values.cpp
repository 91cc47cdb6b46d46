/// Secrets in JSON values.
#include "text/secrets/redactor.hpp"

#include <string>

#include <gtest/gtest.h>

#include "unit/text/secrets/corpus.hpp"

namespace {

using namespace hondana;
using secrets::masking_policy;
using secrets::redact_value;

TEST(values, are_masked_text_by_text_and_stay_well_formed) {
  test::lots from(41);
  const auto token = "ghp_" + from.alnum(36);
  const auto stars = "ghp_" + std::string(36, '*');
  const value data(value::object{
      {"said", "with " + token}, {"all", value::array{token, 7, nullptr, true, value::object{{token, "x"}}}}, {"count", 3}});
  const value wanted(value::object{
      {"said", "with " + stars}, {"all", value::array{stars, 7, nullptr, true, value::object{{stars, "x"}}}}, {"count", 3}});
  EXPECT_EQ(redact_value(data, masking_policy::text), wanted);
  EXPECT_EQ(redact_value(data, masking_policy::none), data);
}

TEST(values, are_masked_by_the_members_that_they_stand_in) {
  test::lots from(42);
  const auto secret = from.alnum(14) + "\\\"1!";  // escaped in JSON, which a mask over the text would break
  const value data(value::object{{"password", secret}, {"passwords", value::array{secret}}, {"user", secret}});
  const std::string stars(secret.size(), '*');
  const auto found = redact_value(data, masking_policy::settings);
  EXPECT_EQ(found.at("password"), value(stars)) << found.to_text();
  EXPECT_EQ(found.at("user"), value(secret));
  EXPECT_EQ(value::parse(found.to_text()), found);
  const value header(value::object{{"headers", value::object{{"Authorization", value::array{"Bearer " + from.word(32)}}}}});
  EXPECT_EQ(redact_value(header, masking_policy::text).to_text(),
            R"({"headers":{"Authorization":["Bearer )" + std::string(32, '*') + R"("]}})");
}

}  // namespace
