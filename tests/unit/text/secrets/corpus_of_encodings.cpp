/// The shapes of secrets that are encoded, or that stand in commands and headers.
#include <array>

#include "base/json/base64.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace hondana::test {
namespace {

using namespace std::string_view_literals;

std::string element(char tag, std::string_view content) {
  std::string out(1, tag);
  if (content.size() > 0xFF) {
    out += "\x82"sv;
    out += static_cast<char>(content.size() >> 8);
  } else if (content.size() > 0x7F) {
    out += "\x81"sv;
  }
  out += static_cast<char>(content.size() & 0xFF);
  return out + std::string(content);
}

std::string bytes(lots& from, std::size_t count) {
  std::string out;
  while (out.size() < count) out += static_cast<char>(from.below(256));
  return out;
}

/// As numbers of a key are: not negative, and of all their bytes.
std::string number(lots& from, std::size_t count) {
  return element('\x02', std::string(1, '\0') + static_cast<char>(0x80 | from.below(128)) + bytes(from, count - 1));
}

constexpr auto rsa = "\x06\x09\x2A\x86\x48\x86\xF7\x0D\x01\x01\x01\x05\x00"sv;
constexpr auto p256 = "\x06\x08\x2A\x86\x48\xCE\x3D\x03\x01\x07"sv;
constexpr auto ed25519 = "\x06\x03\x2B\x65\x70"sv;
constexpr auto pbes2 = "\x06\x09\x2A\x86\x48\x86\xF7\x0D\x01\x05\x0D"sv;
constexpr auto pkcs12_3des = "\x06\x0A\x2A\x86\x48\x86\xF7\x0D\x01\x0C\x01\x03"sv;

/// What is all of `front` and `secret`, in an element of its own.
der_key whole(std::string_view front, std::string_view secret) {
  const auto all = element('\x30', std::string(front) + std::string(secret));
  return {all.substr(0, all.size() - secret.size()), std::string(secret)};
}

/// In base64, in lines of 64 digits with `between` before all but the first, or in one. What is secret takes every digit that
/// has a bit of it.
specimen in_base64(std::string before, const der_key& plain, std::string_view footer, std::string_view after,
                   std::string_view between = {}) {
  std::string code;
  json::append_base64(code, plain.front + plain.secret + std::string(footer));
  const auto begin = plain.front.size() * 4 / 3;
  const auto end = ((plain.front.size() + plain.secret.size()) * 4 + 2) / 3;
  specimen out{std::move(before), {}, {}};
  for (std::size_t i = 0; i < code.size(); ++i) {
    auto& piece = i < begin ? out.before : i < end ? out.secret : out.after;
    if (!between.empty() && i > 0 && i % 64 == 0) piece += between;
    piece += code[i];
  }
  out.after += after;
  return out;
}

/// `BEGIN` and `END` are apart from what follows, so that this file has no key in it.
der_key pem(lots& from, std::string_view in_front = {}) {
  return {std::string(in_front) + "-----BEGIN " + "PRIVATE KEY-----\n", from.lines(640) + from.base64(33) + "="};
}
constexpr std::string_view pem_end = "\n-----END PRIVATE KEY-----\n";

std::string percent_encoded(std::string_view plain, std::string_view blank) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string out;
  for (const char c : plain) {
    if (c == ' ') {
      out += blank;
    } else if (std::string_view("+/=\n").find(c) != std::string_view::npos) {
      out += '%';
      out += digits[static_cast<unsigned char>(c) >> 4];
      out += digits[static_cast<unsigned char>(c) & 0x0F];
    } else {
      out += c;
    }
  }
  return out;
}

