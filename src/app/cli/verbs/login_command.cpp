/// `hondana login` and `hondana logout`, for MCP servers and for Google Drive.

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <stop_token>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include <hondana/authorization.hpp>
#include <hondana/clock.hpp>
#include <hondana/error.hpp>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/flags/command_line.hpp"
#include "app/cli/output.hpp"
#include "app/cli/target.hpp"
#include "app/cli/verbs/commands.hpp"
#include "auth/credentials/credential_store.hpp"
#include "auth/credentials/stored_login.hpp"
#include "auth/google/access_tokens.hpp"
#include "auth/google/login.hpp"
#include "auth/login/browser_login.hpp"
#include "os/disk/private_file.hpp"
#include "sources/config/settings.hpp"
#include "sources/gdrive/drive/client.hpp"
#include "sources/gdrive/settings.hpp"

namespace hondana::cli {

/// Shows the login page in a browser, as the flags say.
[[nodiscard]] std::shared_ptr<login_handler> make_login_handler(const command_line& line);

/// Logs in to the source that `--source` and `--config` name. Only sources of type gdrive have logins. Errors: invalid_argument
/// for other sources and for one with a service account's key; those of the login.
[[nodiscard]] result<void> log_in_to_source(const command_line& line, const std::stop_token& stop);
/// Revokes the login at the service if possible, and removes its file in any case.
[[nodiscard]] result<void> log_out_of_source(const command_line& line, const std::stop_token& stop);

namespace {

constexpr std::chrono::seconds account_timeout{20};

tl::unexpected<failure> reject(std::string reason) { return fail(errc::invalid_argument, std::move(reason)); }

/// The account of the source that `--source` names.
result<gdrive::account_settings> find_account(const command_line& line) {
  const auto name = line.text(source_flag);
  if (line.has(on_flag)) return reject("--on and --source exclude each other: one is a server, the other a source");
  const auto config = line.has(client_config_flag) ? line.text(client_config_flag) : default_config_file();
  if (config.empty()) return reject("--source needs the configuration file with that source: --config FILE");
  auto loaded = config::load(config);
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  for (auto& source : loaded->sources) {
    HONDANA_TRY(auto source_name, source.options.string("name"));
    if (source_name.value_or(source.type == "gdrive" ? gdrive::provider_options().name : std::string()) != name) continue;
    if (source.type != "gdrive")
      return reject("the source " + name + " is of type " + source.type + ", which has no login; only gdrive has");
    HONDANA_TRY(auto settings, gdrive::read_settings(source.options));
    return std::move(settings.account);
  }
  return reject(config + " has no source named \"" + name + "\"; see `name = \"…\"` in its [[source]] tables");
}

/// The file that stores the login. Errors: invalid_argument if the source has a service account's key, because the login would
/// have no effect.
result<std::string> login_file_of(const gdrive::account_settings& account) {
  const auto& locations = account.tokens.locations;
  if (locations.file.empty()) {
    if (account.login_file.empty()) return reject("the login cannot be stored: login_file, XDG_DATA_HOME and HOME are not set");
    return account.login_file;
  }
  const auto credentials = google::find_credentials(locations);
  if (credentials && std::holds_alternative<google::service_account>(credentials->identity))
    return reject("the source uses a service account's key and needs no login; remove `credentials` to log in as a user");
  if (!credentials && credentials.error().code != errc::unauthorized) return tl::unexpected(credentials.error());
  return locations.file;
}

/// Reads the JSON file of the OAuth client. It is not secret: every copy of an installed application has it.
result<std::string> read_client_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(google::max_credential_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!file.is_open() || file.bad()) return reject("cannot read " + path + ", the JSON file of the OAuth client");
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

result<google::oauth_client> make_oauth_client(const command_line& line, const gdrive::account_settings& account) {
  google::oauth_client out;
  if (line.has(client_id_flag)) {
    out.id = line.text(client_id_flag);
    if (line.has(client_secret_flag)) {
      auto secret = disk::read_private(line.text(client_secret_flag), google::max_credential_bytes);
      if (!secret) return reject("--client-secret-file: " + secret.error().public_text);
      out.secret = std::move(secret->bytes);
      while (!out.secret.empty() && (out.secret.back() == '\n' || out.secret.back() == '\r')) out.secret.pop_back();
    }
  } else if (!account.client_file.empty()) {
    HONDANA_TRY(const auto text, read_client_file(account.client_file));
    auto read = google::parse_oauth_client(text);
    if (!read) return reject(account.client_file + ": " + read.error().public_text);
    out = std::move(*read);
  } else {
    return reject(
        "no OAuth client is configured; create one of type \"Desktop app\" in the Google Cloud console, download its JSON, and "
        "set client_file = \"FILE\" in the source (or use --client-id ID --client-secret-file FILE)");
  }
  if (!account.auth_url.empty()) out.auth_url = account.auth_url;
  if (!account.tokens.locations.token_url.empty()) out.token_url = account.tokens.locations.token_url;
  return out;
}

google::login_settings make_login_settings(const gdrive::account_settings& account, google::oauth_client client) {
  google::login_settings out;
  out.client = std::move(client);
  out.requested_scopes = account.tokens.requested_scopes;
  out.proxy = account.tokens.proxy;
  out.ca_file = account.tokens.ca_file;
  return out;
}

/// The account's email address or name, from Drive. Errors: the same that the source would get.
result<std::string> find_account_name(const gdrive::account_settings& account, const std::string& file,
                                      const std::stop_token& stop) {
  auto token_options = account.tokens;
  token_options.locations.file = file;
  HONDANA_TRY(auto tokens, google::make_access_token_source(std::move(token_options)));
  const auto drive = drive::client::create(account.drive, std::move(tokens));
  if (!drive) return tl::unexpected(drive.error());
  drive::call_options options;
  options.stop = stop;
  options.deadline = monotonic_clock::now() + account_timeout;
  auto account_info = (*drive)->get_about(options);
  if (!account_info) return tl::unexpected(std::move(account_info.error().details));
  return account_info->user.email.empty() ? account_info->user.name : account_info->user.email;
}

}  // namespace

result<void> log_in_to_source(const command_line& line, const std::stop_token& stop) {
  HONDANA_TRY(auto account, find_account(line));
  if (!account.tokens.subject.empty())
    return reject("`subject` is only for service accounts; remove it from the source to log in as yourself");
  HONDANA_TRY(const auto file, login_file_of(account));
  HONDANA_TRY(auto client, make_oauth_client(line, account));
  const auto page = make_login_handler(line);
  HONDANA_TRY(auto user, google::log_in(make_login_settings(account, std::move(client)), *page, stop));
  std::error_code problem;
  const bool is_folder_new = !std::filesystem::exists(std::filesystem::path(file).parent_path(), problem);
  HONDANA_TRY(google::store_login(user, file));
  const auto account_name = find_account_name(account, file, stop);
  if (account_name) {
    user.account = *account_name;
    HONDANA_TRY(google::store_login(user, file));
  }
  if (!line.has(quiet_flag))
    print_message("logged in to Google Drive" + (account_name ? " as " + *account_name : std::string()) + ", for " +
                  google::scope_string(account.tokens.requested_scopes) + "; stored in " + file);
  if (is_folder_new && !line.has(quiet_flag))
    print_message("its folder is new: restart running servers, because their sandbox does not allow it yet");
  if (!account_name) print_message("the login is stored, but Drive rejects it for now: " + account_name.error().public_text);
  return {};
}

result<void> log_out_of_source(const command_line& line, const std::stop_token& stop) {
  const auto account = find_account(line);
  if (!account) return tl::unexpected(account.error());
  HONDANA_TRY(const auto file, login_file_of(*account));
  const auto credentials = google::find_credentials({.file = file, .token_url = account->tokens.locations.token_url});
  const auto* user = credentials ? std::get_if<google::authorized_user>(&credentials->identity) : nullptr;
  if (user != nullptr) {
    if (const auto revoked = google::revoke(*user, make_login_settings(*account, {}), stop); !revoked)
      print_message("the tokens could not be revoked at Google: " + revoked.error().public_text);
  }
  if (::unlink(file.c_str()) != 0 && errno != ENOENT)
    return fail(errc::source_unavailable, "cannot remove " + file + ": " + std::strerror(errno));
  if (!line.has(quiet_flag))
    print_message(user != nullptr ? "logged out of Google Drive" : "there was no login for this source");
  return {};
}

namespace {

/// The server that tokens are for. Errors: invalid_argument if the target is not a URL.
result<http_target> login_target(const command_line& line) {
  HONDANA_TRY(auto chosen, choose_server(line));
  auto* http = std::get_if<http_target>(&chosen.target);
  if (http == nullptr || http->socket_path || !line.has(on_flag))
    return fail(errc::invalid_argument,
                "Only servers with a URL have logins" +
                    (line.has(on_flag) ? ", and " + chosen.display_name + " is not one." : "; name one with --on."));
  return std::move(*http);
}

result<void> set_client(const command_line& line, oauth_client_options& settings) {
  const auto set = [&line](std::optional<std::string>& target, const flag& option) {
    if (auto text = line.text(option); !text.empty()) target = std::move(text);
  };
  set(settings.client_id, client_id_flag);
  set(settings.metadata_url, client_metadata_flag);
  set(settings.issuer, issuer_flag);
  if (!line.has(client_secret_flag)) return {};
  auto text = disk::read_private(line.text(client_secret_flag), credentials::max_secret_bytes);
  if (!text) return fail(errc::invalid_argument, "--client-secret-file: " + text.error().public_text);
  while (!text->bytes.empty() && (text->bytes.back() == '\n' || text->bytes.back() == '\r')) text->bytes.pop_back();
  if (text->bytes.empty()) return fail(errc::invalid_argument, line.text(client_secret_flag) + " is empty");
  (text->bytes.starts_with("-----BEGIN ") ? settings.private_key : settings.client_secret) = std::move(text->bytes);
  return {};
}

std::vector<std::string> parse_scopes(const command_line& line) {
  std::vector<std::string> out;
  for (const auto& text : line.all_values(scope_flag)) {
    std::istringstream words(text);
    for (std::string word; words >> word;) out.push_back(word);
  }
  return out;
}

std::uint16_t redirect_port(const command_line& line) {
  return static_cast<std::uint16_t>(line.number(redirect_port_flag).value_or(0));
}

result<oauth_client_options> make_oauth_options(const command_line& line, const http_target& target) {
  credentials::store_settings store_options;
  // Check before the login whether its result can be stored.
  if (store_options.file.empty()) return fail(errc::source_unavailable, std::string(credentials::no_file_configured));
  store_options.preferred_location = credentials::parse_store_location(line.text(store_flag));
  auto settings = credentials::make_client_options(credentials::make_store(store_options), target);
  if (!settings) return settings;
  settings->scopes = parse_scopes(line);
  HONDANA_TRY(set_client(line, *settings));
  if (line.has(machine_flag)) {
    settings->grant = oauth_grant::client_credentials;
  } else {
    settings->login = make_login_handler(line);
  }
  HONDANA_TRY(credentials::add_previous_client(*settings, target.url));
  if (!line.has(quiet_flag)) settings->log = [](std::string_view text) { print_message(text); };
  return settings;
}

/// Stores the client that the tokens were issued to, so that other commands can refresh them. A client that registered itself
/// has been stored already.
result<void> store_client(const command_line& line, const oauth_client_options& settings, const token_record& tokens) {
  if (!settings.client_id && tokens.key.client_id != settings.metadata_url) return {};
  const auto registrations = settings.store->registrations(tokens.key.issuer);
  if (!registrations) return tl::unexpected(registrations.error());
  client_registration registration;
  registration.client_id = tokens.key.client_id;
  const auto known = std::find_if(
      registrations->begin(), registrations->end(),
      [&registration](const client_registration& candidate) { return candidate.client_id == registration.client_id; });
  if (known != registrations->end()) {
    registration.redirect_uri = known->redirect_uri;
    // For a known client, keep its secret or key, unless the flags give new ones.
    if (!line.has(client_id_flag) && !line.has(client_secret_flag)) registration = *known;
  }
  registration.is_manual = true;
  registration.is_machine = settings.grant == oauth_grant::client_credentials;
  if (line.has(client_secret_flag)) {
    registration.client_secret = settings.client_secret;
    if (settings.private_key)
      registration.key_file = std::filesystem::absolute(line.text(client_secret_flag)).lexically_normal().string();
  }
  if (const auto port = redirect_port(line); port != 0) registration.redirect_uri = login::redirect_url(port);
  return settings.store->put_registration(tokens.key.issuer, registration);
}

/// Removes older logins of the same client with any scopes.
result<void> remove_older_logins(token_store& store, const token_record& tokens) {
  const auto stored = store.find(tokens.key.resource);
  if (!stored) return tl::unexpected(stored.error());
  for (const auto& record : *stored) {
    if (record.key == tokens.key || record.key.issuer != tokens.key.issuer || record.key.client_id != tokens.key.client_id)
      continue;
    HONDANA_TRY(store.remove(record.key));
  }
  return {};
}

result<void> log_in_to_server(const command_line& line, const std::stop_token& stop) {
  HONDANA_TRY(auto target, login_target(line));
  HONDANA_TRY(auto settings, make_oauth_options(line, target));
  HONDANA_TRY(const auto session, oauth_session::create(target.url, settings));
  HONDANA_TRY(session->log_in(stop));
  const auto tokens = session->current_tokens();
  if (!tokens) return fail(errc::internal, "the login returned no tokens");
  HONDANA_TRY(store_client(line, settings, *tokens));
  HONDANA_TRY(remove_older_logins(*settings.store, *tokens));
  if (!line.has(quiet_flag))
    print_message("logged in to " + session->resource() + " by " + tokens->key.issuer +
                  (tokens->tokens.scope.empty() ? std::string() : ", for " + tokens->tokens.scope));
  return {};
}

result<void> log_out_of_server(const command_line& line, const std::stop_token& stop) {
  auto target = login_target(line);
  if (!target) return tl::unexpected(std::move(target.error()));
  HONDANA_TRY(auto settings, credentials::make_client_options(credentials::make_store(), *target));
  if (!line.has(quiet_flag)) settings.log = [](std::string_view text) { print_message(text); };
  // Without the client's key, the authorization server may reject the revocation. Remove the local tokens anyway.
  if (const auto added = credentials::add_stored_client(settings, target->url); !added && settings.log)
    settings.log("the client's key cannot be read: " + added.error().public_text);
  // Logins to other servers may need the client's secret.
  const auto retained_client =
      line.has(all_flag) || !settings.client_secret ? std::string() : settings.client_id.value_or(std::string());
  HONDANA_TRY(const auto session, oauth_session::create(target->url, std::move(settings)));
  HONDANA_TRY(const auto was_logged_in, session->log_out(line.has(all_flag), stop));
  if (line.has(quiet_flag)) return {};
  print_message(was_logged_in ? "logged out of " + session->resource() : "there was no login for " + session->resource());
  if (!retained_client.empty())
    print_message("the secret of the client \"" + retained_client + "\" is still stored; 'hondana logout --all --on " +
                  line.text(on_flag) + "' deletes it too");
  return {};
}

int report_outcome(const result<void>& outcome, const interruption& interrupt) {
  if (outcome) return exit_ok;
  if (outcome.error().code == errc::cancelled && interrupt.is_triggered()) return exit_interrupted;
  print_error(outcome.error());
  return exit_code_of(outcome.error().code);
}

}  // namespace

std::shared_ptr<login_handler> make_login_handler(const command_line& line) {
  login::browser_login_options options;
  options.print = [](std::string_view text) { print_message(text); };
  if (::isatty(STDIN_FILENO) == 1) options.terminal = STDIN_FILENO;
  const auto variable = [](const char* name) {
    const char* const value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  options.port = redirect_port(line);
  if (!line.has(no_browser_flag)) options.program = login::browser_program(variable, ::geteuid() == 0);
  return login::make_browser_login(std::move(options));
}

int log_in(const command_line& line) {
  const interruption interrupt;
  const auto stop = interrupt.stop_token();
  return report_outcome(line.has(source_flag) ? log_in_to_source(line, stop) : log_in_to_server(line, stop), interrupt);
}

int log_out(const command_line& line) {
  const interruption interrupt;
  const auto stop = interrupt.stop_token();
  return report_outcome(line.has(source_flag) ? log_out_of_source(line, stop) : log_out_of_server(line, stop), interrupt);
}

}  // namespace hondana::cli
