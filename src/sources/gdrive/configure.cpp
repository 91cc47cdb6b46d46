/// Makes a Drive from its `[[source]]` table.
#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/bytes/digest.hpp"
#include "os/disk/private_file.hpp"
#include "sources/config/section.hpp"
#include "sources/gdrive/settings.hpp"

namespace hondana::gdrive {

namespace {

/// Whom Drive would be asked as now: one digest for one key or log-in.
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

/// What is there must be fit to be used; nothing, that somebody logs in. Errors: invalid_argument.
result<void> check_credentials(const google::token_settings& of) {
  const auto found = google::credentials_for(of);
  if (!found && (found.error().code == errc::access_denied || found.error().code == errc::invalid_argument))
    return fail(errc::invalid_argument, found.error().public_text, found.error().private_text);
  return {};
}

/// Nobody has logged in yet: the folder that the log-in will come into, which the sandbox can open only where it is there.
void make_place_for_log_in(const account& who, const std::function<void(std::string_view)>& log) {
  if (!who.tokens.in.file.empty() || who.log_in_file.empty() || google::find_credentials(who.tokens.in)) return;
  const auto made = disk::make_private_folder(std::filesystem::path(who.log_in_file).parent_path().string());
  if (!made && log) log("hondana cannot notice the first 'hondana login'; restart it afterwards: " + made.error().public_text);
}

/// A key of the table, and the same settings as if it were not there.
template <class Settings>
using key_without = std::pair<const char*, void (*)(Settings&)>;

/// The key whose value is why nothing can be made: without it something could. What none alone is the reason of is the first's.
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
  // A file that is replaced whole is another one: its folder is what the sandbox opens.
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
