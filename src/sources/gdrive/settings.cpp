/// Reads the `[[source]]` table of a Google Drive source, and creates the source.
#include "sources/gdrive/settings.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/bytes/digest.hpp"
#include "os/disk/private_file.hpp"
#include "sources/config/section.hpp"
#include "sources/config/state_folder.hpp"

namespace hondana::gdrive {
namespace {

constexpr std::uint64_t max_read_bytes = 1ull << 30;
constexpr std::uint64_t max_cache_bytes = 1ull << 40;
constexpr std::uint64_t min_render_memory = 64ull << 20;
constexpr std::string_view default_scheme = "gdrive";

void read_seconds(config::table_reader& reader, std::string_view key, std::int64_t max_seconds,
                  std::chrono::milliseconds& target) {
  std::optional<std::int64_t> seconds;
  reader.integer(key, 1, max_seconds, seconds);
  if (seconds) target = std::chrono::seconds(*seconds);
}

std::string read_path(config::table_reader& reader, std::string_view key) {
  const auto written = reader.string(key);
  if (!written) return {};
  // An empty path would resolve to the folder itself.
  if (written->empty()) {
    reader.add_error_at(key, "is empty; write the path of a file, or leave the key out");
    return {};
  }
  return reader.absolute_path(key, *written);
}

bool is_public_address(std::string_view url) {
  const auto parts = split_uri(url);
  return parts.scheme == "https" && parts.authority && !parts.authority->empty() && parts.path.empty() && !parts.query &&
         !parts.fragment && parts.authority->find('@') == std::string_view::npos && canonical_uri(url).has_value();
}

void read_store(config::table_reader& reader, provider_options& options) {
  const auto written = reader.string("store");
  if (written && (written->empty() || *written == ":memory:")) return;
  options.store_path = written ? reader.absolute_path("store", *written) : default_store_path(options.name);
  if (options.store_path.empty())
    reader.add_error_at("store", "missing, and neither XDG_STATE_HOME nor HOME is set; write a path");
}

}  // namespace

std::string default_store_path(std::string_view name) {
  auto folder = config::state_folder();
  return folder.empty() ? folder : std::move(folder) + "/gdrive/" + std::string(name) + "/drive.db";
}

account_settings read_account(config::table_reader& reader, const std::string& name) {
  account_settings account;
  auto& tokens = account.tokens;
  tokens.locations.file = read_path(reader, "credentials_file");
  tokens.locations.variables = google::own_environment();
  account.login_file = read_path(reader, "login_file");
  if (account.login_file.empty()) account.login_file = google::default_login_file(name, tokens.locations.variables);
  tokens.locations.login_file = account.login_file;
  reader.string("token_url", tokens.locations.token_url);
  if (!tokens.locations.token_url.empty()) {
    if (const auto valid = google::check_token_url(tokens.locations.token_url, true); !valid)
      reader.add_error_at("token_url", valid.error().public_text);
  }
  tokens.locations.advice =
      "run `hondana login --source " + name + "`, or set credentials_file to the key file of a service account";
  account.client_file = read_path(reader, "client_file");
  reader.string("auth_url", account.auth_url);
  if (!account.auth_url.empty()) {
    if (const auto valid = google::check_token_url(account.auth_url, true); !valid)
      reader.add_error_at("auth_url", valid.error().public_text);
  }
  reader.string("subject", tokens.subject);
  auto scopes = google::read_scopes(reader.string_or_strings("scopes"));
  if (scopes) {
    tokens.requested_scopes = std::move(*scopes);
  } else {
    reader.add_error_at("scopes", scopes.error().public_text);
  }
  reader.string("api_url", account.drive.base_url);
  tokens.proxy = account.drive.proxy = reader.string("proxy").value_or(std::string());
  tokens.ca_file = account.drive.ca_file = read_path(reader, "ca_file");
  reader.integer("requests_per_minute", 1, 100'000, account.drive.quota.per_minute);
  account.drive.quota.per_second = std::max(1.0, std::min(account.drive.quota.per_second, account.drive.quota.per_minute));
  return account;
}

result<settings> read_settings(config::section& section) {
  config::table_reader reader(section);
  settings parsed;
  auto& options = parsed.options;
  options.name = reader.slug("name").value_or(options.name);
  reader.string("scheme", options.scheme);
  const auto custom_prefix = std::string(default_scheme) + '-';
  const bool is_scheme =
      options.scheme == default_scheme || (options.scheme.starts_with(custom_prefix) && ascii::is_slug(options.scheme) &&
                                           options.scheme.size() > custom_prefix.size());
  if (!is_scheme) reader.add_error_at("scheme", "expected gdrive, or gdrive- followed by a-z, 0-9 and -, such as gdrive-sales");
  parsed.account = read_account(reader, options.name);
  options.drive_slugs = reader.string_or_strings("drives");
  for (const auto& slug : options.drive_slugs) {
    if (!ascii::is_slug(slug))
      reader.add_error_at("drives", "expected my-drive, shared-with-me or slugs of shared drives, as in their URIs");
  }
  reader.boolean("shared_drives", options.has_shared_drives);
  read_seconds(reader, "min_poll_interval_s", 86'400, options.min_interval);
  read_seconds(reader, "max_poll_interval_s", 86'400, options.max_interval);
  options.max_interval = std::max(options.min_interval, options.max_interval);
  reader.integer("max_files", 1, 10'000'000, options.max_files);
  reader.bytes("max_bytes", 1, max_read_bytes, options.max_bytes);
  reader.bytes("max_cached_bytes", 0, max_cache_bytes, options.max_cached_bytes);
  reader.boolean("redact", options.redact);
  reader.string("webhook_url", options.notification_url);
  while (options.notification_url.ends_with('/')) options.notification_url.pop_back();
  if (!options.notification_url.empty() && !is_public_address(options.notification_url))
    reader.add_error_at("webhook_url",
                        "expected the public URL of this server without a path, such as https://hondana.example");
  reader.boolean("render", parsed.renders);
  read_seconds(reader, "render_timeout_s", 600, options.render_limits.max_time);
  reader.bytes("max_render_memory_bytes", min_render_memory, 1ull << 36, options.render_limits.max_memory_bytes);
  read_store(reader, options);
  HONDANA_TRY(reader.finish());
  return parsed;
}

namespace {

/// A digest that identifies the key or log-in that Drive requests use now; empty if there is none.
std::string account_digest(const google::credential_locations& locations, const std::string& subject) {
  const auto credentials = google::find_credentials(locations);
  if (!credentials) return {};
  std::string text = subject + '\n';
  if (const auto* machine = std::get_if<google::service_account>(&credentials->identity)) {
    text += machine->email;
  } else {
    const auto& person = std::get<google::authorized_user>(credentials->identity);
    text += person.client_id + '\n' + person.account + '\n' + person.refresh_token;
  }
  return bytes::to_hex(bytes::digest_of(text));
}

/// Checks that existing credentials are usable. Missing ones are valid: the user may log in later. Errors: invalid_argument.
result<void> validate_credentials(const google::token_settings& settings) {
  const auto credentials = google::credentials_for(settings);
  if (!credentials && (credentials.error().code == errc::access_denied || credentials.error().code == errc::invalid_argument))
    return fail(errc::invalid_argument, credentials.error().public_text, credentials.error().private_text);
  return {};
}

/// Before the first log-in, creates the folder for it. The sandbox can give access only to a folder that exists.
void create_login_folder(const account_settings& account, const std::function<void(std::string_view)>& log) {
  if (!account.tokens.locations.file.empty() || account.login_file.empty() ||
      google::find_credentials(account.tokens.locations))
    return;
  const auto created = disk::make_private_folder(std::filesystem::path(account.login_file).parent_path().string());
  if (!created && log)
    log("hondana cannot notice the first 'hondana login'; restart it afterwards: " + created.error().public_text);
}

/// A key of the table, and a function that resets its setting.
template <class Settings>
using resettable_key = std::pair<const char*, void (*)(Settings&)>;

/// Finds the key whose value causes the failure: without it the object could be created. If no single key does, returns the
/// first.
template <class Settings, class Keys, class Factory>
const char* find_faulty_key(const Settings& settings, const Keys& keys, const Factory& can_create) {
  for (const auto& [key, reset] : keys) {
    auto changed = settings;
    reset(changed);
    if (can_create(std::move(changed))) return key;
  }
  return keys.front().first;
}

constexpr std::array<resettable_key<google::token_settings>, 4> token_keys{{
    {"subject", [](google::token_settings& settings) { settings.subject.clear(); }},
    {"ca_file", [](google::token_settings& settings) { settings.ca_file.clear(); }},
    {"proxy", [](google::token_settings& settings) { settings.proxy.clear(); }},
    {"token_url", [](google::token_settings& settings) { settings.locations.token_url.clear(); }},
}};
constexpr std::array<resettable_key<drive::client_settings>, 3> drive_keys{{
    {"api_url", [](drive::client_settings& settings) { settings.base_url = drive::default_base_url; }},
    {"ca_file", [](drive::client_settings& settings) { settings.ca_file.clear(); }},
    {"proxy", [](drive::client_settings& settings) { settings.proxy.clear(); }},
}};

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& section, const std::function<void(std::string_view)>& log) {
  HONDANA_TRY(auto parsed, read_settings(section));
  auto& options = parsed.options;
  auto& account = parsed.account;
  if (log) {
    account.tokens.log = [log, name = options.name](std::string_view line) { log(name + ": " + std::string(line)); };
    account.drive.log = account.tokens.log;
  }
  options.log = log;
  create_login_folder(account, log);
  // A replaced file is a new file, so the sandbox gives access to its folder.
  for (const auto& file : google::credential_files(account.tokens)) {
    auto folder = std::filesystem::path(file).parent_path().string();
    std::error_code problem;
    const bool has_folder = std::filesystem::is_directory(folder, problem);
    const auto& known = options.private_folders;
    if (has_folder && std::find(known.begin(), known.end(), folder) == known.end())
      options.private_folders.push_back(std::move(folder));
  }
  options.extra_addresses = google::token_addresses(account.tokens);
  options.account_id = [locations = account.tokens.locations, subject = account.tokens.subject] {
    return account_digest(locations, subject);
  };
  options.credential_check = [token_settings = account.tokens] { return validate_credentials(token_settings); };
  auto tokens = google::make_access_token_source(account.tokens);
  if (!tokens) {
    const auto* const key = find_faulty_key(account.tokens, token_keys, [](google::token_settings settings) {
      return bool(google::make_access_token_source(std::move(settings)));
    });
    return tl::unexpected(section.error_at(key, tokens.error().public_text));
  }
  auto client = drive::client::create(account.drive, *tokens);
  if (!client) {
    const auto* const key = find_faulty_key(account.drive, drive_keys, [&](drive::client_settings settings) {
      return bool(drive::client::create(std::move(settings), *tokens));
    });
    return tl::unexpected(section.error_at(key, client.error().public_text));
  }
  options.api = make_drive_api(std::move(*client));
  if (parsed.renders) options.renderer = rendering::renderer::make();
  auto opened = gdrive_provider::open(std::move(options));
  if (!opened) {
    auto error = section.error_at("store", opened.error().public_text);
    error.code = opened.error().code;
    error.private_text = std::move(opened.error().private_text);
    return tl::unexpected(std::move(error));
  }
  return std::shared_ptr<provider>(std::move(*opened));
}

}  // namespace hondana::gdrive
