/// What is denied by default, what says so, and what brings it back.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string>

#include "scratch_folder.hpp"
#include "sources/files/serving_rules.hpp"
#include "text/secrets/secret_file_names.hpp"

namespace hondana::files {
namespace {

// attacks: secrets
TEST(secrets, well_known_names_are_known) {
  for (const char* path : {".env",
                           ".env.local",
                           ".ENV.production",
                           "config/.env",
                           "prod.env",
                           ".envrc",
                           "me.token",
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
                           ".mylogin.cnf",
                           ".pg_service.conf",
                           "etc/pg_service.conf",
                           "pgpass.conf",
                           "_netrc",
                           ".m2/settings.xml",
                           "home/.gradle/gradle.properties",
                           ".config/composer/auth.json",
                           ".config/containers/auth.json",
                           ".config/rclone/rclone.conf",
                           ".terraform.d/credentials.tfrc.json",
                           ".claude/.credentials.json",
                           ".cache/huggingface/token",
                           ".kaggle/kaggle.json",
                           ".config/hub",
                           ".databrickscfg",
                           ".msmtprc",
                           ".vault-token",
                           ".bash_history",
                           "kubeconfig",
                           "kubeconfig.yaml",
                           "kubeconfig-prod",
                           "id_rsa.bak",
                           "ID_RSA_work",
                           "id_ed25519_github",
                           "id_ecdsa_sk",
                           "server.key.old",
                           "server.PEM.txt",
                           "prod.env.json",
                           "app.env.bak",
                           "env.production",
                           "ENV.local",
                           "config/env.staging",
                           "env.development",
                           "htpasswd",
                           "accessKeys.csv",
                           "alice_accessKeys.csv",
                           "rootAccessKeys (1).csv",
                           "server.der",
                           "key.pk8",
                           "key.pkcs8",
                           "krb5.keytab",
                           "store.jceks",
                           "deploy_key",
                           "deploy-key.bak",
                           "private_key",
                           "github_token",
                           "npm-token",
                           "git-credentials",
                           "vault_password",
                           "vault_pass.txt",
                           "vault-password-prod",
                           "db_password"}) {
    EXPECT_NE(secrets::find_secret(path, false), nullptr) << path;
  }
  for (const char* path : {".ssh", ".aws", ".gnupg", ".kube", "home/.ssh", ".config/gcloud", ".config/gh", ".config/glab-cli",
                           ".subversion/auth", ".fly", ".env", ".env.d"}) {
    EXPECT_NE(secrets::find_secret(path, true), nullptr) << path;
  }
}

TEST(secrets, ordinary_names_are_not_taken_for_secrets) {
  for (const char* path : {"environment.ts",
                           "env.py",
                           "key.cpp",
                           "keyboard.md",
                           "id_rsa.pub",
                           "credentials.py",
                           "secrets.cpp",
                           "src/secrets.hpp",
                           "config.json",
                           "docker/config.json",
                           "locales/auth.json",
                           "settings.xml",
                           "gradle.properties",
                           "profiles.yml",
                           "bundle/config",
                           "shadow.css",
                           "pem.go",
                           "tfstate.md",
                           "package.json",
                           "secret_rule.txt",
                           "id_rsa_work.pub",
                           "id_rsa_parser.cpp",
                           "kubeconfig.go",
                           "kubeconfig_test.go",
                           "parse.key.ts",
                           "foo.env.ts",
                           "vite-env.d.ts",
                           "reader.pem.rs",
                           "env.test.ts",
                           "environment.production",
                           "access_keys.md",
                           "htpasswd.c",
                           "deploy_key.pub",
                           "deploy_key.go",
                           "csrf_token.ts",
                           "vault_pass.py",
                           "reset_password.html",
                           "private_key.md",
                           "token",
                           "order.md"}) {
    EXPECT_EQ(secrets::find_secret(path, false), nullptr) << path;
  }
  for (const char* path : {"secrets", "credentials", "keys", "ssh"})
    EXPECT_EQ(secrets::find_secret(path, true), nullptr) << path;
}

TEST(secrets, every_rule_has_a_reason) {
  for (const auto& rule : secrets::secret_rules()) {
    EXPECT_FALSE(rule.pattern.empty());
    EXPECT_FALSE(rule.reason.empty()) << rule.pattern;
    EXPECT_EQ(std::count_if(rule.pattern.begin(), rule.pattern.end(), [](char c) { return c >= 'A' && c <= 'Z'; }), 0)
        << rule.pattern;
  }
}

// attacks: secrets
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
  EXPECT_EQ(said.at("id_rsa"), "secret: `id_rsa*` (an SSH private key)");
  EXPECT_EQ(said.at("src/main.o"), "ignored by src/.gitignore:3 `*.o`");
  EXPECT_EQ(said.at("src/main.c"), "served");
  EXPECT_EQ(said.at("out"), "link leaves the root");
  EXPECT_EQ(said.at("nowhere"), "broken link");
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

// attacks: secrets; symlinks
TEST(rules, a_link_hides_nothing_that_its_own_name_denies) {
  const scratch_folder root;
  root.write("dotfiles/docker/config.json", "auth");
  root.write("dotfiles/keys/anything", "key");
  root.write("dotfiles/gcloud/token", "token");
  root.write("plain/report", "x");
  root.link(".docker", "dotfiles/docker");
  root.link("home/.docker", "../dotfiles/docker");
  root.link(".ssh", "dotfiles/keys");
  root.link("to_ssh", ".ssh");
  root.link("to_key", ".ssh/anything");
  root.link("to_config", ".docker/config.json");
  root.link(".git", "plain");
  root.link(".config/gcloud", "../dotfiles/gcloud");
  root.link("x", "plain");
  root.link("y", "plain");
  auto from = serving(root.path());
  from.roots[0].show_hidden = true;
  from.roots[0].exclude = {"x/"};
  const auto files = open_provider(std::move(from));
  for (const char* path :
       {".docker/config.json", "home/.docker/config.json", "to_config", ".ssh", ".ssh/anything", "to_ssh", "to_ssh/anything",
        "to_key", ".git", ".git/report", ".config/gcloud", ".config/gcloud/token", "x", "x/report"}) {
    EXPECT_EQ(read_error(*files, root.uri(path)), errc::resource_not_found) << path;
  }
  EXPECT_EQ(read_text(*files, root.uri("dotfiles/docker/config.json")), "auth");
  EXPECT_EQ(read_text(*files, root.uri("y/report")), "x");
  const auto said = survey_of(*files);
  EXPECT_EQ(said.at(".docker"), "served");
  EXPECT_NE(said.at(".ssh"), "served");
  EXPECT_NE(said.at("x"), "served");
  EXPECT_EQ(said.at("y"), "served");
}

TEST(rules, looking_something_up_ends_with_the_call) {
  const scratch_folder root;
  root.write("a/b/c.txt", "x");
  const auto files = open_provider(root);
  read_request request;
  request.uri = request.requested_uri = root.uri("a/b/c.txt");
  request.deadline = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  ASSERT_FALSE(files->read(request).has_value());
  EXPECT_EQ(files->read(request).error().code, errc::timed_out);
}

// attacks: git (repository data)
TEST(rules, a_bare_repository_is_version_control_data) {
  const scratch_folder root;
  for (const char* path :
       {"bare/HEAD", "bare/objects/aa/bb", "bare/refs/heads/main", "bare/config", "half/HEAD", "half/refs/x"}) {
    root.write(path, "x");
  }
  root.link("alias", "bare");
  const auto files = open_provider(root);
  for (const char* path : {"bare", "bare/", "bare/HEAD", "bare/objects/aa/bb", "bare/config", "alias", "alias/config"}) {
    EXPECT_EQ(read_error(*files, root.uri(path)), errc::resource_not_found) << path;
  }
  EXPECT_EQ(read_text(*files, root.uri("half/HEAD")), "x");
  EXPECT_EQ(survey_of(*files).at("bare"), "version control data");
  auto from = serving(root.path());
  from.roots[0].allow = {"/bare/"};
  EXPECT_EQ(read_text(*open_provider(std::move(from)), root.uri("bare/config")), "x");
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

TEST(rules, what_the_server_keeps_for_itself_is_never_served_whatever_is_allowed) {
  const scratch_folder root;
  for (const char* path : {"conf/tokens", "conf/tokens.lock", "conf/audit.jsonl-20261122", "conf/tokens~", "conf/tokensoftrees",
                           "other/tokens", "other/two"})
    root.write(path, "x");
  root.link("open", "conf/tokens");
  ASSERT_EQ(::link(root.path("conf/tokens").c_str(), root.path("alias").c_str()), 0);
  ASSERT_EQ(::link(root.path("other/two").c_str(), root.path("other/two_too").c_str()), 0);
  auto from = serving(root.path());
  from.roots[0].allow = {"*"};
  from.roots[0].own_files = {root.path() + "/conf/tokens", root.path() + "/conf/audit.jsonl", "/elsewhere"};
  const auto files = open_provider(std::move(from));
  const auto said = survey_of(*files);
  for (const char* path : {"conf/tokens", "conf/tokens.lock", "conf/audit.jsonl-20261122", "conf/tokens~", "open", "alias"}) {
    EXPECT_EQ(read_error(*files, root.uri(path)), errc::resource_not_found) << path;
    EXPECT_TRUE(said.at(path).ends_with("a file of the server itself, named in its configuration")) << path << said.at(path);
  }
  for (const auto& one : list_all(*files)) EXPECT_NE(one.name, "alias");
  for (const char* path : {"conf/tokensoftrees", "other/tokens", "other/two_too"})
    EXPECT_EQ(read_text(*files, root.uri(path)), "x") << path;
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
