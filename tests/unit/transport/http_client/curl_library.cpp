/// libcurl is loaded once and whole.
#include "transport/http_client/curl.hpp"

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

}  // namespace
}  // namespace hondana::transport::http_client
