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

constexpr std::uint64_t most_read = 1ull << 30;
constexpr std::uint64_t most_kept = 1ull << 40;
constexpr std::uint64_t least_memory = 64ull << 20;
constexpr std::string_view usual_scheme = "gdrive";

std::chrono::milliseconds seconds_in(config::table_reader& reader, config::section& from, std::string_view key,
                                     std::int64_t most, std::chrono::milliseconds otherwise) {
  const auto found = reader.take(from.integer(key, 1, most));
  return found ? std::chrono::seconds(*found) : otherwise;
}

std::string path_under(config::table_reader& reader, std::string_view key) {
  const auto written = reader.text(key);
  if (!written) return {};
  // An empty path would resolve to the folder itself.
  if (written->empty()) {
    reader.wrong(key, "is empty; write the path of a file, or leave the key out");
    return {};
  }
  return reader.path(key, *written);
}

bool is_public_address(std::string_view url) {
  const auto parts = split_uri(url);
  return parts.scheme == "https" && parts.authority && !parts.authority->empty() && parts.path.empty() && !parts.query &&
         !parts.fragment && parts.authority->find('@') == std::string_view::npos && canonical_uri(url).has_value();
}

void read_store(config::table_reader& reader, options& into) {
  const auto written = reader.text("store");
  if (written && (written->empty() || *written == ":memory:")) return;
  into.store = written ? reader.path("store", *written) : usual_store(into.name);
  if (into.store.empty()) reader.wrong("store", "missing, and neither XDG_STATE_HOME nor HOME is set; write a path");
}

}  // namespace

std::string usual_store(std::string_view name) {
  auto folder = config::state_folder();
  return folder.empty() ? folder : std::move(folder) + "/gdrive/" + std::string(name) + "/drive.db";
}

