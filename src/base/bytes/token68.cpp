/// Looking at the characters of tokens.
#include "base/bytes/token68.hpp"

#include <algorithm>
#include <array>

namespace hondana::bytes {

bool is_token68(std::string_view text) noexcept {
  static constexpr auto taken = [] {
    std::array<bool, 256> out{};
    for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/"))
      out[static_cast<unsigned char>(c)] = true;
    return out;
  }();
  while (text.ends_with('=')) text.remove_suffix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return taken[static_cast<unsigned char>(c)]; });
}

}  // namespace hondana::bytes
