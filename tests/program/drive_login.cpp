/// Logging in to Google Drive for a source, with a browser that is a program and a Google that is a stand-in.
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "program/folder.hpp"
#include "program/process.hpp"
#include "program/served.hpp"

namespace {

using program_test::folder;
using program_test::misused;
using program_test::outcome;
using program_test::patience;
using program_test::process;
using program_test::run;
using program_test::well;
using program_test::within;

/// Google, and somebody's desk with a browser that goes where it is sent.
class desk_with_drive {
 public:
  desk_with_drive() : google_({}, program_test::output_to::pipe, HONDANA_DRIVE_STAND_IN) {
    const std::string said = "listening on ";
    const auto line = google_.read_line(within(patience)).value_or("nothing");
    if (!line.starts_with(said)) throw std::runtime_error("the stand-in says " + line);
    url_ = line.substr(said.size());
    home_.put("browser", "#!/bin/sh\nexec curl --silent --location --output /dev/null --max-time 180 \"$1\"\n");
    std::filesystem::permissions(home_.path("browser"), std::filesystem::perms::owner_all);
    home_.put("client.json", R"({"installed":{"client_id":"1234567890-standin.apps.googleusercontent.com",)"
                             R"("client_secret":"GOCSPX-stand-in-secret"}})");
    configure({});
  }

  /// `more`: further lines of the source.
  void configure(const std::string& more) const {
    home_.put("hondana.toml",
              "[[source]]\ntype = \"gdrive\"\nname = \"team\"\nstore = \":memory:\"\nclient_file = \"client.json\"\n"
              "login_file = \"kept/log-in.json\"\napi_url = \"" +
                  url_ + "\"\ntoken_url = \"" + url_ + "/token\"\nauth_url = \"" + url_ + "/o/oauth2/v2/auth\"\n" + more +
                  "[[source]]\ntype = \"files\"\nname = \"here\"\nroot = \".\"\n");
  }
  [[nodiscard]] outcome does(const std::vector<std::string>& words) const {
    std::vector<std::string> all{"-u",
                                 "DBUS_SESSION_BUS_ADDRESS",
                                 "-u",
                                 "XDG_RUNTIME_DIR",
                                 "-u",
                                 "XDG_CONFIG_HOME",
                                 "HOME=" + home_.path("."),
                                 "BROWSER=" + home_.path("browser"),
                                 "DISPLAY=:99",
                                 HONDANA_PROGRAM};
    all.insert(all.end(), words.begin(), words.end());
    return run(std::move(all), "/usr/bin/env");
  }
  [[nodiscard]] std::string config() const { return home_.path("hondana.toml"); }
  [[nodiscard]] std::string log_in_file() const { return home_.path("kept/log-in.json"); }
  [[nodiscard]] const folder& home() const noexcept { return home_; }

 private:
  folder home_;
  process google_;
  std::string url_;
};

std::string text_in(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(program_drive_login, keeps_a_log_in_that_the_source_takes_and_takes_it_back) {
  const desk_with_drive mine;
  const auto before = mine.does({"logout", "--source", "team", "--config", mine.config()});
  EXPECT_EQ(before.how, well) << before.errors;
  EXPECT_NE(before.errors.find("there was no login"), std::string::npos) << before.errors;

  const auto login = mine.does({"login", "--source", "team", "--config", mine.config()});
  ASSERT_EQ(login.how, well) << login.errors;
  EXPECT_EQ(login.output, "");
  EXPECT_NE(
      login.errors.find(
          "logged in to Google Drive as taro@example.com, for https://www.googleapis.com/auth/drive.readonly; stored in " +
          mine.log_in_file()),
      std::string::npos)
      << login.errors;
  EXPECT_EQ(login.errors.find("GOCSPX"), std::string::npos) << login.errors;
  struct stat facts{};
  ASSERT_EQ(::stat(mine.log_in_file().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777u, 0600u);
  const auto kept = text_in(mine.log_in_file());
  EXPECT_NE(kept.find("\"type\":\"authorized_user\""), std::string::npos);
  EXPECT_NE(kept.find("\"account\":\"taro@example.com\""), std::string::npos);
  const auto begin = kept.find("\"refresh_token\":\"") + 17;
  const auto refresh = kept.substr(begin, kept.find('"', begin) - begin);
  ASSERT_GT(refresh.size(), 4u);
  EXPECT_EQ(login.errors.find(refresh), std::string::npos);

  const auto logout = mine.does({"logout", "--source", "team", "--config", mine.config()});
  EXPECT_EQ(logout.how, well) << logout.errors;
  EXPECT_EQ(logout.errors.find("could not be revoked"), std::string::npos) << logout.errors;
  EXPECT_FALSE(std::filesystem::exists(mine.log_in_file()));
}

TEST(program_drive_login, says_what_to_do_where_there_is_nobody_to_log_in_to) {
  const desk_with_drive mine;
  const auto why = [&mine](std::vector<std::string> words) {
    words.insert(words.begin(), "login");
    const auto got = mine.does(words);
    EXPECT_EQ(got.how, misused) << got.errors;
    return got.errors;
  };
  EXPECT_NE(why({"--source", "team"}).find("config.toml"), std::string::npos);
  EXPECT_NE(why({"--source", "other", "--config", mine.config()}).find("no source named \"other\""), std::string::npos);
  EXPECT_NE(why({"--source", "here", "--config", mine.config()}).find("of type files"), std::string::npos);
  EXPECT_NE(why({"--source", "team", "--config", mine.config(), "--on", "https://x.example"}).find("exclude each other"),
            std::string::npos);
  mine.home().put("client.json", R"({"web":{"client_id":"a"}})");
  EXPECT_NE(why({"--source", "team", "--config", mine.config()}).find("Desktop app"), std::string::npos);
  mine.configure("subject = \"ann@example.com\"\n");
  EXPECT_NE(why({"--source", "team", "--config", mine.config()}).find("subject"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(mine.log_in_file()));
}

}  // namespace
