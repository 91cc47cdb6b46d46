/// Google credentials of service accounts and users: where they are found, and the scopes requested with them.
#include "auth/google/credentials.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <optional>
#include <utility>

#include <hondana/uri.hpp>
#include <hondana/value.hpp>

#include "auth/oauth/authorization_urls.hpp"
#include "auth/oauth/code_request.hpp"
#include "auth/oauth/scopes.hpp"
#include "base/uri/web_url.hpp"
#include "os/disk/file_stamp.hpp"
#include "os/disk/private_file.hpp"

namespace hondana::google {
namespace {

constexpr std::string_view scope_prefix = "https://www.googleapis.com/auth/";
constexpr std::string_view full_drive_scope = "https://www.googleapis.com/auth/drive";
constexpr std::array<std::pair<scope, std::string_view>, 2> known_scopes{
    {{scope::drive_metadata_readonly, "https://www.googleapis.com/auth/drive.metadata.readonly"},
     {scope::drive_readonly, "https://www.googleapis.com/auth/drive.readonly"}}};

}  // namespace

std::string_view url_of(scope drive_scope) noexcept {
  return std::find_if(known_scopes.begin(), known_scopes.end(),
                      [drive_scope](const auto& known) { return known.first == drive_scope; })
      ->second;
}

result<scopes> read_scopes(const std::vector<std::string>& names) {
  if (names.empty()) return scopes{scope::drive_readonly};
  scopes out;
  for (const auto& name : names) {
    const auto match = std::find_if(known_scopes.begin(), known_scopes.end(), [&name](const auto& known) {
      return known.second == name || known.second.substr(scope_prefix.size()) == name;
    });
    if (match == known_scopes.end())
      return fail(errc::invalid_argument, "the scope \"" + oauth::sanitize(name) +
                                              "\" is not supported: hondana only reads Drive; write drive.readonly, or "
                                              "drive.metadata.readonly for names without contents");
    out.insert(match->first);
  }
  return out;
}

std::string scope_string(const scopes& requested) {
  std::string out;
  for (const auto drive_scope : requested) out += (out.empty() ? "" : " ") + std::string(url_of(drive_scope));
  return out;
}

coverage coverage_of(std::string_view granted, const scopes& requested) {
  const auto granted_scopes = oauth::read_scopes(granted).value_or(oauth::scope_set());
  coverage out{.is_sufficient = true};
  for (const auto required : requested) {
    const bool is_granted =
        granted_scopes.contains(url_of(required)) || granted_scopes.contains(full_drive_scope) ||
        (required == scope::drive_metadata_readonly && granted_scopes.contains(url_of(scope::drive_readonly)));
    out.is_sufficient = out.is_sufficient && is_granted;
  }
  out.is_excessive = std::any_of(granted_scopes.begin(), granted_scopes.end(), [](const std::string& url) {
    return url.starts_with(scope_prefix) && url != url_of(scope::drive_readonly) &&
           url != url_of(scope::drive_metadata_readonly) && url.find("userinfo") == std::string::npos;
  });
  return out;
}

bool may_read_contents(const scopes& requested) noexcept { return requested.contains(scope::drive_readonly); }

namespace {

constexpr std::size_t max_members = 500;
constexpr std::size_t max_line_bytes = 8u << 10;

tl::unexpected<failure> invalid_credentials(std::string reason) { return fail(errc::invalid_argument, std::move(reason)); }

/// Whether it is one line of visible ASCII, as header fields, forms and messages require.
bool is_line(std::string_view text) noexcept {
  return text.size() <= max_line_bytes && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

/// An optional member with one visible line; empty if it is absent or null. Errors: invalid_argument for other values.
result<std::string> optional_line(const value& object, std::string_view name) {
  const auto* member = object.find(name);
  if (member == nullptr || member->is_null()) return std::string();
  if (member->as_string() == nullptr || !is_line(*member->as_string()))
    return invalid_credentials(std::string(name) + ": expected one line of visible ASCII");
  return *member->as_string();
}

/// The same for a required member.
result<std::string> required_line(const value& object, std::string_view name) {
  auto out = optional_line(object, name);
  if (out && out->empty()) return invalid_credentials(std::string(name) + ": missing");
  return out;
}

result<value> parse_object(std::string_view json) {
  if (json.starts_with("\xef\xbb\xbf")) json.remove_prefix(3);
  auto parsed = value::parse(json, {max_credential_bytes, max_members});
  // The parser's error may quote part of a key, so it is not used.
  if (!parsed || parsed->as_object() == nullptr)
    return invalid_credentials("it is not a JSON object of at most 64 KiB; download the file again, or log in again");
  return parsed;
}

result<std::string> read_token_url(const value& object, const std::string& configured) {
  if (!configured.empty()) {
    HONDANA_TRY(check_token_url(configured, true));
    return configured;
  }
  auto url = optional_line(object, "token_uri");
  if (!url) return url;
  if (url->empty()) return std::string(default_token_url);
  if (auto status = check_token_url(*url, false); !status)
    return invalid_credentials("token_uri: " + status.error().public_text);
  return url;
}

result<credentials> read_service_account(const value& object, const std::string& token_url) {
  HONDANA_TRY(auto email, required_line(object, "client_email"));
  if (email.find('@') == std::string::npos) return invalid_credentials("client_email: expected an e-mail address");
  HONDANA_TRY(auto key_id, optional_line(object, "private_key_id"));
  HONDANA_TRY(auto client_id, optional_line(object, "client_id"));
  HONDANA_TRY(auto url, read_token_url(object, token_url));
  const auto* pem = object.find("private_key");
  if (pem == nullptr || pem->as_string() == nullptr) return invalid_credentials("private_key: missing");
  auto key = jose::signing_key::from_pem(*pem->as_string());
  if (!key || key->alg() != jose::algorithm::rs256)
    return invalid_credentials(
        "private_key: expected an RSA key in PEM, 2048 bits or more and not encrypted; download the key again");
  return service_account{std::move(email), std::move(key_id), std::move(client_id), std::move(url), std::move(*key)};
}

result<credentials> read_user(const value& object, const std::string& token_url) {
  HONDANA_TRY(auto id, required_line(object, "client_id"));
  HONDANA_TRY(auto secret, optional_line(object, "client_secret"));
  HONDANA_TRY(auto refresh, required_line(object, "refresh_token"));
  HONDANA_TRY(auto account, optional_line(object, "account"));
  HONDANA_TRY(auto url, read_token_url(object, token_url));
  return authorized_user{std::move(id), std::move(secret), std::move(refresh), std::move(url), std::move(account)};
}

bool is_google_token_host(std::string_view host) noexcept {
  constexpr std::array<std::string_view, 4> hosts{"oauth2.googleapis.com", "oauth2.mtls.googleapis.com", "accounts.google.com",
                                                  "www.googleapis.com"};
  return std::find(hosts.begin(), hosts.end(), host) != hosts.end();
}

}  // namespace

result<void> check_token_url(const std::string& url, bool is_configured) {
  if (const auto status = oauth::check_endpoint(url, "the token endpoint"); !status)
    return invalid_credentials(status.error().public_text);
  if (is_configured) return {};
  const auto parts = split_uri(url);
  const auto host_port = uri::parse_host_port(parts.authority.value_or(std::string_view()));
  if (parts.scheme == "https" && host_port && is_google_token_host(host_port->host) && host_port->port.value_or(443) == 443)
    return {};
  return invalid_credentials(
      "the token endpoint " + oauth::display_url(url) +
      " is not a Google host, so no signed request is sent there; if it is correct, set token_url to it");
}

result<credentials> parse_credentials(std::string_view json, const std::string& token_url) {
  HONDANA_TRY(const auto object, parse_object(json));
  if (object.find("installed") != nullptr || object.find("web") != nullptr)
    return invalid_credentials("it is an OAuth client, not a login; set client_file to it, and log in with 'hondana login'");
  auto type = required_line(object, "type");
  if (!type) return tl::unexpected(std::move(type.error()));
  if (*type == "service_account") return read_service_account(object, token_url);
  if (*type == "authorized_user") return read_user(object, token_url);
  constexpr std::array<std::string_view, 4> unsupported_types{"external_account", "external_account_authorized_user",
                                                              "impersonated_service_account", "gdch_service_account"};
  const bool is_known = std::find(unsupported_types.begin(), unsupported_types.end(), *type) != unsupported_types.end();
  return invalid_credentials("type: " + (is_known ? *type + " is not supported" : std::string("unknown type")) +
                             "; use the key of a service_account, or an authorized_user as 'hondana login' writes it");
}

std::string encode(const authorized_user& user) {
  value::object out{{"type", "authorized_user"}, {"client_id", user.client_id}};
  // Google's libraries require the member even if it is empty.
  out.emplace_back("client_secret", user.client_secret);
  out.emplace_back("refresh_token", user.refresh_token);
  out.emplace_back("token_uri", user.token_url);
  if (!user.account.empty()) out.emplace_back("account", user.account);
  return value(std::move(out)).to_text() + '\n';
}

result<oauth_client> parse_oauth_client(std::string_view json) {
  const auto parsed = parse_object(json);
  if (!parsed) return tl::unexpected(parsed.error());
  if (parsed->find("web") != nullptr)
    return invalid_credentials(
        "it is a client of type \"Web application\", which cannot redirect to this machine; create one of type \"Desktop app\" "
        "in the Google Cloud console and download it");
  const auto* installed = parsed->find("installed");
  if (installed == nullptr || installed->as_object() == nullptr)
    return invalid_credentials(
        "installed: missing; download the client's JSON from the Google Cloud console (type \"Desktop app\")");
  oauth_client out;
  HONDANA_TRY(auto id, required_line(*installed, "client_id"));
  out.id = std::move(id);
  for (const auto& [name, target] : {std::pair<std::string_view, std::string*>{"client_secret", &out.secret},
                                     {"auth_uri", &out.auth_url},
                                     {"token_uri", &out.token_url}}) {
    HONDANA_TRY(auto text, optional_line(*installed, name));
    *target = std::move(text);
  }
  for (const auto& [name, url] :
       {std::pair<std::string_view, const std::string*>{"auth_uri", &out.auth_url}, {"token_uri", &out.token_url}}) {
    if (url->empty()) continue;
    if (auto status = check_token_url(*url, false); !status)
      return invalid_credentials(std::string(name) + ": it is not a Google host; remove it, or set auth_url and token_url");
  }
  return out;
}

namespace {

/// Replaces the path in a text: public texts do not contain it.
std::string replace_path(std::string text, const std::string& path, const std::string& replacement) {
  for (auto position = text.find(path); position != std::string::npos;
       position = text.find(path, position + replacement.size()))
    text.replace(position, path.size(), replacement);
  return text;
}

result<found_credentials> parse_found(std::string_view json, const credential_locations& locations, std::string origin,
                                      std::string path) {
  auto identity = parse_credentials(json, locations.token_url);
  if (!identity)
    return fail(identity.error().code, origin + " cannot be used: " + identity.error().public_text,
                path.empty() ? std::string() : "it is " + path);
  return found_credentials{std::move(*identity), std::move(origin), std::move(path)};
}

result<found_credentials> read_file(const std::string& path, const credential_locations& locations, const std::string& origin) {
  auto file = disk::read_private(path, max_credential_bytes);
  if (file) return parse_found(file->bytes, locations, origin, path);
  const auto& error = file.error();
  if (error.code == errc::resource_not_found)
    return fail(errc::unauthorized, origin + " does not exist; " + (locations.advice.empty() ? "create it" : locations.advice),
                error.public_text);
  return fail(error.code, origin + " cannot be used: " + replace_path(error.public_text, path, "it"), error.public_text);
}

/// A stamp of the file's metadata; does not read the file.
std::string file_stamp(const std::string& path) {
  if (path.empty()) return "-";
  struct stat attributes{};
  if (::stat(path.c_str(), &attributes) != 0) return "none";
  return disk::version_of(disk::stamp_of(attributes));
}

bool exists(const std::string& path) {
  struct stat attributes{};
  return !path.empty() && ::stat(path.c_str(), &attributes) == 0;
}

std::string variable(const credential_locations& locations, const char* name) {
  return locations.variables ? locations.variables(name) : std::string();
}

}  // namespace

environment own_environment() {
  return [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
}

result<found_credentials> find_credentials(const credential_locations& locations) {
  if (!locations.file.empty()) return read_file(locations.file, locations, "the file that `credentials` names");
  if (const auto json = variable(locations, inline_variable); !json.empty())
    return parse_found(json, locations, std::string("the value of ") + inline_variable, {});
  if (exists(locations.login_file)) return read_file(locations.login_file, locations, "the stored login");
  if (const auto path = variable(locations, file_variable); !path.empty())
    return read_file(path, locations, std::string("the file that ") + file_variable + " names");
  return fail(errc::unauthorized,
              "there are no Google credentials; " +
                  (locations.advice.empty() ? std::string("set credentials_file to the key file of a service account")
                                            : locations.advice));
}

std::string stamp_of(const credential_locations& locations) {
  if (!locations.file.empty()) return file_stamp(locations.file);
  return file_stamp(locations.login_file) + ' ' + file_stamp(variable(locations, file_variable));
}

std::string default_login_file(std::string_view source, const environment& variables) {
  const auto data = variables("XDG_DATA_HOME");
  const auto home = variables("HOME");
  if (!data.starts_with('/') && !home.starts_with('/')) return {};
  return (data.starts_with('/') ? data : home + "/.local/share") + "/hondana/google-" + std::string(source) + ".json";
}

}  // namespace hondana::google