std::vector<secret_shape> make_keys() {
  std::vector<secret_shape> out;
  out.push_back({"a key of a kubeconfig",
                 [](lots& from) { return in_base64("    client-key-data: ", pem(from), pem_end, "\n    token: x\n"); }});
  out.push_back({"a key of a Kubernetes Secret, wrapped",
                 [](lots& from) { return in_base64("  tls.key: |\n    ", pem(from), pem_end, "\n  tls.crt: x\n", "\n    "); }});
  out.push_back({"a key in base64 behind a certificate", [](lots& from) {
                   const auto certificate =
                       "-----BEGIN CERTIFICATE-----\n" + from.lines(300 + from.below(3)) + "-----END CERTIFICATE-----\n";
                   return in_base64("\"bundle\": \"", pem(from, certificate), pem_end, "\",");
                 }});
  out.push_back({"a key in base64 of URLs", [](lots& from) {
                   auto one = in_base64("key=", pem(from), pem_end, "&x=1");
                   for (auto* part : {&one.before, &one.secret, &one.after}) {
                     for (char& c : *part) c = c == '+' ? '-' : c == '/' ? '_' : c;
                   }
                   one.before = "key=" + one.before.substr(4);
                   return one;
                 }});
  for (const auto* blank : {"%20", "+"}) {
    out.push_back({"a key in percent-encoding", [blank](lots& from) {
                     const auto key = pem(from);
                     auto front = percent_encoded(key.front, blank);
                     return specimen{"https://h.example/?key=" + std::move(front), percent_encoded(key.secret, blank),
                                     percent_encoded(pem_end, blank) + "&x=1\n"};
                   }});
  }
  for (std::size_t i = 0; i < der_key_count; ++i) {
    out.push_back({"a key in DER in base64",
                   [i](lots& from) { return in_base64("\"key\": \"", draw_der_key(from, i), "", "\",\n\"next\": 1"); }});
  }
  out.push_back({"a key in DER in wrapped base64",
                 [](lots& from) { return in_base64("key: |\n  ", draw_der_key(from, 2), "", "\nnext: 1\n", "\n  "); }});
  out.push_back({"a JSON web key of a curve", [](lots& from) {
                   return specimen{
                       R"({"kty":"EC","crv":"P-256","x":")" + from.word(43) + R"(","y":")" + from.word(43) + R"(","d":")",
                       from.word(43), R"("})"};
                 }});
  out.push_back({"a JSON web key that begins with its secret", [](lots& from) {
                   return specimen{R"({ "d" : ")", from.word(43), R"(", "x": ")" + from.word(600) + R"(", "kty": "OKP" })"};
                 }});
  out.push_back({"a symmetric JSON web key",
                 [](lots& from) { return specimen{R"({"kty":"oct","kid":"a","k":")", from.word(43), R"(","alg":"HS256"})"}; }});
  return out;
}

/// A front and so many drawn characters.
using drawing = std::string (lots::*)(std::size_t);
secret_shape token(std::string_view name, std::string front, drawing how, std::size_t count, std::string after = "\n") {
  return {name, [front = std::move(front), how, count, after = std::move(after)](lots& from) {
            return specimen{front, (from.*how)(count), after};
          }};
}

std::string guid(lots& from) {
  return from.hex(8) + "-" + from.hex(4) + "-4" + from.hex(3) + "-a" + from.hex(3) + "-" + from.hex(12);
}

std::vector<secret_shape> make_tokens() {
  std::vector<secret_shape> out;
  out.push_back(token("an Okta token", "Authorization: SSWS 00", &lots::word, 40));
  out.push_back({"an Airtable token", [](lots& from) { return specimen{"pat", from.alnum(14) + "." + from.hex(64), "\n"}; }});
  const auto drawn = [](lots& from) { return from.alnum(53) + from.digits(1); };
  out.push_back({"an EasyPost key", [drawn](lots& from) { return specimen{"EZAK", drawn(from), "\n"}; }});
  out.push_back({"an EasyPost test key", [drawn](lots& from) { return specimen{"EZTK", drawn(from), "\n"}; }});
  out.push_back({"a Typeform token",
                 [](lots& from) { return specimen{"tfp_", from.alnum(44) + "_" + from.alnum(13) + from.digits(1), "\n"}; }});
  for (const auto* front : {"sqp_", "squ_", "sqa_"}) out.push_back(token("a SonarQube token", front, &lots::hex, 40));
  out.push_back({"a JFrog key", [](lots& from) { return specimen{"AKCp", from.alnum(68) + from.digits(1), "\n"}; }});
  out.push_back(token("a JFrog reference token", "cmVmdGtuOj", &lots::base64, 54));
  out.push_back({"a Microsoft Teams webhook", [](lots& from) {
                   return specimen{
                       "https://a.webhook.office.com/webhookb2/" + guid(from) + "@" + guid(from) + "/IncomingWebhook/",
                       from.hex(32) + "/" + guid(from), "\n"};
                 }});
  out.push_back({"a newer Microsoft Teams webhook", [](lots& from) {
                   return specimen{
                       "https://a.webhook.office.com/webhookb2/" + guid(from) + "@" + guid(from) + "/IncomingWebhook/",
                       from.hex(32) + "/" + guid(from) + "/V2" + from.word(43), "\n"};
                 }});
  return out;
}

