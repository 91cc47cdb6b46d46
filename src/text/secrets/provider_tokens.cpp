/// Tokens of well-known providers, by their prefixes.
#include "text/secrets/provider_tokens.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace hondana::secrets {
namespace {

constexpr std::array shapes{
    token_shape{"gh[pousr]_", 0, "ghp_", kind::alnum, 36, 0, doubt::stand_in, "GitHub"},
    token_shape{"gh[pousr]_", 0, "gho_", kind::alnum, 36, 0, doubt::stand_in, "GitHub"},
    token_shape{"gh[pousr]_", 0, "ghu_", kind::alnum, 36, 0, doubt::stand_in, "GitHub"},
    token_shape{"gh[pousr]_", 0, "ghs_", kind::dotted, 36, 0, doubt::stand_in, "GitHub"},
    token_shape{"gh[pousr]_", 0, "ghr_", kind::alnum, 36, 0, doubt::stand_in, "GitHub"},
    token_shape{"b_pa", 5, "github_pat_", kind::word, 60, 0, doubt::stand_in, "GitHub"},
    token_shape{"gl[pdrcifsaow][atbmofg]", 0, "glpat-", kind::dotted, 20, 0, doubt::stand_in, "GitLab"},
    token_shape{"gl[pdrcifsaow][atbmofg]", 0, "gldt-", kind::dotted, 20, 0, doubt::stand_in, "GitLab"},
    token_shape{"gl[pdrcifsaow][atbmofg]", 0, "glrt-", kind::dotted, 20, 0, doubt::stand_in, "GitLab"},
    token_shape{"gl[pdrcifsaow][atbmofg]", 0, "glptt-", kind::dotted, 20, 0, doubt::stand_in, "GitLab"},
    token_shape{"gl[pdrcifsaow][atbmofg]", 0, "glcbt-", kind::dotted, 20, 0, doubt::stand_in, "GitLab"},
    token_shape{"gl[pdrcifsaow][atbmofg]", 0, "glimt-", kind::dotted, 20, 0, doubt::stand_in, "GitLab"},
    token_shape{"gl[pdrcifsaow][atbmofg]", 0, "glft-", kind::dotted, 20, 0, doubt::stand_in, "GitLab"},
    token_shape{"gl[pdrcifsaow][atbmofg]", 0, "glsoat-", kind::dotted, 20, 0, doubt::stand_in, "GitLab"},
    token_shape{"gl[pdrcifsaow][atbmofg]", 0, "glagent-", kind::dotted, 20, 0, doubt::stand_in, "GitLab"},
    token_shape{"gl[pdrcifsaow][atbmofg]", 0, "gloas-", kind::dotted, 40, 0, doubt::stand_in, "GitLab"},
    token_shape{"gl[pdrcifsaow][atbmofg]", 0, "glffct-", kind::dotted, 20, 0, doubt::stand_in, "GitLab"},
    token_shape{"gl[pdrcifsaow][atbmofg]", 0, "glwt-", kind::dotted, 20, 0, doubt::stand_in, "GitLab"},
    token_shape{"GR13", 0, "GR1348941", kind::word, 20, 0, doubt::none, "GitLab"},
    token_shape{"A[KSBC][IC][Ap]", 0, "AKIA", kind::capital, 16, 16, doubt::stand_in, "AWS"},
    token_shape{"A[KSBC][IC][Ap]", 0, "ASIA", kind::capital, 16, 16, doubt::stand_in, "AWS"},
    token_shape{"A[KSBC][IC][Ap]", 0, "ABIA", kind::capital, 16, 16, doubt::stand_in, "AWS"},
    token_shape{"A[KSBC][IC][Ap]", 0, "ACCA", kind::capital, 16, 16, doubt::stand_in, "AWS"},
    token_shape{"IQoJ", 0, "IQoJb3JpZ2lu", kind::base64, 60, 0, doubt::none, "AWS"},
    token_shape{"FwoG", 0, "FwoGZXIvYXdz", kind::base64, 60, 0, doubt::none, "AWS"},
    token_shape{"AIza", 0, "AIza", kind::word, 35, 39, doubt::stand_in, "Google"},
    token_shape{"GOCS", 0, "GOCSPX-", kind::word, 24, 0, doubt::stand_in, "Google"},
    token_shape{"ya29", 0, "ya29.", kind::dotted, 30, 0, doubt::stand_in, "Google"},
    token_shape{"1//0", 0, "1//0", kind::word, 38, 0, doubt::drawn, "Google"},
    token_shape{"[sr]k_[lt]", 0, "sk_live_", kind::alnum, 16, 0, doubt::stand_in, "Stripe"},
    token_shape{"[sr]k_[lt]", 0, "sk_test_", kind::alnum, 16, 0, doubt::stand_in, "Stripe"},
    token_shape{"[sr]k_[lt]", 0, "rk_live_", kind::alnum, 16, 0, doubt::stand_in, "Stripe"},
    token_shape{"[sr]k_[lt]", 0, "rk_test_", kind::alnum, 16, 0, doubt::stand_in, "Stripe"},
    token_shape{"whse", 0, "whsec_", kind::base64, 24, 0, doubt::stand_in, "Stripe"},
    token_shape{"npm_", 0, "npm_", kind::alnum, 36, 36, doubt::stand_in, "npm"},
    token_shape{"pypi", 0, "pypi-AgE", kind::word, 50, 0, doubt::none, "PyPI"},
    token_shape{"sk-[A-Za-z0-9]", 0, "sk-", kind::word, 32, 0, doubt::drawn, "OpenAI, Anthropic and others"},
    token_shape{"hf_[A-Za-z0-9]", 0, "hf_", kind::alnum, 30, 0, doubt::stand_in, "Hugging Face"},
    token_shape{"_org", 3, "api_org_", kind::alnum, 34, 34, doubt::drawn, "Hugging Face"},
    token_shape{"SK[0-9a-f][0-9a-f]", 0, "SK", kind::hex, 32, 32, doubt::stand_in, "Twilio"},
    token_shape{"AGE-", 0, "AGE-SECRET-KEY-1", kind::capital, 50, 0, doubt::none, "age"},
    token_shape{"hv[sbr].", 0, "hvs.", kind::word, 20, 0, doubt::stand_in, "Vault"},
    token_shape{"hv[sbr].", 0, "hvb.", kind::word, 20, 0, doubt::stand_in, "Vault"},
    token_shape{"hv[sbr].", 0, "hvr.", kind::word, 20, 0, doubt::stand_in, "Vault"},
    token_shape{"do[opr]_", 0, "dop_v1_", kind::hex, 64, 0, doubt::stand_in, "DigitalOcean"},
    token_shape{"do[opr]_", 0, "doo_v1_", kind::hex, 64, 0, doubt::stand_in, "DigitalOcean"},
    token_shape{"do[opr]_", 0, "dor_v1_", kind::hex, 64, 0, doubt::stand_in, "DigitalOcean"},
    token_shape{"shp[ascp]", 0, "shpat_", kind::hex, 32, 0, doubt::stand_in, "Shopify"},
    token_shape{"shp[ascp]", 0, "shpss_", kind::hex, 32, 0, doubt::stand_in, "Shopify"},
    token_shape{"shp[ascp]", 0, "shpca_", kind::hex, 32, 0, doubt::stand_in, "Shopify"},
    token_shape{"shp[ascp]", 0, "shppa_", kind::hex, 32, 0, doubt::stand_in, "Shopify"},
    token_shape{"xapp", 0, "xapp-", kind::word, 40, 0, doubt::stand_in, "Slack"},
    token_shape{"lin_", 0, "lin_api_", kind::alnum, 32, 0, doubt::stand_in, "Linear"},
    token_shape{"lin_", 0, "lin_oauth_", kind::alnum, 32, 0, doubt::stand_in, "Linear"},
    token_shape{"ntn_", 0, "ntn_", kind::alnum, 40, 0, doubt::stand_in, "Notion"},
    token_shape{"ret_", 3, "secret_", kind::alnum, 43, 43, doubt::drawn, "Notion"},
    token_shape{"figd", 0, "figd_", kind::word, 38, 0, doubt::stand_in, "Figma"},
    token_shape{"PMAK", 0, "PMAK-", kind::word, 50, 0, doubt::stand_in, "Postman"},
    token_shape{"sq0[ac]", 0, "sq0atp-", kind::word, 22, 0, doubt::stand_in, "Square"},
    token_shape{"sq0[ac]", 0, "sq0csp-", kind::word, 40, 0, doubt::stand_in, "Square"},
    token_shape{"glsa", 0, "glsa_", kind::word, 38, 0, doubt::stand_in, "Grafana"},
    token_shape{"glc_", 0, "glc_", kind::base64, 32, 0, doubt::drawn, "Grafana"},
    token_shape{"eyJr", 0, "eyJrIjoi", kind::base64, 60, 0, doubt::stand_in, "Grafana"},
    token_shape{"dapi", 0, "dapi", kind::hex, 32, 0, doubt::stand_in, "Databricks"},
    token_shape{"dp.[psca]", 0, "dp.pt.", kind::alnum, 40, 0, doubt::stand_in, "Doppler"},
    token_shape{"dp.[psca]", 0, "dp.st.", kind::dotted, 40, 0, doubt::stand_in, "Doppler"},
    token_shape{"dp.[psca]", 0, "dp.ct.", kind::alnum, 40, 0, doubt::stand_in, "Doppler"},
    token_shape{"dp.[psca]", 0, "dp.sa.", kind::alnum, 40, 0, doubt::stand_in, "Doppler"},
    token_shape{"dp.[psca]", 0, "dp.scim.", kind::alnum, 40, 0, doubt::stand_in, "Doppler"},
    token_shape{"dp.[psca]", 0, "dp.audit.", kind::alnum, 40, 0, doubt::stand_in, "Doppler"},
    token_shape{"psca", 0, "pscale_", kind::dotted, 30, 0, doubt::stand_in, "PlanetScale"},
    token_shape{"[nt]fp_", 0, "nfp_", kind::alnum, 36, 0, doubt::stand_in, "Netlify"},
    token_shape{"AT[AC]T", 0, "ATATT3", kind::base64, 40, 0, doubt::none, "Atlassian"},
    token_shape{"AT[AC]T", 0, "ATCTT3", kind::base64, 40, 0, doubt::none, "Atlassian"},
    token_shape{"ATBB", 0, "ATBB", kind::alnum, 28, 0, doubt::drawn, "Atlassian"},
    token_shape{"NRAK", 0, "NRAK-", kind::capital, 27, 0, doubt::stand_in, "New Relic"},
    token_shape{"sntr", 0, "sntrys_", kind::base64, 60, 0, doubt::stand_in, "Sentry"},
    token_shape{"sntr", 0, "sntryu_", kind::hex, 64, 0, doubt::stand_in, "Sentry"},
    token_shape{"sbp_", 0, "sbp_", kind::hex, 40, 0, doubt::stand_in, "Supabase"},
    token_shape{"r8_[A-Za-z0-9]", 0, "r8_", kind::alnum, 37, 0, doubt::drawn, "Replicate"},
    token_shape{"gsk_", 0, "gsk_", kind::alnum, 48, 0, doubt::stand_in, "Groq"},
    token_shape{"xai-", 0, "xai-", kind::alnum, 60, 0, doubt::stand_in, "xAI"},
    token_shape{"pplx", 0, "pplx-", kind::alnum, 40, 0, doubt::stand_in, "Perplexity"},
    token_shape{"HRKU", 0, "HRKU-", kind::word, 30, 0, doubt::stand_in, "Heroku"},
    token_shape{"dckr", 0, "dckr_pat_", kind::word, 24, 0, doubt::stand_in, "Docker"},
    token_shape{"dckr", 0, "dckr_oat_", kind::word, 24, 0, doubt::stand_in, "Docker"},
    token_shape{"ygem", 3, "rubygems_", kind::hex, 48, 0, doubt::stand_in, "RubyGems"},
    token_shape{"LTAI", 0, "LTAI", kind::alnum, 12, 24, doubt::drawn, "Alibaba Cloud"},
    token_shape{"key-", 0, "key-", kind::hex, 32, 32, doubt::drawn, "Mailgun"},
    token_shape{"sl.[A-Za-z]", 0, "sl.", kind::word, 120, 0, doubt::drawn, "Dropbox"},
    token_shape{"ops_", 0, "ops_eyJ", kind::base64, 100, 0, doubt::stand_in, "1Password"},
    token_shape{"sk.e", 0, "sk.eyJ", kind::dotted, 60, 0, doubt::stand_in, "Mapbox"},
    token_shape{"tske", 0, "tskey-", kind::word, 20, 0, doubt::drawn, "Tailscale"},
    token_shape{"xkey", 0, "xkeysib-", kind::word, 70, 0, doubt::stand_in, "Brevo"},
    token_shape{"pul-", 0, "pul-", kind::hex, 40, 40, doubt::stand_in, "Pulumi"},
    token_shape{"CLOJ", 0, "CLOJARS_", kind::hex, 60, 60, doubt::stand_in, "Clojars"},
    token_shape{"s[gq][pua]_", 0, "sgp_", kind::word, 40, 0, doubt::drawn, "Sourcegraph"},
    token_shape{"bkua", 0, "bkua_", kind::hex, 40, 40, doubt::stand_in, "Buildkite"},
    token_shape{"pcsk", 0, "pcsk_", kind::word, 60, 0, doubt::stand_in, "Pinecone"},
    token_shape{"lsv2", 0, "lsv2_pt_", kind::word, 40, 0, doubt::stand_in, "LangSmith"},
    token_shape{"lsv2", 0, "lsv2_sk_", kind::word, 40, 0, doubt::stand_in, "LangSmith"},
    token_shape{"fm2_", 0, "fm2_", kind::base64, 60, 0, doubt::stand_in, "Fly.io"},
    token_shape{"ana_", 4, "hondana_", kind::word, 43, 43, doubt::drawn, "hondana"},
    token_shape{"SSWS", 0, "SSWS 00", kind::word, 40, 40, doubt::drawn, "Okta"},
    token_shape{"EZ[AT]K", 0, "EZAK", kind::alnum, 54, 54, doubt::drawn, "EasyPost"},
    token_shape{"EZ[AT]K", 0, "EZTK", kind::alnum, 54, 54, doubt::drawn, "EasyPost"},
    token_shape{"[nt]fp_", 0, "tfp_", kind::dotted, 40, 0, doubt::drawn, "Typeform"},
    token_shape{"s[gq][pua]_", 0, "sqp_", kind::hex, 40, 40, doubt::stand_in, "SonarQube"},
    token_shape{"s[gq][pua]_", 0, "squ_", kind::hex, 40, 40, doubt::stand_in, "SonarQube"},
    token_shape{"s[gq][pua]_", 0, "sqa_", kind::hex, 40, 40, doubt::stand_in, "SonarQube"},
    token_shape{"A[KSBC][IC][Ap]", 0, "AKCp", kind::alnum, 60, 80, doubt::drawn, "JFrog"},
    token_shape{"cmVm", 0, "cmVmdGtuOj", kind::base64, 40, 0, doubt::stand_in, "JFrog"},
    token_shape{"ESSI", 4, "PHPSESSID=", kind::word, 22, 0, doubt::drawn, "sessions of PHP"},
    token_shape{"ESSI", 2, "JSESSIONID=", kind::dotted, 16, 0, doubt::drawn, "sessions of Java"},
    token_shape{"[_j]ses", 0, "jsessionid=", kind::dotted, 16, 0, doubt::drawn, "sessions of Java"},
    token_shape{"ct.s", 5, "connect.sid=s%3A", kind::credential, 32, 0, doubt::stand_in, "sessions of Express"},
    token_shape{"vel_", 4, "laravel_session=", kind::credential, 32, 0, doubt::stand_in, "sessions of Laravel"},
    token_shape{"[_j]ses", 0, "_session_id=", kind::word, 24, 0, doubt::drawn, "sessions of Rails"},
    token_shape{"-Sig", 5, "X-Amz-Signature=", kind::hex, 64, 64, doubt::none, "AWS"},
    token_shape{"-Sig", 6, "X-Goog-Signature=", kind::hex, 64, 0, doubt::none, "Google"},
};

}  // namespace

