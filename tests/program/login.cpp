/// Logging in and out by the program: against an authorization server, with a browser that is a program.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "program/folder.hpp"
#include "program/protected_server.hpp"
#include "program/served.hpp"
#include "unit/started/program.hpp"

namespace {

using program_test::departure;
using program_test::folder;
using program_test::misused;
using program_test::not_known;
using program_test::outcome;
using program_test::patience;
using program_test::process;
using program_test::protected_server;
using program_test::run;
using program_test::well;
using program_test::within;

/// Somebody's desk: a home of their own, a display perhaps, and a browser that goes where it is sent.
class desk {
 public:
  explicit desk(bool has_display = true) : has_display_(has_display) {
    home_.put("browser", "#!/bin/sh\nexec curl --silent --location --output /dev/null --max-time 180 \"$1\"\n");
    std::filesystem::permissions(home_.path("browser"), std::filesystem::perms::owner_all);
  }

  /// The words before those of a command.
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& words) const {
    std::vector<std::string> out{"-u",
                                 "DBUS_SESSION_BUS_ADDRESS",
                                 "-u",
                                 "XDG_RUNTIME_DIR",
                                 "-u",
                                 "WAYLAND_DISPLAY",
                                 "-u",
                                 "DISPLAY",
                                 "HOME=" + home_.path("."),
                                 "XDG_DATA_HOME=" + home_.path("data"),
                                 "XDG_CONFIG_HOME=" + home_.path("config"),
                                 "BROWSER=" + home_.path("browser")};
    if (has_display_) out.emplace_back("DISPLAY=:99");
    out.emplace_back(HONDANA_PROGRAM);
    out.insert(out.end(), words.begin(), words.end());
    return out;
  }
  [[nodiscard]] outcome does(const std::vector<std::string>& words) const { return run(command(words), "/usr/bin/env"); }
  [[nodiscard]] std::string credentials() const { return home_.path("data/hondana/credentials.json"); }
  [[nodiscard]] const folder& home() const noexcept { return home_; }

