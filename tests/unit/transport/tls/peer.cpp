/// What is told of a client's certificate.
#include "transport/tls/certificate.hpp"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/transport/tls/certificates.hpp"

namespace {

using hondana::tls::describe;

// Made with `openssl req -x509`; what is expected of it below is what `openssl x509` prints.
constexpr const char* alice_pem = R"(-----BEGIN CERTIFICATE-----
MIICKzCCAdKgAwIBAgIUNpfK6xYwbksXhKauZ7vpQIM1aYYwCgYIKoZIzj0EAwIw
LzEWMBQGA1UECgwNRXhhbXBsZSwgSW5jLjEVMBMGA1UEAwwM5pys5qOaIGFsaWNl
MCAXDTI2MTEyMjEwNTMwOFoYDzIxMjYxMDI5MTA1MzA4WjAvMRYwFAYDVQQKDA1F
eGFtcGxlLCBJbmMuMRUwEwYDVQQDDAzmnKzmo5ogYWxpY2UwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAARP58d0nTlgmq7hnQe9vPVPR0ZcA/AMFI83vegVtqA4UZQg
lkPeRdl+pZ2Kl60kUkkdQ1bL+Q9qaXBjqlwFxEAQo4HJMIHGMB0GA1UdDgQWBBT/
F+G9YClLSqHGWONhkViLXKHbyDAfBgNVHSMEGDAWgBT/F+G9YClLSqHGWONhkViL
XKHbyDAPBgNVHRMBAf8EBTADAQH/MHMGA1UdEQRsMGqCDWFsaWNlLmV4YW1wbGWB
EWFsaWNlQGV4YW1wbGUuY29thhZzcGlmZmU6Ly9leGFtcGxlL2FsaWNlhwQKAAAB
hxAgAQ24AAAAAAAAAAAAAAABggNhIGKgEQYKKwYBBAGCNxQCA6ADDAF4MAoGCCqG
SM49BAMCA0cAMEQCID+BM24J6599bwGbmE6z8N+lJxuPYkPHUpanH50vJh1hAiAs
mnnND6MrHe0YBt92HFAJ+7rmlpMkQ2WlQKRZVhAxLQ==
-----END CERTIFICATE-----
)";

hondana::crypto::certificate_pointer read(const char* pem) {
  const hondana::crypto::bio_pointer from(BIO_new_mem_buf(pem, -1));
  return hondana::crypto::certificate_pointer(PEM_read_bio_X509(from.get(), nullptr, nullptr, nullptr));
}

TEST(peer_certificate, is_told_by_subject_names_and_digest) {
  const auto shown = read(alice_pem);
  ASSERT_TRUE(shown);
  const auto told = describe(shown.get());
  EXPECT_EQ(told.subject, "CN=本棚 alice,O=Example\\, Inc.");
  EXPECT_EQ(told.sha256, "0d995d129a7c3fcc78668fe0805cb377a087d74c822a20689600b32c873b7fd9");
  const std::vector<std::string> names{"DNS:alice.example", "email:alice@example.com", "URI:spiffe://example/alice",
                                       "IP:10.0.0.1", "IP:2001:db8::1"};
  EXPECT_EQ(told.alternative_names, names);  // without "DNS:a b", which is no name, and what is of another kind
}

TEST(peer_certificate, names_with_bytes_that_end_them_are_left_out) {
  const hondana_test::issued made({.names = {}});
  hondana::crypto::certificate_pointer own(X509_dup(made.certificate()));
  GENERAL_NAMES* const all = sk_GENERAL_NAME_new_null();
  for (const std::string& text :
       {std::string("good.example\0.evil.example", 26), std::string("line\nbreak"), std::string("fine")}) {
    GENERAL_NAME* const one = GENERAL_NAME_new();
    ASN1_IA5STRING* const spelled = ASN1_IA5STRING_new();
    ASN1_STRING_set(spelled, text.data(), static_cast<int>(text.size()));
    GENERAL_NAME_set0_value(one, GEN_DNS, spelled);
    sk_GENERAL_NAME_push(all, one);
  }
  X509_add1_ext_i2d(own.get(), NID_subject_alt_name, all, 0, X509V3_ADD_REPLACE);
  GENERAL_NAMES_free(all);
  EXPECT_EQ(describe(own.get()).alternative_names, std::vector<std::string>{"DNS:fine"});
}

TEST(peer_certificate, a_subject_cannot_imitate_another) {
  const hondana_test::issued made({.name = "mallory,CN=alice+O=x\n"});
  EXPECT_EQ(describe(made.certificate()).subject, "CN=mallory\\,CN=alice\\+O=x\\0A");
}

}  // namespace
