/// `hondana token`: creates, lists and revokes tokens.
#include "app/cli/callers/token_command.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "app/cli/callers/authenticators.hpp"
#include "app/cli/exit_codes.hpp"
#include "app/cli/flags/client_flags.hpp"
#include "app/cli/flags/serving_flags.hpp"
#include "app/cli/output.hpp"
#include "auth/authentication/token_file.hpp"
#include "base/json/writer.hpp"
#include "protocol/model/caller_checks.hpp"
#include "protocol/model/iso_8601.hpp"

namespace hondana::cli {
namespace {

using authentication::stored_token;
using authentication::wall_time;

wall_time now() { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); }

std::string token_file_of(const command_line& line) {
  return line.has(token_file_flag) ? line.text(token_file_flag) : default_token_file();
}

int report_failure(const failure& error) {
  print_error(error);
  return error.code == errc::resource_not_found ? exit_not_found : exit_usage;
}

result<std::string> find_token_file(const command_line& line) {
  auto file = token_file_of(line);
  if (file.empty()) return fail(errc::invalid_argument, "HOME is not set; name the file with --file FILE");
  return file;
}

/// Writes the public properties of a stored token. `secret`: the token itself, written only if not empty.
void write(json::writer& writer, const stored_token& token, std::string_view secret) {
  writer.begin_object().member("id", token.id).member("name", token.name);
  writer.member_if("token", secret);
  writer.key("scopes").begin_array();
  for (const auto& scope : token.scopes) writer.string(scope);
  writer.end_array().member("created", model::format_iso_8601(token.created));
  if (token.expires_at)
    writer.member("expires", model::format_iso_8601(*token.expires_at)).key("expired").boolean(*token.expires_at <= now());
  writer.end_object();
}

/// Adds the ids of tokens named `name` to a not-found error, for users who typed a name instead of an id.
failure add_token_ids(failure error, const std::string& file, const std::string& name) {
  const auto loaded = authentication::load_tokens(file, disk::accepted_owners::anyone_if_root);
  if (error.code != errc::resource_not_found || !loaded) return error;
  std::vector<std::string> ids;
  for (const auto& token : loaded->list.tokens) {
    if (token.name == name) ids.push_back(token.id);
  }
  if (!ids.empty()) error.public_text = "tokens are revoked by id, not by name; " + name + " has " + model::join_words(ids);
  return error;
}

}  // namespace

std::optional<std::chrono::seconds> parse_lifetime(std::string_view text) {
  constexpr std::array<std::pair<char, std::int64_t>, 5> units{
      {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86'400}, {'w', 604'800}}};
  constexpr std::int64_t max_seconds = 36'525ll * 86'400;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number <= 0 || number > max_seconds || end + 1 != text.data() + text.size()) return {};
  const auto unit =
      std::find_if(units.begin(), units.end(), [&text](const auto& candidate) { return candidate.first == text.back(); });
  if (unit == units.end() || number > max_seconds / unit->second) return {};
  return std::chrono::seconds(number * unit->second);
}

int make_token(const command_line& line) {
  const auto file = find_token_file(line);
  if (!file) return report_failure(file.error());
  authentication::token_properties properties{line.word(0), line.all_values(token_scope_flag), {}};
  for (const auto& scope : properties.scopes) {
    // A scope may contain a comma, but here it most likely separates two scopes.
    if (scope.find(',') != std::string::npos)
      return report_failure(
          {errc::invalid_argument, "--scope " + scope + " contains a comma; repeat --scope for each scope", {}});
  }
  if (line.has(expires_flag)) {
    const auto lifetime = parse_lifetime(line.text(expires_flag));
    if (!lifetime)
      return report_failure({errc::invalid_argument,
                             "--expires " + line.text(expires_flag) + " is not a duration; write 45m, 12h, 30d or 8w",
                             {}});
    properties.expires_at = now() + *lifetime;
  }
  const auto created = authentication::add_token(*file, std::move(properties), now());
  if (!created) return report_failure(created.error());
  if (line.has(json_flag)) {
    std::string text;
    json::writer writer(text);
    write(writer, created->stored, created->token);
    print_json(text);
  } else {
    print(created->token + '\n');
  }
  const auto file_option = line.has(token_file_flag) ? " --file " + shell_quote(*file) : std::string();
  print_message("this is the token of " + created->stored.name + "; it is not shown again; 'hondana token revoke " +
                created->stored.id + file_option + "' revokes it");
  return exit_ok;
}

int list_tokens(const command_line& line) {
  const auto file = find_token_file(line);
  if (!file) return report_failure(file.error());
  auto loaded = authentication::load_tokens(*file, disk::accepted_owners::anyone_if_root);
  if (!loaded && loaded.error().code != errc::resource_not_found) return report_failure(loaded.error());
  const auto list = loaded ? std::move(loaded->list) : authentication::token_list();
  for (const auto& bad_line : list.bad_lines)
    print_message(*file + ':' + std::to_string(bad_line.line) + " is ignored: " + bad_line.reason);
  if (line.has(json_flag)) {
    std::string text;
    json::writer writer(text);
    writer.begin_object().key("tokens").begin_array();
    for (const auto& token : list.tokens) write(writer, token, {});
    writer.end_array().end_object();
    print_json(text);
    return exit_ok;
  }
  if (list.tokens.empty()) print_message("no tokens in " + *file + "; 'hondana token new NAME' creates one");
  for (const auto& token : list.tokens) {
    const auto expiry = !token.expires_at            ? std::string("does not expire")
                        : *token.expires_at <= now() ? "expired " + model::format_iso_8601(*token.expires_at)
                                                     : "until " + model::format_iso_8601(*token.expires_at);
    print(token.id + '\t' + token.name + '\t' + model::join_words(token.scopes) + '\t' + expiry + '\n');
  }
  return exit_ok;
}

int revoke_tokens(const command_line& line) {
  const auto file = find_token_file(line);
  if (!file) return report_failure(file.error());
  for (const auto& id : line.words()) {
    if (const auto revoked = authentication::revoke_token(*file, id); !revoked)
      return report_failure(add_token_ids(revoked.error(), *file, id));
    print_message("token " + id + " revoked: servers reject it from the next request on");
  }
  return exit_ok;
}

}  // namespace hondana::cli