 private:
  folder home_;
  bool has_display_;
};

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(program_login, logs_in_refreshes_steps_up_and_logs_out) {
  protected_server server;
  const desk mine;

  const auto before = mine.does({"ls", "--on", server.url()});
  EXPECT_EQ(before.how, not_known);
  EXPECT_NE(before.errors.find("'hondana login --scope read --on " + server.url() + "'"), std::string::npos) << before.errors;
  EXPECT_FALSE(std::filesystem::exists(mine.home().path("data")));

  const auto login = mine.does({"login", "--on", server.url()});
  ASSERT_EQ(login.how, well) << login.errors;
  EXPECT_EQ(login.output, "");
  EXPECT_NE(login.errors.find("logged in to " + server.url()), std::string::npos) << login.errors;
  struct stat facts{};
  ASSERT_EQ(::stat(mine.credentials().c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777u, 0600u);
  ASSERT_EQ(server.asked("/authorize").size(), 1u);
  EXPECT_NE(server.asked("/authorize")[0].find("code_challenge_method=S256"), std::string::npos);

  const auto listed = mine.does({"ls", "--on", server.url()});
  EXPECT_EQ(listed.how, well) << listed.errors;
  EXPECT_EQ(listed.output, "x:a\n");

  server.end_access();
  EXPECT_EQ(mine.does({"ls", "--on", server.url()}).output, "x:a\n");
  EXPECT_EQ(server.asked("/authorize").size(), 1u);
  const auto tokens_asked = server.asked("/token").size();
  EXPECT_EQ(tokens_asked, 2u);
  // The new ones are kept.
  EXPECT_EQ(mine.does({"ls", "--on", server.url()}).output, "x:a\n");
  EXPECT_EQ(server.asked("/token").size(), tokens_asked);

  const auto too_little = mine.does({"read", "x:a", "--on", server.url()});
  EXPECT_EQ(too_little.how, not_known);
  EXPECT_NE(too_little.errors.find("'hondana login --scope write --on " + server.url() + "'"), std::string::npos)
      << too_little.errors;
  EXPECT_EQ(server.asked("/authorize").size(), 1u);
  ASSERT_EQ(mine.does({"login", "--scope", "write", "--on", server.url()}).how, well);
  EXPECT_EQ(mine.does({"read", "x:a", "--on", server.url()}).output, "the text");
  // It had registered itself before.
  EXPECT_EQ(server.asked("/register").size(), 1u);

  for (const auto& one : {login, listed, too_little}) {
    for (const auto* secret : {"access-", "refresh-", "code-"})
      EXPECT_EQ(one.errors.find(secret), std::string::npos) << one.errors;
  }

  const auto logout = mine.does({"logout", "--on", server.url()});
  EXPECT_EQ(logout.how, well) << logout.errors;
  EXPECT_EQ(server.asked("/revoke").size(), 1u);
  EXPECT_EQ(text_of(mine.credentials()).find("access-"), std::string::npos);
  EXPECT_NE(text_of(mine.credentials()).find("registered"), std::string::npos);
  EXPECT_EQ(mine.does({"ls", "--on", server.url()}).how, not_known);
  const auto again = mine.does({"logout", "--on", server.url()});
  EXPECT_EQ(again.how, well);
  EXPECT_NE(again.errors.find("there was no login"), std::string::npos) << again.errors;
}

TEST(program_login, refreshes_once_for_all_who_come_together) {
  protected_server server;
  const desk mine;
  ASSERT_EQ(mine.does({"login", "--on", server.url()}).how, well);
  const auto before = server.asked("/token").size();
  server.end_access();
  std::vector<std::unique_ptr<process>> commands;
  for (int i = 0; i < 3; ++i)
    commands.push_back(
        std::make_unique<process>(mine.command({"ls", "--on", server.url()}), program_test::output_to::pipe, "/usr/bin/env"));
  for (const auto& one : commands) {
    EXPECT_EQ(one->read_to_end(within(patience)).value_or("none"), "x:a\n");
    EXPECT_EQ(one->leaves(within(patience)), well) << one->errors();
  }
  EXPECT_EQ(server.asked("/token").size(), before + 1);
}

TEST(program_login, forgets_its_registration_too_when_all_shall_go) {
  protected_server server;
  const desk mine;
  ASSERT_EQ(mine.does({"login", "--on", server.url()}).how, well);
  EXPECT_EQ(mine.does({"logout", "--all", "--on", server.url()}).how, well);
  EXPECT_EQ(text_of(mine.credentials()).find("registered"), std::string::npos);
}

TEST(program_login, says_so_when_a_log_in_has_ended) {
  protected_server server;
  const desk mine;
  ASSERT_EQ(mine.does({"login", "--on", server.url()}).how, well);
  server.end_access();
  server.end_refresh();
  const auto listed = mine.does({"ls", "--on", server.url()});
  EXPECT_EQ(listed.how, not_known);
  EXPECT_NE(listed.errors.find("hondana login"), std::string::npos) << listed.errors;
  EXPECT_EQ(server.asked("/authorize").size(), 1u);
}

/// The address that a log-in tells somebody to visit.
std::string page_told(process& login) {
  const auto line = login.error_line_with("/authorize?", within(patience));
  return line ? line->substr(line->find("http://")) : "none";
}

TEST(program_login, tells_the_address_where_there_is_no_display_or_none_is_wanted) {
  for (const bool has_display : {false, true}) {
    protected_server server;
    const desk mine(has_display);
    auto words = mine.command({"login", "--on", server.url()});
    if (has_display) words.emplace_back("--no-browser");
    process login(words, program_test::output_to::pipe, "/usr/bin/env");
    const auto page = page_told(login);
    EXPECT_TRUE(server.asked("/authorize").empty());
    EXPECT_EQ(run({page}, mine.home().path("browser")).how, well);
    EXPECT_EQ(login.leaves(within(patience)), well) << login.errors();
    EXPECT_EQ(mine.does({"ls", "--on", server.url()}).output, "x:a\n");
  }
}

TEST(program_login, ends_when_it_is_interrupted) {
  protected_server server;
  const desk mine(false);
  process login(mine.command({"login", "--on", server.url()}), program_test::output_to::pipe, "/usr/bin/env");
  EXPECT_NE(page_told(login), "none");
  login.signal(SIGINT);
  EXPECT_EQ(login.leaves(within(patience)), (departure{130, 0})) << login.errors();
  EXPECT_FALSE(std::filesystem::exists(mine.credentials()) && text_of(mine.credentials()).find("access-") != std::string::npos);
}

TEST(program_login, logs_a_machine_in_by_its_secret) {
  protected_server server;
  const desk mine(false);
  mine.home().put("secret", "s3cret\n");
  std::vector<std::string> words{
      "login", "--machine", "--client-id", "machine", "--client-secret-file", mine.home().path("secret"), "--on", server.url()};
  const auto without = mine.does({"login", "--machine", "--client-id", "machine", "--on", server.url()});
  EXPECT_EQ(without.how, misused);
  EXPECT_NE(without.errors.find("--client-secret-file FILE"), std::string::npos) << without.errors;
  std::filesystem::permissions(mine.home().path("secret"), std::filesystem::perms(0644));
  const auto open = mine.does(words);
  EXPECT_EQ(open.how, misused);
  EXPECT_NE(open.errors.find("chmod 600"), std::string::npos) << open.errors;
  std::filesystem::permissions(mine.home().path("secret"), std::filesystem::perms(0600));
  // The server might name anybody.
  const auto to_anybody = mine.does(words);
  EXPECT_EQ(to_anybody.how, misused);
  EXPECT_NE(to_anybody.errors.find("--issuer"), std::string::npos) << to_anybody.errors;
  EXPECT_TRUE(server.asked("/token").empty());
  words.insert(words.end(), {"--issuer", server.origin()});
  const auto login = mine.does(words);
  ASSERT_EQ(login.how, well) << login.errors;
  EXPECT_EQ(login.errors.find("s3cret"), std::string::npos);
  EXPECT_TRUE(server.asked("/authorize").empty());
  EXPECT_EQ(mine.does({"ls", "--on", server.url()}).output, "x:a\n");
  const auto tokens_asked = server.asked("/token").size();
  // Nobody has to log in again when the token has come to its end, not even with the file gone.
  std::filesystem::remove(mine.home().path("secret"));
  server.end_access();
  const auto renewed = mine.does({"ls", "--on", server.url()});
  EXPECT_EQ(renewed.output, "x:a\n") << renewed.errors;
  EXPECT_EQ(server.asked("/token").size(), tokens_asked + 1);
  EXPECT_EQ(mine.does({"login", "--machine", "--on", server.url()}).how, well) << "the client of before is known";
  EXPECT_TRUE(server.asked("/register").empty());
  const auto logout = mine.does({"logout", "--on", server.url()});
  EXPECT_EQ(logout.how, well);
  EXPECT_NE(text_of(mine.credentials()).find("s3cret"), std::string::npos);
  EXPECT_NE(logout.errors.find("the secret of the client \"machine\" is still stored; 'hondana logout --all"),
            std::string::npos)
      << logout.errors;
  const auto all = mine.does({"logout", "--all", "--on", server.url()});
  EXPECT_EQ(all.how, well) << all.errors;
  EXPECT_EQ(all.errors.find("still stored"), std::string::npos) << all.errors;
  EXPECT_EQ(text_of(mine.credentials()).find("s3cret"), std::string::npos) << all.errors;
}

TEST(program_login, is_by_the_client_of_before_unless_another_is_named) {
  protected_server server;
  const desk mine;
  ASSERT_EQ(mine.does({"login", "--client-id", "by-hand", "--on", server.url()}).how, well);
  const auto again = mine.does({"login", "--scope", "write", "--on", server.url()});
  ASSERT_EQ(again.how, well) << again.errors;
  EXPECT_TRUE(server.asked("/register").empty());
  const auto pages = server.asked("/authorize");
  ASSERT_EQ(pages.size(), 2u);
  EXPECT_NE(pages[1].find("client_id=by-hand"), std::string::npos) << pages[1];
  EXPECT_EQ(mine.does({"read", "x:a", "--on", server.url()}).output, "the text");
}

TEST(program_login, comes_back_to_the_port_that_its_client_is_registered_with) {
  protected_server server;
  const desk mine;
  const auto port = std::to_string(hondana::started::free_port());
  std::vector<std::string> words{"login", "--client-id", "by-hand", "--on", server.url(), "--redirect-port", port};
  ASSERT_EQ(mine.does(words).how, well);
  words.resize(words.size() - 2);
  const auto again = mine.does(words);
  ASSERT_EQ(again.how, well) << again.errors;
  const auto pages = server.asked("/authorize");
  ASSERT_EQ(pages.size(), 2u);
  for (const auto& one : pages) EXPECT_NE(one.find("127.0.0.1%3A" + port + "%2Fcallback"), std::string::npos) << one;
}

TEST(program_login, sends_a_header_instead_of_what_it_has) {
  protected_server server;
  const desk mine;
  ASSERT_EQ(mine.does({"login", "--on", server.url()}).how, well);
  const auto other = mine.does({"ls", "--header", "Authorization: Bearer theirs", "--on", server.url()});
  EXPECT_EQ(other.how, not_known);
  EXPECT_EQ(other.errors.find("hondana login"), std::string::npos) << other.errors;
  for (const auto& one : server.asked("/mcp")) EXPECT_EQ(one.find("access-"), std::string::npos) << one;
}

TEST(program_login, keeps_its_tokens_in_the_keyring_where_one_answers) {
  protected_server server;
  const desk mine;
  const std::string commands =
      R"("$0" login --quiet --on "$1" && "$0" ls --on "$1" && cat "$XDG_DATA_HOME/hondana/credentials.json")";
  const auto got = run({"DISPLAY=:99", "BROWSER=" + mine.home().path("browser"), HONDANA_WITH_KEYRING, "/bin/sh", "-c",
                        commands, HONDANA_PROGRAM, server.url()},
                       "/usr/bin/env");
  if (got.how == departure{77, 0}) GTEST_SKIP() << got.output;
  EXPECT_EQ(got.how, well) << got.errors;
  EXPECT_EQ(got.output.substr(0, 4), "x:a\n");
  EXPECT_NE(got.output.find("\"in_keyring\":["), std::string::npos) << got.output;
  EXPECT_EQ(got.output.find("access-"), std::string::npos) << got.output;
}

TEST(program_login, is_for_servers_behind_a_url) {
  const desk mine;
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"login"}, {"login", "--on", "unix:/run/x.sock"}, {"logout", "--on", "/tmp"}}) {
    const auto got = mine.does(words);
    EXPECT_EQ(got.how, misused);
    EXPECT_NE(got.errors.find("Only servers with a URL"), std::string::npos) << got.errors;
  }
  const auto plain = mine.does({"login", "--on", "http://mcp.example/mcp"});
  EXPECT_EQ(plain.how, misused);
  EXPECT_NE(plain.errors.find("https"), std::string::npos) << plain.errors;
}

