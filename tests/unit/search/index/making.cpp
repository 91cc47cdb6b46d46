/// How texts are made is named by versions: whoever changes what becomes of a text has to raise them.
#include "search/index/document_reader.hpp"

#include <string>

#include <gtest/gtest.h>

#include "search/index/store.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::search {
namespace {

std::string hexadecimal(const std::string& bytes) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (const char one : bytes) {
    out += digits[static_cast<unsigned char>(one) >> 4];
    out += digits[static_cast<unsigned char>(one) & 15];
  }
  return out;
}

/// Text of many kinds, without a secret of anybody's.
std::string sample() {
  std::string out =
      "# Title\n\nWords of a paragraph.\n\n## Keys\n\npassword = \"correct horse battery\"\napi_key: "
      "0123456789abcdef0123456789abcdef\n"
      "Authorization: Bearer abcdefghijklmnopqrstuvwxyz0123456789\npostgres://me:letmein99@db/docs\nAWS_SECRET_ACCESS_KEY=";
  out += std::string(20, 'a') + std::string(20, 'B') + "\nghp_" + std::string(18, 'x') + std::string(18, 'Y') + "\n";
  out += "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n-----END PRIVATE KEY-----\n\n";
  return out;
}

TEST(making, has_a_version_of_masking_that_is_raised_with_the_rules) {
  auto text = sample();
  const auto size = text.size();
  secrets::redactor(secrets::masking_policy::settings, text).mask(text);
  EXPECT_EQ(text.size(), size);
  EXPECT_EQ(text.find("letmein99"), std::string::npos);
  EXPECT_EQ(std::to_string(masking_version) + ' ' + hexadecimal(digest_of_text(text)), "3 0dcc4afd100bc2e06e29c1695aa9515d")
      << "the rules for secrets have changed: raise version_of_masking in search/making.hpp, so that what was indexed by the "
         "old ones is made anew, and then this";
}

}  // namespace
}  // namespace hondana::search
