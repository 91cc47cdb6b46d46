/// Certificates, processes, and several ways side by side.
#include <gtest/gtest.h>

#include <hondana/authenticators.hpp>

#include "auth/authentication/token_cache.hpp"
#include "unit/auth/authentication/issuer.hpp"

namespace {

using hondana::auth_rejection;
using hondana::auth_request;
using hondana::auth_result;
using hondana::authenticator;
using hondana::caller_info;
using hondana::certificate_name_kind;
using hondana::peer_certificate;
using hondana_test::soon;
using hondana_test::with_token;

auth_request with_certificate(peer_certificate shown) {
  auth_request out;
  out.address = "192.0.2.7";
  out.certificate = std::move(shown);
  return out;
}

peer_certificate alice() {
  return {"CN=alice,O=Example",
          {"DNS:alice.example", "email:a@example.com", "email:alice@example.com", "URI:spiffe://e/alice"},
          "ab"};
}

auth_result known(authenticator& whom, const auth_request& of) {
  auto said = whom.try_authenticate(of);
  EXPECT_TRUE(said);
  return said ? std::move(*said) : auth_result(tl::unexpected(auth_rejection()));
}

TEST(certificates, say_who_asks_by_the_part_that_is_configured) {
  const auto identity = [](certificate_name_kind by) {
    const auto whom = hondana::make_certificate_authenticator({by, {}, {"read"}});
    const auto said = known(**whom, with_certificate(alice()));
    return said ? said->identity : said.error().description;
  };
  EXPECT_EQ(identity(certificate_name_kind::subject), "CN=alice,O=Example");
  EXPECT_EQ(identity(certificate_name_kind::dns), "DNS:alice.example");
  EXPECT_EQ(identity(certificate_name_kind::email), "email:a@example.com");
  EXPECT_EQ(identity(certificate_name_kind::uri), "URI:spiffe://e/alice");
}

TEST(certificates, are_admitted_by_name_with_scopes_of_their_own) {
  const auto whom = hondana::make_certificate_authenticator(
      {certificate_name_kind::email, {{"alice@example.com", {"read", "write"}}, {"bob@example.com", {}}}, {"ignored"}});
  ASSERT_TRUE(whom);
  const auto said = known(**whom, with_certificate(alice()));
  ASSERT_TRUE(said) << said.error().description;
  EXPECT_EQ(said->identity, "email:alice@example.com");
  EXPECT_EQ(said->address, "192.0.2.7");
  EXPECT_EQ(said->auth_info->scopes, (std::vector<std::string>{"read", "write"}));
  EXPECT_EQ(said->auth_info->claims->string_at("sha256").value_or(""), "ab");
  const auto other =
      known(**whom, with_certificate({"CN=alice@example.com", {"DNS:alice@example.com", "email:eve@example.com"}, ""}));
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().status, 403);
}

TEST(certificates, that_are_missing_or_have_no_such_name_are_refused) {
  const auto by_subject = hondana::make_certificate_authenticator({});
  const auto none = known(**by_subject, {});
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().status, 401);
  const auto nameless = known(**by_subject, with_certificate({"", {"DNS:x"}, ""}));
  ASSERT_FALSE(nameless);
  EXPECT_EQ(nameless.error().status, 403);
  EXPECT_FALSE(hondana::make_certificate_authenticator({certificate_name_kind::dns, {{"a", {}}, {"a", {}}}, {}}));
  EXPECT_FALSE(hondana::make_certificate_authenticator({certificate_name_kind::dns, {{"", {}}}, {}}));
  EXPECT_FALSE(hondana::make_certificate_authenticator({certificate_name_kind::dns, {}, {"a b"}}));
}

