/// Makes a Drive from its `[[source]]` table.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "bytes/digest.hpp"
#include "config/section.hpp"
#include "disk/private_file.hpp"
#include "providers/gdrive/settings.hpp"

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

/// Nobody has logged in yet: the folder that the log-in will come into, which the sandbox can open only where it is there.
void make_place_for_log_in(const account& who, const std::function<void(std::string_view)>& log) {
  if (!who.tokens.in.file.empty() || who.log_in_file.empty() || google::find_credentials(who.tokens.in)) return;
  const auto made = disk::make_private_folder(std::filesystem::path(who.log_in_file).parent_path().string());
  if (!made && log) log("after the first hondana login a restart is needed: " + made.error().public_text);
}

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  auto all = read_settings(from);
  if (!all) return tl::unexpected(std::move(all.error()));
  auto& how = all->how;
  auto& who = all->who;
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
  auto tokens = google::make_tokens(std::move(who.tokens));
  if (!tokens) return tl::unexpected(from.wrong("subject", tokens.error().public_text));
  auto client = drive::client::of(std::move(who.drive), std::move(*tokens));
  if (!client) return tl::unexpected(from.wrong("api", client.error().public_text));
  how.from = remote_of(std::move(*client));
  if (all->renders) how.renderer = rendering::renderer::make();
  auto opened = gdrive_provider::open(std::move(how));
  if (!opened) return tl::unexpected(std::move(opened.error()));
  return std::shared_ptr<provider>(std::move(*opened));
}

}  // namespace hondana::gdrive
