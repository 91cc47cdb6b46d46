/// A token endpoint that says what a test wants, files to go to it with, and keys.
#pragma once

#include <openssl/pem.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>
#include <hondana/value.hpp>

#include "auth/google/access_tokens.hpp"
#include "auth/jose/jwt.hpp"
#include "auth/oauth/form.hpp"
#include "base/crypto/openssl.hpp"
#include "deadline.hpp"
#include "unit/transport/http_client/scripted_server.hpp"

namespace hondana_test {

using hondana::value;

/// An RSA key, made once.
inline const std::string& rsa_pem() {
  static const std::string made = [] {
    const hondana::crypto::key_pointer key(EVP_RSA_gen(2048));
    const std::unique_ptr<BIO, hondana::crypto::openssl_deleter<BIO_free_all>> into(BIO_new(BIO_s_mem()));
    EXPECT_EQ(PEM_write_bio_PKCS8PrivateKey(into.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr), 1);
    char* bytes = nullptr;
    const auto size = BIO_get_mem_data(into.get(), &bytes);
    return std::string(bytes, static_cast<std::size_t>(size));
  }();
  return made;
}

inline std::string account_json(const std::string& token_url, const value::object& more = {}) {
  value::object out{{"type", "service_account"},
                    {"client_email", "reader@team.iam.gserviceaccount.com"},
                    {"private_key_id", "key-1"},
                    {"private_key", rsa_pem()},
                    {"client_id", "1234567890"}};
  if (!token_url.empty()) out.emplace_back("token_uri", token_url);
  out.insert(out.end(), more.begin(), more.end());
  return value(std::move(out)).to_text();
}

inline std::string user_json(const value::object& more = {}) {
  value::object out{{"type", "authorized_user"},
                    {"client_id", "app.apps.googleusercontent.com"},
                    {"client_secret", "s3cret-of-app"},
                    {"refresh_token", "1//refresh-me"}};
  out.insert(out.end(), more.begin(), more.end());
  return value(std::move(out)).to_text();
}

/// A folder that is gone afterwards.
class own_folder {
 public:
  own_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "hondana-google-XXXXXX").string();
    EXPECT_NE(::mkdtemp(name.data()), nullptr);
    path_ = name;
  }
  ~own_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  own_folder(const own_folder&) = delete;
  own_folder& operator=(const own_folder&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return path_ + '/' + name; }
  /// Replaces the file as editors do, so that it is another one.
  std::string put(const std::string& name, const std::string& text, mode_t mode = 0600) const {
    const auto fresh = path(name + ".fresh");
    {
      std::ofstream out(fresh);
      out << text;
    }
    EXPECT_EQ(::chmod(fresh.c_str(), mode), 0);
    std::filesystem::rename(fresh, path(name));
    return path(name);
  }

 private:
  std::string path_;
};

/// What was POSTed, by name.
inline std::string posted(const heard_request& from, std::string_view name) {
  const auto all = hondana::oauth::read_query(from.body);
  const auto* found = all ? hondana::oauth::find(*all, name) : nullptr;
  return found == nullptr ? std::string() : *found;
}

/// The claims of an assertion, unchecked.
inline value claims_in(const heard_request& from) {
  const auto read = hondana::jose::read_token(posted(from, "assertion"));
  EXPECT_TRUE(read) << (read ? "" : read.error().public_text);
  return read ? read->claims : value();
}

struct token_reply {
  int status = 200;
  std::string body{};
  std::string more{};  ///< Header lines.
};

inline token_reply token_of(const std::string& token, int life = 3'600, const std::string& scope = {}) {
  return {200,
          R"({"access_token":")" + token + R"(","expires_in":)" + std::to_string(life) + R"(,"token_type":"Bearer")" +
              (scope.empty() ? "" : R"(,"scope":")" + scope + '"') + '}',
          {}};
}

inline token_reply error_of(const std::string& error, const std::string& description = {}, int status = 400) {
  return {status, R"({"error":")" + error + R"(","error_description":")" + description + R"("})", {}};
}

/// Says `replies` one after the other, the last for ever.
class token_place {
 public:
  explicit token_place(std::vector<token_reply> replies)
      : replies_(std::move(replies)), server_([this](const heard_request& asked, scripted_connection& to) {
          const auto reply = next();
          if (before_) before_(asked);
          return to.answer(reply.status, "application/json", reply.body, reply.more);
        }) {}

  [[nodiscard]] std::string url() const { return server_.url("/token"); }
  [[nodiscard]] std::string server_url(std::string_view path) const { return server_.url(path); }
  [[nodiscard]] scripted_server& server() noexcept { return server_; }
  /// Called before each answer.
  void before(std::function<void(const heard_request&)> what) { before_ = std::move(what); }
  [[nodiscard]] std::size_t asked() {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

 private:
  token_reply next() {
    const std::lock_guard lock(mutex_);
    return replies_[std::min(asked_++, replies_.size() - 1)];
  }

  std::mutex mutex_;
  std::vector<token_reply> replies_;
  std::size_t asked_ = 0;
  std::function<void(const heard_request&)> before_;
  scripted_server server_;
};

inline std::chrono::steady_clock::time_point soon() { return hondana::monotonic_clock::now() + event_deadline; }

}  // namespace hondana_test
