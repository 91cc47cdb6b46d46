/// Creates the authenticator of `hondana serve` from its settings.
#include "app/cli/callers/authenticators.hpp"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <hondana/authenticators.hpp>

#include "app/cli/target.hpp"
#include "os/disk/private_file.hpp"
#include "sources/mcp/settings.hpp"

namespace hondana::cli {
namespace {

using authenticator_list = std::vector<std::shared_ptr<hondana::authenticator>>;

constexpr std::size_t longest_secret = 4096;

/// `key`: a configuration key, or a flag that begins with "--".
tl::unexpected<failure> wrong(const config::settings& in, std::string_view key, const failure& why) {
  if (key.starts_with("--")) return fail(errc::invalid_argument, std::string(key) + ": " + why.public_text, why.private_text);
  auto out = in.wrong(key, why.public_text);
  out.private_text = why.private_text;
  return tl::unexpected(std::move(out));
}

/// Translates the name of an `oauth_options` member into the configuration key of the same name.
tl::unexpected<failure> wrong_oauth(const config::settings& in, failure why) {
  if (why.about.empty()) return wrong(in, "auth.oauth", why);
  const auto key = "auth.oauth." + why.about + (why.about == "skew" ? "_s" : "");
  const auto named = "oauth_options::" + why.about + ": ";
  if (why.public_text.starts_with(named)) why.public_text.erase(0, named.size());
  return wrong(in, key, why);
}

result<std::string> secret_of(const config::introspection_settings& from) {
  if (from.secret_file.empty()) return mcp::with_variables(from.client_secret, mcp::environment_variable);
  HONDANA_TRY(auto read, disk::read_private(from.secret_file, longest_secret));
  while (read.bytes.ends_with('\n') || read.bytes.ends_with('\r')) read.bytes.pop_back();
  if (read.bytes.empty()) return fail(errc::invalid_argument, from.secret_file + " is empty");
  return std::move(read.bytes);
}

/// Whether the secret is in plain text in a configuration file that other users can read.
bool is_plain_and_open(const config::settings& settings, const config::introspection_settings& from) {
  struct stat is{};
  return settings.file && !from.client_secret.empty() && from.client_secret.find("${env:") == std::string::npos &&
         ::stat(settings.file->file().c_str(), &is) == 0 && (is.st_mode & S_IROTH) != 0;
}

result<oauth_options> options_of(const config::settings& settings, const config::oauth_settings& from,
                                 const log_function& log) {
  oauth_options out;
  out.issuer = from.issuer;
  out.resource = from.resource;
  out.audiences = from.audiences;
  out.keys = from.keys;
  out.skew = from.skew;
  // Scopes are not set here: the current rules apply, and a reload replaces these without replacing this authenticator.
  out.name = settings.title.empty() ? settings.name : settings.title;
  out.documentation = from.documentation;
  out.authorities = from.authorities;
  out.proxy = from.proxy;
  out.log = log;
  if (!from.introspection) return out;
  if (log && is_plain_and_open(settings, *from.introspection))
    log(settings
            .wrong("auth.oauth.introspection.client_secret",
                   "other users of this machine can read this file and the secret in it; write client_secret_file = \"FILE\" "
                   "or client_secret = \"${env:NAME}\", or chmod 600")
            .public_text);
  auto secret = secret_of(*from.introspection);
  if (!secret)
    return wrong(settings,
                 from.introspection->secret_file.empty() ? "auth.oauth.introspection.client_secret"
                                                         : "auth.oauth.introspection.client_secret_file",
                 secret.error());
  out.introspection = {from.introspection->endpoint, from.introspection->client_id, std::move(*secret),
                       from.introspection->for_all, from.introspection->audience_is_optional};
  return out;
}

certificate_options options_of(const config::certificate_settings& from) {
  certificate_options out;
  out.by = from.name == "dns"     ? certificate_name::dns
           : from.name == "email" ? certificate_name::email
           : from.name == "uri"   ? certificate_name::uri
                                  : certificate_name::subject;
  out.allowed = from.allow;
  out.scopes = from.scopes;
  return out;
}

std::optional<std::uint32_t> user_id(const std::string& text) {
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error == std::errc() && end == text.data() + text.size()) return id;
  passwd entry{};
  passwd* found = nullptr;
  std::vector<char> room(16u << 10);
  if (::getpwnam_r(text.c_str(), &entry, room.data(), room.size(), &found) != 0 || found == nullptr) return {};
  return found->pw_uid;
}

/// Resolves Unix users to the same identities that callers have without authentication: "local" and "uid:NUMBER". Errors:
/// invalid_argument for an unknown user.
result<std::vector<std::pair<std::uint32_t, std::string>>> users_of(const std::vector<std::string>& named) {
  std::vector<std::pair<std::uint32_t, std::string>> out;
  for (const auto& one : named) {
    const auto id = user_id(one);
    if (!id) return fail(errc::invalid_argument, "unknown user \"" + one + "\" on this machine");
    out.emplace_back(*id, *id == ::geteuid() ? "local" : "uid:" + std::to_string(*id));
  }
  return out;
}

}  // namespace

