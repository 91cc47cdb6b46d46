/// `hondana serve` with a certificate, and the commands that ask such a server.
#include <signal.h>
#include <sys/stat.h>

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "program/folder.hpp"
#include "program/served.hpp"
#include "unit/transport/tls/certificates.hpp"

namespace {

using hondana_test::issued;
using program_test::departure;
using program_test::folder;
using program_test::misused;
using program_test::patience;
using program_test::run;
using program_test::served;
using program_test::unreachable;
using program_test::well;
using program_test::within;

class program_tls : public ::testing::Test {
 protected:
  program_tls() {
    shelf.put("a.txt", "hello\n");
    show(own);
  }
  void show(const issued& one) {
    keys.write("certificate.pem", one.certificate_text());
    keys.write("key.pem", one.key_text());
  }
  std::vector<std::string> flags() const {
    return {shelf.path(), "--tls-certificate", keys.path("certificate.pem"), "--tls-key", keys.path("key.pem")};
  }
  static bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

  folder shelf;
  hondana_test::pem_folder keys;
  issued own{{.serial = 1}};
};

TEST_F(program_tls, flags_make_a_server_that_trusting_commands_read_from) {
  served with(flags());
  ASSERT_TRUE(with.url().starts_with("https://127.0.0.1:")) << with.url();
  const auto trusting = run({"read", shelf.uri("a.txt"), "--on", with.url(), "--cacert", keys.path("certificate.pem")});
  EXPECT_EQ(trusting.how, well) << trusting.errors;
  EXPECT_EQ(trusting.output, "hello\n");
  const auto other = run({"read", shelf.uri("a.txt"), "--on", with.url()});
  EXPECT_EQ(other.how, unreachable);
  EXPECT_TRUE(has(other.errors, "--cacert FILE")) << other.errors;
  EXPECT_EQ(with.stop(SIGTERM), well);
}

TEST_F(program_tls, a_hangup_reads_the_certificate_again_or_says_why_not) {
  served with(flags());
  const auto old_file = keys.write("old.pem", own.certificate_text());
  const issued renewed({.serial = 2});
  show(renewed);
  with.program().signal(SIGHUP);
  ASSERT_TRUE(with.program().error_line_with("read the certificate again", within(patience)));
  const std::vector<std::string> ask{"ls", "--on", with.url(), "--cacert"};
  const auto trusting = [&ask](const std::string& file) {
    auto words = ask;
    words.push_back(file);
    return run(words).how;
  };
  EXPECT_EQ(trusting(keys.path("certificate.pem")), well);
  EXPECT_EQ(trusting(old_file), unreachable);
  keys.write("key.pem", issued().key_text());
  with.program().signal(SIGHUP);
  const auto line = with.program().error_line_with("kept the old certificate", within(patience));
  ASSERT_TRUE(line);
  EXPECT_TRUE(has(*line, "key.pem: it does not belong to")) << *line;
  EXPECT_EQ(trusting(keys.path("certificate.pem")), well);
}

TEST_F(program_tls, a_server_that_goes_by_certificates_speaks_of_no_token) {
  const issued authority({.name = "authority", .names = {}, .is_authority = true});
  keys.write("clients.pem", authority.certificate_text());
  const auto config = keys.write("config.toml",
                                 "[http.tls]\ncertificate_file = \"certificate.pem\"\nkey_file = \"key.pem\"\n"
                                 "client_ca_file = \"clients.pem\"\n[auth.certificates]\n");
  served with({shelf.path(), "--config", config});
  EXPECT_TRUE(has(with.program().errors(), "--cert \"$CERTIFICATE\" --key \"$KEY\"")) << with.program().errors();
  EXPECT_FALSE(has(with.program().errors(), "Bearer")) << with.program().errors();
}

TEST_F(program_tls, a_file_may_ask_clients_for_certificates_and_a_configured_target_shows_one) {
  const issued authority({.name = "authority", .names = {}, .is_authority = true});
  const issued alice({.name = "alice", .serial = 2}, &authority);
  keys.write("clients.pem", authority.certificate_text());
  keys.write("alice.pem", alice.key_text() + alice.certificate_text());
  const auto config = keys.write("config.toml",
                                 "[http.tls]\ncertificate_file = \"certificate.pem\"\nkey_file = \"key.pem\"\n"
                                 "client_ca_file = \"clients.pem\"\n");
  served with({shelf.path(), "--config", config});
  const auto client = keys.write("client.toml", "[[source]]\ntype = \"mcp\"\nname = \"shelf\"\nurl = \"" + with.url() +
                                                    "\"\nca_file = \"certificate.pem\"\ncertificate_file = \"alice.pem\"\n");
  const auto shown = run({"ls", "--config", client, "--on", "shelf"});
  EXPECT_EQ(shown.how, well) << shown.errors;
  const auto by_flags =
      run({"ls", "--on", with.url(), "--cacert", keys.path("certificate.pem"), "--cert", keys.path("alice.pem")});
  EXPECT_EQ(by_flags.how, well) << by_flags.errors;
  const auto missing = run({"ls", "--on", with.url(), "--cacert", keys.path("certificate.pem")});
  EXPECT_EQ(missing.how, unreachable);
  EXPECT_TRUE(has(missing.errors, "requires a client certificate")) << missing.errors;
}

TEST_F(program_tls, what_cannot_be_used_is_told_before_anything_else) {
  const auto half = run({"serve", "--tls-certificate", keys.path("certificate.pem")});
  EXPECT_EQ(half.how, misused);
  auto words = flags();
  words.insert(words.begin(), {"serve", "--port", "0"});
  words.back() = keys.path("missing.pem");
  const auto missing = run(words);
  EXPECT_NE(missing.how, well);
  EXPECT_TRUE(has(missing.errors, "Cannot use the key " + keys.path("missing.pem") + ": No such file")) << missing.errors;
  const auto folder_target = run({"ls", "--on", shelf.path(), "--cacert", keys.path("certificate.pem")});
  EXPECT_EQ(folder_target.how, misused);
  EXPECT_TRUE(has(folder_target.errors, "behind a URL")) << folder_target.errors;
}

TEST_F(program_tls, warnings_stand_in_the_log) {
  show(issued({.from = -7200, .until = -3600}));
  ASSERT_EQ(::chmod(keys.path("key.pem").c_str(), 0644), 0);
  served with(flags());
  EXPECT_TRUE(has(with.program().errors(), "certificate.pem expired at 20")) << with.program().errors();
  EXPECT_TRUE(has(with.program().errors(), "key.pem; restrict it with chmod")) << with.program().errors();
}

}  // namespace
