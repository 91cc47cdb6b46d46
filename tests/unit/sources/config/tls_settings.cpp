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
  const std::string both = "[http.tls]\ncertificate_file = \"tls/chain.pem\"\nkey_file = \"/run/key.pem\"\n";
  auto made = parse(both, "/etc/hondana/t.toml");
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_EQ(made->http.tls->certificate_file, "/etc/hondana/tls/chain.pem");
  EXPECT_EQ(made->http.tls->key_file, "/run/key.pem");
  EXPECT_EQ(made->http.tls->client_ca_file, std::nullopt);
  EXPECT_FALSE(made->http.tls->requires_client_certificate);
  for (const auto& [more, needs] : std::vector<std::pair<std::string, bool>>{
           {"", true}, {"client_certificates = \"required\"\n", true}, {"client_certificates = \"optional\"\n", false}}) {
    made = parse(both + "client_ca_file = \"clients.pem\"\n" + more, "/etc/hondana/t.toml");
    ASSERT_TRUE(made) << made.error().public_text;
    EXPECT_EQ(made->http.tls->client_ca_file, "/etc/hondana/clients.pem");
    EXPECT_EQ(made->http.tls->requires_client_certificate, needs) << more;
  }
}

TEST(tls_settings, without_the_table_there_is_no_tls) { EXPECT_EQ(parse("", "t.toml")->http.tls, std::nullopt); }

TEST(tls_settings, a_mistake_is_named) {
  for (const auto& [text, wanted] : std::vector<std::pair<std::string, std::string>>{
           {"certificate_file = \"c\"", "tls.key_file: missing"},
           {"key_file = \"k\"", "tls.certificate_file: missing"},
           {"client_ca_file = \"a\"", "tls.certificate_file: missing"},
           {"certificate_file = \"\"\nkey_file = \"k\"", "tls.certificate_file: expected the path of a PEM file"},
           {"certificate_file = \"c\"\nkey_file = 1", "tls.key_file: expected a string"},
           {"certificate_file = \"c\"\nkey_file = \"k\\u0000\"", "tls.key_file: expected the path of a PEM file"},
           {"certificate_file = \"c\"\nkey_file = \"k\"\nclient_certificates = \"optional\"",
            "tls.client_certificates: needs client_ca_file"},
           {"certificate_file = \"c\"\nkey_file = \"k\"\nclient_ca_file = \"a\"\nclient_certificates = \"wanted\"",
            "tls.client_certificates: expected \"required\" or \"optional\", not \"wanted\""},
           {"certificate_file = \"c\"\nkey_file = \"k\"\nversion = 3",
            "tls.version: unknown key; known here: certificate_file, "}}) {
    const auto made = parse("[http.tls]\n" + text + '\n', "t.toml");
    ASSERT_FALSE(made) << text;
    EXPECT_NE(made.error().public_text.find(wanted), std::string::npos) << made.error().public_text;
    EXPECT_TRUE(made.error().public_text.starts_with("t.toml:")) << made.error().public_text;
  }
}

}  // namespace
}  // namespace hondana::config
