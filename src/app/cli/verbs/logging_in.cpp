/// login and logout.
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <utility>

#include <hondana/authorization.hpp>

#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/flags/login_flags.hpp"
#include "app/cli/output.hpp"
#include "app/cli/target/choice.hpp"
#include "app/cli/verbs/source_log_in.hpp"
#include "app/cli/verbs/verbs.hpp"
#include "auth/credentials/store.hpp"
#include "auth/credentials/stored_log_in.hpp"
#include "auth/login/browser.hpp"
#include "auth/login/browser_login.hpp"
#include "os/disk/private_file.hpp"

namespace hondana::cli {
namespace {

/// Where tokens are for: a server behind a URL.
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
  // Nobody shall log in for nothing.
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

/// What the tokens were given to, so that other commands can refresh them; one that registered itself is kept already.
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
    // Of the client of before the proof stays as well, unless another is given.
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

/// One log-in takes the place of those before it as the same client, whatever their scopes.
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
  // Without its key the authorization server may not listen; the tokens go all the same.
  if (const auto added = credentials::add_kept_client(settings, at->url); !added && settings.log)
    settings.log("the client's key cannot be read: " + added.error().public_text);
  // Log-ins to other servers may need it.
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
