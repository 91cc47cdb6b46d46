/// What is denied by default, what says so, and what brings it back.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "providers/files/rules.hpp"
#include "providers/files/secrets.hpp"
#include "scratch_folder.hpp"

namespace hondana::files {
namespace {

/// What a survey says: the reason by name, "served" for what is.
std::map<std::string, std::string> survey_of(files_provider& files) {
  std::map<std::string, std::string> said;
  const auto outcome =
      files.survey({}, [&](const survey_item& item) { said[item.name] = item.is_served ? "served" : item.reason; });
  EXPECT_TRUE(outcome.has_value());
  return said;
}

TEST(secrets, well_known_names_are_known) {
  for (const char* path : {".env",
                           ".env.local",
                           ".ENV.production",
                           "config/.env",
                           "prod.env",
                           ".envrc",
                           "server.pem",
                           "Server.PEM",
                           "tls/private.key",
                           "store.p12",
                           "store.pfx",
                           "android.jks",
                           "release.keystore",
                           "passwords.kdbx",
                           "vpn.ovpn",
                           "putty.ppk",
                           "id_rsa",
                           "keys/id_ed25519",
                           "id_ecdsa",
                           "id_dsa",
                           "ssh_host_ed25519_key",
                           ".netrc",
                           "_netrc",
                           ".npmrc",
                           ".pypirc",
                           ".git-credentials",
                           "credentials",
                           "aws/credentials",
                           "credentials.json",
                           "client_secret_1234.apps.json",
                           "service-account.json",
                           "service-account-prod.json",
                           "service_account.json",
                           ".htpasswd",
                           "etc/shadow",
                           "secrets.yml",
                           "secrets.yaml",
                           "secrets.json",
                           "secrets.toml",
                           "terraform.tfstate",
                           "terraform.tfstate.backup",
                           "terraform.tfvars",
                           "prod.auto.tfvars",
                           ".docker/config.json",
                           "home/.docker/config.json",
                           ".pgpass",
                           ".my.cnf",
                           ".vault-token",
                           ".bash_history",
                           "kubeconfig"}) {
    EXPECT_NE(find_secret(path, false), nullptr) << path;
  }
  for (const char* path : {".ssh", ".aws", ".gnupg", ".kube", "home/.ssh", ".config/gcloud", ".env", ".env.d"}) {
    EXPECT_NE(find_secret(path, true), nullptr) << path;
  }
}

TEST(secrets, ordinary_names_are_not_taken_for_secrets) {
  for (const char* path :
       {"environment.ts", "env.py", "key.cpp", "keyboard.md", "id_rsa.pub", "credentials.py", "secrets.cpp", "src/secrets.hpp",
        "config.json", "docker/config.json", "shadow.css", "pem.go", "tfstate.md", "package.json", "secret_rule.txt"}) {
    EXPECT_EQ(find_secret(path, false), nullptr) << path;
  }
  for (const char* path : {"secrets", "credentials", "keys", "ssh"}) EXPECT_EQ(find_secret(path, true), nullptr) << path;
}

TEST(secrets, every_rule_has_a_reason) {
  for (const auto& rule : secret_rules()) {
    EXPECT_FALSE(rule.pattern.empty());
    EXPECT_FALSE(rule.reason.empty()) << rule.pattern;
    EXPECT_EQ(std::count_if(rule.pattern.begin(), rule.pattern.end(), [](char c) { return c >= 'A' && c <= 'Z'; }), 0)
        << rule.pattern;
  }
}

TEST(rules, hidden_names_git_and_secrets_are_left_out_and_the_survey_says_why) {
  const scratch_folder root;
  root.write("kept.txt", "x");
  root.write(".hidden", "x");
  root.write(".config/settings", "x");
  root.write(".git/HEAD", "x");
  root.write(".env.local", "x");
  root.write("id_rsa", "x");
  root.write("module/.git", "gitdir: ../.git/modules/module");
  root.write("src/.gitignore", "# objects\n\n*.o\n");
  root.write("src/main.o", "x");
  root.write("src/main.c", "x");
  root.link("out", "/etc/passwd");
  root.link("nowhere", "gone");
  root.link("alias", ".hidden");
  root.make_fifo("pipe");
  const auto files = open_provider(root);
  const auto said = survey_of(*files);
  EXPECT_EQ(said.at("kept.txt"), "served");
  EXPECT_EQ(said.at(".hidden"), "hidden");
  EXPECT_EQ(said.at(".config"), "hidden");
  EXPECT_EQ(said.at(".git"), "version control data");
  EXPECT_EQ(said.at("module/.git"), "version control data");
  EXPECT_EQ(said.at(".env.local"), "secret: `.env*` (environment settings, which commonly hold passwords and tokens)");
  EXPECT_EQ(said.at("id_rsa"), "secret: `id_rsa` (an SSH private key)");
  EXPECT_EQ(said.at("src/main.o"), "ignored by src/.gitignore:3 `*.o`");
  EXPECT_EQ(said.at("src/main.c"), "served");
  EXPECT_EQ(said.at("out"), "link leaves the root");
  EXPECT_EQ(said.at("nowhere"), "link leads nowhere");
  EXPECT_EQ(said.at("alias"), "link to something left out: hidden");
  EXPECT_EQ(said.at("pipe"), "served");
  EXPECT_EQ(said.count(".config/settings"), 0u);
}

TEST(rules, what_is_left_out_is_answered_like_what_does_not_exist) {
  const scratch_folder root;
  for (const char* path :
       {".hidden", ".config/settings", ".git/HEAD", ".env", "id_rsa", "build/out.txt", "deep/er/skipped.log", "secret/a"}) {
    root.write(path, "x");
  }
  root.write(".gitignore", "build/\n");
  root.write("deep/.hondanaignore", "*.log\n");
  auto from = serving(root.path());
  from.roots[0].exclude = {"/secret"};
  const auto files = open_provider(std::move(from));
  const auto absent = read(*files, root.uri("absent"));
  ASSERT_FALSE(absent.has_value());
  for (const std::string path : {".hidden", ".config", ".config/settings", ".git", ".git/HEAD", ".env", "id_rsa", "build",
                                 "build/out.txt", "deep/er/skipped.log", "secret", "secret/a", ".gitignore"}) {
    const auto answer = read(*files, root.uri(path));
    ASSERT_FALSE(answer.has_value()) << path;
    EXPECT_EQ(answer.error().code, absent.error().code) << path;
    auto same = answer.error().public_text;
    same.replace(same.find(path), path.size(), "absent");
    EXPECT_EQ(same, absent.error().public_text) << path;
  }
}

TEST(rules, ignore_files_count_as_they_are_now) {
  const scratch_folder root;
  root.write("a.log", "x");
  const auto files = open_provider(root);
  EXPECT_EQ(read_text(*files, root.uri("a.log")), "x");
  root.write(".gitignore", "*.log\n");
  EXPECT_EQ(read_error(*files, root.uri("a.log")), errc::resource_not_found);
  root.write(".hondanaignore", "!a.log\n");
  EXPECT_EQ(read_text(*files, root.uri("a.log")), "x");
}

TEST(rules, an_ignored_folder_cannot_be_entered_again_below) {
  const scratch_folder root;
  root.write(".gitignore", "build/\n!build/kept.txt\n");
  root.write("build/kept.txt", "x");
  const auto files = open_provider(root);
  EXPECT_EQ(read_error(*files, root.uri("build/kept.txt")), errc::resource_not_found);
}

TEST(rules, git_info_exclude_is_obeyed) {
  const scratch_folder root;
  root.write(".git/info/exclude", "*.local\n");
  root.write("notes.local", "x");
  const auto files = open_provider(root);
  EXPECT_EQ(survey_of(*files).at("notes.local"), "ignored by .git/info/exclude:1 `*.local`");
  EXPECT_EQ(read_error(*files, root.uri("notes.local")), errc::resource_not_found);
}

TEST(rules, an_ignore_file_that_is_a_link_or_a_fifo_does_not_count) {
  const scratch_folder root;
  root.write("patterns", "*.txt\n");
  root.write("a.txt", "x");
  root.link(".gitignore", "patterns");
  root.make_fifo(".hondanaignore");
  const auto files = open_provider(root);
  EXPECT_EQ(read_text(*files, root.uri("a.txt")), "x");
}

TEST(rules, ignore_files_can_be_disobeyed) {
  const scratch_folder root;
  root.write(".gitignore", "*.log\n");
  root.write("sub/a.log", "x");
  auto from = serving(root.path());
  from.roots[0].obey_ignore_files = false;
  const auto files = open_provider(std::move(from));
  EXPECT_EQ(read_text(*files, root.uri("sub/a.log")), "x");
  EXPECT_EQ(survey_of(*files).at("sub/a.log"), "served");
}

TEST(rules, allow_brings_back_what_it_names_and_no_more) {
  const scratch_folder root;
  for (const char* path : {".github/workflows/ci.yml", ".github/.env", ".env.example", ".env", "build/report.txt",
                           "certs/ca.pem", "certs/own.key"}) {
    root.write(path, "x");
  }
  root.write(".gitignore", "build/\n");
  auto from = serving(root.path());
  from.roots[0].allow = {".github/", ".env.example", "/build/", "ca.pem"};
  const auto files = open_provider(std::move(from));
  for (const char* path : {".github/workflows/ci.yml", ".env.example", "build/report.txt", "certs/ca.pem"}) {
    EXPECT_EQ(read_text(*files, root.uri(path)), "x") << path;
    EXPECT_EQ(survey_of(*files).at(path), "served") << path;
  }
  for (const char* path : {".env", ".github/.env", "certs/own.key"}) {
    EXPECT_EQ(read_error(*files, root.uri(path)), errc::resource_not_found) << path;
  }
}

TEST(rules, hidden_names_can_be_shown_but_secrets_and_git_stay_denied) {
  const scratch_folder root;
  for (const char* path : {".config/settings", ".env", ".git/HEAD", ".GIT/HEAD"}) root.write(path, "x");
  auto from = serving(root.path());
  from.roots[0].show_hidden = true;
  const auto files = open_provider(std::move(from));
  EXPECT_EQ(read_text(*files, root.uri(".config/settings")), "x");
  for (const char* path : {".env", ".git/HEAD", ".GIT/HEAD"}) {
    EXPECT_EQ(read_error(*files, root.uri(path)), errc::resource_not_found) << path;
  }
}

TEST(rules, a_pattern_that_cannot_match_is_an_error_at_start) {
  const scratch_folder root;
  for (const char* pattern : {"", "two\nlines", "[a"}) {
    auto from = serving(root.path());
    from.roots[0].exclude = {pattern};
    const auto opened = files_provider::open(std::move(from));
    ASSERT_FALSE(opened.has_value()) << pattern;
    EXPECT_EQ(opened.error().code, errc::invalid_argument);
    EXPECT_NE(opened.error().public_text.find("exclude"), std::string::npos);
  }
}

}  // namespace
}  // namespace hondana::files
