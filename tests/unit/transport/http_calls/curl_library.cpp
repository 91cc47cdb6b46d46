/// libcurl is there whole or not at all, and who cannot have it is told what helps.
#include "transport/http_calls/curl_library.hpp"

#include <string>

#include <gtest/gtest.h>

namespace hondana::transport::http_calls {
namespace {

TEST(curl_library, is_loaded_once_and_whole) {
  const auto* first = loaded_curl();
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(loaded_curl(), first);
  EXPECT_NE(first->getdate, nullptr);
  EXPECT_EQ(first->getdate("Thu, 01 Jan 1970 00:00:07 GMT", nullptr), 7);
}

TEST(curl_library, is_nothing_where_there_is_none_or_another_library) {
  EXPECT_FALSE(load_curl("libof-no-such-name.so.4"));
  EXPECT_FALSE(load_curl("libc.so.6"));
}

TEST(curl_library, that_cannot_be_had_is_named_with_what_to_install) {
  const auto why = no_curl().value();
  EXPECT_EQ(why.code, errc::source_unavailable);
  EXPECT_NE(why.public_text.find("libcurl.so.4"), std::string::npos);
}

}  // namespace
}  // namespace hondana::transport::http_calls
