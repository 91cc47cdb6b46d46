/// Challenges.
#include "auth/authentication/refusals.hpp"

#include <utility>

#include "base/bytes/token68.hpp"

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

bool is_token_text(std::string_view text) noexcept { return text.size() <= longest_token_text && bytes::is_token68(text); }

}  // namespace hondana::authentication
