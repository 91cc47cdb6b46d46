/// Tokens of well-known providers, by their prefixes.
#include "text/secrets/provider_tokens.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace hondana::secrets {
namespace {

constexpr std::array token_table{
    token_pattern{"gh[pousr]_", 0, "ghp_", byte_set::alnum, 36, 0, token_check::not_placeholder, "GitHub"},
    token_pattern{"gh[pousr]_", 0, "gho_", byte_set::alnum, 36, 0, token_check::not_placeholder, "GitHub"},
    token_pattern{"gh[pousr]_", 0, "ghu_", byte_set::alnum, 36, 0, token_check::not_placeholder, "GitHub"},
    token_pattern{"gh[pousr]_", 0, "ghs_", byte_set::dotted, 36, 0, token_check::not_placeholder, "GitHub"},
    token_pattern{"gh[pousr]_", 0, "ghr_", byte_set::alnum, 36, 0, token_check::not_placeholder, "GitHub"},
    token_pattern{"b_pa", 5, "github_pat_", byte_set::word, 60, 0, token_check::not_placeholder, "GitHub"},
    token_pattern{"gl[pdrcifsaow][atbmofg]", 0, "glpat-", byte_set::dotted, 20, 0, token_check::not_placeholder, "GitLab"},
    token_pattern{"gl[pdrcifsaow][atbmofg]", 0, "gldt-", byte_set::dotted, 20, 0, token_check::not_placeholder, "GitLab"},
    token_pattern{"gl[pdrcifsaow][atbmofg]", 0, "glrt-", byte_set::dotted, 20, 0, token_check::not_placeholder, "GitLab"},
    token_pattern{"gl[pdrcifsaow][atbmofg]", 0, "glptt-", byte_set::dotted, 20, 0, token_check::not_placeholder, "GitLab"},
    token_pattern{"gl[pdrcifsaow][atbmofg]", 0, "glcbt-", byte_set::dotted, 20, 0, token_check::not_placeholder, "GitLab"},
    token_pattern{"gl[pdrcifsaow][atbmofg]", 0, "glimt-", byte_set::dotted, 20, 0, token_check::not_placeholder, "GitLab"},
    token_pattern{"gl[pdrcifsaow][atbmofg]", 0, "glft-", byte_set::dotted, 20, 0, token_check::not_placeholder, "GitLab"},
    token_pattern{"gl[pdrcifsaow][atbmofg]", 0, "glsoat-", byte_set::dotted, 20, 0, token_check::not_placeholder, "GitLab"},
    token_pattern{"gl[pdrcifsaow][atbmofg]", 0, "glagent-", byte_set::dotted, 20, 0, token_check::not_placeholder, "GitLab"},
    token_pattern{"gl[pdrcifsaow][atbmofg]", 0, "gloas-", byte_set::dotted, 40, 0, token_check::not_placeholder, "GitLab"},
    token_pattern{"gl[pdrcifsaow][atbmofg]", 0, "glffct-", byte_set::dotted, 20, 0, token_check::not_placeholder, "GitLab"},
    token_pattern{"gl[pdrcifsaow][atbmofg]", 0, "glwt-", byte_set::dotted, 20, 0, token_check::not_placeholder, "GitLab"},
    token_pattern{"GR13", 0, "GR1348941", byte_set::word, 20, 0, token_check::none, "GitLab"},
    token_pattern{"A[KSBC][IC][Ap]", 0, "AKIA", byte_set::capital, 16, 16, token_check::not_placeholder, "AWS"},
    token_pattern{"A[KSBC][IC][Ap]", 0, "ASIA", byte_set::capital, 16, 16, token_check::not_placeholder, "AWS"},
    token_pattern{"A[KSBC][IC][Ap]", 0, "ABIA", byte_set::capital, 16, 16, token_check::not_placeholder, "AWS"},
    token_pattern{"A[KSBC][IC][Ap]", 0, "ACCA", byte_set::capital, 16, 16, token_check::not_placeholder, "AWS"},
    token_pattern{"IQoJ", 0, "IQoJb3JpZ2lu", byte_set::base64, 60, 0, token_check::none, "AWS"},
    token_pattern{"FwoG", 0, "FwoGZXIvYXdz", byte_set::base64, 60, 0, token_check::none, "AWS"},
    token_pattern{"AIza", 0, "AIza", byte_set::word, 35, 39, token_check::not_placeholder, "Google"},
    token_pattern{"GOCS", 0, "GOCSPX-", byte_set::word, 24, 0, token_check::not_placeholder, "Google"},
    token_pattern{"ya29", 0, "ya29.", byte_set::dotted, 30, 0, token_check::not_placeholder, "Google"},
    token_pattern{"1//0", 0, "1//0", byte_set::word, 38, 0, token_check::random, "Google"},
    token_pattern{"[sr]k_[lt]", 0, "sk_live_", byte_set::alnum, 16, 0, token_check::not_placeholder, "Stripe"},
    token_pattern{"[sr]k_[lt]", 0, "sk_test_", byte_set::alnum, 16, 0, token_check::not_placeholder, "Stripe"},
    token_pattern{"[sr]k_[lt]", 0, "rk_live_", byte_set::alnum, 16, 0, token_check::not_placeholder, "Stripe"},
    token_pattern{"[sr]k_[lt]", 0, "rk_test_", byte_set::alnum, 16, 0, token_check::not_placeholder, "Stripe"},
    token_pattern{"whse", 0, "whsec_", byte_set::base64, 24, 0, token_check::not_placeholder, "Stripe"},
    token_pattern{"npm_", 0, "npm_", byte_set::alnum, 36, 36, token_check::not_placeholder, "npm"},
    token_pattern{"pypi", 0, "pypi-AgE", byte_set::word, 50, 0, token_check::none, "PyPI"},
    token_pattern{"sk-[A-Za-z0-9]", 0, "sk-", byte_set::word, 32, 0, token_check::random, "OpenAI, Anthropic and others"},
    token_pattern{"hf_[A-Za-z0-9]", 0, "hf_", byte_set::alnum, 30, 0, token_check::not_placeholder, "Hugging Face"},
    token_pattern{"_org", 3, "api_org_", byte_set::alnum, 34, 34, token_check::random, "Hugging Face"},
    token_pattern{"SK[0-9a-f][0-9a-f]", 0, "SK", byte_set::hex, 32, 32, token_check::not_placeholder, "Twilio"},
    token_pattern{"AGE-", 0, "AGE-SECRET-KEY-1", byte_set::capital, 50, 0, token_check::none, "age"},
    token_pattern{"hv[sbr].", 0, "hvs.", byte_set::word, 20, 0, token_check::not_placeholder, "Vault"},
    token_pattern{"hv[sbr].", 0, "hvb.", byte_set::word, 20, 0, token_check::not_placeholder, "Vault"},
    token_pattern{"hv[sbr].", 0, "hvr.", byte_set::word, 20, 0, token_check::not_placeholder, "Vault"},
    token_pattern{"do[opr]_", 0, "dop_v1_", byte_set::hex, 64, 0, token_check::not_placeholder, "DigitalOcean"},
    token_pattern{"do[opr]_", 0, "doo_v1_", byte_set::hex, 64, 0, token_check::not_placeholder, "DigitalOcean"},
    token_pattern{"do[opr]_", 0, "dor_v1_", byte_set::hex, 64, 0, token_check::not_placeholder, "DigitalOcean"},
    token_pattern{"shp[ascp]", 0, "shpat_", byte_set::hex, 32, 0, token_check::not_placeholder, "Shopify"},
    token_pattern{"shp[ascp]", 0, "shpss_", byte_set::hex, 32, 0, token_check::not_placeholder, "Shopify"},
    token_pattern{"shp[ascp]", 0, "shpca_", byte_set::hex, 32, 0, token_check::not_placeholder, "Shopify"},
    token_pattern{"shp[ascp]", 0, "shppa_", byte_set::hex, 32, 0, token_check::not_placeholder, "Shopify"},
    token_pattern{"xapp", 0, "xapp-", byte_set::word, 40, 0, token_check::not_placeholder, "Slack"},
    token_pattern{"lin_", 0, "lin_api_", byte_set::alnum, 32, 0, token_check::not_placeholder, "Linear"},
    token_pattern{"lin_", 0, "lin_oauth_", byte_set::alnum, 32, 0, token_check::not_placeholder, "Linear"},
    token_pattern{"ntn_", 0, "ntn_", byte_set::alnum, 40, 0, token_check::not_placeholder, "Notion"},
    token_pattern{"ret_", 3, "secret_", byte_set::alnum, 43, 43, token_check::random, "Notion"},
    token_pattern{"figd", 0, "figd_", byte_set::word, 38, 0, token_check::not_placeholder, "Figma"},
    token_pattern{"PMAK", 0, "PMAK-", byte_set::word, 50, 0, token_check::not_placeholder, "Postman"},
    token_pattern{"sq0[ac]", 0, "sq0atp-", byte_set::word, 22, 0, token_check::not_placeholder, "Square"},
    token_pattern{"sq0[ac]", 0, "sq0csp-", byte_set::word, 40, 0, token_check::not_placeholder, "Square"},
    token_pattern{"glsa", 0, "glsa_", byte_set::word, 38, 0, token_check::not_placeholder, "Grafana"},
    token_pattern{"glc_", 0, "glc_", byte_set::base64, 32, 0, token_check::random, "Grafana"},
    token_pattern{"eyJr", 0, "eyJrIjoi", byte_set::base64, 60, 0, token_check::not_placeholder, "Grafana"},
    token_pattern{"dapi", 0, "dapi", byte_set::hex, 32, 0, token_check::not_placeholder, "Databricks"},
    token_pattern{"dp.[psca]", 0, "dp.pt.", byte_set::alnum, 40, 0, token_check::not_placeholder, "Doppler"},
    token_pattern{"dp.[psca]", 0, "dp.st.", byte_set::dotted, 40, 0, token_check::not_placeholder, "Doppler"},
    token_pattern{"dp.[psca]", 0, "dp.ct.", byte_set::alnum, 40, 0, token_check::not_placeholder, "Doppler"},
    token_pattern{"dp.[psca]", 0, "dp.sa.", byte_set::alnum, 40, 0, token_check::not_placeholder, "Doppler"},
    token_pattern{"dp.[psca]", 0, "dp.scim.", byte_set::alnum, 40, 0, token_check::not_placeholder, "Doppler"},
    token_pattern{"dp.[psca]", 0, "dp.audit.", byte_set::alnum, 40, 0, token_check::not_placeholder, "Doppler"},
    token_pattern{"psca", 0, "pscale_", byte_set::dotted, 30, 0, token_check::not_placeholder, "PlanetScale"},
    token_pattern{"[nt]fp_", 0, "nfp_", byte_set::alnum, 36, 0, token_check::not_placeholder, "Netlify"},
    token_pattern{"AT[AC]T", 0, "ATATT3", byte_set::base64, 40, 0, token_check::none, "Atlassian"},
    token_pattern{"AT[AC]T", 0, "ATCTT3", byte_set::base64, 40, 0, token_check::none, "Atlassian"},
    token_pattern{"ATBB", 0, "ATBB", byte_set::alnum, 28, 0, token_check::random, "Atlassian"},
    token_pattern{"NRAK", 0, "NRAK-", byte_set::capital, 27, 0, token_check::not_placeholder, "New Relic"},
    token_pattern{"sntr", 0, "sntrys_", byte_set::base64, 60, 0, token_check::not_placeholder, "Sentry"},
    token_pattern{"sntr", 0, "sntryu_", byte_set::hex, 64, 0, token_check::not_placeholder, "Sentry"},
    token_pattern{"sbp_", 0, "sbp_", byte_set::hex, 40, 0, token_check::not_placeholder, "Supabase"},
    token_pattern{"r8_[A-Za-z0-9]", 0, "r8_", byte_set::alnum, 37, 0, token_check::random, "Replicate"},
    token_pattern{"gsk_", 0, "gsk_", byte_set::alnum, 48, 0, token_check::not_placeholder, "Groq"},
    token_pattern{"xai-", 0, "xai-", byte_set::alnum, 60, 0, token_check::not_placeholder, "xAI"},
    token_pattern{"pplx", 0, "pplx-", byte_set::alnum, 40, 0, token_check::not_placeholder, "Perplexity"},
    token_pattern{"HRKU", 0, "HRKU-", byte_set::word, 30, 0, token_check::not_placeholder, "Heroku"},
    token_pattern{"dckr", 0, "dckr_pat_", byte_set::word, 24, 0, token_check::not_placeholder, "Docker"},
    token_pattern{"dckr", 0, "dckr_oat_", byte_set::word, 24, 0, token_check::not_placeholder, "Docker"},
    token_pattern{"ygem", 3, "rubygems_", byte_set::hex, 48, 0, token_check::not_placeholder, "RubyGems"},
    token_pattern{"LTAI", 0, "LTAI", byte_set::alnum, 12, 24, token_check::random, "Alibaba Cloud"},
    token_pattern{"key-", 0, "key-", byte_set::hex, 32, 32, token_check::random, "Mailgun"},
    token_pattern{"sl.[A-Za-z]", 0, "sl.", byte_set::word, 120, 0, token_check::random, "Dropbox"},
    token_pattern{"ops_", 0, "ops_eyJ", byte_set::base64, 100, 0, token_check::not_placeholder, "1Password"},
    token_pattern{"sk.e", 0, "sk.eyJ", byte_set::dotted, 60, 0, token_check::not_placeholder, "Mapbox"},
    token_pattern{"tske", 0, "tskey-", byte_set::word, 20, 0, token_check::random, "Tailscale"},
    token_pattern{"xkey", 0, "xkeysib-", byte_set::word, 70, 0, token_check::not_placeholder, "Brevo"},
    token_pattern{"pul-", 0, "pul-", byte_set::hex, 40, 40, token_check::not_placeholder, "Pulumi"},
    token_pattern{"CLOJ", 0, "CLOJARS_", byte_set::hex, 60, 60, token_check::not_placeholder, "Clojars"},
    token_pattern{"s[gq][pua]_", 0, "sgp_", byte_set::word, 40, 0, token_check::random, "Sourcegraph"},
    token_pattern{"bkua", 0, "bkua_", byte_set::hex, 40, 40, token_check::not_placeholder, "Buildkite"},
    token_pattern{"pcsk", 0, "pcsk_", byte_set::word, 60, 0, token_check::not_placeholder, "Pinecone"},
    token_pattern{"lsv2", 0, "lsv2_pt_", byte_set::word, 40, 0, token_check::not_placeholder, "LangSmith"},
    token_pattern{"lsv2", 0, "lsv2_sk_", byte_set::word, 40, 0, token_check::not_placeholder, "LangSmith"},
    token_pattern{"fm2_", 0, "fm2_", byte_set::base64, 60, 0, token_check::not_placeholder, "Fly.io"},
    token_pattern{"ana_", 4, "hondana_", byte_set::word, 43, 43, token_check::random, "hondana"},
    token_pattern{"SSWS", 0, "SSWS 00", byte_set::word, 40, 40, token_check::random, "Okta"},
    token_pattern{"EZ[AT]K", 0, "EZAK", byte_set::alnum, 54, 54, token_check::random, "EasyPost"},
    token_pattern{"EZ[AT]K", 0, "EZTK", byte_set::alnum, 54, 54, token_check::random, "EasyPost"},
    token_pattern{"[nt]fp_", 0, "tfp_", byte_set::dotted, 40, 0, token_check::random, "Typeform"},
    token_pattern{"s[gq][pua]_", 0, "sqp_", byte_set::hex, 40, 40, token_check::not_placeholder, "SonarQube"},
    token_pattern{"s[gq][pua]_", 0, "squ_", byte_set::hex, 40, 40, token_check::not_placeholder, "SonarQube"},
    token_pattern{"s[gq][pua]_", 0, "sqa_", byte_set::hex, 40, 40, token_check::not_placeholder, "SonarQube"},
    token_pattern{"A[KSBC][IC][Ap]", 0, "AKCp", byte_set::alnum, 60, 80, token_check::random, "JFrog"},
    token_pattern{"cmVm", 0, "cmVmdGtuOj", byte_set::base64, 40, 0, token_check::not_placeholder, "JFrog"},
    token_pattern{"ESSI", 4, "PHPSESSID=", byte_set::word, 22, 0, token_check::random, "sessions of PHP"},
    token_pattern{"ESSI", 2, "JSESSIONID=", byte_set::dotted, 16, 0, token_check::random, "sessions of Java"},
    token_pattern{"[_j]ses", 0, "jsessionid=", byte_set::dotted, 16, 0, token_check::random, "sessions of Java"},
    token_pattern{"ct.s", 5, "connect.sid=s%3A", byte_set::credential, 32, 0, token_check::not_placeholder,
                  "sessions of Express"},
    token_pattern{"vel_", 4, "laravel_session=", byte_set::credential, 32, 0, token_check::not_placeholder,
                  "sessions of Laravel"},
    token_pattern{"[_j]ses", 0, "_session_id=", byte_set::word, 24, 0, token_check::random, "sessions of Rails"},
    token_pattern{"-Sig", 5, "X-Amz-Signature=", byte_set::hex, 64, 64, token_check::none, "AWS"},
    token_pattern{"-Sig", 6, "X-Goog-Signature=", byte_set::hex, 64, 0, token_check::none, "Google"},
};

}  // namespace

