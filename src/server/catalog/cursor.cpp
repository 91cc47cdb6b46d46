/// Cursors: base64url of a version byte, eight bytes of scope and the last key; or of another version byte and the encrypted
/// key.
#include "server/catalog/cursor.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/bytes/digest.hpp"
#include "base/json/base64.hpp"

namespace hondana::catalog {
namespace {

constexpr char unsealed_version = 1;
constexpr char sealed_version = 2;
constexpr std::size_t head_bytes = 9;

void append_number(std::string& out, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>((value >> shift) & 0xFF));
}

std::string make_head(std::uint64_t scope) {
  std::string head(1, unsealed_version);
  append_number(head, scope);
  return head;
}

/// Keys are URIs or templates: visible ASCII, or UTF-8 in literals of a template.
bool is_printable(std::string_view key) noexcept {
  return std::all_of(key.begin(), key.end(), [](char c) { return static_cast<unsigned char>(c) > ' ' && c != 0x7F; });
}

}  // namespace

std::uint64_t cursor_scope(std::string_view list, std::string_view filter, const access_filter* access_filter) {
  std::string text;
  append_number(text, list.size());
  text += list;
  append_number(text, filter.size());
  text += filter;
  if (access_filter != nullptr) append_number(text, access_filter->id());
  return bytes::digest_of(text)[0];
}

std::string write_cursor(std::uint64_t scope, std::string_view last_key, const seal::sealer* sealer) {
  if (sealer != nullptr) return json::encode_base64url(sealed_version + sealer->encrypt(last_key, make_head(scope)));
  return json::encode_base64url(make_head(scope).append(last_key));
}

namespace {

std::optional<std::string> extract_key(std::string_view text, std::uint64_t scope, const seal::sealer* sealer) {
  const auto head = make_head(scope);
  if (sealer != nullptr) return text.starts_with(sealed_version) ? sealer->decrypt(text.substr(1), head) : std::nullopt;
  return text.starts_with(head) ? std::optional(std::string(text.substr(head.size()))) : std::nullopt;
}

}  // namespace

result<std::string> read_cursor(std::string_view cursor, std::uint64_t scope, const seal::sealer* sealer) {
  constexpr std::size_t max_cursor_bytes = (head_bytes + seal::sealer::max_encrypted_bytes(max_key_bytes) + 2) / 3 * 4;
  if (cursor.size() <= max_cursor_bytes) {
    const auto decoded = json::decode_base64url(cursor);
    auto key = decoded ? extract_key(*decoded, scope, sealer) : std::nullopt;
    if (key && !key->empty() && key->size() <= max_key_bytes && is_printable(*key)) return std::move(*key);
  }
  return fail(errc::invalid_argument,
              "cursor: not issued by this server for this list. Pass nextCursor unchanged, or omit the cursor to start again.");
}

}  // namespace hondana::catalog