std::span<const token_shape> token_shapes() noexcept { return shapes; }

namespace {

using namespace std::string_view_literals;

/// Slack: any letter in the prefix, and a digit in the body.
std::optional<span> match_slack(const place& near) {
  if (near[near.at + 4] != '-' && near[near.at + 4] != '.') return std::nullopt;
  if (!begins_anew(near, near.at)) return std::nullopt;
  const auto body = near.from(near.at + 5).substr(0, looked_at_most);
  std::size_t size = 0;
  while (size < body.size() && (is(kind::dotted, body[size]) || body[size] == '%')) ++size;
  near.count(2 * size);
  if (size < 20 || !is_random(body.substr(0, size))) return std::nullopt;
  const auto end = near.at + 5 + size;
  return span{near.at + 5, size == looked_at_most ? near.uncut(kind::credential, end) : end};
}

/// After the beginning of a URL: `ids` path segments with ids, then the secret.
std::optional<span> match_segments(const place& near, std::size_t begin, std::size_t ids, std::size_t least) {
  auto at = begin;
  for (std::size_t i = 0; i < ids; ++i) {
    const auto size = run_of(kind::alnum, near.from(at).substr(0, 64));
    if (size < 6 || near[at + size] != '/') return std::nullopt;
    at += size + 1;
  }
  const auto size = near.run(kind::word, at);
  if (size < least || is_placeholder(near.from(at).substr(0, size))) return std::nullopt;
  return span{at, at + size};
}

std::optional<span> match_slack_hook(const place& near) {
  constexpr std::string_view front = "slack.com/services/";
  constexpr std::size_t offset = 4;  // of "k.co"
  if (near.at < offset || !near.from(near.at - offset).starts_with(front)) return std::nullopt;
  return match_segments(near, near.at - offset + front.size(), 2, 20);
}

std::optional<span> match_discord_hook(const place& near) {
  constexpr std::string_view front = "api/webhooks/";
  constexpr std::size_t offset = 9;  // of "oks/"
  if (near.at < offset || !near.from(near.at - offset).starts_with(front)) return std::nullopt;
  return match_segments(near, near.at + 4, 1, 40);
}

std::optional<span> match_teams_hook(const place& near) {
  constexpr std::string_view front = "/IncomingWebhook/";
  constexpr std::size_t offset = 6;  // of "ingW"
  if (near.at < offset || !near.from(near.at - offset).starts_with(front)) return std::nullopt;
  const auto begin = near.at - offset + front.size();
  if (run_of(kind::hex, near.from(begin).substr(0, 33)) != 32 || near[begin + 32] != '/') return std::nullopt;
  const auto second = near.run(kind::word, begin + 33);
  if (second < 32) return std::nullopt;
  const auto end = begin + 33 + second;
  return span{begin, near[end] == '/' ? end + 1 + near.run(kind::word, end + 1, 1) : end};
}

/// Airtable: fourteen characters, a dot and 64 hexadecimal digits.
std::optional<span> match_airtable(const place& near) {
  constexpr std::size_t dot = 17;
  if (near[near.at + dot] != '.' || !begins_anew(near, near.at)) return std::nullopt;
  const auto body = near.from(near.at + 3).substr(0, 80);
  near.count(body.size());
  if (run_of(kind::alnum, body) != 14 || run_of(kind::hex, body.substr(15)) != 64 || is_placeholder(body)) return std::nullopt;
  return span{near.at + 3, near.at + dot + 65};
}

std::optional<span> match_sendgrid(const place& near) {
  if (!begins_anew(near, near.at)) return std::nullopt;
  const auto begin = near.at + 3;
  const auto first = near.run(kind::word, begin);
  if (first < 16 || first > 32 || near[begin + first] != '.') return std::nullopt;
  const auto second = near.run(kind::word, begin + first + 1, 1);
  if (second < 32 || is_placeholder(near.from(begin).substr(0, first))) return std::nullopt;
  return span{begin, begin + first + 1 + second};
}

/// Telegram: the number of a bot, a colon and 35 characters, of which the first two are always the same.
std::optional<span> match_telegram(const place& near) {
  auto digits = near.at + 1;
  while (digits > 0 && near[digits - 1] >= '0' && near[digits - 1] <= '9' && near.at + 1 - digits < 16) --digits;
  const auto count = near.at + 1 - digits;
  if (count < 7 || count > 12) return std::nullopt;
  const auto begin = near.at + 2;
  const auto size = near.run(kind::word, begin);
  if (size != 35 || !is_random(near.from(begin).substr(0, size))) return std::nullopt;
  return span{begin, begin + size};
}

/// Discord: the number of a user in base64, six characters and a signature.
std::optional<span> match_discord(const place& near) {
  if (!begins_anew(near, near.at)) return std::nullopt;
  const auto id = near.run(kind::word, near.at);
  if (id < 23 || id > 28 || near[near.at + id] != '.') return std::nullopt;
  const auto begin = near.at + id + 1;
  const auto time = near.run(kind::word, begin, 1);
  if (time != 6 || near[begin + time] != '.') return std::nullopt;
  const auto size = near.run(kind::word, begin + time + 1, 2);
  if (size < 27) return std::nullopt;
  return span{begin, begin + time + 1 + size};
}

/// JWT: a header, a payload and a signature separated by two dots; an encrypted one has four dots.
std::optional<span> match_jwt(const place& near) {
  if (!begins_anew(near, near.at)) return std::nullopt;
  const auto whole = near.from(near.at);
  const auto first = near.run(kind::word, near.at);
  if (first < 12 || first >= whole.size() || whole[first] != '.') return std::nullopt;
  std::size_t size = first;
  std::size_t dots = 0;
  while (size < whole.size() && whole[size] == '.' && dots < 4) {
    ++dots;
    size += 1 + near.run(kind::word, near.at + size + 1, std::min<std::size_t>(dots, 3));
  }
  while (size > 0 && whole[size - 1] == '.' && dots > 2) {
    --size;
    --dots;
  }
  if (dots < 2 || size - first < 12) return std::nullopt;
  return span{near.at + 3, near.at + size};
}

/// AWS: only the name of the setting identifies these 40 characters.
std::optional<span> match_aws_secret(const place& near) {
  const bool has_separator = near[near.at + 1] == '_' || near[near.at + 1] == '-';
  constexpr std::size_t offset = 5;  // of "tAcc"
  if (near.at < offset || !begins_with(near.from(near.at - offset), "secret")) return std::nullopt;
  auto at = near.at + (has_separator ? 2u : 1u);
  if (!begins_with(near.from(at), "access")) return std::nullopt;
  at += 6;
  if (near[at] == '_' || near[at] == '-') ++at;
  if (!begins_with(near.from(at), "key")) return std::nullopt;
  at += 3;
  for (std::size_t i = 0; i < 8 && std::string_view(" \t:=>\"'\\,").find(near[at]) != std::string_view::npos; ++i) ++at;
  const auto size = near.run(kind::base64, at);
  if (size < 40 || size > 44 || !is_random(near.from(at).substr(0, size))) return std::nullopt;
  return span{at, at + size};
}

std::optional<span> match_azure_key(const place& near) {
  constexpr std::string_view fronts[] = {"AccountKey=", "SharedAccessKey="};
  for (const auto front : fronts) {
    const auto offset = front.size() - 4;
    if (near.at < offset || !near.from(near.at - offset).starts_with(front)) continue;
    const auto begin = near.at + 4;
    const auto size = near.run(kind::base64, begin);
    near.count(std::min(size, looked_at_most));
    if (size < 40 || !is_random(near.from(begin).substr(0, size))) continue;
    return span{begin, begin + size};
  }
  return std::nullopt;
}

/// Azure: three characters, a digit, `Q~` and 31 to 34 more characters.
std::optional<span> match_azure_client(const place& near) {
  if (near.at < 3 || !begins_anew(near, near.at - 3)) return std::nullopt;
  const auto body = near.from(near.at + 3).substr(0, 35);
  std::size_t size = 0;
  while (size < body.size() && (is(kind::dotted, body[size]) || body[size] == '~')) ++size;
  if (size < 31 || size > 34) return std::nullopt;
  return span{near.at - 3, near.at + 3 + size};
}

/// A marker within a run of letters and digits, with `before` characters before it.
std::optional<span> match_marked(const place& near, std::size_t before, std::size_t least_behind) {
  if (near.at < before) return std::nullopt;
  const auto begin = near.at - before;
  if (!begins_anew(near, begin)) return std::nullopt;
  const auto size = near.run(kind::alnum, begin);
  if (size < before + least_behind) return std::nullopt;
  return span{begin, begin + size};
}
std::optional<span> match_azure_devops(const place& near) { return match_marked(near, 76, 8); }
std::optional<span> match_azure_service(const place& near) { return match_marked(near, 52, 32); }

/// 1Password: the secret key of an account, which consists of a version and groups of letters and digits.
std::optional<span> match_account_key(const place& near) {
  if (!begins_anew(near, near.at)) return std::nullopt;
  const auto begin = near.at + 3;
  const auto body = near.from(begin).substr(0, 48);
  std::size_t size = 0;
  while (size < body.size() && (is(kind::capital, body[size]) || body[size] == '-')) ++size;
  const auto groups = std::count(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size), '-');
  if (size < 30 || size > 40 || groups < 4 || is_placeholder(body.substr(0, size))) return std::nullopt;
  return span{begin, begin + size};
}

