/// Changes of the file, each one whole or not at all.
#include "auth/authentication/token_file.hpp"

#include <utility>

#include "auth/authentication/refusals.hpp"
#include "auth/authentication/scope_words.hpp"
#include "base/bytes/hex.hpp"
#include "base/bytes/random.hpp"
#include "base/json/base64.hpp"

namespace hondana::authentication {
namespace {

constexpr std::size_t id_bytes = 8;
constexpr std::size_t token_bytes = 32;

/// As it is, and empty when there is none.
result<std::string> text_of(const std::string& path) {
  auto read = disk::read_private(path, token_list::most_bytes, disk::owners::anybody_for_root);
  if (read) return std::move(read->bytes);
  if (read.error().code == errc::resource_not_found) return std::string();
  return tl::unexpected(std::move(read.error()));
}

}  // namespace

result<loaded_tokens> load_tokens(const std::string& path, disk::owners whose) {
  HONDANA_TRY(auto read, disk::read_private(path, token_list::most_bytes, whose));
  return loaded_tokens{parse_tokens(read.bytes), read.state};
}

result<new_token> add_token(const std::string& path, wanted_token like, wall_time now) {
  if (!is_token_name(like.name))
    return fail(errc::invalid_argument, "a token name must have 1 to 64 letters, digits and . _ - @ +, such as \"laptop\"");
  for (const auto& one : like.scopes) {
    if (!is_scope(one))
      return fail(errc::invalid_argument, "\"" + one + "\" is not a scope: expected a word without spaces and quotes");
  }
  auto id = bytes::random_bytes(id_bytes);
  auto secret = bytes::random_bytes(token_bytes);
  if (!id) return tl::unexpected(std::move(id.error()));
  if (!secret) return tl::unexpected(std::move(secret.error()));
  new_token out;
  out.token = std::string(token_prefix) + json::base64url(*secret);
  out.kept = {bytes::to_hex(*id), std::move(like.name), bytes::sha256_of(out.token), std::move(like.scopes), now, like.expires};
  auto line = line_of(out.kept);
  if (line.size() > token_list::longest_line) return fail(errc::invalid_argument, "too many scopes for one token");
  HONDANA_TRY(const auto lock, disk::lock_beside(path));
  HONDANA_TRY(auto text, text_of(path));
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += line;
  if (text.size() > token_list::most_bytes) return fail(errc::response_too_large, path + " is full; revoke tokens first");
  HONDANA_TRY(disk::replace_private(path, text));
  return out;
}

result<void> revoke_token(const std::string& path, std::string_view id) {
  HONDANA_TRY(const auto lock, disk::lock_beside(path));
  HONDANA_TRY(const auto text, text_of(path));
  const auto rest = without_token(text, id);
  if (!rest) {
    return fail(errc::resource_not_found,
                "unknown token \"" + std::string(id) + "\" in " + path + "; 'hondana token ls' shows the ids");
  }
  return disk::replace_private(path, *rest);
}

}  // namespace hondana::authentication