TEST(processes, are_admitted_by_their_user) {
  const auto whom = hondana::make_peer_authenticator({{1000, "user:alice"}});
  auth_request of;
  of.peer = hondana::peer_credentials{1000, 1, 2};
  const auto said = known(**whom, of);
  ASSERT_TRUE(said);
  EXPECT_EQ(said->identity, "user:alice");
  EXPECT_FALSE(said->auth_info);
  of.peer->uid = 0;
  EXPECT_EQ(known(**whom, of).error().status, 403);
  EXPECT_EQ(known(**whom, {}).error().status, 401);
  EXPECT_FALSE(hondana::make_peer_authenticator({}));
  EXPECT_FALSE(hondana::make_peer_authenticator({{1, ""}}));
}

/// Says what it is told to.
class scripted final : public authenticator {
 public:
  explicit scripted(std::optional<auth_result> known, auth_result found = tl::unexpected(auth_rejection()))
      : known_(std::move(known)), found_(std::move(found)) {}
  std::optional<auth_result> try_authenticate(const auth_request&) override {
    ++asked;
    return known_;
  }
  auth_result authenticate(const auth_request&, std::chrono::steady_clock::time_point) override { return found_; }
  [[nodiscard]] std::shared_ptr<const hondana::protected_resource> metadata() const override { return told; }

  int asked = 0;
  std::shared_ptr<const hondana::protected_resource> told;

 private:
  std::optional<auth_result> known_;
  auth_result found_;
};

std::shared_ptr<scripted> admitting(const std::string& who) {
  return std::make_shared<scripted>(auth_result(caller_info{who, {}, nullptr}));
}
std::shared_ptr<scripted> refusing(auth_rejection why) {
  return std::make_shared<scripted>(auth_result(tl::unexpected(std::move(why))));
}
std::shared_ptr<scripted> waiting(auth_result found) { return std::make_shared<scripted>(std::nullopt, std::move(found)); }
auth_rejection bad(const std::string& why, std::vector<std::string> scopes = {}) {
  return {401, "invalid_token", why, std::move(scopes), {}};
}
auth_rejection nothing(const std::string& why) { return {401, "", why, {}, {}}; }

std::shared_ptr<authenticator> any(std::vector<std::shared_ptr<authenticator>> by_token,
                                   std::vector<std::shared_ptr<authenticator>> by_connection = {}) {
  auto made = hondana::make_combined_authenticator(std::move(by_token), std::move(by_connection));
  EXPECT_TRUE(made);
  return made.value_or(nullptr);
}

TEST(several_ways, are_asked_in_order_until_one_knows) {
  const auto third = admitting("third");
  const auto whom = any({refusing(bad("a")), admitting("second"), third});
  EXPECT_EQ(known(*whom, with_token("x"))->identity, "second");
  EXPECT_EQ(third->asked, 0);
}

TEST(several_ways, wait_for_an_earlier_one_so_that_whose_token_it_is_does_not_depend_on_timing) {
  const auto whom = any({waiting(caller_info{"slow", {}, nullptr}), admitting("quick")});
  EXPECT_FALSE(whom->try_authenticate(with_token("x")));
  EXPECT_EQ(whom->authenticate(with_token("x"), soon())->identity, "slow");
  const auto refused = any({waiting(tl::unexpected(bad("no"))), admitting("quick")});
  EXPECT_EQ(refused->authenticate(with_token("x"), soon())->identity, "quick");
}

TEST(several_ways, tell_all_that_is_wrong_and_all_scopes) {
  const auto whom = any({refusing(bad("not ours", {"a"})), refusing(bad("expired", {"b", "a"})), refusing(bad("expired"))});
  const auto said = known(*whom, with_token("x"));
  ASSERT_FALSE(said);
  EXPECT_EQ(said.error().description, "not ours; or expired");
  EXPECT_EQ(said.error().scopes, (std::vector<std::string>{"a", "b"}));
  const auto unsure = any({refusing(bad("not ours")), refusing({503, "", "down", {}, std::chrono::seconds(5)})});
  EXPECT_EQ(known(*unsure, with_token("x")).error().status, 503);
}

