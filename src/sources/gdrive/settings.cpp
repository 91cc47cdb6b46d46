/// Reading the table.
#include "sources/gdrive/settings.hpp"

#include <algorithm>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/slug.hpp"
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
  // Relative to its folder it would be the folder.
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

}  // namespace hondana::gdrive
