/// Files of Google's credentials, and what its token endpoint refuses: what is taken leads to Google's own endpoints and can be
/// sent, and no error holds a part of a secret.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <variant>

#include "auth/google/credentials.hpp"
#include "auth/google/token_request.hpp"

namespace {

using namespace hondana;

void demand(bool holds) {
  if (!holds) std::abort();
}

bool is_line(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (const auto got = google::parse_credentials(text)) {
    std::visit([](const auto& one) { demand(one.token_url.starts_with("https://")); }, *got);
    if (const auto* user = std::get_if<google::authorized_user>(&*got)) {
      demand(is_line(user->refresh_token) && !user->refresh_token.empty() && is_line(user->client_id));
      const auto again = google::parse_credentials(google::encode(*user));
      demand(again && std::get<google::authorized_user>(*again).refresh_token == user->refresh_token);
    }
  } else {
    demand(got.error().code == errc::invalid_argument && got.error().private_text.empty());
  }
  if (const auto client = google::parse_oauth_client(text)) demand(!client->id.empty() && is_line(client->id));
  const google::credentials user = google::authorized_user{"a", "b", "c", std::string(google::default_token_url), {}};
  constexpr int statuses[] = {200, 302, 400, 401, 403, 429, 500};
  const auto why =
      google::explain_rejection(statuses[data[0] % 7], text, {user, "it", {}, {}, {google::scope::drive_readonly}});
  demand(!why.reason.public_text.empty() && is_line(why.reason.private_text) && why.reason.private_text.size() < 2'000);
  demand(!(why.is_final && why.is_transient));
  static_cast<void>(google::parse_http_date(text));
  return 0;
}
