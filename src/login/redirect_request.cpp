/// Tells the redirect from all else that may come to an open port.
#include "login/redirect_request.hpp"

#include <algorithm>
#include <optional>

namespace hondana::login {
namespace {

redirect_request refused(int status) { return {redirect_request::kind::refused, status, {}}; }

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

bool same_name(std::string_view a, std::string_view b) noexcept {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

bool is_visible(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
}

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// The next line without its end; nothing when there is none.
std::optional<std::string_view> next_line(std::string_view& rest) noexcept {
  const auto end = rest.find("\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  const auto out = rest.substr(0, end);
  rest.remove_prefix(end + 2);
  return out;
}

bool has_parameter(std::string_view query, std::string_view name) noexcept {
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.size());
    if (query.substr(0, std::min(query.find('='), end)) == name) return true;
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return false;
}

/// The value of a field; nothing when it is not there exactly once.
struct field {
  std::string_view value{};
  int times = 0;
};

}  // namespace

redirect_request read_redirect(std::string_view bytes, std::string_view host) {
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
  while (const auto next = next_line(rest)) {
    const auto colon = next->find(':');
    if (colon == std::string_view::npos) return refused(400);
    const auto name = next->substr(0, colon);
    for (auto* const one : {&named_host, &mode}) {
      if (!same_name(name, one == &mode ? "sec-fetch-mode" : "host")) continue;
      one->value = trimmed(next->substr(colon + 1));
      ++one->times;
    }
  }
  if (named_host.times != 1 || named_host.value != host) return refused(421);
  const auto query = target.find('?');
  if (target.substr(0, query) != redirect_path) return refused(404);
  if (line.substr(0, first) != "GET") return refused(405);
  if (mode.times > 0 && mode.value != "navigate") return refused(403);
  const auto parameters = query == std::string_view::npos ? std::string_view() : target.substr(query + 1);
  if (!has_parameter(parameters, "state") || (!has_parameter(parameters, "code") && !has_parameter(parameters, "error")))
    return refused(400);
  return {redirect_request::kind::redirect, 0, std::string(target)};
}

}  // namespace hondana::login
