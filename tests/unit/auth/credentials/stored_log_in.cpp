/// Log-ins of before as the tokens of a client.
#include "auth/credentials/stored_login.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace {

using hondana::errc;
using hondana::http_target;
using hondana::make_memory_token_store;
using hondana::result;
using namespace hondana::credentials;

/// One that cannot be read until it is mended.
class unreadable_store final : public hondana::token_store {
 public:
  result<std::vector<hondana::token_record>> find(const std::string& resource) override {
    return is_mended ? inner_->find(resource) : hondana::fail(errc::access_denied, "others can read it");
  }
  result<void> put(const hondana::token_record& what) override { return inner_->put(what); }
  result<void> remove(const hondana::token_key& key) override { return inner_->remove(key); }
  result<std::shared_ptr<void>> lock(const std::string& resource, std::chrono::milliseconds most,
                                     const std::stop_token& stop) override {
    return inner_->lock(resource, most, stop);
  }
  result<std::vector<hondana::client_registration>> registrations(const std::string& of) override {
    return inner_->registrations(of);
  }
  result<void> put_registration(const std::string& of, const hondana::client_registration& what) override {
    return inner_->put_registration(of, what);
  }
  result<void> remove_registration(const std::string& of, const std::string& client_id) override {
    return inner_->remove_registration(of, client_id);
  }

  bool is_mended = false;

 private:
  std::shared_ptr<hondana::token_store> inner_ = hondana::make_memory_token_store();
};

constexpr const char* server = "https://m.example/mcp";

class stored_log_ins : public testing::Test {
 protected:
  [[nodiscard]] std::shared_ptr<hondana::token_source> source() {
    hondana::http_target of;
    of.url = server;
    return hondana::credentials::make_stored_token_source(of, store, "log in",
                                                          [this](std::string_view line) { said += std::string(line) + '\n'; });
  }
  std::shared_ptr<unreadable_store> store = std::make_shared<unreadable_store>();
  std::string said;
};

TEST_F(stored_log_ins, that_cannot_be_read_are_none_until_the_server_asks) {
  const auto tokens = source();
  EXPECT_FALSE(tokens->token());
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(tokens->obtain({server, {}, {}, {}, 0}, {}));
    EXPECT_EQ(tokens->token(), "");
  }
  EXPECT_EQ(said, "no stored login is used for https://m.example/mcp: others can read it\n");
  const auto refused = tokens->obtain({server, 401, {"Bearer"}, {}, 1}, {});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, errc::access_denied);
}

TEST_F(stored_log_ins, that_can_be_read_after_all_are_sent_when_the_server_asks) {
  const auto tokens = source();
  ASSERT_TRUE(tokens->obtain({server, {}, {}, {}, 0}, {}));
  hondana::token_record kept;
  kept.key = {"https://a.example", server, "client", ""};
  kept.tokens.access_token = "kept";
  ASSERT_TRUE(store->put(kept));
  store->is_mended = true;
  ASSERT_TRUE(tokens->obtain({server, 401, {"Bearer"}, {}, 1}, {}));
  EXPECT_EQ(tokens->token(), "kept");
}

TEST(stored_log_in, trusts_and_shows_what_its_target_does) {
  hondana::http_target of{.url = "https://mcp.example/mcp"};
  of.ca_file = "ca.pem";
  of.certificate_file = "own.pem";
  of.key_file = "own-key.pem";
  const auto with = hondana::credentials::make_client_options(hondana::make_memory_token_store(), of);
  ASSERT_TRUE(with);
  EXPECT_EQ(with->ca_file, "ca.pem");
  EXPECT_EQ(with->certificate_file, "own.pem");
  EXPECT_EQ(with->key_file, "own-key.pem");
}

/// A file of a key, which goes with the test.
struct key_of_a_client {
  key_of_a_client() {
    std::string name = (std::filesystem::temp_directory_path() / "key-XXXXXX").string();
    if (const int file = ::mkstemp(name.data()); file >= 0) ::close(file);
    path = name;
    std::ofstream(path) << "-----BEGIN the key";
  }
  ~key_of_a_client() { std::filesystem::remove(path); }
  std::string path;
};

