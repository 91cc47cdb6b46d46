/// Reading Authorization.
#include "transport/http_server/credentials.hpp"

#include <algorithm>

#include "base/ascii/characters.hpp"
#include "base/bytes/token68.hpp"
#include "transport/http_server/field_values.hpp"

namespace hondana::transport::http_server {
tl::expected<std::optional<std::string>, std::string_view> read_bearer(const request_head& head) {
  const auto found = head.find("Authorization");
  if (found.count == 0) return std::nullopt;
  if (found.count > 1) return tl::unexpected<std::string_view>("the header Authorization occurs more than once");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  if (std::any_of(found.first.begin(), found.first.end(), is_control)) {
    return tl::unexpected<std::string_view>("the header Authorization has a control character");
  }
  const auto scheme = found.first.substr(0, found.first.find(' '));
  if (!ascii::is_same(scheme, "Bearer")) return std::nullopt;
  auto token = found.first.substr(scheme.size());
  while (token.starts_with(' ')) token.remove_prefix(1);
  if (token.empty()) return std::nullopt;
  if (!bytes::is_token68(token)) {
    return tl::unexpected<std::string_view>(
        "the token has invalid characters. Send Authorization: Bearer, one space, and the token as issued");
  }
  return std::string(token);
}

}  // namespace hondana::transport::http_server