std::string usual_tokens() {
  const auto config = usual_config();
  return config.empty() ? config : config.substr(0, config.rfind('/') + 1) + "tokens";
}

result<ways_to_tell> ways_from(const config::settings& settings, const std::string& tokens, ways_in by,
                               const log_function& log) {
  const auto& auth = settings.auth;
  const bool has_another_way = auth.oauth || auth.certificates || !auth.users.empty();
  auto file = tokens.empty() ? auth.tokens : tokens;
  if (file.empty() && auth.is_given && !has_another_way) file = usual_tokens();
  ways_to_tell out;
  authenticator_list by_token;
  authenticator_list by_connection;
  if (!file.empty()) {
    auto made = make_token_file_authenticator({file, {}, log});
    if (!made) return wrong(settings, tokens.empty() ? "auth.tokens" : "--tokens", made.error());
    by_token.push_back(std::move(*made));
    out.told.push_back("tokens in " + file);
  }
  if (auth.oauth) {
    HONDANA_TRY(auto options, options_of(settings, *auth.oauth, log));
    auto made = make_oauth_authenticator(std::move(options));
    if (!made) return wrong_oauth(settings, std::move(made.error()));
    by_token.push_back(std::move(*made));
    out.told.push_back("tokens of " + auth.oauth->issuer + " for " + auth.oauth->resource);
  }
  if (auth.certificates) {
    if (!by.asks_for_certificates) {
      return tl::unexpected(settings.wrong(
          "auth.certificates",
          "clients are not asked for certificates; add client_authorities = \"FILE\" to [http.tls], with certificate and key"));
    }
    auto made = make_certificate_authenticator(options_of(*auth.certificates));
    if (!made) return wrong(settings, "auth.certificates", made.error());
    by_connection.push_back(std::move(*made));
    out.told.push_back("client certificates, identified by " + auth.certificates->name);
  }
  if (!auth.users.empty()) {
    if (!by.has_socket) {
      return tl::unexpected(settings.wrong(
          "auth.unix", "the server does not listen on a Unix socket; add socket = \"PATH\" to [http], or use --socket PATH"));
    }
    auto users = users_of(auth.users);
    if (!users) return wrong(settings, "auth.unix.users", users.error());
    auto made = make_process_authenticator(std::move(*users));
    if (!made) return wrong(settings, "auth.unix.users", made.error());
    by_connection.push_back(std::move(*made));
    out.told.emplace_back("users of this machine, over the Unix socket");
  }
  if (out.told.empty()) return out;
  HONDANA_TRY(auto whole, make_any_authenticator(std::move(by_token), std::move(by_connection)));
  out.authenticator = std::move(whole);
  return out;
}

}  // namespace hondana::cli
