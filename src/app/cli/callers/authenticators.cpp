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

constexpr std::size_t max_secret_bytes = 4096;

/// `key`: a configuration key, or a flag that begins with "--".
tl::unexpected<failure> setting_error(const config::settings& settings, std::string_view key, const failure& error) {
  if (key.starts_with("--"))
    return fail(errc::invalid_argument, std::string(key) + ": " + error.public_text, error.private_text);
  auto out = settings.error_at(key, error.public_text);
  out.private_text = error.private_text;
  return tl::unexpected(std::move(out));
}

/// Translates the name of an `oauth_authenticator_options` member into its configuration key.
tl::unexpected<failure> oauth_error(const config::settings& settings, failure error) {
  if (error.subject.empty()) return setting_error(settings, "auth.oauth", error);
  const auto prefix = "oauth_authenticator_options::" + error.subject + ": ";
  if (error.public_text.starts_with(prefix)) error.public_text.erase(0, prefix.size());
  const std::string key = error.subject == "clock_skew" ? "clock_skew_s" : error.subject;
  return setting_error(settings, "auth.oauth." + key, error);
}

result<std::string> read_client_secret(const config::introspection_settings& settings) {
  if (settings.secret_file.empty()) return mcp::expand_variables(settings.client_secret, mcp::environment_variable);
  HONDANA_TRY(auto read, disk::read_private(settings.secret_file, max_secret_bytes));
  while (read.bytes.ends_with('\n') || read.bytes.ends_with('\r')) read.bytes.pop_back();
  if (read.bytes.empty()) return fail(errc::invalid_argument, settings.secret_file + " is empty");
  return std::move(read.bytes);
}

/// Whether the secret is in plain text in a configuration file that other users can read.
bool is_secret_exposed(const config::settings& settings, const config::introspection_settings& introspection) {
  struct stat attributes{};
  return settings.root_table && !introspection.client_secret.empty() &&
         introspection.client_secret.find("${env:") == std::string::npos &&
         ::stat(settings.root_table->file().c_str(), &attributes) == 0 && (attributes.st_mode & S_IROTH) != 0;
}

result<oauth_authenticator_options> make_oauth_options(const config::settings& settings, const config::oauth_settings& oauth,
                                                       const log_function& log) {
  oauth_authenticator_options out;
  out.issuer = oauth.issuer;
  out.resource = oauth.resource;
  out.audiences = oauth.audiences;
  if (!oauth.jwks_uri.empty()) out.jwks_uri = oauth.jwks_uri;
  out.clock_skew = oauth.clock_skew;
  // Scopes are not set here: the current rules apply, and a reload replaces these without replacing this authenticator.
  out.name = settings.title.empty() ? settings.name : settings.title;
  out.documentation_url = oauth.documentation_url;
  if (!oauth.ca_file.empty()) out.ca_file = oauth.ca_file;
  if (!oauth.proxy.empty()) out.proxy = oauth.proxy;
  out.log = log;
  if (!oauth.introspection) return out;
  if (log && is_secret_exposed(settings, *oauth.introspection))
    log(settings
            .error_at(
                "auth.oauth.introspection.client_secret",
                "other users of this machine can read this file and the secret in it; write client_secret_file = \"FILE\" "
                "or client_secret = \"${env:NAME}\", or chmod 600")
            .public_text);
  auto secret = read_client_secret(*oauth.introspection);
  if (!secret)
    return setting_error(settings,
                         oauth.introspection->secret_file.empty() ? "auth.oauth.introspection.client_secret"
                                                                  : "auth.oauth.introspection.client_secret_file",
                         secret.error());
  out.introspection = introspection_options{oauth.introspection->endpoint, oauth.introspection->client_id, std::move(*secret),
                                            oauth.introspection->includes_jwts, oauth.introspection->audience_is_optional};
  return out;
}

certificate_options make_certificate_options(const config::certificate_settings& settings) {
  certificate_options out;
  out.name_kind = settings.name_kind == "dns"     ? certificate_name_kind::dns
                  : settings.name_kind == "email" ? certificate_name_kind::email
                  : settings.name_kind == "uri"   ? certificate_name_kind::uri
                                                  : certificate_name_kind::subject;
  out.allowed_names = settings.allowed_names;
  out.scopes = settings.scopes;
  return out;
}

