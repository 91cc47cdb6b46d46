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
[[nodiscard]] std::shared_ptr<login_page> page_for(const command_line& line);

/// Logs in to the source that `--source` and `--config` name. Only sources of type gdrive have logins. Errors: invalid_argument
/// for other sources and for one with a service account's key; those of the login.
[[nodiscard]] result<void> log_in_to_source(const command_line& line, const std::stop_token& stop);
/// Revokes the login at the service if possible, and removes its file in any case.
[[nodiscard]] result<void> log_out_of_source(const command_line& line, const std::stop_token& stop);

namespace {

constexpr std::chrono::seconds look_time{20};

tl::unexpected<failure> unfit(std::string why) { return fail(errc::invalid_argument, std::move(why)); }

/// The account of the source that `--source` names.
result<gdrive::account> account_of(const command_line& line) {
  const auto name = line.text(source_flag);
  if (line.has(on_flag)) return unfit("--on and --source exclude each other: one is a server, the other a source");
  const auto config = line.has(names_flag) ? line.text(names_flag) : usual_config();
  if (config.empty()) return unfit("--source needs the configuration file with that source: --config FILE");
  auto loaded = config::load(config);
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  for (auto& one : loaded->sources) {
    HONDANA_TRY(auto called, one.options.string("name"));
    if (called.value_or(one.type == "gdrive" ? gdrive::options().name : std::string()) != name) continue;
    if (one.type != "gdrive")
      return unfit("the source " + name + " is of type " + one.type + ", which has no login; only gdrive has");
    HONDANA_TRY(auto settings, gdrive::read_settings(one.options));
    return std::move(settings.who);
  }
  return unfit(config + " has no source named \"" + name + "\"; see `name = \"…\"` in its [[source]] tables");
}

/// The file that stores the login. Errors: invalid_argument if the source has a service account's key, because the login would
/// have no effect.
result<std::string> file_for(const gdrive::account& of) {
  const auto& in = of.tokens.in;
  if (in.file.empty()) {
    if (of.log_in_file.empty()) return unfit("the login cannot be stored: log_in_file, XDG_DATA_HOME and HOME are not set");
    return of.log_in_file;
  }
  const auto there = google::find_credentials(in);
  if (there && std::holds_alternative<google::service_account>(there->who))
    return unfit("the source uses a service account's key and needs no login; remove `credentials` to log in as a user");
  if (!there && there.error().code != errc::unauthorized) return tl::unexpected(there.error());
  return in.file;
}

/// Reads the JSON file of the OAuth client. It is not secret: every copy of an installed application has it.
result<std::string> text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::string text(google::most_credential_bytes + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad()) return unfit("cannot read " + path + ", the JSON file of the OAuth client");
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

result<google::oauth_client> client_of(const command_line& line, const gdrive::account& of) {
  google::oauth_client out;
  if (line.has(client_id_flag)) {
    out.id = line.text(client_id_flag);
    if (line.has(client_secret_flag)) {
      auto secret = disk::read_private(line.text(client_secret_flag), google::most_credential_bytes);
      if (!secret) return unfit("--client-secret-file: " + secret.error().public_text);
      out.secret = std::move(secret->bytes);
      while (!out.secret.empty() && (out.secret.back() == '\n' || out.secret.back() == '\r')) out.secret.pop_back();
    }
  } else if (!of.client_file.empty()) {
    HONDANA_TRY(const auto text, text_of(of.client_file));
    auto read = google::parse_oauth_client(text);
    if (!read) return unfit(of.client_file + ": " + read.error().public_text);
    out = std::move(*read);
  } else {
    return unfit(
        "no OAuth client is configured; create one of type \"Desktop app\" in the Google Cloud console, download its JSON, and "
        "set client = \"FILE\" in the source (or use --client-id ID --client-secret-file FILE)");
  }
  if (!of.auth_url.empty()) out.auth_url = of.auth_url;
  if (!of.tokens.in.token_url.empty()) out.token_url = of.tokens.in.token_url;
  return out;
}

google::log_in_settings settings_for(const gdrive::account& of, google::oauth_client client) {
  google::log_in_settings out;
  out.client = std::move(client);
  out.asked = of.tokens.asked;
  out.proxy = of.tokens.proxy;
  out.authorities = of.tokens.authorities;
  return out;
}

/// The account's email address or name, from Drive. Errors: the same that the source would get.
result<std::string> who_is(const gdrive::account& of, const std::string& file, const std::stop_token& stop) {
  auto from = of.tokens;
  from.in.file = file;
  HONDANA_TRY(auto tokens, google::make_tokens(std::move(from)));
  const auto drive = drive::client::of(of.drive, std::move(tokens));
  if (!drive) return tl::unexpected(drive.error());
  drive::errand how;
  how.stop = stop;
  how.until = monotonic_clock::now() + look_time;
  auto about = (*drive)->get_about(how);
  if (!about) return tl::unexpected(std::move(about.error().why));
  return about->user.email.empty() ? about->user.name : about->user.email;
}

}  // namespace

