/// The authorization server: JWT bearer grants, authorization codes, refresh tokens, revocation.
#include <boost/json.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <utility>

#include "drive/stand_in/account_key.hpp"
#include "drive/stand_in/errors.hpp"
#include "drive/stand_in/world.hpp"

namespace drive_test {
namespace {

namespace json = boost::json;

const std::string drive_prefix = "https://www.googleapis.com/auth/";

std::string joined(const std::set<std::string>& scopes) {
  std::string out;
  for (const auto& one : scopes) out += (out.empty() ? "" : " ") + one;
  return out;
}

/// What a form has of a name.
class form_reader {
 public:
  explicit form_reader(const asked& from) : all_(form_of(from.body)) {
    // Clients may be told by the header, too (RFC 6749 section 2.3.1).
    if (const auto header = from.field("authorization"); header.starts_with("Basic ")) basic_ = header.substr(6);
  }
  [[nodiscard]] std::string at(std::string_view name) const {
    for (const auto& [key, text] : all_) {
      if (key == name) return text;
    }
    return "";
  }
  /// Whether it knows the client's secret.
  [[nodiscard]] bool is_client(const setup& how) const {
    if (!basic_.empty()) {
      auto plain = basic_;
      for (auto& c : plain) c = c == '+' ? '-' : c == '/' ? '_' : c;
      const auto pair = from_base64url(plain);
      return pair && unescaped(*pair, false) == how.client_id + ':' + how.client_secret;
    }
    return at("client_id") == how.client_id && at("client_secret") == how.client_secret;
  }