TEST(several_ways, a_bad_token_is_not_made_good_by_a_certificate) {
  const auto whom = any({refusing(bad("expired"))}, {admitting("certificate")});
  EXPECT_EQ(known(*whom, {})->identity, "certificate");
  EXPECT_EQ(known(*whom, with_token("x")).error().error, "invalid_token");
  const auto only = any({}, {refusing(nothing("a")), admitting("certificate")});
  EXPECT_EQ(known(*only, with_token("x"))->identity, "certificate");
}

TEST(several_ways, who_may_get_a_token_is_told_so_and_others_that_they_may_not) {
  const auth_rejection not_you{403, "", "not you", {}, {}};
  EXPECT_EQ(known(*any({refusing(nothing("get one"))}, {refusing(not_you)}), {}).error().status, 401);
  EXPECT_EQ(known(*any({refusing(nothing("get one"))}, {refusing(not_you)}), {}).error().description, "get one; not you");
  EXPECT_EQ(known(*any({}, {refusing(nothing("connect")), refusing(not_you)}), {}).error().status, 403);
}

TEST(several_ways, take_tokens_where_one_of_them_does) {
  const auto certificates = *hondana::make_certificate_authenticator({});
  const auto processes = *hondana::make_peer_authenticator({{1000, "alice"}});
  EXPECT_FALSE(certificates->accepts_tokens());
  EXPECT_FALSE(processes->accepts_tokens());
  EXPECT_FALSE(any({}, {certificates, processes})->accepts_tokens());
  EXPECT_TRUE(any({admitting("a")}, {certificates, processes})->accepts_tokens());
}

TEST(several_ways, have_the_metadata_of_all) {
  const auto first = admitting("a");
  const auto second = admitting("b");
  hondana::protected_resource one;
  one.resource = "https://shelf.example/mcp";
  one.authorization_servers = {"https://a.example"};
  one.supported_scopes = {"read"};
  first->told = std::make_shared<const hondana::protected_resource>(one);
  one.authorization_servers = {"https://b.example", "https://a.example"};
  one.supported_scopes = {"write", "read"};
  second->told = std::make_shared<const hondana::protected_resource>(one);
  const auto told = any({first, second})->metadata();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->authorization_servers, (std::vector<std::string>{"https://a.example", "https://b.example"}));
  EXPECT_EQ(told->supported_scopes, (std::vector<std::string>{"read", "write"}));
  EXPECT_FALSE(any({admitting("a"), admitting("b")})->metadata());
  EXPECT_FALSE(hondana::make_combined_authenticator({}, {}));
  EXPECT_FALSE(hondana::make_combined_authenticator({nullptr}, {}));
}

TEST(token_cache, forgets_the_oldest_what_is_over_and_what_other_keys_have_signed) {
  hondana::authentication::token_cache cache(160);
  const auto now = std::chrono::steady_clock::now();
  const auto later = now + std::chrono::seconds(60);
  const auto key = [](int number) { return hondana::bytes::sha256_of(std::to_string(number)); };
  for (int one = 0; one < 10'000; ++one) cache.put(key(one), caller_info{std::to_string(one), {}, nullptr}, 1, later);
  EXPECT_EQ(cache.size(), 160u);
  ASSERT_TRUE(cache.find(key(9'999), 1, now));
  EXPECT_EQ(cache.find(key(9'999), 1, now)->identity, "9999");
  EXPECT_FALSE(cache.find(key(0), 1, now));
  EXPECT_FALSE(cache.find(key(9'999), 1, later));
  EXPECT_FALSE(cache.find(key(9'999), 2, now));
  // The same one again and again drives out no other for long.
  hondana::authentication::token_cache small(32);
  for (int turn = 0; turn < 1000; ++turn) small.put(key(1), caller_info{"one", {}, nullptr}, 0, later);
  EXPECT_EQ(small.size(), 1u);
  EXPECT_TRUE(small.find(key(1), 7, now));
}

}  // namespace
