/// What a browser that was sent back to this machine asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::login {

/// Of a request, its head included; it has no body.
inline constexpr std::size_t max_request_bytes = 16u << 10;

/// Where browsers are sent back to: `http://127.0.0.1:PORT` and this.
inline constexpr std::string_view redirect_path = "/callback";

struct redirect_request {
  enum class kind : std::uint8_t { incomplete, refused, redirect };
  kind what = kind::incomplete;
  int status = 0;        ///< What a refused one is answered.
  std::string target{};  ///< Of a redirect: path and query.
};

/// Reads what has come of a request so far. A redirect is a GET of the path, to the host `host` ("127.0.0.1:PORT"), with the
/// state `state` and with `code` or `error`, by which a browser shows a page: pages of others that only load or frame it are
/// refused, and so is what asks for another host, whose name somebody has made lead here. Spec: RFC 8252 7.3, RFC 6749 4.1.2.
[[nodiscard]] redirect_request read_redirect(std::string_view bytes, std::string_view host, std::string_view state);

/// The decoded value of the first parameter of that name in a query; nothing: there is none, or its escapes are broken.
[[nodiscard]] std::optional<std::string> parameter_in(std::string_view query, std::string_view name);

}  // namespace hondana::login
