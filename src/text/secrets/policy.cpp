/// Names of configuration.
#include "text/secrets/policy.hpp"

#include <algorithm>
#include <array>

#include "text/secrets/near.hpp"

namespace hondana::secrets {
namespace {

constexpr auto settings_extensions = std::to_array<std::string_view>(
    {"env",   "ini",     "properties", "toml",          "yaml",   "yml",    "json",    "jsonc", "json5",
     "conf",  "cfg",     "cnf",        "config",        "tfvars", "rc",     "log",     "xml",   "plist",
     "sh",    "bash",    "zsh",        "fish",          "ksh",    "csh",    "ps1",     "bat",   "cmd",
     "envrc", "service", "dockerfile", "containerfile", "netrc",  "pgpass", "htpasswd"});
/// Of whole names, however they go on behind a dot or a hyphen.
constexpr auto settings_names =
    std::to_array<std::string_view>({"dockerfile", "containerfile", "_netrc", "shadow", "docker-compose"});
constexpr auto copy_extensions = std::to_array<std::string_view>(
    {"bak", "backup", "old", "orig", "example", "sample", "dist", "template", "save", "swp", "tmp", "local"});

template <class List>
bool is_among(std::string_view extension, const List& known) noexcept {
  return std::any_of(known.begin(), known.end(),
                     [extension](auto one) { return extension.size() == one.size() && begins_with(extension, one); });
}

bool is_number_or_date(std::string_view extension) noexcept {
  return !extension.empty() && extension.find_first_not_of("0123456789-_T:") == std::string_view::npos;
}

/// `log` of `app.log.1`, `app.log-20260101` and `app.log.bak~`.
std::string_view without_copy_mark(std::string_view name) noexcept {
  for (;;) {
    const auto before = name;
    while (name.ends_with('~')) name.remove_suffix(1);
    const auto dot = name.rfind('.');
    if (dot == std::string_view::npos || dot == 0) return name;
    const auto extension = name.substr(dot + 1);
    const auto letters = extension.find_first_of("-_0123456789");
    if (is_number_or_date(extension) || is_among(extension, copy_extensions)) {
      name = name.substr(0, dot);
    } else if (letters != std::string_view::npos && letters != 0 && is_number_or_date(extension.substr(letters)) &&
               (extension[letters] == '-' || extension[letters] == '_')) {
      name = name.substr(0, dot + 1 + letters);
    }
    if (name == before) return name;
  }
}

}  // namespace

policy policy_of(std::string_view path) noexcept {
  const auto name = without_copy_mark(path.substr(path.rfind('/') + 1));
  const auto extension = name.substr(std::min(name.size(), name.rfind('.') + 1));
  const bool is_named = std::any_of(settings_names.begin(), settings_names.end(), [name](auto one) {
    return begins_with(name, one) && (name.size() == one.size() || name[one.size()] == '.' || name[one.size()] == '-');
  });
  const bool is_settings = is_named || begins_with(name, ".env") || (name.ends_with("rc") && name.starts_with('.')) ||
                           is_among(extension, settings_extensions);
  return is_settings ? policy::settings : policy::text;
}

policy policy_of_uri(std::string_view uri) noexcept { return policy_of(uri.substr(0, uri.find_first_of("?#"))); }

}  // namespace hondana::secrets
