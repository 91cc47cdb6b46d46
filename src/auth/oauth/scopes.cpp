/// Reads and spells scopes.
#include "auth/oauth/scopes.hpp"

#include <algorithm>

namespace hondana::oauth {
namespace {

constexpr std::size_t most_bytes = 8u << 10;
constexpr std::size_t most_scopes = 200;

}  // namespace

std::optional<scope_set> read_scopes(std::string_view text) {
  if (text.size() > most_bytes) return std::nullopt;
  scope_set out;
  while (!text.empty()) {
    const auto end = text.find(' ');
    const auto one = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (one.empty()) continue;
    if (!is_scope(one) || out.size() == most_scopes) return std::nullopt;
    out.emplace(one);
  }
  return out;
}

std::string spelled(const scope_set& scopes) {
  std::string out;
  for (const auto& one : scopes) {
    if (!out.empty()) out += ' ';
    out += one;
  }
  return out;
}

bool covers(const scope_set& all, const scope_set& some) {
  return std::includes(all.begin(), all.end(), some.begin(), some.end());
}

}  // namespace hondana::oauth
