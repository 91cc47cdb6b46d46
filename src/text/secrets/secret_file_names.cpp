/// Names of files that hold credentials.
#include "text/secrets/secret_file_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "base/ascii/ascii.hpp"

namespace hondana::secrets {
namespace {

constexpr std::array rules{
    secret_rule{".env*", "environment settings, which commonly hold passwords and tokens"},
    secret_rule{"*.env", "environment settings, which commonly hold passwords and tokens"},
    secret_rule{".envrc", "environment settings, which commonly hold passwords and tokens"},
    secret_rule{"*.env.*", "environment settings, which commonly hold passwords and tokens", rule_exception::sources},
    secret_rule{"env.production", "environment settings, which commonly hold passwords and tokens"},
    secret_rule{"env.local", "environment settings, which commonly hold passwords and tokens"},
    secret_rule{"env.staging", "environment settings, which commonly hold passwords and tokens"},
    secret_rule{"env.development", "environment settings, which commonly hold passwords and tokens"},
    secret_rule{"*.pem", "a key or certificate"},
    secret_rule{"*.key", "a private key"},
    secret_rule{"*.pem.*", "a key or certificate", rule_exception::sources},
    secret_rule{"*.key.*", "a private key", rule_exception::sources_and_pub},
    secret_rule{"*.der", "a key or certificate"},
    secret_rule{"*.p12", "a key store"},
    secret_rule{"*.pfx", "a key store"},
    secret_rule{"*.pkcs12", "a key store"},
    secret_rule{"*.p8", "a private key"},
    secret_rule{"*.pk8", "a private key"},
    secret_rule{"*.pkcs8", "a private key"},
    secret_rule{"*.keytab", "Kerberos keys"},
    secret_rule{"*.jceks", "a Java key store"},
    secret_rule{"*.jks", "a Java key store"},
    secret_rule{"*.keystore", "a Java key store"},
    secret_rule{"*.bks", "an Android key store"},
    secret_rule{"*.ppk", "a PuTTY private key"},
    secret_rule{"*.ovpn", "a VPN profile with keys"},
    secret_rule{"*.kdb", "a password store"},
    secret_rule{"*.kdbx", "a password store"},
    secret_rule{"*.agekey", "an age private key"},
    secret_rule{"*.keychain", "a macOS keychain"},
    secret_rule{"*.keychain-db", "a macOS keychain"},
    secret_rule{"secring.*", "GnuPG private keys"},
    secret_rule{"id_rsa*", "an SSH private key", rule_exception::sources_and_pub},
    secret_rule{"id_dsa*", "an SSH private key", rule_exception::sources_and_pub},
    secret_rule{"id_ecdsa*", "an SSH private key", rule_exception::sources_and_pub},
    secret_rule{"id_ed25519*", "an SSH private key", rule_exception::sources_and_pub},
    secret_rule{"ssh_host_*_key", "an SSH host key"},
    secret_rule{"deploy_key*", "an SSH private key", rule_exception::sources_and_pub},
    secret_rule{"deploy-key*", "an SSH private key", rule_exception::sources_and_pub},
    secret_rule{"private_key", "a private key"},
    secret_rule{"private-key", "a private key"},
    secret_rule{".netrc", "passwords for hosts"},
    secret_rule{"_netrc", "passwords for hosts"},
    secret_rule{".npmrc", "a registry token"},
    secret_rule{".yarnrc.yml", "a registry token"},
    secret_rule{".pypirc", "a registry password"},
    secret_rule{".gem/credentials", "a registry token"},
    secret_rule{".bundle/config", "registry passwords"},
    secret_rule{".m2/settings.xml", "registry passwords"},
    secret_rule{".m2/settings-security.xml", "a master password"},
    secret_rule{".gradle/gradle.properties", "registry passwords"},
    secret_rule{".nuget/nuget.config", "registry passwords"},
    secret_rule{".composer/auth.json", "registry passwords"},
    secret_rule{"composer/auth.json", "registry passwords"},
    secret_rule{".git-credentials", "passwords for git hosts"},
    secret_rule{"git-credentials", "passwords for git hosts"},
    secret_rule{".config/hub", "a GitHub token"},
    secret_rule{".cvspass", "passwords for CVS hosts"},
    secret_rule{"credentials", "credentials"},
    secret_rule{".credentials", "credentials"},
    secret_rule{".credentials.json", "credentials"},
    secret_rule{"credentials.tfrc.json", "a Terraform token"},
    secret_rule{"credentials.json", "credentials"},
    secret_rule{"credentials.toml", "credentials"},
    secret_rule{"credentials.yml", "credentials"},
    secret_rule{"credentials.yaml", "credentials"},
    secret_rule{"credentials.yml.enc", "encrypted credentials"},
    secret_rule{"credentials.db", "credentials"},
    secret_rule{"client_secret*.json", "an OAuth client secret"},
    secret_rule{"service-account*.json", "a cloud service account's key"},
    secret_rule{"service_account*.json", "a cloud service account's key"},
    secret_rule{"serviceaccount*.json", "a cloud service account's key"},
    secret_rule{"application_default_credentials.json", "cloud credentials"},
    secret_rule{"secrets.yml", "secrets"},
    secret_rule{"secrets.yaml", "secrets"},
    secret_rule{"secrets.json", "secrets"},
    secret_rule{"secrets.toml", "secrets"},
    secret_rule{"secrets.ini", "secrets"},
    secret_rule{"secret.yml", "secrets"},
    secret_rule{"secret.yaml", "secrets"},
    secret_rule{"secret.json", "secrets"},
    secret_rule{"secret.toml", "secrets"},
    secret_rule{"*.token", "a token"},
    secret_rule{"*_token", "a token"},
    secret_rule{"*-token", "a token"},
    secret_rule{"*.tfstate", "Terraform state, which holds secrets in the clear"},
    secret_rule{"*.tfstate.*", "Terraform state, which holds secrets in the clear"},
    secret_rule{"terraform.tfvars", "Terraform variables, which commonly hold secrets"},
    secret_rule{"terraform.tfvars.json", "Terraform variables, which commonly hold secrets"},
    secret_rule{"*.auto.tfvars", "Terraform variables, which commonly hold secrets"},
    secret_rule{".terraformrc", "a Terraform token"},
    secret_rule{"kubeconfig*", "cluster credentials", rule_exception::sources},
    secret_rule{"*.kubeconfig", "cluster credentials"},
    secret_rule{".docker/config.json", "registry passwords"},
    secret_rule{".dockercfg", "registry passwords"},
    secret_rule{".dockerconfigjson", "registry passwords"},
    secret_rule{"containers/auth.json", "registry passwords"},
    secret_rule{"helm/repositories.yaml", "registry passwords"},
    secret_rule{".vault-token", "a Vault token"},
    secret_rule{".vault_pass*", "an Ansible vault password"},
    secret_rule{"vault_pass*", "an Ansible vault password", rule_exception::sources},
    secret_rule{"vault-pass*", "an Ansible vault password", rule_exception::sources},
    secret_rule{"*_password", "a password"},
    secret_rule{"*-password", "a password"},
    secret_rule{"*accesskeys*.csv", "cloud credentials"},
    secret_rule{"htpasswd", "password digests"},
    secret_rule{".htpasswd", "password digests"},
    secret_rule{".htdigest", "password digests"},
    secret_rule{"shadow", "password digests"},
    secret_rule{"shadow-", "password digests"},
    secret_rule{"gshadow", "password digests"},
    secret_rule{"gshadow-", "password digests"},
    secret_rule{".pgpass", "database passwords"},
    secret_rule{"pgpass.conf", "database passwords"},
    secret_rule{".pg_service.conf", "database passwords"},
    secret_rule{"pg_service.conf", "database passwords"},
    secret_rule{".my.cnf", "database passwords"},
    secret_rule{".mylogin.cnf", "database passwords"},
    secret_rule{".odbc.ini", "database passwords"},
    secret_rule{".snowsql/config", "database passwords"},
    secret_rule{".dbt/profiles.yml", "database passwords"},
    secret_rule{".s3cfg", "cloud credentials"},
    secret_rule{".boto", "cloud credentials"},
    secret_rule{".databrickscfg", "cloud credentials"},
    secret_rule{".ossutilconfig", "cloud credentials"},
    secret_rule{".passwd-s3fs", "cloud credentials"},
    secret_rule{"rclone.conf", "cloud credentials"},
    secret_rule{"kaggle.json", "an API key"},
    secret_rule{"huggingface/token", "an API token"},
    secret_rule{".codex/auth.json", "an API token"},
    secret_rule{".gemini/oauth_creds.json", "an API token"},
    secret_rule{".smbcredentials", "a password"},
    secret_rule{".msmtprc", "a mail password"},
    secret_rule{".fetchmailrc", "mail passwords"},
    secret_rule{".mbsyncrc", "mail passwords"},
    secret_rule{".offlineimaprc", "mail passwords"},
    secret_rule{".*_history", "a command history, which commonly holds passwords"},
    secret_rule{".env*/", "environment settings, which commonly hold passwords and tokens"},
    secret_rule{".aws/", "cloud credentials"},
    secret_rule{".azure/", "cloud credentials"},
    secret_rule{".config/gcloud/", "cloud credentials"},
    secret_rule{".config/gh/", "a GitHub token"},
    secret_rule{".config/glab-cli/", "a GitLab token"},
    secret_rule{".config/doctl/", "cloud credentials"},
    secret_rule{".config/hcloud/", "cloud credentials"},
    secret_rule{".config/openstack/", "cloud credentials"},
    secret_rule{".config/op/", "a password store"},
    secret_rule{".config/sops/", "an age private key"},
    secret_rule{".config/argocd/", "cluster credentials"},
    secret_rule{".oci/", "cloud credentials"},
    secret_rule{".aliyun/", "cloud credentials"},
    secret_rule{".fly/", "cloud credentials"},
    secret_rule{".ssh/", "SSH keys"},
    secret_rule{".gnupg/", "GnuPG keys"},
    secret_rule{".kube/", "cluster credentials"},
    secret_rule{".subversion/auth/", "passwords for Subversion hosts"},
    secret_rule{".password-store/", "a password store"},
};

constexpr auto source_extensions = std::to_array<std::string_view>(
    {"adoc", "asm",    "astro", "bats", "c",     "cc",  "clj", "cpp",    "cs", "css", "cxx", "d",  "dart",
     "elm",  "erl",    "ex",    "exs",  "f90",   "fs",  "go",  "groovy", "h",  "hh",  "hpp", "hs", "html",
     "hxx",  "java",   "jl",    "js",   "jsx",   "kt",  "kts", "lua",    "m",  "md",  "mjs", "ml", "mm",
     "nim",  "php",    "pl",    "pm",   "proto", "py",  "pyi", "r",      "rb", "rs",  "rst", "s",  "scala",
     "scss", "svelte", "swift", "ts",   "tsx",   "vue", "zig", "cts",    "mts"});

/// Whether a name matches a pattern, which has at most a few `*`.
bool matches(std::string_view pattern, std::string_view name) noexcept {
  const auto star = pattern.find('*');
  if (star == std::string_view::npos) return ascii::equals_ignore_case(name, pattern);
  const auto prefix = pattern.substr(0, star);
  const auto suffix = pattern.substr(star + 1);
  if (!ascii::starts_with_ignore_case(name, prefix)) return false;
  if (suffix.find('*') == std::string_view::npos) {
    return name.size() >= prefix.size() + suffix.size() && ascii::ends_with_ignore_case(name, suffix);
  }
  for (std::size_t i = prefix.size(); i <= name.size(); ++i) {
    if (matches(suffix, name.substr(i))) return true;
  }
  return false;
}

bool is_excepted(rule_exception exception, std::string_view name) noexcept {
  if (exception == rule_exception::none) return false;
  const auto extension = name.substr(name.rfind('.') + 1);
  if (exception == rule_exception::sources_and_pub && ascii::equals_ignore_case(extension, "pub")) return true;
  return std::any_of(source_extensions.begin(), source_extensions.end(),
                     [extension](std::string_view entry) { return ascii::equals_ignore_case(extension, entry); });
}

/// The last `count` segments of `path`, or all of it.
std::string_view last_segments(std::string_view path, std::ptrdiff_t count) noexcept {
  auto position = path.size();
  while (count-- > 0 && position != std::string_view::npos && position != 0) position = path.rfind('/', position - 1);
  return position == std::string_view::npos || position == 0 ? path : path.substr(position + 1);
}

}  // namespace

std::span<const secret_rule> secret_rules() noexcept { return rules; }

const secret_rule* find_secret(std::string_view path, bool is_folder) noexcept {
  for (const auto& rule : rules) {
    auto pattern = rule.pattern;
    if ((pattern.back() == '/') != is_folder) continue;
    if (is_folder) pattern.remove_suffix(1);
    const auto segments = 1 + std::count(pattern.begin(), pattern.end(), '/');
    const auto tail = last_segments(path, segments);
    if (matches(pattern, tail) && !is_excepted(rule.exception, tail)) return &rule;
  }
  return nullptr;
}

}  // namespace hondana::secrets
