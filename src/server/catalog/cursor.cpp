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

constexpr char plain_version = 1;
constexpr char hidden_version = 2;
constexpr std::size_t head_bytes = 9;

void append_number(std::string& out, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) out.push_back(static_cast<char>((value >> shift) & 0xFF));
}

std::string head_of(std::uint64_t scope) {
  std::string head(1, plain_version);
  append_number(head, scope);
  return head;
}

/// Keys are URIs or templates: visible ASCII, or UTF-8 in literals of a template.
bool is_plain(std::string_view key) noexcept {
  return std::all_of(key.begin(), key.end(), [](char c) { return static_cast<unsigned char>(c) > ' ' && c != 0x7F; });
}

}  // namespace

std::uint64_t cursor_scope(std::string_view list, std::string_view filter, const view* through) {
  std::string text;
  append_number(text, list.size());
  text += list;
  append_number(text, filter.size());
  text += filter;
  if (through != nullptr) append_number(text, through->id());
  return bytes::digest_of(text)[0];
}

std::string write_cursor(std::uint64_t scope, std::string_view last_key, const seal::sealer* by) {
  if (by != nullptr) return json::base64url(hidden_version + by->hide(last_key, head_of(scope)));
  return json::base64url(head_of(scope).append(last_key));
}

namespace {

std::optional<std::string> key_in(std::string_view held, std::uint64_t scope, const seal::sealer* by) {
  const auto head = head_of(scope);
  if (by != nullptr) return held.starts_with(hidden_version) ? by->reveal(held.substr(1), head) : std::nullopt;
  return held.starts_with(head) ? std::optional(std::string(held.substr(head.size()))) : std::nullopt;
}

}  // namespace

result<std::string> read_cursor(std::string_view cursor, std::uint64_t scope, const seal::sealer* by) {
  constexpr std::size_t longest = (head_bytes + seal::sealer::hidden_bytes(max_key_bytes) + 2) / 3 * 4;
  if (cursor.size() <= longest) {
    const auto held = json::decode_base64url(cursor);
    auto key = held ? key_in(*held, scope, by) : std::nullopt;
    if (key && !key->empty() && key->size() <= max_key_bytes && is_plain(*key)) return std::move(*key);
  }
  return fail(errc::invalid_argument,
              "cursor: not issued by this server for this list. Pass nextCursor unchanged, or omit the cursor to start again.");
}

}  // namespace hondana::catalog
