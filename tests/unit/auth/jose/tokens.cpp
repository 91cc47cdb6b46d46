/// Tokens of the RFCs, of ours, and those that must not be believed.
#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>

#include <chrono>
#include <limits>

#include "auth/jose/jwt.hpp"
#include "auth/jose/keys.hpp"
#include "auth/jose/openssl_signature.hpp"
#include "base/json/base64.hpp"

namespace hondana::jose {
namespace {

using std::chrono::seconds;

value parsed(const std::string& text) {
  auto out = value::parse(text);
  EXPECT_TRUE(out) << text;
  return out.value_or(value());
}

public_key key_from(const std::string& jwk) {
  auto out = public_key::from_jwk(parsed(jwk));
  EXPECT_TRUE(out) << out.error().public_text;
  return *out;
}

std::string pem_of(EVP_PKEY* key) {
  const bio_pointer into(BIO_new(BIO_s_mem()));
  EXPECT_EQ(PEM_write_bio_PKCS8PrivateKey(into.get(), key, nullptr, nullptr, 0, nullptr, nullptr), 1);
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(into.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

const std::string& pem_for(algorithm by) {
  static const std::string rsa = pem_of(key_pointer(EVP_RSA_gen(2048)).get());
  static const std::string p256 = pem_of(key_pointer(EVP_EC_gen("P-256")).get());
  static const std::string ed25519 = pem_of(key_pointer(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")).get());
  return by == algorithm::rs256 ? rsa : by == algorithm::es256 ? p256 : ed25519;
}

signing_key signer(algorithm by) {
  auto out = signing_key::from_pem(pem_for(by));
  EXPECT_TRUE(out) << out.error().public_text;
  return *out;
}

std::string compact(const std::string& header, const std::string& payload, const std::string& signature) {
  return json::encode_base64url(header) + '.' + json::encode_base64url(payload) + '.' + json::encode_base64url(signature);
}

std::string why_not(const std::string& token) {
  const auto got = read_token(token);
  return got ? "taken" : got.error().public_text;
}

constexpr std::array every{algorithm::rs256, algorithm::es256, algorithm::eddsa};

/// RFC 7515 appendices A.2 and A.3.
constexpr auto rs256_key =
    R"({"kty":"RSA","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEz)"
    R"(P1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5re)"
    R"(xMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWN)"
    R"(moudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ","e":"AQAB"})";
constexpr auto rs256_token =
    "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.cC4h"
    "iUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKB"
    "YNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZES"
    "c6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw";
constexpr auto es256_key =
    R"({"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"})";
constexpr auto es256_token =
    "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ.DtEh"
    "U3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q";
/// RFC 8037 appendix A.4.
constexpr auto ed25519_key = R"({"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})";
constexpr auto ed25519_text = "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc";
constexpr auto ed25519_signature = "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg";

TEST(tokens, of_the_rfcs_are_verified_by_their_keys_and_by_no_others) {
  const auto rsa = read_token(rs256_token);
  const auto p256 = read_token(es256_token);
  ASSERT_TRUE(rsa && p256);
  EXPECT_EQ(rsa->claims.string_at("iss").value_or(""), "joe");
  EXPECT_TRUE(verify(*rsa, {key_from(rs256_key)}));
  EXPECT_TRUE(verify(*p256, {key_from(es256_key)}));
  EXPECT_TRUE(verify(*p256, {key_from(rs256_key), key_from(es256_key)}));
  EXPECT_FALSE(verify(*rsa, {key_from(es256_key)}));
  EXPECT_FALSE(verify(*p256, {}));
  EXPECT_TRUE(key_from(ed25519_key).verifies(ed25519_text, *json::decode_base64url(ed25519_signature)));
}

TEST(tokens, that_were_changed_in_a_single_bit_are_not_verified) {
  for (const auto by : every) {
    const auto key = signer(by);
    const auto token = key.sign(parsed(R"({"iss":"me"})"));
    ASSERT_TRUE(token);
    const auto checks = public_key::from_jwk(*key.public_jwk());
    ASSERT_TRUE(checks) << checks.error().public_text;
    auto read = read_token(*token);
    ASSERT_TRUE(read) << read.error().public_text;
    EXPECT_TRUE(verify(*read, {*checks})) << name_of(by);
    for (std::size_t at = 0; at < read->signature.size(); at += 7) {
      auto changed = *read;
      changed.signature[at] = static_cast<char>(changed.signature[at] ^ 1);
      EXPECT_FALSE(verify(changed, {*checks})) << name_of(by) << ' ' << at;
    }
    for (const std::size_t size : {std::size_t(0), std::size_t(1), read->signature.size() - 1}) {
      auto cut = *read;
      cut.signature.resize(size);
      EXPECT_FALSE(verify(cut, {*checks})) << name_of(by) << ' ' << size;
    }
    read->text.back() = read->text.back() == 'x' ? 'y' : 'x';
    EXPECT_FALSE(verify(*read, {*checks})) << name_of(by);
  }
}

TEST(tokens, signed_by_none_are_refused) {
  for (const auto* name : {"none", "None", "NONE", "", "HS256", "RS384", "PS256", "ES256K"})
    EXPECT_NE(why_not(compact(R"({"alg":")" + std::string(name) + "\"}", "{}", "")).find("not signed with RS256"),
              std::string::npos)
        << name;
  EXPECT_NE(why_not(compact("{}", "{}", "")).find("not signed with RS256"), std::string::npos);
}