std::span<const token_pattern> token_patterns() noexcept { return token_table; }

namespace {

using namespace std::string_view_literals;

/// Slack: any letter in the prefix, and a digit in the body.
std::optional<span> match_slack(const match_context& context) {
  if (context[context.position + 4] != '-' && context[context.position + 4] != '.') return std::nullopt;
  if (!may_begin_token(context, context.position)) return std::nullopt;
  const auto body = context.text_from(context.position + 5).substr(0, max_examined_bytes);
  std::size_t size = 0;
  while (size < body.size() && (is_in(byte_set::dotted, body[size]) || body[size] == '%')) ++size;
  context.count(2 * size);
  if (size < 20 || !is_random(body.substr(0, size))) return std::nullopt;
  const auto end = context.position + 5 + size;
  return span{context.position + 5, size == max_examined_bytes ? context.extend_to_run_end(byte_set::credential, end) : end};
}

/// After the beginning of a URL: `id_count` path segments with ids, then the secret.
std::optional<span> match_segments(const match_context& context, std::size_t begin, std::size_t id_count,
                                   std::size_t min_size) {
  auto position = begin;
  for (std::size_t i = 0; i < id_count; ++i) {
    const auto size = run_length(byte_set::alnum, context.text_from(position).substr(0, 64));
    if (size < 6 || context[position + size] != '/') return std::nullopt;
    position += size + 1;
  }
  const auto size = context.run(byte_set::word, position);
  if (size < min_size || is_placeholder(context.text_from(position).substr(0, size))) return std::nullopt;
  return span{position, position + size};
}

std::optional<span> match_slack_hook(const match_context& context) {
  constexpr std::string_view front = "slack.com/services/";
  constexpr std::size_t offset = 4;  // of "k.co"
  if (context.position < offset || !context.text_from(context.position - offset).starts_with(front)) return std::nullopt;
  return match_segments(context, context.position - offset + front.size(), 2, 20);
}

std::optional<span> match_discord_hook(const match_context& context) {
  constexpr std::string_view front = "api/webhooks/";
  constexpr std::size_t offset = 9;  // of "oks/"
  if (context.position < offset || !context.text_from(context.position - offset).starts_with(front)) return std::nullopt;
  return match_segments(context, context.position + 4, 1, 40);
}

std::optional<span> match_teams_hook(const match_context& context) {
  constexpr std::string_view front = "/IncomingWebhook/";
  constexpr std::size_t offset = 6;  // of "ingW"
  if (context.position < offset || !context.text_from(context.position - offset).starts_with(front)) return std::nullopt;
  const auto begin = context.position - offset + front.size();
  if (run_length(byte_set::hex, context.text_from(begin).substr(0, 33)) != 32 || context[begin + 32] != '/')
    return std::nullopt;
  const auto second = context.run(byte_set::word, begin + 33);
  if (second < 32) return std::nullopt;
  const auto end = begin + 33 + second;
  return span{begin, context[end] == '/' ? end + 1 + context.run(byte_set::word, end + 1, 1) : end};
}

/// Airtable: fourteen characters, a dot and 64 hexadecimal digits.
std::optional<span> match_airtable(const match_context& context) {
  constexpr std::size_t dot = 17;
  if (context[context.position + dot] != '.' || !may_begin_token(context, context.position)) return std::nullopt;
  const auto body = context.text_from(context.position + 3).substr(0, 80);
  context.count(body.size());
  if (run_length(byte_set::alnum, body) != 14 || run_length(byte_set::hex, body.substr(15)) != 64 || is_placeholder(body))
    return std::nullopt;
  return span{context.position + 3, context.position + dot + 65};
}

std::optional<span> match_sendgrid(const match_context& context) {
  if (!may_begin_token(context, context.position)) return std::nullopt;
  const auto begin = context.position + 3;
  const auto first = context.run(byte_set::word, begin);
  if (first < 16 || first > 32 || context[begin + first] != '.') return std::nullopt;
  const auto second = context.run(byte_set::word, begin + first + 1, 1);
  if (second < 32 || is_placeholder(context.text_from(begin).substr(0, first))) return std::nullopt;
  return span{begin, begin + first + 1 + second};
}

/// Telegram: the number of a bot, a colon and 35 characters, of which the first two are always the same.
std::optional<span> match_telegram(const match_context& context) {
  auto digits = context.position + 1;
  while (digits > 0 && context[digits - 1] >= '0' && context[digits - 1] <= '9' && context.position + 1 - digits < 16) --digits;
  const auto count = context.position + 1 - digits;
  if (count < 7 || count > 12) return std::nullopt;
  const auto begin = context.position + 2;
  const auto size = context.run(byte_set::word, begin);
  if (size != 35 || !is_random(context.text_from(begin).substr(0, size))) return std::nullopt;
  return span{begin, begin + size};
}

/// Discord: the number of a user in base64, six characters and a signature.
std::optional<span> match_discord(const match_context& context) {
  if (!may_begin_token(context, context.position)) return std::nullopt;
  const auto id = context.run(byte_set::word, context.position);
  if (id < 23 || id > 28 || context[context.position + id] != '.') return std::nullopt;
  const auto begin = context.position + id + 1;
  const auto time = context.run(byte_set::word, begin, 1);
  if (time != 6 || context[begin + time] != '.') return std::nullopt;
  const auto size = context.run(byte_set::word, begin + time + 1, 2);
  if (size < 27) return std::nullopt;
  return span{begin, begin + time + 1 + size};
}

/// JWT: a header, a payload and a signature separated by two dots; an encrypted one has four dots.
std::optional<span> match_jwt(const match_context& context) {
  if (!may_begin_token(context, context.position)) return std::nullopt;
  const auto text = context.text_from(context.position);
  const auto first = context.run(byte_set::word, context.position);
  if (first < 12 || first >= text.size() || text[first] != '.') return std::nullopt;
  std::size_t size = first;
  std::size_t dots = 0;
  while (size < text.size() && text[size] == '.' && dots < 4) {
    ++dots;
    size += 1 + context.run(byte_set::word, context.position + size + 1, std::min<std::size_t>(dots, 3));
  }
  while (size > 0 && text[size - 1] == '.' && dots > 2) {
    --size;
    --dots;
  }
  if (dots < 2 || size - first < 12) return std::nullopt;
  return span{context.position + 3, context.position + size};
}

/// AWS: only the name of the setting identifies these 40 characters.
std::optional<span> match_aws_secret(const match_context& context) {
  const bool has_separator = context[context.position + 1] == '_' || context[context.position + 1] == '-';
  constexpr std::size_t offset = 5;  // of "tAcc"
  if (context.position < offset || !starts_with_ignore_case(context.text_from(context.position - offset), "secret"))
    return std::nullopt;
  auto position = context.position + (has_separator ? 2u : 1u);
  if (!starts_with_ignore_case(context.text_from(position), "access")) return std::nullopt;
  position += 6;
  if (context[position] == '_' || context[position] == '-') ++position;
  if (!starts_with_ignore_case(context.text_from(position), "key")) return std::nullopt;
  position += 3;
  for (std::size_t i = 0; i < 8 && std::string_view(" \t:=>\"'\\,").find(context[position]) != std::string_view::npos; ++i)
    ++position;
  const auto size = context.run(byte_set::base64, position);
  if (size < 40 || size > 44 || !is_random(context.text_from(position).substr(0, size))) return std::nullopt;
  return span{position, position + size};
}

std::optional<span> match_azure_key(const match_context& context) {
  constexpr std::string_view fronts[] = {"AccountKey=", "SharedAccessKey="};
  for (const auto front : fronts) {
    const auto offset = front.size() - 4;
    if (context.position < offset || !context.text_from(context.position - offset).starts_with(front)) continue;
    const auto begin = context.position + 4;
    const auto size = context.run(byte_set::base64, begin);
    context.count(std::min(size, max_examined_bytes));
    if (size < 40 || !is_random(context.text_from(begin).substr(0, size))) continue;
    return span{begin, begin + size};
  }
  return std::nullopt;
}

/// Azure: three characters, a digit, `Q~` and 31 to 34 more characters.
std::optional<span> match_azure_client(const match_context& context) {
  if (context.position < 3 || !may_begin_token(context, context.position - 3)) return std::nullopt;
  const auto body = context.text_from(context.position + 3).substr(0, 35);
  std::size_t size = 0;
  while (size < body.size() && (is_in(byte_set::dotted, body[size]) || body[size] == '~')) ++size;
  if (size < 31 || size > 34) return std::nullopt;
  return span{context.position - 3, context.position + 3 + size};
}

/// A marker within a run of letters and digits, with `bytes_before` characters before it.
std::optional<span> match_marked(const match_context& context, std::size_t bytes_before, std::size_t min_bytes_after) {
  if (context.position < bytes_before) return std::nullopt;
  const auto begin = context.position - bytes_before;
  if (!may_begin_token(context, begin)) return std::nullopt;
  const auto size = context.run(byte_set::alnum, begin);
  if (size < bytes_before + min_bytes_after) return std::nullopt;
  return span{begin, begin + size};
}
std::optional<span> match_azure_devops(const match_context& context) { return match_marked(context, 76, 8); }
std::optional<span> match_azure_service(const match_context& context) { return match_marked(context, 52, 32); }

/// 1Password: the secret key of an account, which consists of a version and groups of letters and digits.
std::optional<span> match_account_key(const match_context& context) {
  if (!may_begin_token(context, context.position)) return std::nullopt;
  const auto begin = context.position + 3;
  const auto body = context.text_from(begin).substr(0, 48);
  std::size_t size = 0;
  while (size < body.size() && (is_in(byte_set::capital, body[size]) || body[size] == '-')) ++size;
  const auto groups = std::count(body.begin(), body.begin() + static_cast<std::ptrdiff_t>(size), '-');
  if (size < 30 || size > 40 || groups < 4 || is_placeholder(body.substr(0, size))) return std::nullopt;
  return span{begin, begin + size};
}

std::optional<span> match_terraform(const match_context& context) {
  constexpr std::string_view mark = ".atlasv1.";
  constexpr std::size_t offset = 2;  // of "tlas"
  if (context.position < offset || !context.text_from(context.position - offset).starts_with(mark)) return std::nullopt;
  const auto begin = context.position - offset + mark.size();
  const auto size = context.run(byte_set::word, begin);
  if (size < 40) return std::nullopt;
  return span{begin, begin + size};
}

/// The signature of a URL that grants access to anyone who has it.
std::optional<span> match_url_signature(const match_context& context) {
  if (context.position == 0 ||
      (context[context.position - 1] != '?' && context[context.position - 1] != '&' && context[context.position - 1] != ';'))
    return std::nullopt;
  const auto begin = context.position + 4;
  const auto encoded = context.text_from(begin).substr(0, max_examined_bytes);
  std::size_t size = 0;
  while (size < encoded.size() && (is_in(byte_set::base64, encoded[size]) || encoded[size] == '%')) ++size;
  context.count(2 * size);
  if (size < 40 || !is_random(encoded.substr(0, size))) return std::nullopt;
  return span{begin, size == max_examined_bytes ? context.extend_to_run_end(byte_set::credential, begin + size) : begin + size};
}

constexpr std::array specials{
    special_pattern{"[- Dd]BEG", match_private_key, "private keys: PEM, OpenSSH, PGP, SSH2"},
    special_pattern{"[- Dd]BEG", match_percent_key, "private keys in percent-encoding"},
    special_pattern{"LS0t", match_base64_key, "private keys in base64"},
    special_pattern{"A[Qg][AE][wEAB]", match_base64_der, "private keys in DER, in base64"},
    special_pattern{"IBA[ADQT]", match_base64_der, "private keys in DER, in base64"},
    special_pattern{"[BC][gSi][koq][qG]", match_base64_der, "private keys in DER, in base64"},
    special_pattern{"\x02\x01[\x00\x01][0\x02\x04]"sv, match_der, "private keys in DER"},
    special_pattern{"\x0D\x01[\x05\x0C][\x01\x03\x0D]", match_der, "private keys in DER"},
    special_pattern{"te-L", match_putty_key, "PuTTY private keys"},
    special_pattern{"\"kty", nullptr, "JSON web keys", find_web_key},
    special_pattern{"[a-zA-Z0-9+]://", match_url_password, "passwords in URLs"},
    special_pattern{"[rR][iI][zZ][aA]", match_authorization, "Authorization headers"},
    special_pattern{"[iI]-[kK][eE]", match_key_header, "X-Api-Key headers"},
    special_pattern{"[sS][wW][oO][rR]", match_connection_password, "passwords in connection strings"},
    special_pattern{"[pP][wW][dD][= ]", match_connection_password, "passwords in connection strings"},
    special_pattern{"[sS][wW][oO][rR]", match_sql_password, "passwords in SQL"},
    special_pattern{"[fF][iI][eE][dD]", match_sql_password, "passwords in SQL"},
    special_pattern{"curl", match_curl_user, "passwords in commands of curl"},
    special_pattern{"[oO][oO][kK][iI]", nullptr, "cookies of sessions", find_cookies},
    special_pattern{"xox[a-z]", match_slack, "Slack"},
    special_pattern{"k.co", match_slack_hook, "Slack webhooks"},
    special_pattern{"oks/", match_discord_hook, "Discord webhooks"},
    special_pattern{"ingW", match_teams_hook, "Microsoft Teams webhooks"},
    special_pattern{"pat[A-Za-z0-9]", match_airtable, "Airtable"},
    special_pattern{"SG.[A-Za-z0-9_-]", match_sendgrid, "SendGrid"},
    special_pattern{"[0-9]:AA", match_telegram, "Telegram"},
    special_pattern{"[MNO][DTjz][AEIMQUYcgk][wxyz0-5]", match_discord, "Discord"},
    special_pattern{"eyJ[A-Za-z0-9_-]", match_jwt, "JSON web tokens"},
    special_pattern{"[tT][_-][aA][cC]", match_aws_secret, "AWS"},
    special_pattern{"[tT][aA][cC][cC]", match_aws_secret, "AWS"},
    special_pattern{"Key=", match_azure_key, "Azure storage and service bus keys"},
    special_pattern{"[0-9]Q~[A-Za-z0-9_.~-]", match_azure_client, "Azure client secrets"},
    special_pattern{"AZDO", match_azure_devops, "Azure DevOps"},
    special_pattern{"JQQJ", match_azure_service, "Azure services"},
    special_pattern{"A3-[A-Z0-9]", match_account_key, "1Password secret keys"},
    special_pattern{"tlas", match_terraform, "Terraform Cloud"},
    special_pattern{"sig=", match_url_signature, "shared access signatures"},
};

constexpr std::uint32_t crc32(std::string_view text) noexcept {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char byte : text) {
    crc ^= static_cast<unsigned char>(byte);
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

}  // namespace

std::span<const special_pattern> special_patterns() noexcept { return specials; }

bool has_check_digits(std::string_view body) noexcept {
  if (body.size() != 36) return false;
  constexpr std::string_view digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  auto remaining = crc32(body.substr(0, 30));
  for (std::size_t i = 36; i-- > 30; remaining /= 62) {
    if (body[i] != digits[remaining % 62]) return false;
  }
  return true;
}

std::optional<span> match_token(const token_pattern& pattern, const match_context& context) {
  if (context.position < pattern.offset) return std::nullopt;
  const auto front = context.position - pattern.offset;
  const auto text = context.text_from(front);
  if (!text.starts_with(pattern.prefix) || !may_begin_token(context, front)) return std::nullopt;
  const auto size = context.run(pattern.set, front + pattern.prefix.size());
  if (size < pattern.min_length || (pattern.max_length != 0 && size > pattern.max_length)) return std::nullopt;
  const auto body = text.substr(pattern.prefix.size(), size);
  context.count(std::min(size, max_examined_bytes));
  // A token with correct check digits is real, even if it does not look random.
  const bool is_doubtful = pattern.check != token_check::none && !has_check_digits(body) &&
                           (pattern.check == token_check::random ? !is_random(body) : is_placeholder(body));
  if (is_doubtful) return std::nullopt;
  const auto begin = front + pattern.prefix.size();
  return span{begin, begin + size};
}

}  // namespace hondana::secrets
