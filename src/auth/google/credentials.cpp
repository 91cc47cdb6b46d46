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

constexpr std::string_view scope_place = "https://www.googleapis.com/auth/";
constexpr std::string_view whole_drive = "https://www.googleapis.com/auth/drive";
constexpr std::array<std::pair<scope, std::string_view>, 2> known_scopes{
    {{scope::drive_metadata_readonly, "https://www.googleapis.com/auth/drive.metadata.readonly"},
     {scope::drive_readonly, "https://www.googleapis.com/auth/drive.readonly"}}};

}  // namespace

std::string_view url_of(scope one) noexcept {
  return std::find_if(known_scopes.begin(), known_scopes.end(), [one](const auto& known) { return known.first == one; })
      ->second;
}

result<scopes> read_scopes(const std::vector<std::string>& names) {
  if (names.empty()) return scopes{scope::drive_readonly};
  scopes out;
  for (const auto& name : names) {
    const auto found = std::find_if(known_scopes.begin(), known_scopes.end(), [&name](const auto& known) {
      return known.second == name || known.second.substr(scope_place.size()) == name;
    });
    if (found == known_scopes.end())
      return fail(errc::invalid_argument, "the scope \"" + oauth::cleaned(name) +
                                              "\" is not supported: hondana only reads Drive; write drive.readonly, or "
                                              "drive.metadata.readonly for names without contents");
    out.insert(found->first);
  }
  return out;
}

std::string spelled(const scopes& of) {
  std::string out;
  for (const auto one : of) out += (out.empty() ? "" : " ") + std::string(url_of(one));
  return out;
}

coverage coverage_of(std::string_view granted, const scopes& asked) {
  const auto has = oauth::read_scopes(granted).value_or(oauth::scope_set());
  coverage out{.is_enough = true};
  for (const auto one : asked) {
    const bool is_there = has.contains(url_of(one)) || has.contains(whole_drive) ||
                          (one == scope::drive_metadata_readonly && has.contains(url_of(scope::drive_readonly)));
    out.is_enough = out.is_enough && is_there;
  }
  out.is_more = std::any_of(has.begin(), has.end(), [](const std::string& one) {
    return one.starts_with(scope_place) && one != url_of(scope::drive_readonly) &&
           one != url_of(scope::drive_metadata_readonly) && one.find("userinfo") == std::string::npos;
  });
  return out;
}

bool may_read_contents(const scopes& of) noexcept { return of.contains(scope::drive_readonly); }

