/// The shapes of secrets.
#include "unit/text/secrets/corpus.hpp"

#include <array>

namespace hondana::test {
namespace {

constexpr std::string_view small = "abcdefghijklmnopqrstuvwxyz";
constexpr std::string_view capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
constexpr std::string_view ten = "0123456789";
const std::string letters_and_digits = std::string(small) + std::string(capitals) + std::string(ten);

using policy = secrets::masking_policy;

/// A front and so many drawn characters.
using drawing = std::string (lots::*)(std::size_t);
secret_shape token(std::string_view name, std::string front, drawing how, std::size_t count, std::string after = {}) {
  return {name, [front = std::move(front), how, count, after = std::move(after)](lots& from) {
            return specimen{front, (from.*how)(count), after};
          }};
}

/// A setting; found in configuration only.
secret_shape setting(std::string_view name, std::string before, std::function<std::string(lots&)> secret,
                     std::string after = {}) {
  return {name,
          [before = std::move(before), secret = std::move(secret), after = std::move(after)](lots& from) {
            return specimen{before, secret(from), after};
          },
          policy::settings};
}

std::string armour(std::string_view which, std::string_view label) {
  return "-----" + std::string(which) + " " + std::string(label) + "-----";
}

secret_shape pem(std::string_view name, std::string label, std::string headers = {}) {
  return {name, [label = std::move(label), headers = std::move(headers)](lots& from) {
            auto body = headers + from.lines(700) + from.base64(30) + "==";
            return specimen{armour("BEGIN", label) + "\n", body, "\n" + armour("END", label) + "\n"};
          }};
}

/// Check digits as GitHub and npm make them, worked out bit by bit.
std::string check_digits(std::string_view body) {
  std::uint64_t crc = 0xFFFFFFFF;
  for (const char byte : body) {
    for (int bit = 0; bit < 8; ++bit) {
      const auto in = (static_cast<unsigned char>(byte) >> bit & 1u) ^ (crc & 1u);
      crc = (crc >> 1) ^ (in != 0 ? 0xEDB88320u : 0u);
    }
  }
  crc ^= 0xFFFFFFFF;
  std::string out;
  const auto alphabet = std::string(ten) + std::string(capitals) + std::string(small);
  for (int i = 0; i < 6; ++i, crc /= 62) out.insert(out.begin(), alphabet[crc % 62]);
  return out;
}

secret_shape checked(std::string_view name, std::string front) {
  return {name, [front = std::move(front)](lots& from) {
            auto body = from.alnum(30);
            body += check_digits(body);
            return specimen{front, body, "\n"};
          }};
}

std::vector<secret_shape> make_keys() {
  std::vector<secret_shape> out;
  out.push_back(pem("a PKCS#8 private key", "PRIVATE KEY"));
  out.push_back(pem("an RSA private key", "RSA PRIVATE KEY"));
  out.push_back(pem("an EC private key", "EC PRIVATE KEY"));
  out.push_back(pem("an encrypted private key", "RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0123\n\n"));
  out.push_back(pem("an OpenSSH private key", "OPENSSH PRIVATE KEY"));
  out.push_back(pem("a PGP private key", "PGP PRIVATE KEY BLOCK", "Version: GnuPG v2\n\n"));
  out.push_back({"an SSH2 private key", [](lots& from) {
                   return specimen{"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n", from.lines(300),
                                   "---- END SSH2 ENCRYPTED PRIVATE KEY ----\n"};
                 }});
  out.push_back({"a PuTTY private key", [](lots& from) {
                   return specimen{"PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nPublic-Lines: 1\n" + from.base64(60) +
                                       "\nPrivate-Lines: 2\n",
                                   from.lines(64) + from.base64(20), "\nPrivate-MAC: " + from.hex(64) + "\n"};
                 }});
  out.push_back({"a private key whose end is missing", [](lots& from) {
                   return specimen{armour("BEGIN", "PRIVATE KEY") + "\n", from.lines(640) + from.base64(20),
                                   "\n\nWhat follows is a text again.\n"};
                 }});
  out.push_back({"a private key that a file was cut off in", [](lots& from) {
                   return specimen{armour("BEGIN", "EC PRIVATE KEY") + "\n", from.lines(128) + from.base64(33), ""};
                 }});
  out.push_back({"a private key on one line of JSON", [](lots& from) {
                   return specimen{"{\"private_key\": \"" + armour("BEGIN", "PRIVATE KEY") + "\\n",
                                   from.lines(640, 64, "\\n") + from.base64(40),
                                   "\\n" + armour("END", "PRIVATE KEY") + "\\n\"}"};
                 }});
  out.push_back({"a private key in a comment", [](lots& from) {
                   return specimen{"# " + armour("BEGIN", "RSA PRIVATE KEY") + "\n# ",
                                   from.lines(256, 64, "\n# ") + from.base64(40),
                                   "\n# " + armour("END", "RSA PRIVATE KEY") + "\n"};
                 }});
  out.push_back({"a private key in string literals", [](lots& from) {
                   return specimen{"const key = \"" + armour("BEGIN", "RSA PRIVATE KEY") + "\\n\" +\n  \"",
                                   from.lines(256, 64, "\\n\" +\n  \"") + from.base64(40),
                                   "\\n\" +\n  \"" + armour("END", "RSA PRIVATE KEY") + "\\n\";"};
                 }});
  out.push_back(token("an age identity", "AGE-SECRET-KEY-1", &lots::capital, 58, "\n"));
  return out;
}

std::vector<secret_shape> make_tokens() {
  std::vector<secret_shape> out;
  out.push_back(checked("a GitHub personal access token", "ghp_"));
  out.push_back(checked("a GitHub OAuth token", "gho_"));
  out.push_back(checked("a GitHub user-to-server token", "ghu_"));
  out.push_back(checked("a GitHub server-to-server token", "ghs_"));
  out.push_back(checked("a GitHub refresh token", "ghr_"));
  out.push_back(token("a GitHub token with other check digits", "ghp_", &lots::alnum, 36, "\n"));
  out.push_back({"a fine-grained GitHub token",
                 [](lots& from) { return specimen{"github_pat_", from.alnum(22) + "_" + from.alnum(59), "\n"}; }});
  out.push_back(token("a GitLab personal access token", "glpat-", &lots::word, 20, "\n"));
  out.push_back(token("a GitLab runner token", "glrt-", &lots::word, 20, "\n"));
  out.push_back(token("a GitLab deploy token", "gldt-", &lots::word, 20, "\n"));
  out.push_back(token("an old GitLab runner token", "GR1348941", &lots::word, 20, "\n"));
  out.push_back(token("an AWS access key id", "AKIA", &lots::capital, 16, "\n"));
  out.push_back(token("an AWS temporary key id", "ASIA", &lots::capital, 16, " "));
  out.push_back(token("an AWS secret access key", "aws_secret_access_key = ", &lots::base64, 40, "\n"));
  out.push_back(token("an AWS secret access key in JSON", "\"SecretAccessKey\": \"", &lots::base64, 40, "\","));
  out.push_back(token("an AWS session token", "IQoJb3JpZ2lu", &lots::base64, 400, "\n"));
  out.push_back(token("the signature of an AWS URL", "https://b.s3.example/k?X-Amz-Signature=", &lots::hex, 64, " "));
  out.push_back(token("a Google API key", "AIza", &lots::word, 35, "\n"));
  out.push_back(token("a Google client secret", "GOCSPX-", &lots::word, 28, "\n"));
  out.push_back(token("a Google access token", "ya29.", &lots::word, 120, "\n"));
  out.push_back({"an Azure storage key", [](lots& from) {
                   return specimen{
                       "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=", from.base64(86) + "==", ";EndpointSuffix=x"};
                 }});
  out.push_back({"an Azure shared access key", [](lots& from) {
                   return specimen{"Endpoint=sb://a/;SharedAccessKeyName=Root;SharedAccessKey=", from.base64(43) + "=", "\n"};
                 }});
  out.push_back(
      {"an Azure client secret", [](lots& from) { return specimen{"", from.alnum(3) + "8Q~" + from.alnum(34), "\n"}; }});
  out.push_back({"an Azure shared access signature", [](lots& from) {
                   return specimen{"https://a.example/c?sv=2022&sig=", from.alnum(40) + "%2B" + from.alnum(2) + "%3D",
                                   "&se=2030"};
                 }});
  out.push_back(
      {"an Azure DevOps token", [](lots& from) { return specimen{"", from.alnum(76) + "AZDO" + from.alnum(4), "\n"}; }});
  out.push_back({"a Slack bot token", [](lots& from) {
                   return specimen{"xoxb-", from.digits(12) + "-" + from.digits(12) + "-" + from.alnum(24), "\n"};
                 }});
  out.push_back({"a Slack user token", [](lots& from) {
                   return specimen{"xoxp-", from.digits(12) + "-" + from.digits(12) + "-" + from.hex(32), "\n"};
                 }});
  out.push_back({"a Slack app token", [](lots& from) {
                   return specimen{"xapp-", "1-A" + from.capital(10) + "-" + from.digits(13) + "-" + from.hex(64), "\n"};
                 }});
  out.push_back({"a Slack webhook", [](lots& from) {
                   return specimen{"https://hooks.slack.com/services/T" + from.capital(8) + "/B" + from.capital(10) + "/",
                                   from.alnum(24), "\n"};
                 }});
  out.push_back(token("a Stripe live key", "sk_live_", &lots::alnum, 24, "\n"));
  out.push_back(token("a Stripe restricted key", "rk_live_", &lots::alnum, 24, "\n"));
  out.push_back(token("a Stripe webhook secret", "whsec_", &lots::alnum, 32, "\n"));
  out.push_back(checked("an npm token", "npm_"));
  out.push_back(token("a PyPI token", "pypi-AgE", &lots::word, 150, "\n"));
  out.push_back(
      {"an OpenAI key", [](lots& from) { return specimen{"sk-", from.alnum(20) + "T3BlbkFJ" + from.alnum(20), "\n"}; }});
  out.push_back({"an OpenAI project key", [](lots& from) { return specimen{"sk-", "proj-" + from.word(120) + "a", "\n"}; }});
  out.push_back({"an Anthropic key", [](lots& from) { return specimen{"sk-", "ant-api03-" + from.word(93) + "AA", "\n"}; }});
  out.push_back(token("a Hugging Face token", "hf_", &lots::alnum, 34, "\n"));
  out.push_back({"a SendGrid key", [](lots& from) { return specimen{"SG.", from.word(22) + "." + from.word(43), "\n"}; }});
  out.push_back(token("a Twilio key", "SK", &lots::hex, 32, "\n"));
  out.push_back({"a Telegram bot token",
                 [](lots& from) { return specimen{from.of("123456789", 10) + ":", "AA" + from.word(33), "\n"}; }});
  out.push_back({"a Discord bot token", [](lots& from) {
                   return specimen{"MTA" + from.of("wxyz0", 1) + from.alnum(20) + ".", from.word(6) + "." + from.word(38),
                                   "\n"};
                 }});
  out.push_back({"a Discord webhook", [](lots& from) {
                   return specimen{"https://discord.com/api/webhooks/" + from.of("123456789", 18) + "/", from.word(68), "\n"};
                 }});
  out.push_back({"a JSON web token", [](lots& from) {
                   return specimen{"eyJ", from.word(33) + ".eyJ" + from.word(120) + "." + from.word(43), "\n"};
                 }});
  out.push_back(token("a token of hondana", "hondana_", &lots::word, 43, "\n"));
  out.push_back(token("a Vault token", "hvs.", &lots::word, 90, "\n"));
  out.push_back(token("a DigitalOcean token", "dop_v1_", &lots::hex, 64, "\n"));
  out.push_back(token("a Shopify token", "shpat_", &lots::hex, 32, "\n"));
  out.push_back(token("a Linear key", "lin_api_", &lots::alnum, 40, "\n"));
  out.push_back(token("a Notion token", "ntn_", &lots::alnum, 46, "\n"));
  out.push_back(token("a Figma token", "figd_", &lots::word, 40, "\n"));
  out.push_back({"a Postman key", [](lots& from) { return specimen{"PMAK-", from.hex(24) + "-" + from.hex(34), "\n"}; }});
  out.push_back(token("a Square token", "sq0atp-", &lots::word, 22, "\n"));
  out.push_back({"a Grafana token", [](lots& from) { return specimen{"glsa_", from.alnum(32) + "_" + from.hex(8), "\n"}; }});
  out.push_back(token("a Databricks token", "dapi", &lots::hex, 32, "\n"));
  out.push_back(token("a Doppler token", "dp.pt.", &lots::alnum, 43, "\n"));
  out.push_back(token("a PlanetScale password", "pscale_", &lots::word, 46, "\n"));
  out.push_back(token("a Netlify token", "nfp_", &lots::alnum, 36, "\n"));
  out.push_back(token("an Atlassian token", "ATATT3", &lots::alnum, 186, "\n"));
  out.push_back(token("a New Relic key", "NRAK-", &lots::capital, 27, "\n"));
  out.push_back(token("a Sentry token", "sntrys_", &lots::base64, 120, "\n"));
  out.push_back(token("a Supabase token", "sbp_", &lots::hex, 40, "\n"));
  out.push_back(token("a Replicate token", "r8_", &lots::alnum, 37, "\n"));
  out.push_back(token("a Groq key", "gsk_", &lots::alnum, 52, "\n"));
  out.push_back(token("an xAI key", "xai-", &lots::alnum, 80, "\n"));
  out.push_back(token("a Perplexity key", "pplx-", &lots::alnum, 48, "\n"));
  out.push_back(token("a Heroku token", "HRKU-", &lots::word, 60, "\n"));
  out.push_back(token("a Docker token", "dckr_pat_", &lots::word, 27, "\n"));
  out.push_back(token("a RubyGems key", "rubygems_", &lots::hex, 48, "\n"));
  out.push_back(token("a Mailgun key", "key-", &lots::hex, 32, "\n"));
  out.push_back(token("a GitLab OAuth secret", "gloas-", &lots::hex, 64, "\n"));
  out.push_back(token("a GitLab feature token", "glffct-", &lots::word, 20, "\n"));
  out.push_back(token("an old Notion secret", "secret_", &lots::alnum, 43, "\n"));
  out.push_back(token("a Hugging Face organisation's token", "api_org_", &lots::alnum, 34, "\n"));
  out.push_back(token("an old Grafana key", "eyJrIjoi", &lots::base64, 90, "\n"));
  out.push_back(token("a Doppler SCIM token", "dp.scim.", &lots::alnum, 43, "\n"));
  out.push_back(token("a 1Password service account token", "ops_eyJ", &lots::base64, 600, "\n"));
  out.push_back({"a 1Password secret key", [](lots& from) {
                   const auto group = [&from](std::size_t count) { return "-" + from.capital(count); };
                   return specimen{"A3-", from.capital(6) + group(6) + group(5) + group(5) + group(5) + group(5), "\n"};
                 }});
  out.push_back(
      {"a Mapbox secret token", [](lots& from) { return specimen{"sk.eyJ", from.word(80) + "." + from.word(22), "\n"}; }});
  out.push_back({"a Tailscale key",
                 [](lots& from) { return specimen{"tskey-", "auth-" + from.alnum(17) + "-" + from.alnum(30) + "1", "\n"}; }});
  out.push_back({"a Brevo key", [](lots& from) { return specimen{"xkeysib-", from.hex(64) + "-" + from.alnum(16), "\n"}; }});
  out.push_back(token("a Pulumi token", "pul-", &lots::hex, 40, "\n"));
  out.push_back(token("a Clojars token", "CLOJARS_", &lots::hex, 60, "\n"));
  out.push_back(
      {"a Sourcegraph token", [](lots& from) { return specimen{"sgp_", from.hex(16) + "_" + from.hex(38) + "a1", "\n"}; }});
  out.push_back(token("a Buildkite token", "bkua_", &lots::hex, 40, "\n"));
  out.push_back(token("a Pinecone key", "pcsk_", &lots::word, 70, "\n"));
  out.push_back({"a LangSmith key", [](lots& from) { return specimen{"lsv2_pt_", from.hex(32) + "_" + from.hex(10), "\n"}; }});
  out.push_back(token("a Fly.io token", "fm2_", &lots::base64, 200, "\n"));
  out.push_back(
      {"a Terraform Cloud token", [](lots& from) { return specimen{from.alnum(14) + ".atlasv1.", from.alnum(67), "\n"}; }});
  return out;
}

std::vector<secret_shape> make_addresses() {
  std::vector<secret_shape> out;
  out.push_back(token("a password in a database URL", "postgres://app:", &lots::alnum, 14, "@db.example:5432/app"));
  out.push_back({"a password with punctuation in a URL", [](lots& from) {
                   return specimen{"https://me:", from.alnum(4) + "!$&'()*+,;=" + from.alnum(2) + "%40", "@h.example/p"};
                 }});
  out.push_back({"a password with a slash in a URL",
                 [](lots& from) { return specimen{"amqp://u:", "p" + from.alnum(4) + "/" + from.alnum(4), "@mq.example/v"}; }});
  out.push_back(token("a password without a user in a URL", "redis://:", &lots::alnum, 12, "@cache.example:6379/0"));
  out.push_back(
      {"a token for a user in a URL", [](lots& from) { return specimen{"https://", from.hex(40), "@git.example/r.git"}; }});
  out.push_back(token("a password in a connection string", "Server=db;User Id=sa;Password=", &lots::alnum, 9, ";Encrypt=true"));
  const auto punctuated = [](std::string_view name, std::string before, std::string_view without, std::string after) {
    return secret_shape{name, [=](lots& from) { return specimen{before, from.password(16, without), after}; }};
  };
  out.push_back(punctuated("a password of any bytes in a URL", "postgres://app:", "@/?#:\"<>`\\|", "@db.example/app"));
  out.push_back(punctuated("a password behind a blank in a connection string", "Server=db; User ID=sa; Password=", "\"'`;",
                           "; Encrypt=true"));
  out.push_back(punctuated("a password in front of a connection string", "Password=", "\"'`;", ";Server=db;User ID=sa"));
  out.push_back(punctuated("a password in a connection string with blanks", "host=db user=sa password=", "\"'`", " dbname=a"));
  out.push_back(punctuated("a password alone in a connection string", "connect(\"Password=", "\"'`;", "\")"));
  const auto framed = [](lots& from) { return from.alnum(5) + "q7K" + from.alnum(6); };
  out.push_back({"a password in the braces of ODBC", [framed](lots& from) {
                   return specimen{"Driver=x;Uid=u;Pwd={", framed(from) + ";" + framed(from), "};x=1"};
                 }});
  out.push_back({"the default of a variable in a URL",
                 [framed](lots& from) { return specimen{"postgres://app:", "${PW:-" + framed(from) + "}", "@db/x"}; }});
  out.push_back({"a password in brackets in a URL",
                 [framed](lots& from) { return specimen{"redis://:", "[" + framed(from) + "]", "@h"}; }});
  out.push_back(token("a bearer token in a header", "Authorization: Bearer ", &lots::word, 32, "\r\n"));
  out.push_back({"a basic log-in in a header",
                 [](lots& from) { return specimen{"authorization: Basic ", from.base64(26) + "==", "\n"}; }});
  out.push_back(token("a header in a program", R"(headers["Authorization"] = "token )", &lots::hex, 40, "\""));
  out.push_back(token("a header in JSON", R"({"Authorization":"Bearer )", &lots::word, 40, "\"}"));
  out.push_back(token("a header without a scheme", "Proxy-Authorization: ", &lots::alnum, 40, "\n"));
  out.push_back(token("an API key in a header", "X-Api-Key: ", &lots::alnum, 32, "\n"));
  return out;
}

