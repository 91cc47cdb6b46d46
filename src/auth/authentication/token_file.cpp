/// A file of tokens: parses its lines, and creates, lists and revokes tokens.
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

constexpr std::size_t longest_name = 64;

tl::unexpected<failure> wrong(std::string_view member, std::string_view what) {
  return fail(errc::invalid_argument, std::string(member) + ": " + std::string(what));
}

std::optional<std::uint8_t> digit_of(char c) noexcept {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  return {};
}

std::optional<bytes::sha256_bytes> hash_in(std::string_view text) {
  bytes::sha256_bytes out{};
  if (text.size() != 2 * out.size()) return {};
  for (std::size_t at = 0; at < out.size(); ++at) {
    const auto high = digit_of(text[2 * at]);
    const auto low = digit_of(text[2 * at + 1]);
    if (!high || !low) return {};
    out[at] = static_cast<std::uint8_t>(*high << 4 | *low);
  }
  return out;
}

result<std::optional<wall_time>> time_in(const value& from, std::string_view name) {
  const auto* member = from.find(name);
  if (member == nullptr) return std::optional<wall_time>();
  const auto* text = member->as_string();
  const auto when = text == nullptr ? std::nullopt : model::parse_time(*text);
  if (!when) return wrong(name, "expected a time such as \"2026-07-28T12:00:00Z\"");
  return std::chrono::floor<std::chrono::seconds>(*when);
}

/// Calls `each` for every line, with the line without and with its newline, and its number from 1.
template <class Each>
void for_each_line(std::string_view text, Each&& each) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const auto end = std::min(text.find('\n'), text.size());
    const auto whole = text.substr(0, std::min(end + 1, text.size()));
    each(text.substr(0, end), whole, number);
    text.remove_prefix(whole.size());
  }
}

bool is_passed_over(std::string_view line) noexcept {
  return line.starts_with('#') || line.find_first_not_of(" \t\r") == std::string_view::npos;
}

}  // namespace

bool is_token_name(std::string_view text) noexcept {
  return !text.empty() && text.size() <= longest_name && std::all_of(text.begin(), text.end(), [](char c) {
    return ascii::is_alphanumeric(c) || std::string_view("._-@+").find(c) != std::string_view::npos;
  });
}

result<kept_token> parse_token_line(std::string_view line) {
  const auto parsed = value::parse(line, {.bytes = token_list::longest_line, .values = 1000});
  if (!parsed || parsed->as_object() == nullptr)
    return fail(errc::invalid_argument,
                "it is not a JSON object of at most " + std::to_string(token_list::longest_line) + " bytes");
  kept_token out;
  out.id = parsed->string_at("id").value_or("");
  if (!is_token_name(out.id)) return wrong("id", "expected up to 64 letters and digits");
  out.name = parsed->string_at("name").value_or("");
  if (!is_token_name(out.name)) return wrong("name", "expected up to 64 letters, digits and . _ - @ +");
  const auto hash = hash_in(parsed->string_at("sha256").value_or(""));
  if (!hash) return wrong("sha256", "expected 64 hexadecimal digits");
  out.hash = *hash;
  if (const auto* scopes = parsed->find("scopes"); scopes != nullptr) {
    const auto* all = scopes->as_array();
    const auto is_one = [](const value& one) { return one.as_string() != nullptr && is_scope(*one.as_string()); };
    if (all == nullptr || !std::all_of(all->begin(), all->end(), is_one)) return wrong("scopes", "expected an array of scopes");
    for (const auto& one : *all) merge_scopes(out.scopes, {*one.as_string()});
  }
  HONDANA_TRY(const auto created, time_in(*parsed, "created"));
  if (created) out.created = *created;
  HONDANA_TRY(const auto expires, time_in(*parsed, "expires"));
  out.expires = expires;
  return out;
}

token_list parse_tokens(std::string_view text) {
  token_list out;
  for_each_line(text, [&out](std::string_view line, std::string_view, std::size_t number) {
    if (is_passed_over(line)) return;
    auto token = parse_token_line(line);
    if (token) {
      out.tokens.push_back(std::move(*token));
    } else if (out.bad.size() < token_list::most_bad_lines) {
      out.bad.push_back({number, std::move(token.error().public_text)});
    }
  });
  return out;
}

std::string line_of(const kept_token& token) {
  value::array scopes;
  for (const auto& one : token.scopes) scopes.emplace_back(one);
  value::object all{{"id", token.id},
                    {"name", token.name},
                    {"sha256", bytes::to_hex(token.hash)},
                    {"scopes", std::move(scopes)},
                    {"created", model::iso_8601(token.created)}};
  if (token.expires) all.emplace_back("expires", model::iso_8601(*token.expires));
  return value(std::move(all)).to_text() + '\n';
}

std::optional<std::string> without_token(std::string_view text, std::string_view id) {
  std::string out;
  bool is_found = false;
  for_each_line(text, [&](std::string_view line, std::string_view whole, std::size_t) {
    if (!is_passed_over(line)) {
      const auto token = parse_token_line(line);
      if (token && token->id == id) {
        is_found = true;
        return;
      }
    }
    out += whole;
  });
  if (!is_found) return {};
  return out;
}

namespace {

constexpr std::size_t id_bytes = 8;
constexpr std::size_t token_bytes = 32;

/// The text of the file; empty if it does not exist.
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
