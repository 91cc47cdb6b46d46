/// The names of error codes.
#include <gtest/gtest.h>

#include <hondana/error.hpp>
#include <set>
#include <string_view>

namespace {

TEST(error_names, spell_the_enumerators) {
  EXPECT_EQ(name_of(hondana::errc::resource_not_found), "resource_not_found");
  EXPECT_EQ(name_of(hondana::errc::internal), "internal");
  EXPECT_EQ(name_of(static_cast<hondana::errc>(0)), "unknown");
  std::set<std::string_view> names;
  for (int code = 1; code <= 12; ++code) names.insert(name_of(static_cast<hondana::errc>(code)));
  EXPECT_EQ(names.size(), 12U);
  EXPECT_FALSE(names.contains("unknown"));
}

}  // namespace