namespace {

constexpr std::size_t most_members = 500;
constexpr std::size_t longest_line = 8u << 10;

tl::unexpected<failure> unfit(std::string why) { return fail(errc::invalid_argument, std::move(why)); }

/// Whether it is one line of visible ASCII, as header fields, forms and messages require.
bool is_line(std::string_view text) noexcept {
  return text.size() <= longest_line && std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

/// An optional member with one visible line; empty if it is absent or null. Errors: invalid_argument for other values.
result<std::string> line_in(const value& of, std::string_view name) {
  const auto* member = of.find(name);
  if (member == nullptr || member->is_null()) return std::string();
  if (member->as_string() == nullptr || !is_line(*member->as_string()))
    return unfit(std::string(name) + ": expected one line of visible ASCII");
  return *member->as_string();
}

/// The same for a required member.
result<std::string> needed_line_in(const value& of, std::string_view name) {
  auto out = line_in(of, name);
  if (out && out->empty()) return unfit(std::string(name) + ": missing");
  return out;
}

result<value> object_in(std::string_view json) {
  if (json.starts_with("\xef\xbb\xbf")) json.remove_prefix(3);
  auto parsed = value::parse(json, {most_credential_bytes, most_members});
  // The parser's error may quote part of a key, so it is not used.
  if (!parsed || parsed->as_object() == nullptr)
    return unfit("it is not a JSON object of at most 64 KiB; download the file again, or log in again");
  return parsed;
}

result<std::string> token_url_in(const value& of, const std::string& configured) {
  if (!configured.empty()) {
    HONDANA_TRY(check_token_url(configured, true));
    return configured;
  }
  auto url = line_in(of, "token_uri");
  if (!url) return url;
  if (url->empty()) return std::string(usual_token_url);
  if (auto fine = check_token_url(*url, false); !fine) return unfit("token_uri: " + fine.error().public_text);
  return url;
}

result<credentials> account_in(const value& of, const std::string& token_url) {
  HONDANA_TRY(auto email, needed_line_in(of, "client_email"));
  if (email.find('@') == std::string::npos) return unfit("client_email: expected an e-mail address");
  HONDANA_TRY(auto key_id, line_in(of, "private_key_id"));
  HONDANA_TRY(auto client_id, line_in(of, "client_id"));
  HONDANA_TRY(auto url, token_url_in(of, token_url));
  const auto* pem = of.find("private_key");
  if (pem == nullptr || pem->as_string() == nullptr) return unfit("private_key: missing");
  auto key = jose::signing_key::of_pem(*pem->as_string());
  if (!key || key->by() != jose::algorithm::rs256)
    return unfit("private_key: expected an RSA key in PEM, 2048 bits or more and not encrypted; download the key again");
  return service_account{std::move(email), std::move(key_id), std::move(client_id), std::move(url), std::move(*key)};
}

result<credentials> user_in(const value& of, const std::string& token_url) {
  HONDANA_TRY(auto id, needed_line_in(of, "client_id"));
  HONDANA_TRY(auto secret, line_in(of, "client_secret"));
  HONDANA_TRY(auto refresh, needed_line_in(of, "refresh_token"));
  HONDANA_TRY(auto account, line_in(of, "account"));
  HONDANA_TRY(auto url, token_url_in(of, token_url));
  return authorized_user{std::move(id), std::move(secret), std::move(refresh), std::move(url), std::move(account)};
}

bool is_googles_token_host(std::string_view host) noexcept {
  constexpr std::array<std::string_view, 4> hosts{"oauth2.googleapis.com", "oauth2.mtls.googleapis.com", "accounts.google.com",
                                                  "www.googleapis.com"};
  return std::find(hosts.begin(), hosts.end(), host) != hosts.end();
}

}  // namespace

result<void> check_token_url(const std::string& url, bool is_configured) {
  if (const auto fine = oauth::check_endpoint(url, "the token endpoint"); !fine) return unfit(fine.error().public_text);
  if (is_configured) return {};
  const auto parts = split_uri(url);
  const auto where = uri::parse_host_port(parts.authority.value_or(std::string_view()));
  if (parts.scheme == "https" && where && is_googles_token_host(where->host) && where->port.value_or(443) == 443) return {};
  return unfit("the token endpoint " + oauth::shown(url) +
               " is not a Google host, so no signed request is sent there; if it is correct, set token_url to it");
}

result<credentials> parse_credentials(std::string_view json, const std::string& token_url) {
  HONDANA_TRY(const auto of, object_in(json));
  if (of.find("installed") != nullptr || of.find("web") != nullptr)
    return unfit("it is an OAuth client, not a login; set client to it, and log in with 'hondana login'");
  auto type = needed_line_in(of, "type");
  if (!type) return tl::unexpected(std::move(type.error()));
  if (*type == "service_account") return account_in(of, token_url);
  if (*type == "authorized_user") return user_in(of, token_url);
  constexpr std::array<std::string_view, 4> others{"external_account", "external_account_authorized_user",
                                                   "impersonated_service_account", "gdch_service_account"};
  const bool is_known = std::find(others.begin(), others.end(), *type) != others.end();
  return unfit("type: " + (is_known ? *type + " is not supported" : std::string("unknown type")) +
               "; use the key of a service_account, or an authorized_user as 'hondana login' writes it");
}

std::string spelled(const authorized_user& one) {
  value::object out{{"type", "authorized_user"}, {"client_id", one.client_id}};
  // Google's libraries require the member even if it is empty.
  out.emplace_back("client_secret", one.client_secret);
  out.emplace_back("refresh_token", one.refresh_token);
  out.emplace_back("token_uri", one.token_url);
  if (!one.account.empty()) out.emplace_back("account", one.account);
  return value(std::move(out)).to_text() + '\n';
}

result<oauth_client> parse_oauth_client(std::string_view json) {
  const auto of = object_in(json);
  if (!of) return tl::unexpected(of.error());
  if (of->find("web") != nullptr)
    return unfit(
        "it is a client of type \"Web application\", which cannot redirect to this machine; create one of type \"Desktop app\" "
        "in the Google Cloud console and download it");
  const auto* installed = of->find("installed");
  if (installed == nullptr || installed->as_object() == nullptr)
    return unfit("installed: missing; download the client's JSON from the Google Cloud console (type \"Desktop app\")");
  oauth_client out;
  HONDANA_TRY(auto id, needed_line_in(*installed, "client_id"));
  out.id = std::move(id);
  for (const auto& [name, to] : {std::pair<std::string_view, std::string*>{"client_secret", &out.secret},
                                 {"auth_uri", &out.auth_url},
                                 {"token_uri", &out.token_url}}) {
    HONDANA_TRY(auto text, line_in(*installed, name));
    *to = std::move(text);
  }
  for (const auto& [name, url] :
       {std::pair<std::string_view, const std::string*>{"auth_uri", &out.auth_url}, {"token_uri", &out.token_url}}) {
    if (url->empty()) continue;
    if (auto fine = check_token_url(*url, false); !fine)
      return unfit(std::string(name) + ": it is not a Google host; remove it, or set auth_url and token_url");
  }
  return out;
}

namespace {

/// Replaces the path in a text: public texts do not contain it.
std::string without(std::string text, const std::string& path, const std::string& instead) {
  for (auto at = text.find(path); at != std::string::npos; at = text.find(path, at + instead.size()))
    text.replace(at, path.size(), instead);
  return text;
}

result<found_credentials> parsed(std::string_view json, const credential_places& in, std::string from, std::string path) {
  auto who = parse_credentials(json, in.token_url);
  if (!who)
    return fail(who.error().code, from + " cannot be used: " + who.error().public_text,
                path.empty() ? std::string() : "it is " + path);
  return found_credentials{std::move(*who), std::move(from), std::move(path)};
}

result<found_credentials> of_file(const std::string& path, const credential_places& in, const std::string& from) {
  auto read = disk::read_private(path, most_credential_bytes);
  if (read) return parsed(read->bytes, in, from, path);
  const auto& why = read.error();
  if (why.code == errc::resource_not_found)
    return fail(errc::unauthorized, from + " does not exist; " + (in.advice.empty() ? "create it" : in.advice),
                why.public_text);
  return fail(why.code, from + " cannot be used: " + without(why.public_text, path, "it"), why.public_text);
}

/// A stamp of the file's metadata; does not read the file.
std::string state_of(const std::string& path) {
  if (path.empty()) return "-";
  struct stat facts{};
  if (::stat(path.c_str(), &facts) != 0) return "none";
  return disk::version_of(disk::stamp_of(facts));
}

bool is_there(const std::string& path) {
  struct stat facts{};
  return !path.empty() && ::stat(path.c_str(), &facts) == 0;
}

std::string variable(const credential_places& in, const char* name) {
  return in.variables ? in.variables(name) : std::string();
}

}  // namespace

environment own_environment() {
  return [](const char* name) {
    const char* const set = std::getenv(name);
    return std::string(set == nullptr ? "" : set);
  };
}

result<found_credentials> find_credentials(const credential_places& in) {
  if (!in.file.empty()) return of_file(in.file, in, "the file that `credentials` names");
  if (const auto json = variable(in, inline_variable); !json.empty())
    return parsed(json, in, std::string("the value of ") + inline_variable, {});
  if (is_there(in.log_in_file)) return of_file(in.log_in_file, in, "the stored login");
  if (const auto path = variable(in, file_variable); !path.empty())
    return of_file(path, in, std::string("the file that ") + file_variable + " names");
  return fail(errc::unauthorized,
              "there are no Google credentials; " +
                  (in.advice.empty() ? std::string("set credentials to the key file of a service account") : in.advice));
}

std::string stamp_of(const credential_places& in) {
  if (!in.file.empty()) return state_of(in.file);
  return state_of(in.log_in_file) + ' ' + state_of(variable(in, file_variable));
}

std::string usual_log_in_file(std::string_view source, const environment& of) {
  const auto data = of("XDG_DATA_HOME");
  const auto home = of("HOME");
  if (!data.starts_with('/') && !home.starts_with('/')) return {};
  return (data.starts_with('/') ? data : home + "/.local/share") + "/hondana/google-" + std::string(source) + ".json";
}

}  // namespace hondana::google
