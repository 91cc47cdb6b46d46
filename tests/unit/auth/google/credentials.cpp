/// Files of credentials: what is taken, what is refused and in which words, and where they are looked for.
#include "auth/google/credentials.hpp"

#include <map>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "unit/auth/google/token_place.hpp"

namespace {

using hondana::errc;
using hondana::value;
using hondana::google::authorized_user;
using hondana::google::credential_locations;
using hondana::google::find_credentials;
using hondana::google::parse_credentials;
using hondana::google::parse_oauth_client;
using hondana::google::service_account;
using hondana_test::account_json;
using hondana_test::own_folder;
using hondana_test::user_json;

std::string why_not(const std::string& json, const std::string& token_url = {}) {
  const auto got = parse_credentials(json, token_url);
  if (got) return "taken";
  EXPECT_EQ(got.error().code, errc::invalid_argument);
  // Neither a key nor a refresh token is in any text.
  for (const auto* text : {&got.error().public_text, &got.error().private_text}) {
    EXPECT_EQ(text->find("BEGIN"), std::string::npos) << *text;
    EXPECT_EQ(text->find("refresh-me"), std::string::npos) << *text;
    EXPECT_EQ(text->find("s3cret"), std::string::npos) << *text;
  }
  return got.error().public_text;
}

TEST(google_credentials, are_a_service_accounts_key_or_a_log_in) {
  const auto machine = parse_credentials(account_json({}));
  ASSERT_TRUE(machine) << machine.error().public_text;
  const auto& account = std::get<service_account>(*machine);
  EXPECT_EQ(account.email, "reader@team.iam.gserviceaccount.com");
  EXPECT_EQ(account.key_id, "key-1");
  EXPECT_EQ(account.client_id, "1234567890");
  EXPECT_EQ(account.token_url, "https://oauth2.googleapis.com/token");

  const auto person =
      parse_credentials("\xef\xbb\xbf" + user_json({{"quota_project_id", "p"}, {"account", "ann@example.com"}}));
  ASSERT_TRUE(person) << person.error().public_text;
  const auto& user = std::get<authorized_user>(*person);
  EXPECT_EQ(user.client_id, "app.apps.googleusercontent.com");
  EXPECT_EQ(user.client_secret, "s3cret-of-app");
  EXPECT_EQ(user.refresh_token, "1//refresh-me");
  EXPECT_EQ(user.account, "ann@example.com");
  // What is written is read again.
  const auto again = parse_credentials(encode(user));
  ASSERT_TRUE(again);
  EXPECT_EQ(std::get<authorized_user>(*again).refresh_token, user.refresh_token);
  EXPECT_EQ(std::get<authorized_user>(*again).token_url, user.token_url);
}

TEST(google_credentials, that_cannot_be_used_name_the_member_and_never_its_value) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "not a JSON object"},
      {"[]", "not a JSON object"},
      {R"({"type":"authorized_user","refresh_token":"1//refresh-me)", "not a JSON object"},
      {std::string(70'000, ' ') + "{}", "64 KiB"},
      {"{}", "type: missing"},
      {R"({"type":7})", "type: expected one line"},
      {R"({"type":"external_account"})", "external_account is not supported"},
      {R"({"type":"1//refresh-me"})", "unknown type"},
      {R"({"installed":{"client_id":"a"}})", "OAuth client, not a login"},
      {R"({"web":{"client_id":"a"}})", "OAuth client, not a login"},
      {R"({"type":"authorized_user"})", "client_id: missing"},
      {R"({"type":"authorized_user","client_id":"a"})", "refresh_token: missing"},
      {R"({"type":"authorized_user","client_id":"a\nb","refresh_token":"1//refresh-me"})", "client_id: expected one line"},
      {R"({"type":"authorized_user","client_id":"a","refresh_token":"refresh-me\r\nX: y"})",
       "refresh_token: expected one line"},
      {R"({"type":"authorized_user","client_id":"a","refresh_token":["1//refresh-me"]})", "refresh_token: expected one line"},
      {R"({"type":"service_account"})", "client_email: missing"},
      {R"({"type":"service_account","client_email":"nobody"})", "client_email: expected an e-mail"},
      {R"({"type":"service_account","client_email":"a@b"})", "private_key: missing"},
      {R"({"type":"service_account","client_email":"a@b","private_key":"-----BEGIN x"})", "private_key: expected an RSA key"},
      {account_json("https://evil.example/token"), "not a Google host"},
      {account_json("http://oauth2.googleapis.com/token"), "token_uri"},
      {account_json("https://oauth2.googleapis.com@evil.example/token"), "token_uri"},
      {account_json("https://oauth2.googleapis.com.evil.example/token"), "not a Google host"},
      {account_json("https://oauth2.googleapis.com:444/token"), "not a Google host"},
      {account_json("https://169.254.169.254/token"), "not a Google host"},
      {account_json("http://127.0.0.1:1/token"), "not a Google host"},
      {account_json("file:///etc/passwd"), "token_uri"},
  };
  for (const auto& [json, part] : cases)
    EXPECT_NE(why_not(json).find(part), std::string::npos) << why_not(json) << "\nfor " << json.substr(0, 80);
}

TEST(google_credentials, go_to_another_token_endpoint_only_where_the_settings_name_it) {
  const auto taken = parse_credentials(account_json("https://evil.example/token"), "http://127.0.0.1:8080/token");
  ASSERT_TRUE(taken) << taken.error().public_text;
  EXPECT_EQ(std::get<service_account>(*taken).token_url, "http://127.0.0.1:8080/token");
  EXPECT_NE(why_not(user_json(), "http://192.0.2.1/token"), "taken");
  EXPECT_NE(why_not(user_json(), "https://user:pw@sso.example/token"), "taken");
  EXPECT_EQ(why_not(user_json(), "https://sso.example/token"), "taken");
}

TEST(google_credentials, of_a_client_are_those_of_a_desktop_app) {
  const auto client = parse_oauth_client(
      R"({"installed":{"client_id":"app","client_secret":"x","auth_uri":"https://accounts.google.com/o/oauth2/auth",)"
      R"("token_uri":"https://oauth2.googleapis.com/token","redirect_uris":["http://localhost"]}})");
  ASSERT_TRUE(client) << client.error().public_text;
  EXPECT_EQ(client->id, "app");
  EXPECT_EQ(client->auth_url, "https://accounts.google.com/o/oauth2/auth");
  for (const auto& [json, part] : std::initializer_list<std::pair<std::string, std::string>>{
           {R"({"web":{"client_id":"app"}})", "Desktop app"},
           {R"({"type":"service_account"})", "installed: missing"},
           {R"({"installed":{}})", "client_id: missing"},
           {R"({"installed":{"client_id":"a","auth_uri":"https://evil.example/x"}})", "auth_uri"},
           {R"({"installed":{"client_id":"a","token_uri":"https://evil.example/x"}})", "token_uri"}}) {
    const auto got = parse_oauth_client(json);
    ASSERT_FALSE(got) << json;
    EXPECT_NE(got.error().public_text.find(part), std::string::npos) << got.error().public_text;
  }
}

TEST(google_credentials, are_looked_for_in_order) {
  const own_folder folder;
  std::map<std::string, std::string> variables;
  credential_locations in;
  in.variables = [&variables](const char* name) { return variables[name]; };
  in.login_file = folder.path("log-in.json");
  in.advice = "log in with `hondana login --source team`";

  auto got = find_credentials(in);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::unauthorized);
  EXPECT_NE(got.error().public_text.find("log in with `hondana login --source team`"), std::string::npos);

  variables["GOOGLE_APPLICATION_CREDENTIALS"] = folder.put("adc.json", user_json({{"account", "adc"}}));
  const auto account_of = [&] {
    const auto found = find_credentials(in);
    return found ? std::get<authorized_user>(found->identity).account : found.error().public_text;
  };
  EXPECT_EQ(account_of(), "adc");
  const auto stamp = stamp_of(in);
  folder.put("log-in.json", user_json({{"account", "kept"}}));
  EXPECT_EQ(account_of(), "kept");
  EXPECT_NE(stamp_of(in), stamp);
  variables["HONDANA_GDRIVE_CREDENTIALS"] = user_json({{"account", "inline"}});
  EXPECT_EQ(account_of(), "inline");
  in.file = folder.put("named.json", user_json({{"account", "named"}}));
  EXPECT_EQ(account_of(), "named");
}

TEST(google_credentials, in_files_that_others_can_read_are_refused_and_the_path_is_for_the_log) {
  const own_folder folder;
  credential_locations in;
  in.file = folder.put("open.json", user_json(), 0644);
  const auto open = find_credentials(in);
  ASSERT_FALSE(open);
  EXPECT_EQ(open.error().code, errc::access_denied);
  EXPECT_NE(open.error().public_text.find("chmod 600"), std::string::npos) << open.error().public_text;
  EXPECT_EQ(open.error().public_text.find(folder.path("")), std::string::npos) << open.error().public_text;
  EXPECT_NE(open.error().private_text.find(in.file), std::string::npos);

  in.file = folder.path("none.json");
  const auto none = find_credentials(in);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, errc::unauthorized);
  EXPECT_NE(none.error().public_text.find("does not exist"), std::string::npos);
  EXPECT_EQ(none.error().public_text.find(folder.path("")), std::string::npos);

  in.file = folder.put("broken.json", "{\"private_key\":\"-----BEGIN");
  const auto broken = find_credentials(in);
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code, errc::invalid_argument);
  EXPECT_EQ((broken.error().public_text + broken.error().private_text).find("BEGIN"), std::string::npos);
}

TEST(google_credentials, of_a_log_in_lie_below_the_users_data) {
  const auto of = [](std::map<std::string, std::string> set) {
    return hondana::google::default_login_file("team", [set](const char* name) {
      const auto found = set.find(name);
      return found == set.end() ? std::string() : found->second;
    });
  };
  EXPECT_EQ(of({{"XDG_DATA_HOME", "/d"}, {"HOME", "/h"}}), "/d/hondana/google-team.json");
  EXPECT_EQ(of({{"HOME", "/h"}}), "/h/.local/share/hondana/google-team.json");
  EXPECT_EQ(of({{"XDG_DATA_HOME", "relative"}}), "");
}

TEST(google_scopes, are_for_reading_and_no_others_are_asked_for) {
  using hondana::google::read_scopes;
  EXPECT_EQ(scope_string(*read_scopes({})), "https://www.googleapis.com/auth/drive.readonly");
  EXPECT_EQ(scope_string(*read_scopes({"drive.metadata.readonly"})), "https://www.googleapis.com/auth/drive.metadata.readonly");
  EXPECT_EQ(scope_string(*read_scopes({"https://www.googleapis.com/auth/drive.readonly", "drive.metadata.readonly"})),
            "https://www.googleapis.com/auth/drive.metadata.readonly https://www.googleapis.com/auth/drive.readonly");
  for (const auto* wide :
       {"drive", "https://www.googleapis.com/auth/drive", "drive.file", "cloud-platform", "", "drive.readonly "}) {
    const auto got = read_scopes({wide});
    ASSERT_FALSE(got) << wide;
    EXPECT_EQ(got.error().code, errc::invalid_argument);
    EXPECT_NE(got.error().public_text.find("hondana only reads Drive"), std::string::npos);
  }
  EXPECT_FALSE(may_read_contents(*read_scopes({"drive.metadata.readonly"})));
}

}  // namespace