/// The public key is known to everybody; whoever takes it for a shared secret believes everybody.
TEST(tokens, signed_with_the_public_key_as_a_secret_are_refused) {
  const auto text = json::encode_base64url(R"({"alg":"HS256"})") + '.' + json::encode_base64url(R"({"iss":"me"})");
  const auto secret = signer(algorithm::rs256).public_jwk()->to_text();
  unsigned char digest[32] = {};
  unsigned int size = 0;
  ASSERT_NE(HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
                 reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest, &size),
            nullptr);
  const auto token = text + '.' + json::encode_base64url({reinterpret_cast<const char*>(digest), size});
  EXPECT_NE(why_not(token).find("not signed with RS256"), std::string::npos);
}

TEST(tokens, choose_no_algorithm_for_a_key) {
  // An ES256 token whose key id is that of an RSA key.
  const auto rsa = signer(algorithm::rs256);
  const auto set = key_set::parse(R"({"keys":[)" + rsa.public_jwk("a")->to_text() + "]}");
  ASSERT_TRUE(set);
  const auto token = read_token(*signer(algorithm::es256).sign(parsed("{}"), "a"));
  ASSERT_TRUE(token);
  EXPECT_TRUE(set->candidates(token->alg, token->key_id).empty());
  EXPECT_FALSE(verify(*token, set->candidates(algorithm::rs256, "a")));
}

TEST(tokens, that_are_none_say_why_and_repeat_nothing) {
  EXPECT_NE(why_not("").find("three parts"), std::string::npos);
  EXPECT_NE(why_not("secret").find("three parts"), std::string::npos);
  EXPECT_NE(why_not("a.b.c.d.e").find("encrypted"), std::string::npos);
  EXPECT_NE(why_not("a=.b.c").find("base64url"), std::string::npos);
  EXPECT_NE(why_not(compact("[]", "{}", "")).find("header that is not a JSON object"), std::string::npos);
  EXPECT_NE(why_not(compact(R"({"alg":"RS256"})", "7", "")).find("payload that is not a JSON object"), std::string::npos);
  EXPECT_NE(why_not(compact(R"({"alg":"RS256","crit":["exp"]})", "{}", "")).find("critical"), std::string::npos);
  EXPECT_NE(why_not(compact(R"({"alg":"RS256","kid":7})", "{}", "")).find("kid"), std::string::npos);
  EXPECT_NE(why_not(compact(R"({"alg":"RS256","kid":")" + std::string(300, 'k') + "\"}", "{}", "")).find("kid"),
            std::string::npos);
  EXPECT_NE(why_not(std::string(max_token_bytes + 1, 'a')).find("longer than"), std::string::npos);
  EXPECT_EQ(why_not("hunter2.hunter2.hunter2").find("hunter2"), std::string::npos);
}

expectations usual() {
  return {"https://as.example", {"https://rs.example/mcp"}, seconds(30), std::chrono::sys_time<seconds>(seconds(1'000'000))};
}

std::string why_not_claims(const std::string& claims) {
  const auto got = check_claims(parsed(claims), usual());
  return got ? "taken" : got.error().public_text;
}

