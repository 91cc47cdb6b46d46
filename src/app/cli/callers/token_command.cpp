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

using authentication::kept_token;
using authentication::wall_time;

wall_time now() { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); }

std::string file_of(const command_line& line) {
  return line.has(token_file_flag) ? line.text(token_file_flag) : usual_tokens();
}

int failed(const failure& why) {
  complain(why);
  return why.code == errc::resource_not_found ? exit_not_found : exit_usage;
}

result<std::string> file_or_why(const command_line& line) {
  auto file = file_of(line);
  if (file.empty()) return fail(errc::invalid_argument, "HOME is not set; name the file with --file FILE");
  return file;
}

/// Writes the public facts of a stored token. `secret`: the token itself, written only if not empty.
void write(json::writer& to, const kept_token& one, std::string_view secret) {
  to.begin_object().member("id", one.id).member("name", one.name);
  to.member_if("token", secret);
  to.key("scopes").begin_array();
  for (const auto& scope : one.scopes) to.string(scope);
  to.end_array().member("created", model::iso_8601(one.created));
  if (one.expires) to.member("expires", model::iso_8601(*one.expires)).key("expired").boolean(*one.expires <= now());
  to.end_object();
}

/// Adds the ids of tokens named `name` to a not-found error, for users who typed a name instead of an id.
failure with_ids(failure why, const std::string& file, const std::string& name) {
  const auto loaded = authentication::load_tokens(file, disk::owners::anybody_for_root);
  if (why.code != errc::resource_not_found || !loaded) return why;
  std::vector<std::string> ids;
  for (const auto& one : loaded->list.tokens) {
    if (one.name == name) ids.push_back(one.id);
  }
  if (!ids.empty()) why.public_text = "tokens are revoked by id, not by name; " + name + " has " + model::joined(ids);
  return why;
}

}  // namespace

std::optional<std::chrono::seconds> parse_lifetime(std::string_view text) {
  constexpr std::array<std::pair<char, std::int64_t>, 5> units{
      {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86'400}, {'w', 604'800}}};
  constexpr std::int64_t longest = 36'525ll * 86'400;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number <= 0 || number > longest || end + 1 != text.data() + text.size()) return {};
  const auto unit = std::find_if(units.begin(), units.end(), [&text](const auto& one) { return one.first == text.back(); });
  if (unit == units.end() || number > longest / unit->second) return {};
  return std::chrono::seconds(number * unit->second);
}

int make_token(const command_line& line) {
  const auto file = file_or_why(line);
  if (!file) return failed(file.error());
  authentication::wanted_token like{line.word(0), line.all(token_scope_flag), {}};
  for (const auto& one : like.scopes) {
    // A scope may contain a comma, but here it most likely separates two scopes.
    if (one.find(',') != std::string::npos)
      return failed({errc::invalid_argument, "--scope " + one + " contains a comma; repeat --scope for each scope", {}});
  }
  if (line.has(expires_flag)) {
    const auto lifetime = parse_lifetime(line.text(expires_flag));
    if (!lifetime)
      return failed({errc::invalid_argument,
                     "--expires " + line.text(expires_flag) + " is not a duration; write 45m, 12h, 30d or 8w",
                     {}});
    like.expires = now() + *lifetime;
  }
  const auto made = authentication::add_token(*file, std::move(like), now());
  if (!made) return failed(made.error());
  if (line.has(json_flag)) {
    std::string text;
    json::writer to(text);
    write(to, made->kept, made->token);
    print_json(text);
  } else {
    print(made->token + '\n');
  }
  const auto where = line.has(token_file_flag) ? " --file " + shell_word(*file) : std::string();
  say("this is the token of " + made->kept.name + "; it is not shown again; 'hondana token revoke " + made->kept.id + where +
      "' revokes it");
  return exit_ok;
}

int list_tokens(const command_line& line) {
  const auto file = file_or_why(line);
  if (!file) return failed(file.error());
  auto loaded = authentication::load_tokens(*file, disk::owners::anybody_for_root);
  if (!loaded && loaded.error().code != errc::resource_not_found) return failed(loaded.error());
  const auto list = loaded ? std::move(loaded->list) : authentication::token_list();
  for (const auto& one : list.bad) say(*file + ':' + std::to_string(one.line) + " is ignored: " + one.why);
  if (line.has(json_flag)) {
    std::string text;
    json::writer to(text);
    to.begin_object().key("tokens").begin_array();
    for (const auto& one : list.tokens) write(to, one, {});
    to.end_array().end_object();
    print_json(text);
    return exit_ok;
  }
  if (list.tokens.empty()) say("no tokens in " + *file + "; 'hondana token new NAME' creates one");
  for (const auto& one : list.tokens) {
    const auto until = !one.expires            ? std::string("does not expire")
                       : *one.expires <= now() ? "expired " + model::iso_8601(*one.expires)
                                               : "until " + model::iso_8601(*one.expires);
    print(one.id + '\t' + one.name + '\t' + model::joined(one.scopes) + '\t' + until + '\n');
  }
  return exit_ok;
}

int take_token_back(const command_line& line) {
  const auto file = file_or_why(line);
  if (!file) return failed(file.error());
  for (const auto& id : line.words()) {
    if (const auto gone = authentication::revoke_token(*file, id); !gone) return failed(with_ids(gone.error(), *file, id));
    say("token " + id + " revoked: servers reject it from the next request on");
  }
  return exit_ok;
}

}  // namespace hondana::cli
