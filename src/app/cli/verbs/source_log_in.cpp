/// A log-in to Google Drive: whose client, for what, and where it is kept.
#include "app/cli/verbs/source_log_in.hpp"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <utility>
#include <variant>

#include <hondana/clock.hpp>

#include "app/cli/flags/client_flags.hpp"
#include "app/cli/flags/login_flags.hpp"
#include "app/cli/output.hpp"
#include "app/cli/target/names.hpp"
#include "auth/google/log_in.hpp"
#include "auth/google/tokens.hpp"
#include "os/disk/private_file.hpp"
#include "sources/config/settings.hpp"
#include "sources/gdrive/drive/client.hpp"
#include "sources/gdrive/settings.hpp"

namespace hondana::cli {
namespace {

constexpr std::chrono::seconds look_time{20};

tl::unexpected<failure> unfit(std::string why) { return fail(errc::invalid_argument, std::move(why)); }

/// The account of the source of that name.
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

/// Where the log-in goes. Errors: invalid_argument when the source has a key of its own, beside which nobody would see it.
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

/// Not a secret: every copy of an installed application has it.
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

/// Who it is, by Drive itself. Errors: what a source would meet, too.
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

}  // namespace hondana::cli