TEST(program_login, asks_servers_that_want_nobody_whatever_becomes_of_its_log_ins) {
  const folder what;
  what.put("a.md", "# A\n");
  const program_test::served open_to_all({what.path(".")});
  const desk mine;
  std::filesystem::create_directories(mine.home().path("data/hondana"));
  mine.home().put("data/hondana/credentials.json", "{}");
  std::filesystem::permissions(mine.credentials(), std::filesystem::perms(0644));
  const auto listed = mine.does({"ls", "--on", open_to_all.url()});
  EXPECT_EQ(listed.how, well) << listed.errors;
  EXPECT_NE(listed.errors.find("chmod 600"), std::string::npos) << listed.errors;

  std::vector<std::string> words{"-u", "HOME", "-u", "XDG_DATA_HOME", HONDANA_PROGRAM, "ls", "--on", open_to_all.url()};
  const auto homeless = run(words, "/usr/bin/env");
  EXPECT_EQ(homeless.how, well) << homeless.errors;
  EXPECT_EQ(homeless.errors, "");
  words[5] = "login";
  const auto login = run(words, "/usr/bin/env");
  EXPECT_EQ(login.how, (departure{4, 0}));
  EXPECT_NE(login.errors.find("logins cannot be stored"), std::string::npos) << login.errors;
}