std::optional<span> match_terraform(const place& near) {
  constexpr std::string_view mark = ".atlasv1.";
  constexpr std::size_t offset = 2;  // of "tlas"
  if (near.at < offset || !near.from(near.at - offset).starts_with(mark)) return std::nullopt;
  const auto begin = near.at - offset + mark.size();
  const auto size = near.run(kind::word, begin);
  if (size < 40) return std::nullopt;
  return span{begin, begin + size};
}

/// The signature of a URL that grants access to anyone who has it.
std::optional<span> match_url_signature(const place& near) {
  if (near.at == 0 || (near[near.at - 1] != '?' && near[near.at - 1] != '&' && near[near.at - 1] != ';')) return std::nullopt;
  const auto begin = near.at + 4;
  const auto rest = near.from(begin).substr(0, looked_at_most);
  std::size_t size = 0;
  while (size < rest.size() && (is(kind::base64, rest[size]) || rest[size] == '%')) ++size;
  near.count(2 * size);
  if (size < 40 || !is_random(rest.substr(0, size))) return std::nullopt;
  return span{begin, size == looked_at_most ? near.uncut(kind::credential, begin + size) : begin + size};
}

constexpr std::array specials{
    special_shape{"[- Dd]BEG", match_private_key, "private keys: PEM, OpenSSH, PGP, SSH2"},
    special_shape{"[- Dd]BEG", match_percent_key, "private keys in percent-encoding"},
    special_shape{"LS0t", match_base64_key, "private keys in base64"},
    special_shape{"A[Qg][AE][wEAB]", match_base64_der, "private keys in DER, in base64"},
    special_shape{"IBA[ADQT]", match_base64_der, "private keys in DER, in base64"},
    special_shape{"[BC][gSi][koq][qG]", match_base64_der, "private keys in DER, in base64"},
    special_shape{"\x02\x01[\x00\x01][0\x02\x04]"sv, match_der, "private keys in DER"},
    special_shape{"\x0D\x01[\x05\x0C][\x01\x03\x0D]", match_der, "private keys in DER"},
    special_shape{"te-L", match_putty_key, "PuTTY private keys"},
    special_shape{"\"kty", nullptr, "JSON web keys", find_web_key},
    special_shape{"[a-zA-Z0-9+]://", match_url_password, "passwords in URLs"},
    special_shape{"[rR][iI][zZ][aA]", match_authorization, "Authorization headers"},
    special_shape{"[iI]-[kK][eE]", match_key_header, "X-Api-Key headers"},
    special_shape{"[sS][wW][oO][rR]", match_connection_password, "passwords in connection strings"},
    special_shape{"[pP][wW][dD][= ]", match_connection_password, "passwords in connection strings"},
    special_shape{"[sS][wW][oO][rR]", match_sql_password, "passwords in SQL"},
    special_shape{"[fF][iI][eE][dD]", match_sql_password, "passwords in SQL"},
    special_shape{"curl", match_curl_user, "passwords in commands of curl"},
    special_shape{"[oO][oO][kK][iI]", nullptr, "cookies of sessions", find_cookies},
    special_shape{"xox[a-z]", match_slack, "Slack"},
    special_shape{"k.co", match_slack_hook, "Slack webhooks"},
    special_shape{"oks/", match_discord_hook, "Discord webhooks"},
    special_shape{"ingW", match_teams_hook, "Microsoft Teams webhooks"},
    special_shape{"pat[A-Za-z0-9]", match_airtable, "Airtable"},
    special_shape{"SG.[A-Za-z0-9_-]", match_sendgrid, "SendGrid"},
    special_shape{"[0-9]:AA", match_telegram, "Telegram"},
    special_shape{"[MNO][DTjz][AEIMQUYcgk][wxyz0-5]", match_discord, "Discord"},
    special_shape{"eyJ[A-Za-z0-9_-]", match_jwt, "JSON web tokens"},
    special_shape{"[tT][_-][aA][cC]", match_aws_secret, "AWS"},
    special_shape{"[tT][aA][cC][cC]", match_aws_secret, "AWS"},
    special_shape{"Key=", match_azure_key, "Azure storage and service bus keys"},
    special_shape{"[0-9]Q~[A-Za-z0-9_.~-]", match_azure_client, "Azure client secrets"},
    special_shape{"AZDO", match_azure_devops, "Azure DevOps"},
    special_shape{"JQQJ", match_azure_service, "Azure services"},
    special_shape{"A3-[A-Z0-9]", match_account_key, "1Password secret keys"},
    special_shape{"tlas", match_terraform, "Terraform Cloud"},
    special_shape{"sig=", match_url_signature, "shared access signatures"},
};

