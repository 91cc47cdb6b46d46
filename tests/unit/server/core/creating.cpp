/// Creation of a server: options that cannot be used are errors.
#include <gtest/gtest.h>

#include <string>

#include <hondana/server.hpp>

namespace hondana {
namespace {

TEST(server_creation, rejects_a_short_state_key) {
  const auto created = server::create({.state_key = "short"});
  ASSERT_FALSE(created);
  EXPECT_EQ(created.error().code, errc::invalid_argument);
}

TEST(server_creation, accepts_a_state_key_of_32_bytes) { EXPECT_TRUE(server::create({.state_key = std::string(32, 'k')})); }

}  // namespace
}  // namespace hondana
