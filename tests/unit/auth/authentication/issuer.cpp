/// Keys, claims and a clock.
#include "unit/auth/authentication/issuer.hpp"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

#include <algorithm>
#include <utility>

#include "auth/jose/openssl_signature.hpp"
#include "deadline.hpp"

namespace hondana_test {

using hondana::result;
using hondana::value;
using hondana::jose::algorithm;

std::string new_pem(algorithm by) {
  const hondana::jose::key_pointer key(by == algorithm::rs256   ? EVP_RSA_gen(2048)
                                       : by == algorithm::es256 ? EVP_EC_gen("P-256")
                                                                : EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519"));
  const hondana::jose::bio_pointer into(BIO_new(BIO_s_mem()));
  EXPECT_EQ(PEM_write_bio_PKCS8PrivateKey(into.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr), 1);
  char* bytes = nullptr;
  const auto size = BIO_get_mem_data(into.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

void still_time::pass(std::chrono::seconds by) {
  const std::lock_guard lock(mutex_);
  passed_ += by;
}

std::int64_t still_time::now() {
  const std::lock_guard lock(mutex_);
  return 1'800'000'000 + passed_.count();
}

hondana::authentication::clocks still_time::clocks() {
  hondana::authentication::clocks out;
  out.wall = [this] { return hondana::authentication::wall_time(std::chrono::seconds(now())); };
  out.steady = [this] {
    const std::lock_guard lock(mutex_);
    return begin_ + passed_;
  };
  return out;
}

issuer::issuer() {
  serve(metadata_url, 200, R"({"issuer":")" + std::string(issuer_url) + R"(","jwks_uri":")" + keys_url + R"("})");
  add_key("first");
}

void issuer::serve(const std::string& url, handler by) {
  const std::lock_guard lock(mutex_);
  places_[url] = std::move(by);
}

void issuer::serve(const std::string& url, int status, const std::string& bytes) {
  serve(url, [status, bytes](const small_request&) { return small_answer{status, "application/json", bytes, {}, {}}; });
}

void issuer::add_key(const std::string& id, algorithm by) {
  auto key = hondana::jose::signing_key::from_pem(new_pem(by));
  ASSERT_TRUE(key) << key.error().public_text;
  keys_.insert_or_assign(id, *key);
  published_.push_back(id);
  publish();
}

void issuer::withdraw_key(const std::string& id) {
  published_.erase(std::remove(published_.begin(), published_.end(), id), published_.end());
  publish();
}

void issuer::publish() {
  value::array all;
  for (const auto& one : published_) all.push_back(jwk(one));
  serve(keys_url, 200, value(value::object{{"keys", std::move(all)}}).to_text());
}

std::string issuer::sign(const std::string& id, const value::object& claims) const {
  auto out = keys_.at(id).sign(value(claims), id);
  EXPECT_TRUE(out);
  return out.value_or("");
}

value issuer::jwk(const std::string& id) const {
  auto out = keys_.at(id).public_jwk(id);
  EXPECT_TRUE(out);
  return out.value_or(value());
}

hondana::transport::http_client::small_request_function issuer::caller() {
  return [this](const small_request& what, const std::stop_token&) -> result<small_answer> {
    handler by;
    {
      const std::lock_guard lock(mutex_);
      requests_.push_back(what);
      if (const auto found = places_.find(what.url); found != places_.end()) by = found->second;
    }
    if (!by) return small_answer{404, "text/plain", "no such page", {}, {}};
    auto got = by(what);
    if (got && got->body.size() > what.max_bytes) return hondana::fail(hondana::errc::response_too_large, "too long");
    return got;
  };
}

std::size_t issuer::asked(const std::string& url) {
  const std::lock_guard lock(mutex_);
  return static_cast<std::size_t>(
      std::count_if(requests_.begin(), requests_.end(), [&url](const small_request& one) { return one.url == url; }));
}

std::vector<issuer::small_request> issuer::requests() {
  const std::lock_guard lock(mutex_);
  return requests_;
}

hondana::auth_request with_token(std::string token) {
  hondana::auth_request out;
  out.address = "192.0.2.7";
  out.bearer_token = std::move(token);
  return out;
}

std::chrono::steady_clock::time_point soon() { return std::chrono::steady_clock::now() + event_deadline; }

}  // namespace hondana_test
