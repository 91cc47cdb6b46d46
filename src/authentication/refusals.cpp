/// Challenges.
#include "authentication/refusals.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace hondana::authentication {

challenge nothing_sent(std::string description, std::vector<std::string> scopes) {
  challenge out;
  out.description = std::move(description);
  out.scopes = std::move(scopes);
  return out;
}

challenge bad_token(std::string why, std::vector<std::string> scopes) {
  challenge out;
  out.error = "invalid_token";
  out.description = std::move(why);
  out.scopes = std::move(scopes);
  return out;
}

challenge cannot_tell(std::string why, std::chrono::seconds retry) {
  challenge out;
  out.status = 503;
  out.description = std::move(why);
  out.retry = retry;
  return out;
}

bool is_token_text(std::string_view text) noexcept {
  static constexpr auto taken = [] {
    std::array<bool, 256> out{};
    for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/="))
      out[static_cast<unsigned char>(c)] = true;
    return out;
  }();
  const auto is_taken = [](char c) { return taken[static_cast<unsigned char>(c)]; };
  return !text.empty() && text.size() <= longest_token_text && std::all_of(text.begin(), text.end(), is_taken);
}

}  // namespace hondana::authentication
