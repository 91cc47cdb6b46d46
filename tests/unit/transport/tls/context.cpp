/// What files a server takes for TLS, and what it says of those it does not take.
#include "transport/tls/tls_session.hpp"

#include <openssl/err.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/transport/tls/certificates.hpp"

namespace {

using hondana::errc;
using hondana::tls_options;
using hondana::tls::context;
using hondana_test::issued;
using hondana_test::pem_folder;

class tls_context : public ::testing::Test {
 protected:
  tls_options files(const issued& from) {
    return {folder.write("certificate.pem", from.certificate_text()), folder.write("key.pem", from.key_text()), {}, false};
  }
  static std::string why_not(const tls_options& options) {
    const auto made = context::make(options);
    EXPECT_EQ(ERR_peek_error(), 0u);
    if (made) return "it is fine";
    EXPECT_EQ(made.error().code, errc::invalid_argument);
    return made.error().public_text;
  }
  static void expect(const std::string& why, const std::string& part) {
    EXPECT_NE(why.find(part), std::string::npos) << why << "\nlacks " << part;
  }

  pem_folder folder;
};

TEST_F(tls_context, a_certificate_and_its_key_are_taken) {
  const auto made = context::make(files(issued()));
  ASSERT_TRUE(made) << made.error().public_text;
  EXPECT_TRUE((*made)->warnings().empty()) << (*made)->warnings().front();
}

TEST_F(tls_context, certificate_and_key_may_be_one_file) {
  const issued own;
  const auto both = folder.write("both.pem", own.key_text() + own.certificate_text());
  EXPECT_EQ(why_not({both, both, {}, false}), "it is fine");
}

TEST_F(tls_context, a_chain_goes_with_the_certificate) {
  const issued root({.name = "root", .names = {}, .is_authority = true});
  const issued middle({.name = "middle", .names = {}, .serial = 2, .is_authority = true}, &root);
  const issued own({.serial = 3}, &middle);
  const auto chain = folder.write("chain.pem", own.certificate_text() + middle.certificate_text());
  const auto made = context::make({chain, folder.write("key.pem", own.key_text()), {}, false});
  ASSERT_TRUE(made) << made.error().public_text;
  STACK_OF(X509)* others = nullptr;
  SSL_CTX_ctrl((*made)->native(), SSL_CTRL_GET_CHAIN_CERTS, 0, static_cast<void*>(&others));
  EXPECT_EQ(sk_X509_num(others), 1);
  expect(why_not({folder.write("reversed.pem", middle.certificate_text() + own.certificate_text()),
                  folder.path("key.pem"),
                  {},
                  false}),
         "must be the first");
}

TEST_F(tls_context, files_that_cannot_be_read_are_named_with_the_reason) {
  auto options = files(issued());
  options.key_file = folder.path("missing.pem");
  expect(why_not(options), "Cannot use the key " + options.key_file + ": No such file or directory");
  options = files(issued());
  options.certificate_file = folder.path("");
  expect(why_not(options), "not a regular file");
  options.certificate_file = folder.path("pipe");
  ASSERT_EQ(::mkfifo(options.certificate_file.c_str(), 0600), 0);
  expect(why_not(options), "not a regular file");
  options.certificate_file = folder.write("large.pem", std::string((1u << 20) + 1, 'x'));
  expect(why_not(options), "larger than 1 MiB");
  using namespace std::string_literals;
  options.certificate_file = "/etc/hostname\0.pem"s;
  expect(why_not(options), "NUL");
}

TEST_F(tls_context, files_without_pem_say_so) {
  auto options = files(issued());
  options.certificate_file = folder.write("text.pem", "certificate\n");
  expect(why_not(options), "text.pem: it contains no certificate");
  options.certificate_file = folder.write("empty.pem", "");
  expect(why_not(options), "it contains no certificate");
  options = files(issued());
  options.key_file = options.certificate_file;
  expect(why_not(options), "it contains no key");
}

TEST_F(tls_context, a_broken_certificate_is_counted) {
  const issued own;
  auto options = files(own);
  options.certificate_file =
      folder.write("broken.pem", own.certificate_text() + "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n");
  expect(why_not(options), "certificate 2 in it cannot be read");
  options = files(own);
  options.key_file = folder.write("broken.pem", "-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n");
  expect(why_not(options), "the key in it cannot be read");
}

TEST_F(tls_context, a_key_with_a_passphrase_is_refused_and_nobody_is_asked) {
  const issued own;
  auto options = files(own);
  options.key_file = folder.write("locked.pem", own.key_text("secret"));
  const auto why = why_not(options);
  expect(why, "passphrase");
  EXPECT_EQ(why.find("secret"), std::string::npos);
}

TEST_F(tls_context, the_key_of_another_certificate_is_refused) {
  auto options = files(issued());
  options.key_file = folder.write("other.pem", issued().key_text());
  expect(why_not(options), "other.pem: it does not belong to the certificate in " + options.certificate_file);
}

TEST_F(tls_context, weak_keys_are_refused) { expect(why_not(files(issued({.rsa_bits = 1024}))), "too small"); }

TEST_F(tls_context, half_of_the_options_is_none) {
  auto options = files(issued());
  options.key_file.clear();
  expect(why_not(options), "no key");
  options = files(issued());
  options.certificate_file.clear();
  expect(why_not(options), "no certificate");
  options = files(issued());
  options.requires_client_certificate = true;
  expect(why_not(options), "client authorities");
  options.client_ca_file = folder.write("none.pem", "nobody\n");
  expect(why_not(options), "Cannot use the client authorities");
}

TEST_F(tls_context, what_works_but_should_not_stay_is_warned_of) {
  const auto warnings = [](const tls_options& options) {
    const auto made = context::make(options);
    return made ? (*made)->warnings() : std::vector<std::string>{made.error().public_text};
  };
  auto told = warnings(files(issued({.from = -7200, .until = -3600})));
  ASSERT_EQ(told.size(), 1u);
  expect(told[0], "certificate.pem expired at 20");
  told = warnings(files(issued({.from = 3600, .until = 7200})));
  ASSERT_EQ(told.size(), 1u);
  expect(told[0], "is valid only from 20");
  const auto options = files(issued());
  ASSERT_EQ(::chmod(options.key_file.c_str(), 0644), 0);
  told = warnings(options);
  ASSERT_EQ(told.size(), 1u);
  expect(told[0], "key.pem; restrict it with chmod");
}

}  // namespace
