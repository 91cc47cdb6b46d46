/// Reading and joining scopes.
#include "auth/authentication/scope_words.hpp"

#include <algorithm>

namespace hondana::authentication {
namespace {

constexpr std::size_t most_scopes = 200;

void add(std::vector<std::string>& into, std::string_view one) {
  if (into.size() < most_scopes && std::find(into.begin(), into.end(), one) == into.end()) into.emplace_back(one);
}

}  // namespace

std::vector<std::string> scopes_in(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const auto end = std::min(text.find(' '), text.size());
    if (const auto word = text.substr(0, end); is_scope(word)) add(out, word);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

void merge_scopes(std::vector<std::string>& into, const std::vector<std::string>& more) {
  for (const auto& one : more) add(into, one);
}

}  // namespace hondana::authentication
