/// A file of tokens, one JSON object per line: parses it, and adds and revokes tokens.
#include "auth/authentication/token_file.hpp"

#include <algorithm>
#include <utility>

#include <hondana/value.hpp>

#include "auth/authentication/bearer_tokens.hpp"
#include "base/ascii/ascii.hpp"
#include "base/bytes/random_token.hpp"
#include "base/json/base64.hpp"
#include "protocol/model/iso_8601.hpp"

namespace hondana::authentication {
namespace {

constexpr std::size_t max_name_bytes = 64;

tl::unexpected<failure> invalid_member(std::string_view member, std::string_view reason) {
  return fail(errc::invalid_argument, std::string(member) + ": " + std::string(reason));
}

std::optional<std::uint8_t> digit_of(char c) noexcept {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  return {};
}

std::optional<bytes::sha256_bytes> parse_hash(std::string_view text) {
  bytes::sha256_bytes out{};
  if (text.size() != 2 * out.size()) return {};
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto high = digit_of(text[2 * i]);
    const auto low = digit_of(text[2 * i + 1]);
    if (!high || !low) return {};
    out[i] = static_cast<std::uint8_t>(*high << 4 | *low);
  }
  return out;
}

result<std::optional<wall_time>> time_at(const value& object, std::string_view name) {
  const auto* member = object.find(name);
  if (member == nullptr) return std::optional<wall_time>();
  const auto* text = member->as_string();
  const auto time = text == nullptr ? std::nullopt : model::parse_time(*text);
  if (!time) return invalid_member(name, "expected a time such as \"2026-07-28T12:00:00Z\"");
  return std::chrono::floor<std::chrono::seconds>(*time);
}

/// Calls `each` for every line, with the line without and with its newline, and its number from 1.
template <class Each>
void for_each_line(std::string_view text, Each&& each) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto full_line = text.substr(0, std::min(end + 1, text.size()));
    each(text.substr(0, end), full_line, number);
    text.remove_prefix(full_line.size());
  }
}