 private:
  std::vector<std::pair<std::string, std::string>> all_;
  std::string basic_{};
};

answer given(world& in, const given_token& of, const std::string& refresh = {}) {
  if (in.access.size() > 10'000) in.access.clear();
  const auto token = "ya29.c." + made_up(96);
  in.access[token] = of;
  in.access[token].until = now_ms() + in.how.token_lifetime.count() * 1000;
  json::object whole{{"access_token", token}, {"expires_in", in.how.token_lifetime.count()}, {"token_type", "Bearer"}};
  if (!refresh.empty()) {
    whole["refresh_token"] = refresh;
    whole["scope"] = joined(of.scopes);
  }
  answer out;
  out.type = "application/json; charset=utf-8";
  out.body = json::serialize(whole);
  out.more_fields = "Cache-Control: no-cache, no-store, max-age=0, must-revalidate\r\nPragma: no-cache\r\n";
  return out;
}

std::optional<json::object> object_of(std::string_view part) {
  const auto text = from_base64url(part);
  if (!text) return std::nullopt;
  boost::system::error_code trouble;
  const auto parsed = json::parse(*text, trouble);
  if (trouble || !parsed.is_object()) return std::nullopt;
  return parsed.get_object();
}

std::string claim_in(const json::object& from, std::string_view name) {
  const auto* const one = from.if_contains(name);
  return one != nullptr && one->is_string() ? std::string(one->get_string()) : std::string();
}

answer give_for_assertion(world& in, const std::string& assertion) {
  const auto bad = [](std::string_view what) { return token_error(400, "invalid_grant", what); };
  const auto first = assertion.find('.');
  const auto second = assertion.rfind('.');
  if (first == std::string::npos || first == second) return bad("Invalid JWT: Failed audience check.");
  const auto head = object_of(std::string_view(assertion).substr(0, first));
  const auto claims = object_of(std::string_view(assertion).substr(first + 1, second - first - 1));
  const auto signature = from_base64url(std::string_view(assertion).substr(second + 1));
  if (!head || !claims || !signature) return bad("Invalid JWT: malformed token.");
  if (claim_in(*claims, "iss") != in.how.service_account) return bad("Invalid grant: account not found");
  const auto& key = account_key::get();
  const auto id = claim_in(*head, "kid");
  if (claim_in(*head, "alg") != "RS256" || (!id.empty() && id != key.id()) ||
      !key.verifies(std::string_view(assertion).substr(0, second), *signature))
    return bad("Invalid JWT Signature.");
  const auto audience = claim_in(*claims, "aud");
  const std::array<std::string, 3> audiences{in.origin + "/token", "https://oauth2.googleapis.com/token",
                                             "https://accounts.google.com/o/oauth2/token"};
  if (std::find(audiences.begin(), audiences.end(), audience) == audiences.end())
    return bad("Invalid JWT: Failed audience check.");
  const auto* const issued = claims->if_contains("iat");
  const auto* const expires = claims->if_contains("exp");
  const auto now = now_ms() / 1000;
  const auto skew = in.how.most_skew.count();
  const bool is_timely = issued != nullptr && expires != nullptr && issued->is_int64() && expires->is_int64() &&
                         issued->get_int64() <= now + skew && expires->get_int64() > now - skew &&
                         expires->get_int64() - issued->get_int64() <= 3600 && issued->get_int64() <= expires->get_int64();
  if (!is_timely)
    return bad(
        "Invalid JWT: Token must be a short-lived token (60 minutes) and in a reasonable timeframe. Check your iat and exp "
        "values "
        "in the JWT claim.");
  given_token made;
  made.scopes = scopes_of(claim_in(*claims, "scope"));
  if (made.scopes.empty()) return token_error(400, "invalid_scope", "Invalid OAuth scope or ID token audience provided.");
  for (const auto& one : made.scopes) {
    if (!one.starts_with(drive_prefix))
      return token_error(400, "invalid_scope", "Invalid OAuth scope or ID token audience provided.");
  }
  const auto subject = claim_in(*claims, "sub");
  made.whom = subject.empty() ? in.how.service_account : subject;
  if (!subject.empty() && subject != in.how.service_account &&
      std::find(in.how.delegating.begin(), in.how.delegating.end(), subject) == in.how.delegating.end())
    return token_error(
        401, "unauthorized_client",
        "Client is unauthorized to retrieve access tokens using this method, or client not authorized for any of "
        "the scopes requested.");
  return given(in, made);
}

answer give_for_code(world& in, const form_reader& form) {
  const auto found = in.codes.find(form.at("code"));
  if (found == in.codes.end()) return token_error(400, "invalid_grant", "Malformed auth code.");
  const auto code = found->second;
  in.codes.erase(found);
  if (form.at("redirect_uri") != code.redirect) return token_error(400, "redirect_uri_mismatch", "Bad Request");
  if (!code.challenge.empty()) {
    const auto verifier = form.at("code_verifier");
    std::string expected = verifier;
    if (code.challenge_method == "S256") {
      std::string bytes;
      const auto hex = digest("sha256", verifier);
      for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
      expected = base64url(bytes);
    }
    if (expected != code.challenge) return token_error(400, "invalid_grant", "Invalid code verifier.");
  }
  const auto refresh = "1//0" + made_up(80);
  in.refresh[refresh] = code.is;
  return given(in, code.is, refresh);
}

}  // namespace

std::set<std::string> scopes_of(std::string_view text) {
  std::set<std::string> out;
  while (!text.empty()) {
    const auto one = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    if (!one.empty()) out.emplace(one);
  }
  return out;
}

given_token caller_of(const asked& from, world& in) {
  const auto header = from.field("authorization");
  if (header.empty()) refuse(403, "forbidden");
  const auto found = header.starts_with("Bearer ") ? in.access.find(header.substr(7)) : in.access.end();
  if (found == in.access.end() || (found->second.until != 0 && found->second.until < now_ms()))
    refuse(401, "authError", {}, {}, {"header", "Authorization"});
  return found->second;
}

void want_scope(const call& of, std::initializer_list<std::string_view> any) {
  for (const auto one : any) {
    if (of.by.scopes.contains(drive_prefix + std::string(one))) return;
  }
  refuse(403, "insufficientPermissions");
}

answer give_token(const asked& from, world& in) {
  if (from.method != "POST") return token_error(404, "invalid_request", "Not found.");
  if (!from.field("content-type").starts_with("application/x-www-form-urlencoded"))
    return token_error(400, "invalid_request", "Could not determine client ID from request.");
  const form_reader form(from);
  const auto kind = form.at("grant_type");
  if (kind == "urn:ietf:params:oauth:grant-type:jwt-bearer") return give_for_assertion(in, form.at("assertion"));
  if (kind != "authorization_code" && kind != "refresh_token")
    return token_error(400, "unsupported_grant_type", "Invalid grant_type: " + kind);
  if (!form.is_client(in.how)) {
    if (form.at("client_id") != in.how.client_id) return token_error(401, "invalid_client", "The OAuth client was not found.");
    return token_error(401, "invalid_client", "Unauthorized");
  }
  if (kind == "authorization_code") return give_for_code(in, form);
  const auto found = in.refresh.find(form.at("refresh_token"));
  if (found == in.refresh.end()) return token_error(400, "invalid_grant", "Token has been expired or revoked.");
  return given(in, found->second);
}

answer authorize(const asked& from, world& in) {
  answer out;
  out.type = "text/html; charset=utf-8";
  out.status = 400;
  const auto refused = [&](const std::string& what) {
    out.body = "<!DOCTYPE html><title>Error 400: " + what + "</title>";
    return out;
  };
  if (from.parameter("client_id") != in.how.client_id) return refused("invalid_client");
  const auto redirect = from.parameter("redirect_uri");
  // What Google allows apps on desktops.
  if (!redirect.starts_with("http://127.0.0.1:") && !redirect.starts_with("http://localhost:") &&
      !redirect.starts_with("http://[::1]:"))
    return refused("redirect_uri_mismatch");
  if (from.parameter("response_type") != "code") return refused("invalid_request");
  const auto scopes = scopes_of(from.parameter("scope"));
  if (scopes.empty()) return refused("invalid_request");
  for (const auto& one : scopes) {
    if (!one.starts_with(drive_prefix) && one != "openid" && one != "email") return refused("invalid_scope");
  }
  const auto code = "4/0A" + made_up(60);
  in.codes[code] = {
      {in.how.user, scopes, 0}, redirect, from.parameter("code_challenge"), from.parameter("code_challenge_method")};
  const auto state = from.parameter("state");
  out.status = 302;
  out.more_fields = "Location: " + redirect + (redirect.find('?') == std::string::npos ? "?" : "&") +
                    (state.empty() ? "" : "state=" + escaped(state) + "&") + "code=" + escaped(code) +
                    "&scope=" + escaped(joined(scopes)) + "\r\n";
  return out;
}

answer revoke_token(const asked& from, world& in) {
  const auto form = form_of(from.body);
  std::string token = from.parameter("token");
  for (const auto& [name, text] : form) {
    if (name == "token") token = text;
  }
  const auto was = in.access.find(token);
  if (was == in.access.end() && in.refresh.erase(token) == 0)
    return token_error(400, "invalid_token", "Token expired or revoked");
  if (was != in.access.end()) in.access.erase(was);
  answer out;
  out.body = "{}";
  return out;
}

answer tell_token(const asked& from, world& in) {
  const auto header = from.field("authorization");
  const auto found = in.access.find(header.starts_with("Bearer ") ? header.substr(7) : from.parameter("access_token"));
  if (found == in.access.end()) return token_error(400, "invalid_token", "Invalid Value");
  answer out;
  out.body = json::serialize(json::object{{"azp", in.how.client_id},
                                          {"aud", in.how.client_id},
                                          {"scope", joined(found->second.scopes)},
                                          {"email", found->second.whom},
                                          {"expires_in", std::to_string((found->second.until - now_ms()) / 1000)},
                                          {"access_type", "online"}});
  return out;
}

}  // namespace drive_test