std::vector<secret_shape> make_settings() {
  const auto strong = [](lots& from) { return from.password(16); };
  const auto quoted = [](lots& from) { return from.password(16, "\"\\"); };
  const auto listed = [](lots& from) { return from.password(16, "\"',;&"); };
  const auto weak = [](lots& from) { return from.alnum(31) + from.digits(1); };
  std::vector<secret_shape> out;
  out.push_back(setting("a password in an environment", "DB_PASSWORD=", strong, "\n"));
  out.push_back(setting("an exported token", "export SERVICE_TOKEN=\"", weak, "\"\n"));
  out.push_back(setting("a password in properties", "spring.datasource.password = ", strong, "\n"));
  out.push_back(setting("a secret in TOML", "client_secret = \"", quoted, "\"\n"));
  out.push_back(setting("an API key in YAML", "  apiKey: ", weak, "  # for maps\n"));
  out.push_back(setting("a password in JSON", R"({"user":"u","dbPassword":")", quoted, R"(","port":5432})"));
  out.push_back(setting("a signing key in INI", "[web]\nSIGNING_KEY: '", weak, "'\n"));
  out.push_back(setting("credentials in an object", "'credentials' => '", weak, "',"));
  out.push_back(setting("a password in YAML", "db:\n  password: ", strong, "\n"));
  out.push_back({"a password that begins like a reference",
                 [](lots& from) { return specimen{"ADMIN_PASSWORD=", from.of("$<{[(/~!&*`@%.", 1) + from.password(15), "\n"}; },
                 policy::settings});
  out.push_back({"a password that begins like a reference, in JSON",
                 [](lots& from) {
                   return specimen{R"({"password": ")", from.of("$<{[(/~!&*`@%.", 1) + from.password(15, "\"\\"), "\"}"};
                 },
                 policy::settings});
  out.push_back(setting("a passphrase in a log", "connecting with passphrase=", listed, " to db"));
  return out;
}

}  // namespace

std::string lots::alnum(std::size_t count) { return of(letters_and_digits, count); }
std::string lots::word(std::size_t count) {
  // The last is a letter, since a URL or a sentence may end behind it.
  return of(letters_and_digits + "_-", count - 2) + of(ten, 1) + of(small, 1);
}
std::string lots::hex(std::size_t count) { return of("0123456789abcdef", count); }
std::string lots::capital(std::size_t count) { return of("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", count); }
std::string lots::digits(std::size_t count) { return of(ten, count); }
std::string lots::base64(std::size_t count) { return of(letters_and_digits + "+/", count - 2) + of(ten, 1) + of(small, 1); }
std::string lots::password(std::size_t count, std::string_view without) {
  std::string out;
  while (out.size() + 1 < count) {
    const auto byte = static_cast<char>('!' + below('~' - '!' + 1));
    const bool is_out = without.find(byte) != std::string_view::npos || (out.empty() && (byte == '"' || byte == '\''));
    if (!is_out) out += byte;
  }
  return out + of(ten, 1);
}
std::string lots::lines(std::size_t count, std::size_t width, std::string_view end) {
  std::string out;
  for (std::size_t left = count; left != 0;) {
    const auto part = std::min(left, width);
    out += base64(part);
    out += end;
    left -= part;
  }
  return out;
}

std::string specimen::masked() const {
  auto stars = secret;
  for (char& byte : stars) {
    if (byte != '\n' && byte != '\r') byte = '*';
  }
  return before + stars + after;
}

const std::vector<secret_shape>& secret_shapes() {
  static const auto all = [] {
    std::vector<secret_shape> out;
    for (const auto& some :
         {make_keys(), make_tokens(), make_addresses(), make_settings(), shapes_of_files(), shapes_of_encodings()})
      out.insert(out.end(), some.begin(), some.end());
    return out;
  }();
  return all;
}

}  // namespace hondana::test
