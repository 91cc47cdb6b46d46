/// Looks at identifiers.
#include "sources/gdrive/drive/ids.hpp"

#include <algorithm>

namespace hondana::drive {
namespace {

constexpr std::size_t most_keys = 100;

}  // namespace

bool is_id(std::string_view text) noexcept {
  return !text.empty() && text.size() <= longest_id && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
  });
}

result<void> check_id(std::string_view text, std::string_view what) {
  if (is_id(text)) return {};
  return fail(errc::invalid_argument, std::string(what) +
                                          "'s id is not valid: expected 1 to 200 letters, digits, hyphens and underscores; "
                                          "copy it from the link that Drive shows (…/d/ID/…)");
}

std::string spelled(const std::vector<resource_key>& keys) {
  std::string out;
  std::size_t count = 0;
  for (const auto& one : keys) {
    if (!is_id(one.id) || !is_id(one.key)) continue;
    if (++count > most_keys) break;
    out += (out.empty() ? "" : ",") + one.id + '/' + one.key;
  }
  return out;
}

}  // namespace hondana::drive
