/// Sealed values: opened by whom they were given to, for the request they belong to, in time.
#include <gtest/gtest.h>

#include <string>

#include "base/json/base64.hpp"
#include "base/seal/seal.hpp"

namespace hondana::seal {
namespace {

const clock::time_point now = clock::time_point(std::chrono::seconds(1'800'000'000));
const binding mine{"local", "tools/call", R"({"name":"ask"})"};

std::shared_ptr<const sealer> sealer_of(char letter) { return sealer::with_key(std::string(32, letter)).value(); }

// requires: 2026-07-28/mrtr.state_integrity
TEST(seal, a_state_comes_back_as_it_was_and_not_when_a_bit_of_it_changed) {
  const auto by = sealer_of('a');
  const value state = value::object{{"stage", 2}, {"name", "octocat"}};
  const auto sealed = by->seal(state, mine, now + std::chrono::minutes(10)).value();
  EXPECT_EQ(by->unseal(sealed, mine, now).value(), state);
  auto bytes = json::decode_base64url(sealed).value();
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    EXPECT_FALSE(by->unseal(json::encode_base64url(bytes), mine, now)) << "byte " << at;
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
  }
  EXPECT_FALSE(by->unseal(sealed + "-TAMPERED", mine, now));
  EXPECT_FALSE(by->unseal("", mine, now));
  EXPECT_FALSE(sealer_of('b')->unseal(sealed, mine, now));
}

// requires: 2026-07-28/mrtr.state_bound
TEST(seal, a_state_is_good_for_one_caller_one_request_and_a_while) {
  const auto by = sealer_of('a');
  const auto sealed = by->seal("x", mine, now + std::chrono::seconds(60)).value();
  EXPECT_FALSE(by->unseal(sealed, {"other", mine.method, mine.parameters}, now));
  EXPECT_FALSE(by->unseal(sealed, {mine.caller, "prompts/get", mine.parameters}, now));
  EXPECT_FALSE(by->unseal(sealed, {mine.caller, mine.method, R"({"name":"tell"})"}, now));
  EXPECT_TRUE(by->unseal(sealed, mine, now + std::chrono::seconds(59)));
  const auto late = by->unseal(sealed, mine, now + std::chrono::seconds(60));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, errc::invalid_argument);
  EXPECT_EQ(late.error().public_text, "requestState: expired. Start again without requestState.");
}

TEST(seal, parts_of_a_binding_do_not_run_into_each_other) {
  const auto by = sealer_of('a');
  const auto sealed = by->seal("x", {"ab", "c", ""}, now + std::chrono::seconds(60)).value();
  EXPECT_FALSE(by->unseal(sealed, {"a", "bc", ""}, now));
}

TEST(seal, short_keys_and_big_states_are_refused) {
  EXPECT_FALSE(sealer::with_key(std::string(31, 'k')));
  EXPECT_FALSE(sealer_of('a')->seal(std::string(sealer::max_bytes, 'x'), mine, now));
  const auto one = sealer::with_random_key().value();
  const auto sealed = one->seal("x", mine, now + std::chrono::seconds(60)).value();
  EXPECT_TRUE(one->unseal(sealed, mine, now));
  EXPECT_FALSE(sealer::with_random_key().value()->unseal(sealed, mine, now));
}

TEST(seal, what_is_hidden_is_read_by_its_key_and_for_its_purpose_alone_and_shows_no_length) {
  const auto by = sealer_of('a');
  const auto hidden = by->encrypt("memo:///secret", "list 1");
  EXPECT_EQ(by->decrypt(hidden, "list 1"), "memo:///secret");
  EXPECT_EQ(by->encrypt("memo:///secret", "list 1"), hidden);
  EXPECT_EQ(hidden.find("memo"), std::string::npos);
  EXPECT_EQ(by->encrypt("a", "list 1").size(), hidden.size());
  EXPECT_FALSE(by->decrypt(hidden, "list 2"));
  EXPECT_FALSE(sealer_of('b')->decrypt(hidden, "list 1"));
  for (std::size_t at = 0; at < hidden.size(); ++at) {
    auto changed = hidden;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(by->decrypt(changed, "list 1")) << "byte " << at;
    EXPECT_FALSE(by->decrypt(hidden.substr(0, at), "list 1")) << at << " bytes";
  }
  for (const std::size_t size : {0u, 1u, 55u, 56u, 57u, 16'384u}) {
    const std::string text(size, 'x');
    EXPECT_EQ(by->decrypt(by->encrypt(text, ""), ""), text);
    EXPECT_LE(by->encrypt(text, "").size(), sealer::max_encrypted_bytes(size));
  }
}

}  // namespace
}  // namespace hondana::seal