std::string claims_with(const std::string& more) {
  return R"({"iss":"https://as.example","aud":"https://rs.example/mcp")" + more + "}";
}

TEST(claims, are_taken_within_the_skew_of_clocks) {
  const auto got = check_claims(parsed(claims_with(R"(,"exp":1000100)")), usual());
  ASSERT_TRUE(got);
  EXPECT_EQ(got->time_since_epoch(), seconds(1'000'100));
  EXPECT_EQ(why_not_claims(claims_with(R"(,"exp":999971)")), "taken");
  EXPECT_EQ(why_not_claims(claims_with(R"(,"exp":1000100,"nbf":1000030,"iat":1000030.5e0)")).find("taken"), std::string::npos);
  EXPECT_EQ(why_not_claims(claims_with(R"(,"exp":1000100.5,"nbf":1000030)")), "taken");
}

TEST(claims, that_have_expired_or_are_not_valid_yet_are_refused) {
  EXPECT_NE(why_not_claims(claims_with(R"(,"exp":999970)")).find("has expired"), std::string::npos);
  EXPECT_NE(why_not_claims(claims_with(R"(,"exp":-1e300)")).find("has expired"), std::string::npos);
  EXPECT_NE(why_not_claims(claims_with("")).find("never expires"), std::string::npos);
  EXPECT_NE(why_not_claims(claims_with(R"(,"exp":1000100,"nbf":1000031)")).find("not valid yet"), std::string::npos);
  EXPECT_NE(why_not_claims(claims_with(R"(,"exp":1000100,"iat":1000031)")).find("in the future"), std::string::npos);
  EXPECT_NE(why_not_claims(claims_with(R"(,"exp":"1000100")")).find("not a number"), std::string::npos);
  EXPECT_NE(why_not_claims(claims_with(R"(,"exp":1000100,"nbf":null)")).find("not a number"), std::string::npos);
}

TEST(claims, far_in_the_future_do_not_overflow) {
  const auto got = check_claims(parsed(claims_with(R"(,"exp":1e300)")), usual());
  ASSERT_TRUE(got);
  EXPECT_GT(*got, usual().now);
}

