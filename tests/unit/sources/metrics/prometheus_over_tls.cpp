/// A real Prometheus that speaks TLS and wants to know who asks.
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>

#include <crypt.h>

#include "sources/metrics/prometheus_backend.hpp"
#include "unit/sources/metrics/real_prometheus.hpp"
#include "unit/transport/tls/certificates.hpp"

namespace {

using namespace hondana;
using namespace hondana::metrics;

std::string drawn_word() {
  constexpr std::string_view letters = "abcdefghijkmnpqrstuvwxyz23456789";
  std::random_device source;
  std::string out;
  while (out.size() < 24) out += letters[source() % letters.size()];
  return out;
}

/// bcrypt, which Prometheus wants, by the C library's own; "" where it has none.
std::string bcrypt_of(const std::string& its_password) {
  void* const library = ::dlopen("libcrypt.so.1", RTLD_NOW);
  if (library == nullptr) return {};
  const auto hash = reinterpret_cast<decltype(&::crypt_r)>(::dlsym(library, "crypt_r"));
  crypt_data data{};
  const auto salt = "$2b$04$" + drawn_word().substr(0, 21) + 'u';
  const char* const made = hash == nullptr ? nullptr : hash(its_password.c_str(), salt.c_str(), &data);
  return made == nullptr || made[0] != '$' ? std::string() : std::string(made);
}

request_context soon() {
  request_context out;
  out.deadline = std::chrono::steady_clock::now() + hondana_test::program_patience;
  return out;
}

}  // namespace

TEST(prometheus_over_tls, is_read_with_credentials_and_refuses_others) {
  const hondana_test::pem_folder folder;
  const hondana_test::issued made;
  const auto certificate = folder.write("server.pem", made.certificate_text());
  const auto key = folder.write("server.key", made.key_text());
  const auto its_password = drawn_word();
  const auto hash = bcrypt_of(its_password);
  ASSERT_FALSE(hash.empty());
  hondana_test::wanted_prometheus wanted;
  wanted.scrapes_itself = false;
  wanted.web_config = "tls_server_config:\n  cert_file: " + certificate + "\n  key_file: " + key +
                      "\nbasic_auth_users:\n  reader: '" + hash + "'\n";
  wanted.certificate = certificate;
  wanted.user_password = "reader:" + its_password;
  const hondana_test::real_prometheus real(wanted);
  const auto settled = real.scraped(2);

  prometheus_options options;
  options.server.url = real.url();
  options.server.ca_file = certificate;
  options.server.user = "reader";
  options.server.password_file = folder.write("password", its_password + "\n");
  const auto ours = make_prometheus_backend(options);
  ASSERT_TRUE(ours.has_value()) << ours.error().public_text;
  range_request what;
  what.selector.name = "node_memory_MemTotal_bytes";
  what.range = {settled, settled, 1000};
  const auto got = (*ours)->range(what, soon());
  ASSERT_TRUE(got.has_value()) << got.error().public_text;
  ASSERT_EQ(got->series.size(), 1u);
  const auto theirs = real.ask("/query", {{"query", "node_memory_MemTotal_bytes"}});
  EXPECT_EQ(got->series[0].samples.at(0).value,
            std::stod(std::string(theirs.at("result").at(0).at("value").at(1).as_string())));
  const auto folders = (*ours)->requirements().folders;
  EXPECT_TRUE(
      std::any_of(folders.begin(), folders.end(), [&](const auto& one) { return one.path == options.server.password_file; }));

  // Another its_password: the file is read each time.
  const auto other = drawn_word();
  folder.write("password", other);
  const auto refused = (*ours)->targets(soon());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, errc::source_unavailable);
  EXPECT_NE(refused.error().public_text.find("rejects the credentials of this source (401)"), std::string::npos)
      << refused.error().public_text;
  EXPECT_EQ(refused.error().public_text.find(other), std::string::npos);
  EXPECT_FALSE((*ours)->health().is_healthy);
  folder.write("password", its_password);
  EXPECT_TRUE((*ours)->targets(soon()).has_value());
  EXPECT_TRUE((*ours)->health().is_healthy);

  // A certificate that nobody vouches for.
  auto untrusting = options;
  untrusting.server.ca_file.clear();
  const auto stranger = make_prometheus_backend(untrusting);
  ASSERT_TRUE(stranger.has_value()) << stranger.error().public_text;
  const auto distrusted = (*stranger)->targets(soon());
  ASSERT_FALSE(distrusted.has_value());
  EXPECT_EQ(distrusted.error().code, errc::source_unavailable) << distrusted.error().public_text;
  EXPECT_EQ(distrusted.error().public_text.find(its_password), std::string::npos);
}