result<void> log_in_to_source(const command_line& line, const std::stop_token& stop) {
  HONDANA_TRY(auto of, account_of(line));
  if (!of.tokens.subject.empty())
    return unfit("`subject` is only for service accounts; remove it from the source to log in as yourself");
  HONDANA_TRY(const auto file, file_for(of));
  HONDANA_TRY(auto client, client_of(line, of));
  const auto page = page_for(line);
  HONDANA_TRY(auto user, google::log_in(settings_for(of, std::move(client)), *page, stop));
  std::error_code problem;
  const bool is_folder_new = !std::filesystem::exists(std::filesystem::path(file).parent_path(), problem);
  HONDANA_TRY(google::keep(user, file));
  const auto who = who_is(of, file, stop);
  if (who) {
    user.account = *who;
    HONDANA_TRY(google::keep(user, file));
  }
  if (!line.has(quiet_flag))
    say("logged in to Google Drive" + (who ? " as " + *who : std::string()) + ", for " + google::spelled(of.tokens.asked) +
        "; stored in " + file);
  if (is_folder_new && !line.has(quiet_flag))
    say("its folder is new: restart running servers, because their sandbox does not allow it yet");
  if (!who) say("the login is stored, but Drive rejects it for now: " + who.error().public_text);
  return {};
}

result<void> log_out_of_source(const command_line& line, const std::stop_token& stop) {
  const auto of = account_of(line);
  if (!of) return tl::unexpected(of.error());
  HONDANA_TRY(const auto file, file_for(*of));
  const auto found = google::find_credentials({.file = file, .token_url = of->tokens.in.token_url});
  const auto* user = found ? std::get_if<google::authorized_user>(&found->who) : nullptr;
  if (user != nullptr) {
    if (const auto told = google::revoke(*user, settings_for(*of, {}), stop); !told)
      say("the tokens could not be revoked at Google: " + told.error().public_text);
  }
  if (::unlink(file.c_str()) != 0 && errno != ENOENT)
    return fail(errc::source_unavailable, "cannot remove " + file + ": " + std::strerror(errno));
  if (!line.has(quiet_flag)) say(user != nullptr ? "logged out of Google Drive" : "there was no login for this source");
  return {};
}