account read_account(config::table_reader& reader, config::section& from, const std::string& name) {
  account made;
  auto& tokens = made.tokens;
  tokens.in.file = path_under(reader, "credentials");
  tokens.in.variables = google::own_environment();
  made.log_in_file = path_under(reader, "log_in_file");
  if (made.log_in_file.empty()) made.log_in_file = google::usual_log_in_file(name, tokens.in.variables);
  tokens.in.log_in_file = made.log_in_file;
  tokens.in.token_url = reader.text("token_url").value_or(std::string());
  if (!tokens.in.token_url.empty()) {
    if (const auto fine = google::check_token_url(tokens.in.token_url, true); !fine)
      reader.wrong("token_url", fine.error().public_text);
  }
  tokens.in.advice = "run `hondana login --source " + name + "`, or set credentials to the key file of a service account";
  made.client_file = path_under(reader, "client");
  made.auth_url = reader.text("auth_url").value_or(std::string());
  if (!made.auth_url.empty()) {
    if (const auto fine = google::check_token_url(made.auth_url, true); !fine)
      reader.wrong("auth_url", fine.error().public_text);
  }
  tokens.subject = reader.text("subject").value_or(std::string());
  auto scopes = google::read_scopes(reader.texts("scopes"));
  if (scopes) {
    tokens.asked = std::move(*scopes);
  } else {
    reader.wrong("scopes", scopes.error().public_text);
  }
  made.drive.base = reader.text("api").value_or(made.drive.base);
  tokens.proxy = made.drive.proxy = reader.text("proxy").value_or(std::string());
  tokens.authorities = made.drive.authorities = path_under(reader, "ca");
  if (const auto most = reader.take(from.integer("requests_per_minute", 1, 100'000))) {
    made.drive.allowed.per_minute = static_cast<double>(*most);
    made.drive.allowed.per_second = std::max(1.0, std::min(made.drive.allowed.per_second, made.drive.allowed.per_minute));
  }
  return made;
}

result<settings> read_settings(config::section& from) {
  config::table_reader reader(from);
  settings made;
  auto& how = made.how;
  how.name = reader.slug("name").value_or(how.name);
  how.scheme = reader.text("scheme").value_or(how.scheme);
  const auto longer = std::string(usual_scheme) + '-';
  const bool is_scheme = how.scheme == usual_scheme ||
                         (how.scheme.starts_with(longer) && ascii::is_slug(how.scheme) && how.scheme.size() > longer.size());
  if (!is_scheme) reader.wrong("scheme", "expected gdrive, or gdrive- followed by a-z, 0-9 and -, such as gdrive-sales");
  made.who = read_account(reader, from, how.name);
  how.drives = reader.texts("drives");
  for (const auto& one : how.drives) {
    if (!ascii::is_slug(one))
      reader.wrong("drives", "expected my-drive, shared-with-me or slugs of shared drives, as in their URIs");
  }
  how.has_shared_drives = reader.truth("shared_drives", how.has_shared_drives);
  how.shortest = seconds_in(reader, from, "interval", 86'400, how.shortest);
  how.longest = std::max(how.shortest, seconds_in(reader, from, "max_interval", 86'400, how.longest));
  if (const auto most = reader.take(from.integer("max_files", 1, 10'000'000))) how.most_files = static_cast<std::size_t>(*most);
  how.max_bytes = reader.bytes("max_bytes", 1, most_read, how.max_bytes);
  how.most_kept_content = reader.bytes("offline_bytes", 0, most_kept, how.most_kept_content);
  how.redact = reader.truth("redact", how.redact);
  how.notices = reader.text("notices").value_or(std::string());
  while (how.notices.ends_with('/')) how.notices.pop_back();
  if (!how.notices.empty() && !is_public_address(how.notices))
    reader.wrong("notices", "expected the public URL of this server without a path, such as https://hondana.example");
  made.renders = reader.truth("renders", made.renders);
  how.rendered.time = seconds_in(reader, from, "render_seconds", 600, how.rendered.time);
  how.rendered.memory = reader.bytes("render_memory", least_memory, 1ull << 36, how.rendered.memory);
  read_store(reader, how);
  HONDANA_TRY(reader.finish());
  return made;
}

namespace {

/// A digest that identifies the key or log-in that Drive requests use now; empty if there is none.
std::string spelled_asker(const google::credential_places& in, const std::string& subject) {
  const auto found = google::find_credentials(in);
  if (!found) return {};
  std::string all = subject + '\n';
  if (const auto* machine = std::get_if<google::service_account>(&found->who)) {
    all += machine->email;
  } else {
    const auto& person = std::get<google::authorized_user>(found->who);
    all += person.client_id + '\n' + person.account + '\n' + person.refresh_token;
  }
  return bytes::to_hex(bytes::digest_of(all));
}

/// Checks that existing credentials are usable. Missing ones are valid: the user may log in later. Errors: invalid_argument.
result<void> check_credentials(const google::token_settings& of) {
  const auto found = google::credentials_for(of);
  if (!found && (found.error().code == errc::access_denied || found.error().code == errc::invalid_argument))
    return fail(errc::invalid_argument, found.error().public_text, found.error().private_text);
  return {};
}

/// Before the first log-in, creates the folder for it. The sandbox can give access only to a folder that exists.
void make_place_for_log_in(const account& who, const std::function<void(std::string_view)>& log) {
  if (!who.tokens.in.file.empty() || who.log_in_file.empty() || google::find_credentials(who.tokens.in)) return;
  const auto made = disk::make_private_folder(std::filesystem::path(who.log_in_file).parent_path().string());
  if (!made && log) log("hondana cannot notice the first 'hondana login'; restart it afterwards: " + made.error().public_text);
}

/// A key of the table, and a function that resets its setting.
template <class Settings>
using key_without = std::pair<const char*, void (*)(Settings&)>;

/// Finds the key whose value causes the failure: without it the object could be created. If no single key does, returns the
/// first.
template <class Settings, class Keys, class Made>
const char* key_at_fault(const Settings& from, const Keys& keys, const Made& can_be_made) {
  for (const auto& [key, leave_out] : keys) {
    auto without = from;
    leave_out(without);
    if (can_be_made(std::move(without))) return key;
  }
  return keys.front().first;
}

constexpr std::array<key_without<google::token_settings>, 4> keys_of_tokens{{
    {"subject", [](google::token_settings& of) { of.subject.clear(); }},
    {"ca", [](google::token_settings& of) { of.authorities.clear(); }},
    {"proxy", [](google::token_settings& of) { of.proxy.clear(); }},
    {"token_url", [](google::token_settings& of) { of.in.token_url.clear(); }},
}};
constexpr std::array<key_without<drive::settings>, 3> keys_of_drive{{
    {"api", [](drive::settings& of) { of.base = drive::usual_base; }},
    {"ca", [](drive::settings& of) { of.authorities.clear(); }},
    {"proxy", [](drive::settings& of) { of.proxy.clear(); }},
}};

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  HONDANA_TRY(auto all, read_settings(from));
  auto& how = all.how;
  auto& who = all.who;
  if (log) {
    who.tokens.log = [log, name = how.name](std::string_view line) { log(name + ": " + std::string(line)); };
    who.drive.log = who.tokens.log;
  }
  how.log = log;
  make_place_for_log_in(who, log);
  // A replaced file is a new file, so the sandbox gives access to its folder.
  for (const auto& file : google::files_of(who.tokens)) {
    auto folder = std::filesystem::path(file).parent_path().string();
    std::error_code problem;
    const bool is_there = std::filesystem::is_directory(folder, problem);
    const auto& known = how.private_folders;
    if (is_there && std::find(known.begin(), known.end(), folder) == known.end())
      how.private_folders.push_back(std::move(folder));
  }
  how.places = google::places_of(who.tokens);
  how.who = [in = who.tokens.in, subject = who.tokens.subject] { return spelled_asker(in, subject); };
  how.credentials = [of = who.tokens] { return check_credentials(of); };
  auto tokens = google::make_tokens(who.tokens);
  if (!tokens) {
    const auto* const key = key_at_fault(who.tokens, keys_of_tokens,
                                         [](google::token_settings one) { return bool(google::make_tokens(std::move(one))); });
    return tl::unexpected(from.wrong(key, tokens.error().public_text));
  }
  auto client = drive::client::of(who.drive, *tokens);
  if (!client) {
    const auto* const key = key_at_fault(who.drive, keys_of_drive,
                                         [&](drive::settings one) { return bool(drive::client::of(std::move(one), *tokens)); });
    return tl::unexpected(from.wrong(key, client.error().public_text));
  }
  how.from = remote_of(std::move(*client));
  if (all.renders) how.renderer = rendering::renderer::make();
  auto opened = gdrive_provider::open(std::move(how));
  if (!opened) {
    auto why = from.wrong("store", opened.error().public_text);
    why.code = opened.error().code;
    why.private_text = std::move(opened.error().private_text);
    return tl::unexpected(std::move(why));
  }
  return std::shared_ptr<provider>(std::move(*opened));
}

}  // namespace hondana::gdrive