std::optional<std::uint32_t> user_id(const std::string& text) {
  std::uint32_t id = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error == std::errc() && end == text.data() + text.size()) return id;
  passwd entry{};
  passwd* match = nullptr;
  std::vector<char> buffer(16u << 10);
  if (::getpwnam_r(text.c_str(), &entry, buffer.data(), buffer.size(), &match) != 0 || match == nullptr) return {};
  return match->pw_uid;
}

}  // namespace

result<std::vector<std::pair<std::uint32_t, std::string>>> resolve_users(const std::vector<std::string>& names) {
  std::vector<std::pair<std::uint32_t, std::string>> out;
  for (const auto& name : names) {
    const auto id = user_id(name);
    if (!id) return fail(errc::invalid_argument, "unknown user \"" + name + "\" on this machine");
    out.emplace_back(*id, *id == ::geteuid() ? "local" : "uid:" + std::to_string(*id));
  }
  return out;
}

std::string default_token_file() {
  const auto config = default_config_file();
  return config.empty() ? config : config.substr(0, config.rfind('/') + 1) + "tokens";
}

std::string effective_token_file(const config::settings& settings, const std::string& token_file) {
  const auto& auth = settings.auth;
  if (!token_file.empty()) return token_file;
  const bool has_other_method = auth.oauth || auth.certificates || !auth.users.empty();
  return auth.token_file.empty() && auth.is_present && !has_other_method ? default_token_file() : auth.token_file;
}

result<authentication_setup> make_authentication_setup(const config::settings& settings, const std::string& token_file,
                                                       listener_properties listener, const log_function& log) {
  const auto& auth = settings.auth;
  const auto file = effective_token_file(settings, token_file);
  authentication_setup out;
  authenticator_list token_authenticators;
  authenticator_list connection_authenticators;
  if (!file.empty()) {
    auto authenticator = make_token_file_authenticator({file, {}, log});
    if (!authenticator) return setting_error(settings, token_file.empty() ? "auth.tokens" : "--tokens", authenticator.error());
    token_authenticators.push_back(std::move(*authenticator));
    out.method_descriptions.push_back("tokens in " + file);
  }
  if (auth.oauth) {
    HONDANA_TRY(auto options, make_oauth_options(settings, *auth.oauth, log));
    auto authenticator = make_oauth_authenticator(std::move(options));
    if (!authenticator) return oauth_error(settings, std::move(authenticator.error()));
    token_authenticators.push_back(std::move(*authenticator));
    out.method_descriptions.push_back("tokens of " + auth.oauth->issuer + " for " + auth.oauth->resource);
  }
  if (auth.certificates) {
    if (!listener.requests_certificates) {
      return tl::unexpected(settings.error_at("auth.certificates",
                                              "clients are not asked for certificates; add client_ca_file = \"FILE\" to "
                                              "[http.tls], with certificate_file and key_file"));
    }
    auto authenticator = make_certificate_authenticator(make_certificate_options(*auth.certificates));
    if (!authenticator) return setting_error(settings, "auth.certificates", authenticator.error());
    connection_authenticators.push_back(std::move(*authenticator));
    out.method_descriptions.push_back("client certificates, identified by " + auth.certificates->name_kind);
  }
  if (!auth.users.empty()) {
    if (!listener.has_unix_socket) {
      return tl::unexpected(settings.error_at(
          "auth.unix", "the server does not listen on a Unix socket; add socket = \"PATH\" to [http], or use --socket PATH"));
    }
    auto users = resolve_users(auth.users);
    if (!users) return setting_error(settings, "auth.unix.users", users.error());
    auto authenticator = make_peer_authenticator(std::move(*users));
    if (!authenticator) return setting_error(settings, "auth.unix.users", authenticator.error());
    connection_authenticators.push_back(std::move(*authenticator));
    out.method_descriptions.emplace_back("users of this machine, over the Unix socket");
  }
  if (out.method_descriptions.empty()) return out;
  HONDANA_TRY(auto combined,
              make_combined_authenticator(std::move(token_authenticators), std::move(connection_authenticators)));
  out.authenticator = std::move(combined);
  return out;
}

}  // namespace hondana::cli
