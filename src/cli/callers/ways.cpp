/// One authenticator for each table below `[auth]`.
#include "cli/callers/ways.hpp"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <hondana/authenticators.hpp>

#include "cli/target/names.hpp"
#include "disk/private_file.hpp"
#include "providers/mcp/settings.hpp"

namespace hondana::cli {
namespace {

using authenticator_list = std::vector<std::shared_ptr<hondana::authenticator>>;

constexpr std::size_t longest_secret = 4096;

tl::unexpected<failure> wrong(std::string_view table, const failure& why) {
  return fail(errc::invalid_argument, '[' + std::string(table) + "]: " + why.public_text, why.private_text);
}

result<std::string> secret_of(const config::introspection_settings& from) {
  if (from.secret_file.empty()) return mcp::with_variables(from.client_secret, mcp::environment_variable);
  auto read = disk::read_private(from.secret_file, longest_secret);
  if (!read) return tl::unexpected(std::move(read.error()));
  while (read->bytes.ends_with('\n') || read->bytes.ends_with('\r')) read->bytes.pop_back();
  if (read->bytes.empty()) return fail(errc::invalid_argument, from.secret_file + " is empty");
  return std::move(read->bytes);
}

result<oauth_options> options_of(const config::settings& settings, const config::oauth_settings& from,
                                 const log_function& log) {
  oauth_options out;
  out.issuer = from.issuer;
  out.resource = from.resource;
  out.audiences = from.audiences;
  out.keys = from.keys;
  out.skew = from.skew;
  // No scopes: what the rules say at present counts, which are read again without this one.
  out.name = settings.title.empty() ? settings.name : settings.title;
  out.documentation = from.documentation;
  out.authorities = from.authorities;
  out.proxy = from.proxy;
  out.log = log;
  if (!from.introspection) return out;
  auto secret = secret_of(*from.introspection);
  if (!secret) return wrong("auth.oauth.introspection", secret.error());
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

/// The same identities as where nobody is asked.
result<std::vector<std::pair<std::uint32_t, std::string>>> users_of(const std::vector<std::string>& named) {
  std::vector<std::pair<std::uint32_t, std::string>> out;
  for (const auto& one : named) {
    const auto id = user_id(one);
    if (!id) return fail(errc::invalid_argument, "there is no user \"" + one + "\" on this machine");
    out.emplace_back(*id, *id == ::geteuid() ? "local" : "uid:" + std::to_string(*id));
  }
  return out;
}

/// Puts what was made where it belongs.
result<void> take(result<std::shared_ptr<hondana::authenticator>> made, std::string_view table, authenticator_list& into) {
  if (!made) return wrong(table, made.error());
  into.push_back(std::move(*made));
  return {};
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
    const std::string_view where = tokens.empty() ? "auth" : "--tokens";
    if (auto done = take(make_token_file_authenticator({file, {}, log}), where, by_token); !done)
      return tl::unexpected(std::move(done.error()));
    out.told.push_back("tokens in " + file);
  }
  if (auth.oauth) {
    auto options = options_of(settings, *auth.oauth, log);
    if (!options) return tl::unexpected(std::move(options.error()));
    if (auto done = take(make_oauth_authenticator(std::move(*options)), "auth.oauth", by_token); !done)
      return tl::unexpected(std::move(done.error()));
    out.told.push_back("tokens of " + auth.oauth->issuer + " for " + auth.oauth->resource);
  }
  if (auth.certificates) {
    if (!by.asks_for_certificates) {
      return wrong("auth.certificates", {errc::invalid_argument,
                                         "no client is asked for a certificate; name who signs them: client_authorities = "
                                         "\"FILE\" in [http.tls], beside certificate and key",
                                         {}});
    }
    if (auto done = take(make_certificate_authenticator(options_of(*auth.certificates)), "auth.certificates", by_connection);
        !done)
      return tl::unexpected(std::move(done.error()));
    out.told.push_back("client certificates, by their " + auth.certificates->name);
  }
  if (!auth.users.empty()) {
    if (!by.has_socket) {
      return wrong("auth.unix",
                   {errc::invalid_argument,
                    "nobody comes by a Unix socket; say where it is: socket = \"PATH\" in [http], or --socket PATH",
                    {}});
    }
    auto users = users_of(auth.users);
    if (!users) return wrong("auth.unix", users.error());
    if (auto done = take(make_process_authenticator(std::move(*users)), "auth.unix", by_connection); !done)
      return tl::unexpected(std::move(done.error()));
    out.told.emplace_back("users of this machine, over the Unix socket");
  }
  if (out.told.empty()) return out;
  auto whole = make_any_authenticator(std::move(by_token), std::move(by_connection));
  if (!whole) return tl::unexpected(std::move(whole.error()));
  out.authenticator = std::move(*whole);
  return out;
}

}  // namespace hondana::cli
