/// Where log-ins are kept, and who can read them there.
#include "auth/credentials/credential_store.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/clock.hpp>

#include "auth/credentials/credential_document.hpp"
#include "deadline.hpp"

namespace {

using hondana::errc;
using hondana::token_record;
using namespace hondana::credentials;

/// What a keyring of a test holds and did.
struct keyring_state {
  std::string text;
  bool answers = true;
  bool is_locked = false;
  int calls = 0;
};

class scripted_keyring final : public vault {
 public:
  explicit scripted_keyring(std::shared_ptr<keyring_state> of) : of_(std::move(of)) {}
  bool is_available() override {
    ++of_->calls;
    return of_->answers;
  }
  hondana::result<std::string> load() override {
    ++of_->calls;
    if (of_->is_locked) return hondana::fail(errc::source_unavailable, "it is locked");
    return of_->text;
  }
  hondana::result<void> save(std::string_view text) override {
    ++of_->calls;
    if (of_->is_locked) return hondana::fail(errc::source_unavailable, "it is locked");
    of_->text = text;
    return {};
  }

 private:
  std::shared_ptr<keyring_state> of_;
};

token_record tokens(const std::string& resource, const std::string& scope, const std::string& token) {
  token_record out;
  out.key = {"https://a.example", resource, "client", scope};
  out.tokens.access_token = token;
  return out;
}

constexpr const char* here = "https://m.example/mcp";
constexpr const char* elsewhere = "https://m.example/other";
constexpr const char* issuer = "https://a.example";

class credential_stores : public testing::Test {
 public:
  credential_stores() {
    std::string name = (std::filesystem::temp_directory_path() / "store-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) folder = name;
    file = (folder / "deep" / "credentials.json").string();
  }
  ~credential_stores() override { std::filesystem::remove_all(folder); }
  credential_stores(const credential_stores&) = delete;
  credential_stores& operator=(const credential_stores&) = delete;

 protected:
  [[nodiscard]] std::shared_ptr<hondana::token_store> store(std::optional<store_location> wanted = {}) const {
    return make_store({file, wanted}, std::make_unique<scripted_keyring>(keyring));
  }
  [[nodiscard]] std::string text() const {
    std::stringstream out;
    out << std::ifstream(file).rdbuf();
    return out.str();
  }

  std::filesystem::path folder;
  std::string file;
  std::shared_ptr<keyring_state> keyring = std::make_shared<keyring_state>();
};

TEST_F(credential_stores, keep_what_they_are_given_under_its_key) {
  for (const auto where : {store_location::file, store_location::keyring}) {
    const auto kept = store(where);
    EXPECT_TRUE(kept->find(here)->empty());
    ASSERT_TRUE(kept->put(tokens(here, "read", "1")));
    ASSERT_TRUE(kept->put(tokens(here, "read write", "2")));
    ASSERT_TRUE(kept->put(tokens(elsewhere, "read", "3")));
    ASSERT_TRUE(kept->put(tokens(here, "read", "4")));
    ASSERT_TRUE(kept->put_registration(issuer, {"client", "secret", {}, "none", "u"}));
    // Another process finds the same, whatever it prefers.
    const auto other = store();
    EXPECT_EQ(*other->find(here), (std::vector{tokens(here, "read write", "2"), tokens(here, "read", "4")}));
    ASSERT_TRUE(kept->put_registration(issuer, {"another", "s", {}, "none", "u"}));
    ASSERT_TRUE(kept->put_registration(issuer, {"client", "newer", {}, "none", "u"}));
    const auto registrations = *other->registrations(issuer);
    ASSERT_EQ(registrations.size(), 2u);
    EXPECT_EQ(registrations[0].client_id, "another");
    EXPECT_EQ(registrations[1].client_secret, "newer");
    EXPECT_TRUE(other->registrations("https://b.example")->empty());
    ASSERT_TRUE(other->remove(tokens(here, "read", "").key));
    ASSERT_TRUE(other->remove(tokens(here, "read", "").key));
    EXPECT_EQ(kept->find(here)->size(), 1u);
    ASSERT_TRUE(other->remove(tokens(here, "read write", "").key));
    ASSERT_TRUE(other->remove_registration(issuer, "client"));
    EXPECT_EQ(kept->registrations(issuer)->size(), 1u);
    ASSERT_TRUE(other->remove_registration(issuer, "another"));
    EXPECT_TRUE(kept->find(here)->empty());
    EXPECT_TRUE(kept->registrations(issuer)->empty());
    EXPECT_EQ(kept->find(elsewhere)->size(), 1u);
    ASSERT_TRUE(kept->remove(tokens(elsewhere, "read", "").key));
    EXPECT_EQ(decode(text()).value(), document());
    EXPECT_EQ(decode(keyring->text).value(), document());
  }
}

TEST_F(credential_stores, prefer_the_keyring_where_it_answers_and_leave_no_secret_in_the_file) {
  ASSERT_TRUE(store()->put(tokens(here, "", "s3cret")));
  EXPECT_NE(keyring->text.find("s3cret"), std::string::npos);
  EXPECT_EQ(text().find("s3cret"), std::string::npos);
  keyring->answers = false;
  ASSERT_TRUE(store()->put(tokens(elsewhere, "", "plain")));
  EXPECT_NE(text().find("plain"), std::string::npos);
  // What is in the keyring stays there.
  ASSERT_TRUE(store()->put(tokens(here, "", "s3cret2")));
  EXPECT_EQ(text().find("s3cret"), std::string::npos);
}

TEST_F(credential_stores, keep_new_tokens_where_the_old_ones_are_unless_somebody_wants_them_elsewhere) {
  ASSERT_TRUE(store(store_location::file)->put(tokens(here, "", "1")));
  ASSERT_TRUE(store()->put(tokens(here, "", "2")));
  EXPECT_EQ(keyring->calls, 0);
  EXPECT_EQ(store()->find(here)->at(0).tokens.access_token, "2");
  ASSERT_TRUE(store(store_location::keyring)->put(tokens(here, "", "3")));
  EXPECT_EQ(text().find("\"access_token\""), std::string::npos);
  EXPECT_EQ(*store()->find(here), std::vector{tokens(here, "", "3")});
  ASSERT_TRUE(store(store_location::file)->put(tokens(here, "", "4")));
  EXPECT_EQ(keyring->text.find("\"access_token\""), std::string::npos);
  EXPECT_EQ(*store()->find(here), std::vector{tokens(here, "", "4")});
}

TEST_F(credential_stores, open_the_keyring_for_nothing_that_is_not_in_it) {
  const auto kept = store();
  EXPECT_TRUE(kept->find(here)->empty());
  EXPECT_TRUE(kept->remove(tokens(here, "", "").key));
  EXPECT_TRUE(kept->registrations(issuer)->empty());
  EXPECT_EQ(keyring->calls, 0);
  // Nor make a file for it.
  EXPECT_FALSE(std::filesystem::exists(folder / "deep"));
}

TEST_F(credential_stores, tell_the_keys_that_log_ins_are_renewed_with_and_open_no_keyring_for_that) {
  const auto keys = [this](const std::string& resource) { return key_files_for(resource, {file, {}}); };
  EXPECT_TRUE(keys(here).empty());
  ASSERT_TRUE(store(store_location::file)->put(tokens(here, "", "1")));
  ASSERT_TRUE(store(store_location::keyring)->put(tokens(elsewhere, "", "2")));
  hondana::client_registration client{.client_id = "client", .key_file = "/keys/one.pem"};
  ASSERT_TRUE(store()->put_registration(issuer, client));
  client = {.client_id = "another", .key_file = "/others/two.pem"};
  ASSERT_TRUE(store()->put_registration(issuer, client));
  const auto before = keyring->calls;
  EXPECT_EQ(keys(here), std::vector<std::string>{"/keys/one.pem"});
  // Whose they are stands where only the keyring is.
  EXPECT_EQ(keys(elsewhere), (std::vector<std::string>{"/keys/one.pem", "/others/two.pem"}));
  EXPECT_TRUE(keys("https://m.example/third").empty());
  EXPECT_EQ(keyring->calls, before);
}

TEST_F(credential_stores, say_so_when_the_keyring_is_locked_and_change_nothing) {
  ASSERT_TRUE(store()->put(tokens(here, "", "1")));
  const auto before = text();
  keyring->is_locked = true;
  EXPECT_EQ(store()->find(here).error().code, errc::source_unavailable);
  EXPECT_FALSE(store()->put(tokens(here, "", "2")));
  EXPECT_EQ(text(), before);
}

TEST_F(credential_stores, make_a_file_that_nobody_else_reads) {
  const auto old = ::umask(0);
  const auto done = store(store_location::file)->put(tokens(here, "", "1"));
  ::umask(old);
  ASSERT_TRUE(done);
  struct stat facts{};
  ASSERT_EQ(::stat(file.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777u, 0600u);
  ASSERT_EQ(::stat((folder / "deep").c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777u, 0700u);
}

TEST_F(credential_stores, refuse_a_file_that_others_can_read) {
  ASSERT_TRUE(store(store_location::file)->put(tokens(here, "", "1")));
  ASSERT_EQ(::chmod(file.c_str(), 0604), 0);
  const auto found = store()->find(here);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code, errc::access_denied);
  EXPECT_NE(found.error().public_text.find("chmod 600"), std::string::npos) << found.error().public_text;
  EXPECT_FALSE(store(store_location::file)->put(tokens(here, "", "2")));
}

TEST_F(credential_stores, refuse_a_damaged_file_and_do_not_replace_it) {
  ASSERT_TRUE(store(store_location::file)->put(tokens(here, "", "1")));
  std::ofstream(file) << "{\"tokens\":[1]}";
  const auto found = store()->find(here);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().public_text.find("tokens[]"), std::string::npos) << found.error().public_text;
  EXPECT_FALSE(store(store_location::file)->put(tokens(here, "", "2")));
  EXPECT_EQ(text(), "{\"tokens\":[1]}");
}

TEST_F(credential_stores, refuse_the_one_entry_that_would_make_all_unreadable) {
  for (const auto where : {store_location::file, store_location::keyring}) {
    const auto kept = store(where);
    ASSERT_TRUE(kept->put(tokens(here, "", "1")));
    const auto refused = kept->put(tokens(elsewhere, "", std::string(max_entry_bytes, 'x')));
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().public_text.find("https://a.example"), std::string::npos) << refused.error().public_text;
    const std::chrono::sys_time<std::chrono::seconds> far(std::chrono::seconds(1'900'000'000'000));
    EXPECT_FALSE(kept->put_registration(issuer, {"client", "secret", far, "none", "u"}));
    EXPECT_FALSE(kept->put_registration(issuer, {"client", "", {}, std::string(max_document_bytes, 'm'), "u"}));
    // Nor do many of them.
    int count = 0;
    while (count < 100 && kept->put(tokens(elsewhere, std::to_string(count), std::string(60'000, 'x')))) ++count;
    EXPECT_GT(count, 10);
    EXPECT_LT(count, 100);
    const auto found = kept->find(here);
    ASSERT_TRUE(found) << found.error().public_text;
    EXPECT_EQ(*found, std::vector{tokens(here, "", "1")});
    for (int i = 0; i < count; ++i) ASSERT_TRUE(kept->remove(tokens(elsewhere, std::to_string(i), "").key));
    ASSERT_TRUE(kept->remove(tokens(here, "", "").key));
  }
}

TEST_F(credential_stores, lose_nothing_when_many_write_at_once) {
  std::vector<std::jthread> writers;
  writers.reserve(8);
  for (int i = 0; i < 8; ++i) {
    writers.emplace_back([this, i] {
      // As a process of its own would.
      const auto kept = store(store_location::file);
      for (int j = 0; j < 10; ++j) EXPECT_TRUE(kept->put(tokens(here, std::to_string(10 * i + j), "t")));
    });
  }
  writers.clear();
  EXPECT_EQ(store()->find(here)->size(), 80u);
}

TEST_F(credential_stores, keep_others_out_of_one_resource_as_long_as_somebody_wants) {
  const auto mine = store();
  const auto other = store();
  auto held = mine->lock(here, std::chrono::milliseconds(0), {});
  ASSERT_TRUE(held) << held.error().public_text;
  const auto late = other->lock(here, std::chrono::milliseconds(1), {});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, errc::timed_out);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(other->lock(here, std::chrono::hours(1), stop.get_token()).error().code, errc::cancelled);
  EXPECT_TRUE(other->lock(elsewhere, std::chrono::milliseconds(0), {}));
  // Nobody else is hindered.
  EXPECT_TRUE(other->put(tokens(here, "", "1")));
  std::jthread releasing([&held] { held->reset(); });
  EXPECT_TRUE(other->lock(here, hondana_test::event_deadline, {}));
}

/// Sets a variable of the environment, or removes it, for as long as it lives.
class set_variable {
 public:
  set_variable(const char* name, const char* value) : name_(name) {
    if (const char* const now = std::getenv(name)) before_ = now;
    set(value);
  }
  ~set_variable() { set(before_ ? before_->c_str() : nullptr); }
  set_variable(const set_variable&) = delete;
  set_variable& operator=(const set_variable&) = delete;

 private:
  void set(const char* value) const {
    if (value == nullptr) {
      ::unsetenv(name_);
    } else {
      ::setenv(name_, value, 1);
    }
  }
  const char* name_;
  std::optional<std::string> before_{};
};

TEST_F(credential_stores, have_their_file_where_data_of_programs_belongs) {
  const auto with = [](const char* data, const char* home) {
    const set_variable first("XDG_DATA_HOME", data);
    const set_variable second("HOME", home);
    return default_file();
  };
  EXPECT_EQ(with("/data", "/home/ada"), "/data/hondana/credentials.json");
  EXPECT_EQ(with(nullptr, "/home/ada"), "/home/ada/.local/share/hondana/credentials.json");
  // Relative ones are invalid there.
  EXPECT_EQ(with("data", "/home/ada"), "/home/ada/.local/share/hondana/credentials.json");
  EXPECT_EQ(with(nullptr, nullptr), "");
  const auto nowhere = make_store({"", {}}, std::make_unique<scripted_keyring>(keyring));
  EXPECT_TRUE(nowhere->find(here)->empty());
  EXPECT_TRUE(nowhere->remove(tokens(here, "", "").key));
  EXPECT_EQ(nowhere->put(tokens(here, "", "1")).error().code, errc::source_unavailable);
}

/// Run by tests/unit/auth/credentials/with_keyring.sh, under a bus and a keyring of its own.
TEST(desktop_keyring, keeps_a_text) {
  if (std::getenv("HONDANA_TEST_KEYRING") == nullptr) GTEST_SKIP() << "there is no keyring of our own";
  const hondana::manual_clock clock;
  const auto keyring = make_keyring_vault();
  ASSERT_TRUE(keyring->is_available());
  const auto before = keyring->load();
  ASSERT_TRUE(before) << before.error().public_text;
  EXPECT_EQ(*before, "");
  const auto saved = keyring->save("first \xC3\xA4");
  ASSERT_TRUE(saved) << saved.error().public_text;
  EXPECT_EQ(keyring->load().value_or(""), "first \xC3\xA4");
  ASSERT_TRUE(keyring->save(std::string(100'000, 'x') + "second"));
  EXPECT_EQ(make_keyring_vault()->load().value_or(""), std::string(100'000, 'x') + "second");
}

TEST(desktop_keyring, does_not_answer_without_a_bus) {
  const set_variable folder("XDG_RUNTIME_DIR", "/nowhere");
  {
    const set_variable address("DBUS_SESSION_BUS_ADDRESS", "unix:path=/nowhere/bus");
    EXPECT_FALSE(make_keyring_vault()->is_available());
  }
  const set_variable address("DBUS_SESSION_BUS_ADDRESS", nullptr);
  const auto keyring = make_keyring_vault();
  EXPECT_FALSE(keyring->is_available());
  const auto text = keyring->load();
  ASSERT_FALSE(text);
  EXPECT_NE(text.error().public_text.find("--store file"), std::string::npos) << text.error().public_text;
}

}  // namespace
