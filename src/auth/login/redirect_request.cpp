/// Tells the redirect from all else that may come to an open port.
#include "auth/login/redirect_request.hpp"

#include <algorithm>
#include <hondana/uri.hpp>
#include <utility>

#include "base/ascii/characters.hpp"
#include "base/uri/query.hpp"
#include "transport/http_client/response_head.hpp"

namespace hondana::login {
namespace {

using transport::http_client::trimmed;

redirect_request refused(int status) { return {redirect_request::kind::refused, status, {}}; }

bool is_visible(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

/// The next line without its end; nothing when there is none.
std::optional<std::string_view> next_line(std::string_view& rest) noexcept {
  const auto end = rest.find("\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  const auto out = rest.substr(0, end);
  rest.remove_prefix(end + 2);
  return out;
}

/// The value of a field; nothing when it is not there exactly once.
struct field {
  std::string_view value{};
  int times = 0;
};

}  // namespace

std::optional<std::string> parameter_in(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const auto one = uri::take_parameter(query);
    if (one.name != name) continue;
    auto value = percent_decode(one.value);
    return value ? std::optional(std::move(*value)) : std::nullopt;
  }
  return std::nullopt;
}

redirect_request read_redirect(std::string_view bytes, std::string_view host, std::string_view state) {
  const auto end = bytes.find("\r\n\r\n");
  if (bytes.size() > max_request_bytes || (end != std::string_view::npos && end + 4 > max_request_bytes)) return refused(431);
  if (end == std::string_view::npos) return {};
  auto rest = bytes.substr(0, end + 2);
  const auto line = *next_line(rest);
  const auto first = line.find(' ');
  const auto last = line.rfind(' ');
  if (first == std::string_view::npos || first == last || !line.substr(last + 1).starts_with("HTTP/1.")) return refused(400);
  const auto target = line.substr(first + 1, last - first - 1);
  if (!is_visible(target)) return refused(400);

  field named_host;
  field mode;
  field shown_as;
  while (const auto next = next_line(rest)) {
    const auto colon = next->find(':');
    if (colon == std::string_view::npos) return refused(400);
    const auto name = next->substr(0, colon);
    for (const auto& [called, to] :
         {std::pair("host", &named_host), std::pair("sec-fetch-mode", &mode), std::pair("sec-fetch-dest", &shown_as)}) {
      if (!ascii::is_same(name, called)) continue;
      to->value = trimmed(next->substr(colon + 1));
      ++to->times;
    }
  }
  if (named_host.times != 1 || named_host.value != host) return refused(421);
  const auto query = target.find('?');
  if (target.substr(0, query) != redirect_path) return refused(404);
  if (line.substr(0, first) != "GET") return refused(405);
  // A frame navigates, too.
  for (const auto& [one, wanted] : {std::pair(mode, "navigate"), std::pair(shown_as, "document")})
    if (one.times > 1 || (one.times == 1 && one.value != wanted)) return refused(403);
  const auto parameters = query == std::string_view::npos ? std::string_view() : target.substr(query + 1);
  if (parameter_in(parameters, "state") != state) return refused(400);
  if (!parameter_in(parameters, "code") && !parameter_in(parameters, "error")) return refused(400);
  return {redirect_request::kind::redirect, 0, std::string(target)};
}

}  // namespace hondana::login