constexpr std::uint32_t crc_of(std::string_view text) noexcept {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char byte : text) {
    crc ^= static_cast<unsigned char>(byte);
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

}  // namespace

std::span<const special_shape> special_shapes() noexcept { return specials; }

bool has_check_digits(std::string_view body) noexcept {
  if (body.size() != 36) return false;
  constexpr std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  auto left = crc_of(body.substr(0, 30));
  for (std::size_t i = 36; i-- > 30; left /= 62) {
    if (body[i] != digits[left % 62]) return false;
  }
  return true;
}

std::optional<span> match(const token_shape& shape, const place& near) {
  if (near.at < shape.offset) return std::nullopt;
  const auto front = near.at - shape.offset;
  const auto whole = near.from(front);
  if (!whole.starts_with(shape.front) || !begins_anew(near, front)) return std::nullopt;
  const auto size = near.run(shape.of, front + shape.front.size());
  if (size < shape.least || (shape.most != 0 && size > shape.most)) return std::nullopt;
  const auto body = whole.substr(shape.front.size(), size);
  near.count(std::min(size, looked_at_most));
  // A token with correct check digits is real, even if it does not look random.
  const bool is_doubtful = shape.how_sure != doubt::none && !has_check_digits(body) &&
                           (shape.how_sure == doubt::drawn ? !is_random(body) : is_placeholder(body));
  if (is_doubtful) return std::nullopt;
  const auto begin = front + shape.front.size();
  return span{begin, begin + size};
}

}  // namespace hondana::secrets