TEST(claims, of_another_issuer_or_audience_are_refused) {
  EXPECT_NE(
      why_not_claims(R"({"iss":"https://as.example/","aud":"https://rs.example/mcp","exp":1000100})").find("was not issued by"),
      std::string::npos);
  EXPECT_NE(why_not_claims(R"({"aud":"https://rs.example/mcp","exp":1000100})").find("was not issued by"), std::string::npos);
  for (const auto* audience : {R"("https://rs.example")", "[]", R"(["https://other.example/mcp",7])", "null", "{}"})
    EXPECT_NE(
        why_not_claims(R"({"iss":"https://as.example","exp":1000100,"aud":)" + std::string(audience) + "}").find("audience"),
        std::string::npos)
        << audience;
  EXPECT_NE(why_not_claims(R"({"iss":"https://as.example","exp":1000100})").find("audience"), std::string::npos);
  EXPECT_EQ(why_not_claims(R"({"iss":"https://as.example","exp":1000100,"aud":["a","https://rs.example/mcp"]})"), "taken");
}

TEST(keys, that_are_weak_or_malformed_are_refused) {
  const auto why = [](const std::string& jwk) {
    const auto got = public_key::from_jwk(parsed(jwk));
    return got ? "taken" : got.error().public_text;
  };
  const auto short_rsa = key_pointer(EVP_RSA_gen(1024));
  EXPECT_FALSE(signing_key::from_pem(pem_of(short_rsa.get())));
  EXPECT_NE(
      why(R"({"kty":"RSA","n":")" + json::encode_base64url(std::string(128, '\xff')) + R"(","e":"AQAB"})").find("128 bytes"),
      std::string::npos);
  EXPECT_NE(why(R"({"kty":"RSA","n":")" + json::encode_base64url(std::string(255, '\0') + '\x01') + R"(","e":"AQAB"})")
                .find("2048 bits"),
            std::string::npos);
  EXPECT_NE(
      why(R"({"kty":"RSA","n":")" + json::encode_base64url(std::string(4096, '\xff')) + R"(","e":"AQAB"})").find("key's n"),
      std::string::npos);
  EXPECT_NE(why(R"({"kty":"RSA","e":"AQAB"})").find("key's n: missing"), std::string::npos);
  for (const auto* exponent : {"AQ", "Ag", "", "AQABAQABAQABAQAB"})
    EXPECT_NE(why(R"({"kty":"RSA","n":")" + json::encode_base64url(std::string(256, '\xff')) + R"(","e":")" + exponent + "\"}")
                  .find("key's e"),
              std::string::npos)
        << exponent;
  // Not on the curve.
  const auto one = json::encode_base64url(std::string(31, '\0') + '\x01');
  EXPECT_NE(why(R"({"kty":"EC","crv":"P-256","x":")" + one + R"(","y":")" + one + "\"}").find("numbers"), std::string::npos);
  EXPECT_NE(why(R"({"kty":"EC","crv":"P-256","x":"AQ","y":"AQ"})").find("expected 32"), std::string::npos);
  EXPECT_NE(why(R"({"kty":"OKP","crv":"Ed25519","x":"AQ"})").find("expected 32"), std::string::npos);
  for (const auto* other :
       {R"({"kty":"oct","k":"AQ"})", R"({"kty":"EC","crv":"P-384"})", R"({"kty":"OKP","crv":"X25519"})", "{}"})
    EXPECT_NE(why(other).find("type or curve is not supported"), std::string::npos) << other;
}

TEST(keys, for_something_else_check_no_signatures) {
  auto jwk = *signer(algorithm::es256).public_jwk("a");
  const auto with = [&jwk](const std::string& name, value to) {
    auto members = *jwk.as_object();
    std::erase_if(members, [&name](const auto& one) { return one.first == name; });
    members.emplace_back(name, std::move(to));
    return public_key::from_jwk(value(std::move(members)));
  };
  EXPECT_TRUE(with("key_ops", value::array{"verify"}));
  EXPECT_FALSE(with("key_ops", value::array{"encrypt"}));
  EXPECT_FALSE(with("use", "enc"));
  EXPECT_FALSE(with("alg", "ES384"));
  EXPECT_FALSE(with("alg", 7));
  EXPECT_FALSE(with("kid", 7));
}

TEST(key_sets, leave_out_what_is_of_no_use) {
  const auto set =
      key_set::parse(R"({"keys":[{"kty":"oct","k":"AQ"},7,)" + signer(algorithm::eddsa).public_jwk("a")->to_text() + "," +
                     signer(algorithm::rs256).public_jwk("a")->to_text() + "]}");
  ASSERT_TRUE(set) << set.error().public_text;
  EXPECT_EQ(set->size(), 2u);
  EXPECT_EQ(set->candidates(algorithm::eddsa, "a").size(), 1u);
  EXPECT_EQ(set->candidates(algorithm::eddsa, "").size(), 1u);
  EXPECT_TRUE(set->candidates(algorithm::eddsa, "b").empty());
  EXPECT_TRUE(set->contains("a"));
}

TEST(key_sets, that_are_none_are_refused) {
  EXPECT_FALSE(key_set::parse("no JSON"));
  EXPECT_FALSE(key_set::parse("[]"));
  EXPECT_FALSE(key_set::parse(R"({"keys":{}})"));
  EXPECT_FALSE(key_set::parse(R"({"keys":[)" + std::string(key_set::max_bytes, ' ') + "]}"));
  std::string many = "7";
  for (std::size_t i = 0; i < key_set::max_keys; ++i) many += ",7";
  EXPECT_FALSE(key_set::parse(R"({"keys":[)" + many + "]}"));
  const auto key = signer(algorithm::es256).public_jwk("a")->to_text();
  EXPECT_FALSE(key_set::parse(R"({"keys":[)" + key + "," + key + "]}"));
}

TEST(signing_keys, that_cannot_be_used_say_what_can) {
  EXPECT_FALSE(signing_key::from_pem(""));
  EXPECT_FALSE(signing_key::from_pem(std::string(100'000, 'x')));
  const auto got = signing_key::from_pem(pem_of(key_pointer(EVP_EC_gen("P-384")).get()));
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().public_text.find("P-256"), std::string::npos);
}

}  // namespace
}  // namespace hondana::jose