TEST(program_login, serves_a_mount_with_the_tokens_of_before) {
  protected_server server;
  const desk mine;
  mine.home().put("mount.toml", "[[source]]\ntype = \"mcp\"\nname = \"far\"\nurl = \"" + server.url() + "\"\neager = true\n");
  const std::vector<std::string> served{"serve", "--port", "0", "--config", mine.home().path("mount.toml")};
  {
    process before(mine.command(served), program_test::output_to::pipe, "/usr/bin/env");
    const auto said = before.error_line_with("'hondana login --on far'", within(patience));
    EXPECT_TRUE(said) << before.errors();
    EXPECT_TRUE(server.asked("/authorize").empty());
    if (before.errors().find("Stop with Ctrl-C") == std::string::npos) {
      ASSERT_TRUE(before.error_line_with("Stop with Ctrl-C", within(patience))) << before.errors();
    }
    const auto begin = before.errors().find("http", before.errors().find(" serves at "));
    const auto here = before.errors().substr(begin, before.errors().find("/mcp", begin) + 4 - begin);
    const auto read = mine.does({"read", "mcp://far/x:a", "--on", here});
    EXPECT_NE(read.errors.find("this server's log says what to do"), std::string::npos) << read.errors;
    EXPECT_EQ(read.errors.find(server.origin()), std::string::npos) << read.errors;
    // As the log advises.
    const auto login = mine.does({"login", "--config", mine.home().path("mount.toml"), "--on", "far"});
    ASSERT_EQ(login.how, well) << login.errors;
    // It goes on with what has come since.
    EXPECT_TRUE(before.error_line_with("connected to protected", within(patience))) << before.errors();
  }
  process after(mine.command(served), program_test::output_to::pipe, "/usr/bin/env");
  EXPECT_TRUE(after.error_line_with("connected to protected", within(patience))) << after.errors();
}

}  // namespace