std::vector<secret_shape> make_commands() {
  std::vector<secret_shape> out;
  const auto sql = [&out](std::string before, std::string after) {
    out.push_back({"a password in SQL", [before = std::move(before), after = std::move(after)](lots& from) {
                     return specimen{before, from.password(14, "'\"`\\;<>$@{}()"), after};
                   }});
  };
  sql("CREATE USER app@'%' IDENTIFIED BY '", "';\n");
  sql("create user app identified by '", "';\n");
  sql("GRANT ALL ON *.* TO 'a'@'h' IDENTIFIED BY PASSWORD '", "'\n");
  sql("ALTER USER 'a'@'localhost' IDENTIFIED WITH mysql_native_password BY '", "';\n");
  sql("ALTER USER 'a' IDENTIFIED WITH 'caching_sha2_password' AS '", "';\n");
  sql("ALTER USER app WITH LOGIN ENCRYPTED PASSWORD '", "' VALID UNTIL 'infinity';\n");
  sql("create role app login password '", "';\n");
  sql("CREATE LOGIN app WITH PASSWORD = N'", "';\n");
  sql("ALTER LOGIN app WITH PASSWORD='", "';\n");
  out.push_back({"a password in SQL without quotes",
                 [](lots& from) { return specimen{"ALTER USER scott IDENTIFIED BY ", from.alnum(11), ";\n"}; }});
  for (const auto* switches : {"-u ", "-sSu ", "-u", "--user ", "--proxy-user=", "-X POST -H 'A: b' \\\n  -u "}) {
    out.push_back({"a password for curl", [switches](lots& from) {
                     return specimen{"curl " + std::string(switches) + "bob:", from.alnum(12), " https://h.example/\n"};
                   }});
  }
  out.push_back({"a password for curl in quotes", [](lots& from) {
                   return specimen{"curl -s https://h.example/ -u 'bob:", from.password(12, "'\"`\\<>$@{}|"), "'\n"};
                 }});
  return out;
}

std::vector<secret_shape> make_cookies() {
  std::vector<secret_shape> out;
  const auto cookie = [&out](std::string before, std::size_t count, std::string after) {
    out.push_back(token("a cookie of a session", std::move(before), &lots::word, count, std::move(after)));
  };
  cookie("Cookie: theme=dark; sessionid=", 32, "; lang=en\r\n");
  cookie("Set-Cookie: __Host-session=", 40, "; Path=/; Secure; HttpOnly\r\n");
  cookie(R"({"Set-Cookie": "app_session=)", 40, R"(; Path=/"})");
  cookie("curl --cookie 'sid=", 40, "' https://h.example/\n");
  cookie("PHPSESSID=", 26, "; x=1\n");
  cookie("https://h.example/a;jsessionid=", 32, "?x=1\n");
  cookie("JSESSIONID=", 32, "\n");
  cookie("_session_id=", 32, "\n");
  out.push_back({"a cookie of Express",
                 [](lots& from) { return specimen{"connect.sid=s%3A", from.word(32) + "." + from.base64(43), "; x=1\n"}; }});
  out.push_back({"a cookie of Laravel",
                 [](lots& from) { return specimen{"laravel_session=", "eyJpdiI6" + from.alnum(200) + "%3D", "; x=1\n"}; }});
  return out;
}

}  // namespace

der_key draw_der_key(lots& from, std::size_t number_of_kind) {
  const auto zero = "\x02\x01\x00"sv;
  const auto one = "\x02\x01\x01"sv;
  switch (number_of_kind) {
    case 0:  // PKCS#8
      return whole(std::string(zero) + element('\x30', rsa), element('\x04', bytes(from, 1190)));
    case 1:
      return whole(std::string(zero) + element('\x30', ed25519), element('\x04', element('\x04', bytes(from, 32))));
    case 2:  // PKCS#1
      return whole(zero, number(from, 256) + element('\x02', "\x01\x00\x01"sv) + number(from, 256) + number(from, 128) +
                             number(from, 128) + number(from, 128) + number(from, 128) + number(from, 128));
    case 3:  // SEC 1
      return whole(
          one, element('\x04', bytes(from, 32)) + element('\xA0', p256) + element('\xA1', element('\x03', bytes(from, 66))));
    case 4:
      return whole(one, element('\x04', bytes(from, 48)));
    case 5:  // encrypted
      return whole(element('\x30', std::string(pbes2) + element('\x30', bytes(from, 60))), element('\x04', bytes(from, 1200)));
    default:
      return whole(element('\x30', std::string(pkcs12_3des) + element('\x30', bytes(from, 14))),
                   element('\x04', bytes(from, 180)));
  }
}

std::vector<secret_shape> shapes_of_encodings() {
  std::vector<secret_shape> out;
  for (const auto& some : {make_keys(), make_tokens(), make_commands(), make_cookies()})
    out.insert(out.end(), some.begin(), some.end());
  return out;
}

}  // namespace hondana::test