bool is_ignored(std::string_view line) noexcept {
  return line.starts_with('#') || line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

bool is_token_name(std::string_view text) noexcept {
  return !text.empty() && text.size() <= max_name_bytes && std::all_of(text.begin(), text.end(), [](char c) {
    return ascii::is_alphanumeric(c) || std::string_view("._-@+").find(c) != std::string_view::npos;
  });
}

result<stored_token> parse_token_line(std::string_view line) {
  const auto parsed = value::parse(line, {.max_bytes = token_list::max_line_bytes, .max_values = 1000});
  if (!parsed || parsed->as_object() == nullptr)
    return fail(errc::invalid_argument,
                "it is not a JSON object of at most " + std::to_string(token_list::max_line_bytes) + " bytes");
  stored_token out;
  out.id = parsed->string_at("id").value_or("");
  if (!is_token_name(out.id)) return invalid_member("id", "expected up to 64 letters and digits");
  out.name = parsed->string_at("name").value_or("");
  if (!is_token_name(out.name)) return invalid_member("name", "expected up to 64 letters, digits and . _ - @ +");
  const auto hash = parse_hash(parsed->string_at("sha256").value_or(""));
  if (!hash) return invalid_member("sha256", "expected 64 hexadecimal digits");
  out.hash = *hash;
  if (const auto* scopes = parsed->find("scopes"); scopes != nullptr) {
    const auto* list = scopes->as_array();
    const auto is_valid = [](const value& item) { return item.as_string() != nullptr && is_scope(*item.as_string()); };
    if (list == nullptr || !std::all_of(list->begin(), list->end(), is_valid))
      return invalid_member("scopes", "expected an array of scopes");
    for (const auto& scope : *list) merge_scopes(out.scopes, {*scope.as_string()});
  }
  HONDANA_TRY(const auto created, time_at(*parsed, "created"));
  if (created) out.created = *created;
  HONDANA_TRY(const auto expires, time_at(*parsed, "expires"));
  out.expires_at = expires;
  return out;
}

token_list parse_tokens(std::string_view text) {
  token_list out;
  for_each_line(text, [&out](std::string_view line, std::string_view, std::size_t number) {
    if (is_ignored(line)) return;
    auto token = parse_token_line(line);
    if (token) {
      out.tokens.push_back(std::move(*token));
    } else if (out.bad_lines.size() < token_list::max_bad_lines) {
      out.bad_lines.push_back({number, std::move(token.error().public_text)});
    }
  });
  return out;
}

std::string line_of(const stored_token& token) {
  value::array scopes;
  for (const auto& scope : token.scopes) scopes.emplace_back(scope);
  value::object members{{"id", token.id},
                        {"name", token.name},
                        {"sha256", bytes::to_hex(token.hash)},
                        {"scopes", std::move(scopes)},
                        {"created", model::format_iso_8601(token.created)}};
  if (token.expires_at) members.emplace_back("expires", model::format_iso_8601(*token.expires_at));
  return value(std::move(members)).to_text() + '\n';
}

std::optional<std::string> without_token(std::string_view text, std::string_view id) {
  std::string out;
  bool is_found = false;
  for_each_line(text, [&](std::string_view line, std::string_view full_line, std::size_t) {
    if (!is_ignored(line)) {
      const auto token = parse_token_line(line);
      if (token && token->id == id) {
        is_found = true;
        return;
      }
    }
    out += full_line;
  });
  if (!is_found) return {};
  return out;
}

namespace {

constexpr std::size_t id_bytes = 8;
constexpr std::size_t token_bytes = 32;

/// The text of the file; empty if it does not exist.
result<std::string> read_text(const std::string& path) {
  auto read = disk::read_private(path, token_list::max_bytes, disk::accepted_owners::anyone_if_root);
  if (read) return std::move(read->bytes);
  if (read.error().code == errc::resource_not_found) return std::string();
  return tl::unexpected(std::move(read.error()));
}

}  // namespace

result<loaded_tokens> load_tokens(const std::string& path, disk::accepted_owners owners) {
  HONDANA_TRY(auto read, disk::read_private(path, token_list::max_bytes, owners));
  return loaded_tokens{parse_tokens(read.bytes), read.state};
}

result<new_token> add_token(const std::string& path, token_properties properties, wall_time now) {
  if (!is_token_name(properties.name))
    return fail(errc::invalid_argument, "a token name must have 1 to 64 letters, digits and . _ - @ +, such as \"laptop\"");
  for (const auto& scope : properties.scopes) {
    if (!is_scope(scope))
      return fail(errc::invalid_argument, "\"" + scope + "\" is not a scope: expected a word without spaces and quotes");
  }
  auto id = bytes::random_bytes(id_bytes);
  auto secret = bytes::random_bytes(token_bytes);
  if (!id) return tl::unexpected(std::move(id.error()));
  if (!secret) return tl::unexpected(std::move(secret.error()));
  new_token out;
  out.token = std::string(token_prefix) + json::encode_base64url(*secret);
  out.stored = {
      bytes::to_hex(*id),   std::move(properties.name), bytes::sha256_of(out.token), std::move(properties.scopes), now,
      properties.expires_at};
  auto line = line_of(out.stored);
  if (line.size() > token_list::max_line_bytes) return fail(errc::invalid_argument, "too many scopes for one token");
  HONDANA_TRY(const auto lock, disk::acquire_lock(path));
  HONDANA_TRY(auto text, read_text(path));
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += line;
  if (text.size() > token_list::max_bytes) return fail(errc::response_too_large, path + " is full; revoke tokens first");
  HONDANA_TRY(disk::replace_private(path, text));
  return out;
}

result<void> revoke_token(const std::string& path, std::string_view id) {
  HONDANA_TRY(const auto lock, disk::acquire_lock(path));
  HONDANA_TRY(const auto text, read_text(path));
  const auto remaining = without_token(text, id);
  if (!remaining) {
    return fail(errc::resource_not_found,
                "unknown token \"" + std::string(id) + "\" in " + path + "; 'hondana token ls' shows the ids");
  }
  return disk::replace_private(path, *remaining);
}

}  // namespace hondana::authentication