TEST(stored_log_in, reads_the_key_of_the_client_that_logged_in_last) {
  const key_of_a_client key;
  const http_target of{.url = "https://mcp.example/mcp"};
  const auto store = make_memory_token_store();
  hondana::token_record tokens;
  tokens.key = {"https://a.example", of.url, "ours", ""};
  ASSERT_TRUE(store->put(tokens));
  tokens.key = {"https://b.example", of.url, "without", ""};
  tokens.tokens.issued_at += std::chrono::seconds(1);
  ASSERT_TRUE(store->put(tokens));
  hondana::client_registration client;
  client.client_id = "ours";
  client.key_file = key.path;
  ASSERT_TRUE(store->put_registration("https://a.example", client));
  auto with = *make_client_options(store, of);
  ASSERT_TRUE(add_stored_client(with, of.url));
  EXPECT_EQ(with.private_key, std::nullopt);
  tokens.key.issuer = "https://a.example";
  tokens.key.client_id = "ours";
  tokens.tokens.issued_at += std::chrono::seconds(1);
  ASSERT_TRUE(store->put(tokens));
  ASSERT_TRUE(add_stored_client(with, of.url));
  EXPECT_EQ(with.private_key, "-----BEGIN the key");
  EXPECT_EQ(with.client_id, "ours");
  EXPECT_EQ(with.issuer, "https://a.example");
  client.key_file = "/nowhere/key.pem";
  ASSERT_TRUE(store->put_registration("https://a.example", client));
  const auto lost = add_stored_client(with, of.url);
  ASSERT_FALSE(lost);
  EXPECT_NE(lost.error().public_text.find("/nowhere/key.pem"), std::string::npos) << lost.error().public_text;
  // Nothing is asked without it.
  const auto refused = make_stored_token_source(of, store, "log in", {})->obtain({of.url, 401, {"Bearer"}, {}, 1}, {});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().public_text.find("/nowhere/key.pem"), std::string::npos) << refused.error().public_text;
}

/// Who has logged in last, and what is known of the client.
struct log_in_of_before {
  explicit log_in_of_before(hondana::client_registration client) {
    hondana::token_record tokens;
    tokens.key = {"https://a.example", of.url, client.client_id, ""};
    EXPECT_TRUE(store->put(tokens));
    EXPECT_TRUE(store->put_registration("https://a.example", client));
  }
  const http_target of{.url = "https://mcp.example/mcp"};
  std::shared_ptr<hondana::token_store> store = make_memory_token_store();
};

TEST(stored_log_in, goes_on_as_the_machine_that_was_logged_in) {
  hondana::client_registration machine{.client_id = "robot", .client_secret = "s3cret"};
  machine.is_manual = true;
  machine.is_machine = true;
  const log_in_of_before known(machine);
  auto with = *make_client_options(known.store, known.of);
  ASSERT_TRUE(add_stored_client(with, known.of.url));
  EXPECT_EQ(with.grant, hondana::oauth_grant::client_credentials);
  EXPECT_EQ(with.client_id, "robot");
  EXPECT_EQ(with.client_secret, "s3cret");
  EXPECT_EQ(with.issuer, "https://a.example") << "nobody else gets the secret";
}

TEST(stored_log_in, leaves_clients_alone_that_registered_themselves) {
  const log_in_of_before known({.client_id = "dynamic", .client_secret = "s3cret"});
  auto with = *make_client_options(known.store, known.of);
  ASSERT_TRUE(add_stored_client(with, known.of.url));
  ASSERT_TRUE(add_previous_client(with, known.of.url));
  EXPECT_EQ(with.client_id, std::nullopt);
  EXPECT_EQ(with.issuer, std::nullopt);
}

TEST(stored_log_in, makes_another_by_the_client_of_before_unless_another_is_named) {
  const key_of_a_client key;
  hondana::client_registration client{.client_id = "ours", .key_file = key.path};
  client.is_manual = true;
  const log_in_of_before known(client);
  const auto after = [&known](const auto& wanted) {
    auto with = *make_client_options(known.store, known.of);
    wanted(with);
    EXPECT_TRUE(add_previous_client(with, known.of.url));
    return with;
  };
  const auto again = after([](auto&) {});
  EXPECT_EQ(again.client_id, "ours");
  EXPECT_EQ(again.issuer, "https://a.example");
  EXPECT_EQ(again.private_key, "-----BEGIN the key");
  EXPECT_EQ(after([](auto& with) { with.client_id = "other"; }).private_key, std::nullopt);
  EXPECT_EQ(after([](auto& with) { with.metadata_url = "https://c.example/c"; }).client_id, std::nullopt);
  EXPECT_EQ(after([](auto& with) { with.issuer = "https://b.example"; }).client_id, std::nullopt);
  EXPECT_EQ(after([](auto& with) { with.grant = hondana::oauth_grant::client_credentials; }).client_id, std::nullopt)
      << "a person's client was taken for a machine's";
  const auto renewed = after([](auto& with) { with.client_secret = "n3w"; });
  EXPECT_EQ(renewed.client_id, "ours");
  EXPECT_EQ(renewed.client_secret, "n3w");
  EXPECT_EQ(renewed.private_key, std::nullopt);
}

TEST(stored_log_in, is_not_for_a_proxy_that_could_read_it) {
  http_target of{.url = "http://127.0.0.1:7325/mcp"};
  EXPECT_NE(make_stored_token_source(of, make_memory_token_store(), "log in", {}), nullptr);
  of.proxy = "http://proxy.example:3128";
  EXPECT_EQ(make_stored_token_source(of, make_memory_token_store(), "log in", {}), nullptr);
  of.url = "https://mcp.example/mcp";
  EXPECT_NE(make_stored_token_source(of, make_memory_token_store(), "log in", {}), nullptr);
}

}  // namespace
