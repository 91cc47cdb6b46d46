/// The table `[http.tls]`: what it may say, and where a mistake is.
#include "sources/config/http_settings.hpp"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sources/config/settings.hpp"

namespace hondana::config {
namespace {

TEST(tls_settings, everything_the_table_can_say_is_read) {
  const std::string both = "[http.tls]\ncertificate = \"tls/chain.pem\"\nkey = \"/run/key.pem\"\n";
  auto made = parse(both, "/etc/hondana/t.toml");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(made->http.tls.certificate_file, "/etc/hondana/tls/chain.pem");
  EXPECT_EQ(made->http.tls.key_file, "/run/key.pem");
  EXPECT_EQ(made->http.tls.client_ca_file, "");
  EXPECT_FALSE(made->http.tls.requires_client_certificate);
  for (const auto& [more, needs] : std::vector<std::pair<std::string, bool>>{
           {"", true}, {"client_certificates = \"required\"\n", true}, {"client_certificates = \"asked\"\n", false}}) {
    made = parse(both + "client_authorities = \"clients.pem\"\n" + more, "/etc/hondana/t.toml");
    ASSERT_TRUE(made) << made.error().public_text;
    EXPECT_EQ(made->http.tls.client_ca_file, "/etc/hondana/clients.pem");
    EXPECT_EQ(made->http.tls.requires_client_certificate, needs) << more;
  }
}

TEST(tls_settings, without_the_table_there_is_no_tls) { EXPECT_EQ(parse("", "t.toml")->http.tls, tls_options{}); }

TEST(tls_settings, a_mistake_is_named) {
  for (const auto& [text, wanted] : std::vector<std::pair<std::string, std::string>>{
           {"certificate = \"c\"", "tls.key: missing"},
           {"key = \"k\"", "tls.certificate: missing"},
           {"client_authorities = \"a\"", "tls.certificate: missing"},
           {"certificate = \"\"\nkey = \"k\"", "tls.certificate: expected the path of a PEM file"},
           {"certificate = \"c\"\nkey = 1", "tls.key: expected a string"},
           {"certificate = \"c\"\nkey = \"k\\u0000\"", "tls.key: expected the path of a PEM file"},
           {"certificate = \"c\"\nkey = \"k\"\nclient_certificates = \"asked\"",
            "tls.client_certificates: needs client_authorities"},
           {"certificate = \"c\"\nkey = \"k\"\nclient_authorities = \"a\"\nclient_certificates = \"optional\"",
            "tls.client_certificates: expected \"required\" or \"asked\""},
           {"certificate = \"c\"\nkey = \"k\"\nversion = 3", "tls.version: unknown key; known here: certificate, "}}) {
    const auto made = parse("[http.tls]\n" + text + '\n', "t.toml");
    ASSERT_FALSE(made) << text;
    EXPECT_NE(made.error().public_text.find(wanted), std::string::npos) << made.error().public_text;
    EXPECT_TRUE(made.error().public_text.starts_with("t.toml:")) << made.error().public_text;
  }
}

}  // namespace
}  // namespace hondana::config
