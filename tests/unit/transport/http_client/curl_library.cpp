/// libcurl is there whole or not at all, and who cannot have it is told what helps.
#include "transport/http_client/curl.hpp"

#include <string>

#include <gtest/gtest.h>

namespace hondana::transport::http_client {
namespace {

TEST(curl_library, is_loaded_once_and_whole) {
  const auto first = loaded_curl();
  ASSERT_TRUE(first);
  EXPECT_EQ(loaded_curl().value(), *first);
  EXPECT_EQ(&curl(), *first);
  EXPECT_EQ((*first)->getdate("Thu, 01 Jan 1970 00:00:07 GMT", nullptr), 7);
}

TEST(curl_library, that_cannot_be_had_is_named_with_what_to_install_and_what_the_loader_said) {
  const auto none = load_curl("libof-no-such-name.so.4");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, errc::source_unavailable);
  EXPECT_NE(none.error().public_text.find("install libof-no-such-name.so.4 (Debian: libcurl4)"), std::string::npos);
  EXPECT_NE(none.error().private_text.find("libof-no-such-name.so.4: cannot open"), std::string::npos)
      << none.error().private_text;
  const auto other = load_curl("libc.so.6");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().public_text.find("it is too old"), std::string::npos);
  EXPECT_NE(other.error().private_text.find("curl_"), std::string::npos) << other.error().private_text;
}

}  // namespace
}  // namespace hondana::transport::http_client