namespace {

/// The server that tokens are for. Errors: invalid_argument if the target is not a URL.
result<http_target> server_of(const command_line& line) {
  HONDANA_TRY(auto chosen, choose_server(line));
  auto* http = std::get_if<http_target>(&chosen.target);
  if (http == nullptr || !http->socket.empty() || !line.has(on_flag))
    return fail(errc::invalid_argument,
                "Only servers with a URL have logins" +
                    (line.has(on_flag) ? ", and " + chosen.shown + " is not one." : "; name one with --on."));
  return std::move(*http);
}

result<void> add_client(const command_line& line, oauth_settings& to) {
  to.client_id = line.text(client_id_flag);
  to.metadata_url = line.text(client_metadata_flag);
  to.issuer = line.text(issuer_flag);
  if (!line.has(client_secret_flag)) return {};
  auto text = disk::read_private(line.text(client_secret_flag), credentials::most_secret_bytes);
  if (!text) return fail(errc::invalid_argument, "--client-secret-file: " + text.error().public_text);
  while (!text->bytes.empty() && (text->bytes.back() == '\n' || text->bytes.back() == '\r')) text->bytes.pop_back();
  if (text->bytes.empty()) return fail(errc::invalid_argument, line.text(client_secret_flag) + " is empty");
  (text->bytes.starts_with("-----BEGIN ") ? to.private_key : to.client_secret) = std::move(text->bytes);
  return {};
}

std::vector<std::string> scopes_in(const command_line& line) {
  std::vector<std::string> out;
  for (const auto& one : line.all(scope_flag)) {
    std::istringstream words(one);
    for (std::string word; words >> word;) out.push_back(word);
  }
  return out;
}

std::uint16_t redirect_port(const command_line& line) {
  return static_cast<std::uint16_t>(line.number(redirect_port_flag).value_or(0));
}

result<oauth_settings> settings_for(const command_line& line, const http_target& at) {
  credentials::store_settings where;
  // Check before the login whether its result can be stored.
  if (where.file.empty()) return fail(errc::source_unavailable, std::string(credentials::no_place));
  where.wanted = credentials::place_named(line.text(store_flag));
  auto settings = credentials::settings_with(credentials::make_store(where), at);
  if (!settings) return settings;
  settings->scopes = scopes_in(line);
  HONDANA_TRY(add_client(line, *settings));
  if (line.has(machine_flag)) {
    settings->grant = oauth_grant::client_credentials;
  } else {
    settings->login = page_for(line);
  }
  HONDANA_TRY(credentials::add_client_of_before(*settings, at.url));
  if (!line.has(quiet_flag)) settings->log = [](std::string_view text) { say(text); };
  return settings;
}

/// Stores the client that the tokens were issued to, so that other commands can refresh them. A client that registered itself
/// has been stored already.
result<void> keep_client(const command_line& line, const oauth_settings& settings, const kept_tokens& given) {
  if (settings.client_id.empty() && given.key.client_id != settings.metadata_url) return {};
  const auto before = settings.store->registrations(given.key.issuer);
  if (!before) return tl::unexpected(before.error());
  client_registration ours;
  ours.client_id = given.key.client_id;
  const auto known = std::find_if(before->begin(), before->end(),
                                  [&ours](const client_registration& one) { return one.client_id == ours.client_id; });
  if (known != before->end()) {
    ours.redirect_uri = known->redirect_uri;
    // For a known client, keep its secret or key, unless the flags give new ones.
    if (!line.has(client_id_flag) && !line.has(client_secret_flag)) ours = *known;
  }
  ours.by_hand = true;
  ours.is_machine = settings.grant == oauth_grant::client_credentials;
  if (line.has(client_secret_flag)) {
    ours.client_secret = settings.client_secret;
    if (!settings.private_key.empty())
      ours.key_file = std::filesystem::absolute(line.text(client_secret_flag)).lexically_normal().string();
  }
  if (const auto port = redirect_port(line); port != 0) ours.redirect_uri = login::redirect_url(port);
  return settings.store->put_registration(given.key.issuer, ours);
}

/// Removes older logins of the same client with any scopes.
result<void> drop_older(token_store& store, const kept_tokens& given) {
  const auto all = store.find(given.key.resource);
  if (!all) return tl::unexpected(all.error());
  for (const auto& one : *all) {
    if (one.key == given.key || one.key.issuer != given.key.issuer || one.key.client_id != given.key.client_id) continue;
    HONDANA_TRY(store.remove(one.key));
  }
  return {};
}

result<void> log_in_to(const command_line& line, const std::stop_token& stop) {
  HONDANA_TRY(auto at, server_of(line));
  HONDANA_TRY(auto settings, settings_for(line, at));
  HONDANA_TRY(const auto session, oauth_session::of(at.url, settings));
  HONDANA_TRY(session->log_in(stop));
  const auto given = session->current();
  if (!given) return fail(errc::internal, "the login returned no tokens");
  HONDANA_TRY(keep_client(line, settings, *given));
  HONDANA_TRY(drop_older(*settings.store, *given));
  if (!line.has(quiet_flag))
    say("logged in to " + session->resource() + " by " + given->key.issuer +
        (given->tokens.scope.empty() ? std::string() : ", for " + given->tokens.scope));
  return {};
}

result<void> log_out_of(const command_line& line, const std::stop_token& stop) {
  auto at = server_of(line);
  if (!at) return tl::unexpected(std::move(at.error()));
  HONDANA_TRY(auto settings, credentials::settings_with(credentials::make_store(), *at));
  if (!line.has(quiet_flag)) settings.log = [](std::string_view text) { say(text); };
  // Without the client's key, the authorization server may reject the revocation. Remove the local tokens anyway.
  if (const auto added = credentials::add_kept_client(settings, at->url); !added && settings.log)
    settings.log("the client's key cannot be read: " + added.error().public_text);
  // Logins to other servers may need the client's secret.
  const auto keeps_secret_of = line.has(all_flag) || settings.client_secret.empty() ? std::string() : settings.client_id;
  HONDANA_TRY(const auto session, oauth_session::of(at->url, std::move(settings)));
  HONDANA_TRY(const auto had_any, session->log_out(line.has(all_flag), stop));
  if (line.has(quiet_flag)) return {};
  say(had_any ? "logged out of " + session->resource() : "there was no login for " + session->resource());
  if (!keeps_secret_of.empty())
    say("the secret of the client \"" + keeps_secret_of + "\" is still stored; 'hondana logout --all --on " +
        line.text(on_flag) + "' deletes it too");
  return {};
}

int ended(const result<void>& how, const interruption& interrupted) {
  if (how) return exit_ok;
  if (how.error().code == errc::cancelled && interrupted.has_come()) return exit_interrupted;
  complain(how.error());
  return exit_code_of(how.error().code);
}

}  // namespace

std::shared_ptr<login_page> page_for(const command_line& line) {
  login::browser_login_options how;
  how.say = [](std::string_view text) { say(text); };
  if (::isatty(STDIN_FILENO) == 1) how.typed = STDIN_FILENO;
  const auto variable = [](const char* name) {
    const char* const set = std::getenv(name);
    return std::string(set == nullptr ? "" : set);
  };
  how.port = redirect_port(line);
  if (!line.has(no_browser_flag)) how.program = login::browser_program(variable, ::geteuid() == 0);
  return login::make_browser_login(std::move(how));
}

int log_in(const command_line& line) {
  const interruption interrupted;
  const auto stop = interrupted.stop();
  return ended(line.has(source_flag) ? log_in_to_source(line, stop) : log_in_to(line, stop), interrupted);
}

int log_out(const command_line& line) {
  const interruption interrupted;
  const auto stop = interrupted.stop();
  return ended(line.has(source_flag) ? log_out_of_source(line, stop) : log_out_of(line, stop), interrupted);
}

}  // namespace hondana::cli
