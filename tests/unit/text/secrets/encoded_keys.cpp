/// Private keys as bytes, in base64 and in JSON, and what is encoded likewise.
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include <hondana/value.hpp>

#include "base/json/base64.hpp"
#include "text/secrets/json_web_key.hpp"
#include "text/secrets/redactor.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace {

using namespace hondana;
using namespace std::string_view_literals;
using secrets::masking_policy;
using test::lots;

std::string shown(std::string text, masking_policy how = masking_policy::text) {
  secrets::redactor(how, {}).mask(text);
  return text;
}

std::string base64_of(std::string_view bytes) {
  std::string out;
  json::append_base64(out, bytes);
  return out;
}

TEST(keys_in_der, are_masked_behind_what_says_what_they_are) {
  for (std::size_t i = 0; i < test::der_key_count; ++i) {
    lots from(61);
    for (int draw = 0; draw < 50; ++draw) {
      const auto key = test::draw_der_key(from, i);
      auto stars = key.secret;
      for (char& byte : stars) byte = byte == '\n' || byte == '\r' || byte == '\0' ? byte : '*';
      for (const auto& [before, after] : {std::pair{"", ""}, {"\x01\x02\x30\x30", "\x30\x02"}, {"a text\n", "\nanother\n"}}) {
        const auto out = shown(before + key.front + key.secret + after);
        ASSERT_EQ(out, before + key.front + stars + after) << i;
        ASSERT_EQ(shown(out), out) << i;
      }
    }
  }
}

TEST(keys_in_der, are_masked_in_parts_as_in_the_whole) {
  lots from(71);
  const std::string filler(secrets::margin + 500, '\n');
  const secrets::redactor by(masking_policy::text, filler);
  for (std::size_t i = 0; i < test::der_key_count; ++i) {
    const auto key = test::draw_der_key(from, i);
    const auto text = filler + key.front + key.secret + filler;
    const auto whole = shown(text);
    for (auto at = filler.size(); at < text.size() - filler.size(); at += 41) {
      const auto begin = (at - by.margin_bytes()) / secrets::unit_bytes * secrets::unit_bytes;
      auto window = text.substr(begin, at + 20 + by.margin_bytes() - begin);
      by.mask_part(window, at - begin, at - begin + 20, true);
      ASSERT_EQ(window.substr(at - begin, 20), whole.substr(at, 20)) << i << " at " << at - filler.size();
    }
  }
}

TEST(keys_in_der, are_masked_where_they_are_cut_off) {
  for (std::size_t i = 0; i < test::der_key_count; ++i) {
    lots from(62);
    const auto key = test::draw_der_key(from, i);
    const auto half = key.secret.substr(0, key.secret.size() / 2 + 5);
    EXPECT_EQ(shown(key.front + half).find(half.substr(half.size() - 8)), std::string::npos) << i;
    const auto code = base64_of(key.front + half);
    EXPECT_EQ(shown("key=" + code + " cut").find(code.substr(code.size() - 12)), std::string::npos) << i;
    std::string none = key.front;
    EXPECT_EQ(secrets::redactor(masking_policy::text, {}).mask(none), 0u) << i;
  }
}

/// With so many bytes of content.
std::string der_of(char tag, std::string_view content) {
  std::string out{tag, '\x82', static_cast<char>(content.size() >> 8), static_cast<char>(content.size() & 0xFF)};
  return out + std::string(content);
}

TEST(keys_in_der, are_not_certificates_public_keys_requests_or_messages) {
  constexpr auto rsa = "\x30\x0D\x06\x09\x2A\x86\x48\x86\xF7\x0D\x01\x01\x01\x05\x00"sv;
  constexpr auto zero = "\x02\x01\x00"sv;
  constexpr auto one = "\x02\x01\x01"sv;
  constexpr auto three = "\x02\x01\x03"sv;
  constexpr auto name = "\x30\x0F\x31\x0D\x30\x0B\x06\x03\x55\x04\x03\x0C\x04host"sv;
  constexpr auto signed_data = "\x06\x09\x2A\x86\x48\x86\xF7\x0D\x01\x07\x02"sv;
  constexpr auto pbkdf2 = "\x06\x09\x2A\x86\x48\x86\xF7\x0D\x01\x05\x0C"sv;
  lots from(63);
  const auto drawn = from.alnum(400);
  const auto modulus = der_of('\x02', std::string(1, '\0') + from.alnum(256));
  const auto all_of = [](auto... parts) { return der_of('\x30', (std::string() + ... + std::string(parts))); };
  const std::vector<std::pair<std::string_view, std::string>> all{
      {"a certificate", all_of(all_of("\xA0\x03\x02\x01\x02"sv, one, rsa, name, drawn), rsa, der_of('\x03', drawn))},
      {"a public key", all_of(rsa, der_of('\x03', drawn))},
      {"a public key of PKCS#1", all_of(modulus, "\x02\x03\x01\x00\x01"sv)},
      {"a request", all_of(all_of(zero, name, all_of(rsa, der_of('\x03', drawn))), rsa, der_of('\x03', drawn))},
      {"an encrypted message", all_of(zero, all_of(signed_data, rsa, drawn))},
      {"a signed message", all_of(signed_data, der_of('\xA0', all_of(one, "\x31\x00"sv, drawn)))},
      {"two numbers", all_of(zero, modulus)},
      {"another version", all_of(three, rsa, der_of('\x04', drawn))},
      {"a request of SNMP", "\x30\x29\x02\x01\x01\x04\x14" + from.alnum(20) + "\xA0\x0E\x02\x04" + from.alnum(12)},
      {"parameters of a key", all_of(pbkdf2, der_of('\x04', drawn))}};
  for (const auto& [what, der] : all) {
    EXPECT_EQ(shown(der), der) << what;
    const auto code = "\"" + base64_of(der) + "\"\n";
    EXPECT_EQ(shown(code), code) << what;
  }
}

TEST(keys_in_base64, are_told_from_certificates_and_public_keys) {
  lots from(64);
  for (const std::string label : {"CERTIFICATE", "PUBLIC KEY", "RSA PUBLIC KEY", "CERTIFICATE REQUEST"}) {
    const auto pem = "-----BEGIN " + label + "-----\n" + from.lines(900) + "-----END " + label + "-----\n";
    for (const auto* junk : {"", "a", "bc"}) {
      const auto text = "    certificate-authority-data: " + base64_of(junk + pem) + "\n";
      EXPECT_EQ(shown(text, masking_policy::settings), text) << label;
    }
    auto escaped = pem;
    for (auto at = escaped.find(' '); at != std::string::npos; at = escaped.find(' ')) escaped.replace(at, 1, "%20");
    for (auto at = escaped.find('\n'); at != std::string::npos; at = escaped.find('\n')) escaped.replace(at, 1, "%0A");
    EXPECT_EQ(shown("cert=" + escaped), "cert=" + escaped) << label;
  }
  const auto about = base64_of("The first line is -----BEGIN PRIVATE KEY-----, the last one -----END PRIVATE KEY-----.");
  EXPECT_EQ(shown(about), about);
}

TEST(keys_in_base64, end_where_they_end) {
  lots from(65);
  const auto label = std::string("PRIVATE KEY-----\n");
  const auto pem = "-----BEGIN " + label + from.lines(704) + "-----END " + label;
  const auto certificate = "-----BEGIN CERTIFICATE-----\n" + from.lines(500) + "-----END CERTIFICATE-----\n";
  // Slashes as PHP has them, and a certificate behind the key.
  auto code = base64_of(pem + certificate);
  for (auto at = code.find('/'); at != std::string::npos; at = code.find('/', at + 2)) code.insert(at, 1, '\\');
  const auto out = shown("{\"key\":\"" + code + "\"}");
  EXPECT_TRUE(out.ends_with(code.substr(code.size() - 700) + "\"}")) << out;
  EXPECT_EQ(out.find(code.substr(60, 20)), std::string::npos);
  EXPECT_EQ(out.find(code.substr(700, 20)), std::string::npos);
  EXPECT_TRUE(value::parse(out));
}

TEST(keys_in_base64, are_masked_up_to_where_they_are_cut_off) {
  lots from(69);
  const auto code = base64_of("-----BEGIN " + std::string("PRIVATE KEY-----\n") + from.lines(640));
  for (std::size_t size = 400; size < 408; ++size)
    EXPECT_EQ(shown(code.substr(0, size) + " cut").substr(40), std::string(size - 40, '*') + " cut");
}

TEST(keys_in_base64, are_masked_in_patches) {
  lots from(70);
  const auto label = std::string("PRIVATE KEY-----\n");
  const auto pem = "-----BEGIN " + label + from.lines(640) + "-----END " + label;
  const auto key = test::draw_der_key(from, 2);
  for (const auto& plain : {pem, key.front + key.secret}) {
    const auto code = base64_of(plain);
    for (const std::string sign : {"+", "-"}) {
      std::string text;
      std::size_t shown_digits = 0;
      for (std::size_t at = 0; at < code.size(); at += 76) text += sign + code.substr(at, 76) + "\n";
      const auto out = shown("@@ -1 +1 @@\n" + text + sign + "rest: 1\n");
      for (std::size_t at = 76; at + 152 < code.size(); at += 76)
        shown_digits += out.find(code.substr(at, 76)) != std::string::npos;
      EXPECT_EQ(shown_digits, 0u) << out;
      EXPECT_TRUE(out.ends_with("\n" + sign + "rest: 1\n")) << out;
    }
  }
}

TEST(web_keys, have_all_their_private_members_masked_and_nothing_else) {
  lots from(66);
  const auto plain = [&from](std::string_view name, std::size_t count) {
    return "\"" + std::string(name) + "\": \"" + from.word(count) + "\", ";
  };
  std::string text = "{\"keys\": [{";
  auto wanted = text;
  const auto add = [&](std::string_view name, std::size_t count, bool is_secret) {
    const auto member = plain(name, count);
    text += member;
    wanted += is_secret ? "\"" + std::string(name) + "\": \"" + std::string(count, '*') + "\", " : member;
  };
  const auto copy = [&](std::string_view same) {
    text += same;
    wanted += same;
  };
  // In the order of some generators: most of it stands before `kty`.
  add("p", 171, true);
  add("q", 171, true);
  add("n", 342, false);
  copy(R"("use": "sig", "key_ops": ["sign", "d"], "x5c": ["MIIC", "d"], "kty": "RSA", )");
  add("d", 342, true);
  add("dp", 171, true);
  add("dq", 171, true);
  add("qi", 171, true);
  copy("\"oth\": [{");
  add("r", 43, true);
  add("t", 43, true);
  copy("\"d\": \"\"}], ");
  add("k", 43, false);
  copy("\"e\": \"AQAB\"}, {\"kty\": \"oct\", ");
  add("d", 43, false);
  add("k", 43, true);
  copy("\"alg\": \"HS256\"}, {");
  add("d", 43, false);
  copy("\"kid\": \"kty\"}]}");
  const auto in_json = [](const std::string& inner) { return value(value::object{{"text", inner}}).to_text(); };
  EXPECT_EQ(shown(text), wanted);
  EXPECT_EQ(shown(in_json(text)), in_json(wanted));
  EXPECT_EQ(shown(in_json(in_json(text))), in_json(in_json(wanted)));
  const std::string far(70'000, ' ');
  EXPECT_EQ(shown(far + text + far), far + wanted + far);
}

TEST(web_keys, are_objects_with_a_type_that_is_known) {
  lots from(67);
  const auto word = from.word(43);
  for (const auto& text : std::vector<std::string>{
           "{\"crv\":\"P-256\",\"d\":\"" + word + "\"}",
           "{\"kty\":\"EC\",\"x\":\"" + word + "\",\"meta\":{\"d\":\"" + word + "\"}}",
           "{\"d\":\"" + word + "\",\"jwk\":{\"kty\":\"EC\"}}", "{\"kty\":\"path\",\"d\":\"" + word + "\"}",
           "{\"kty\":{\"type\":\"string\"},\"d\":\"" + word + "\"}", "\"kty\",\"EC\",\"d\":\"" + word + "\"",
           "{\"ktype\":\"EC\",\"d\":\"" + word + "\"}", std::string("{\"kty\":\"EC\",\"d\":\"<private>\"}"),
           std::string("{\"kty\":\"EC\",\"d\":\"a path\"}"), std::string("\"kty\""), std::string("\"kty\":\"")})
    EXPECT_EQ(shown(text), text);
}

// attacks: secrets (keys in other encodings)
TEST(web_keys, are_masked_in_blocks_of_yaml) {
  lots from(71);
  const auto word = from.word(43);
  // `%` stands for a private number, `@` for another.
  for (const std::string pattern :
       {"kty: OKP\ncrv: Ed25519\nd: %\nx: @\n", "- d: %\n  kty: EC\n  x: @\n- kid: a\n  d: @\n",
        "d: @\njwk:\n  'd': '%'\n\n# a key\n  'kty': 'EC'\n  k: @\nd: @\n",
        "keys:\n  - kty: RSA\n    n: @\n    d: !!str\n      %\n    oth:\n    - r: %\n      t: \"%\"\n    dp: >-\n      %\n     "
        " %\n"
        "    e: AQAB # d: @\n  - kty: oct\n    k: % # @\n    d: @\n",
        "a:\r\n  d: @\r\nb:\r\n  \"p\" : \"%\"\r\n  \"kty\" : \"RSA\"\r\n", "d: @\n---\nkty: EC\nd: %\n---\nd: @\n",
        "kty: path\nd: @\n", "mykty: EC\nd: @\n", "kty:EC\nd: @\n", "x: kty: EC\nd: @\n", "kty: EC\nx: @\nmeta:\n  d: @\n",
        "d: %\nx: \"@kty\"\nkty: EC\n"}) {
    std::string text;
    std::string wanted;
    for (const char c : pattern) {
      text += c == '%' || c == '@' ? word : std::string(1, c);
      wanted += c == '%' ? std::string(word.size(), '*') : c == '@' ? word : std::string(1, c);
    }
    EXPECT_EQ(shown(text, masking_policy::settings), wanted);
  }
}

TEST(web_keys, are_masked_as_values_of_json) {
  const value key(value::object{{"kty", "RSA"},
                                {"d", "abc"},
                                {"oth", value::array{value::object{{"r", "xy"}}}},
                                {"n", "abc"},
                                {"inner", value::object{{"d", "abc"}}}});
  const value wanted(value::object{{"kty", "RSA"},
                                   {"d", "***"},
                                   {"oth", value::array{value::object{{"r", "**"}}}},
                                   {"n", "abc"},
                                   {"inner", value::object{{"d", "abc"}}}});
  EXPECT_EQ(secrets::redact_value(key, masking_policy::text), wanted);
  EXPECT_EQ(secrets::redact_value(key, masking_policy::none), key);
  EXPECT_TRUE(secrets::is_private_member("oct", "k"));
  EXPECT_FALSE(secrets::is_private_member("oct", "d"));
  EXPECT_FALSE(secrets::is_private_member("EC", "x"));
}

TEST(cookies, of_sessions_are_masked_among_others) {
  lots from(68);
  const auto one = from.alnum(32);
  const auto two = from.alnum(20);
  const std::string stars(32, '*');
  const std::string fewer(20, '*');
  EXPECT_EQ(shown("Cookie: lang=" + two + "; sessionid=" + one + "; csrftoken=" + one + "; theme=" + one + "\r\nsid=" + one),
            "Cookie: lang=" + two + "; sessionid=" + stars + "; csrftoken=" + stars + "; theme=" + one + "\r\nsid=" + one);
  EXPECT_EQ(shown(R"("set-cookie": ["a=)" + two + R"(; Path=/", "session=)" + two + R"(; Secure"])"),
            R"("set-cookie": ["a=)" + two + R"(; Path=/", "session=)" + fewer + R"(; Secure"])");
  // One that goes on behind what is looked at is masked to its end.
  const auto longest = from.alnum(3000);
  EXPECT_EQ(shown("Cookie: session=" + longest + "; a=b"), "Cookie: session=" + std::string(3000, '*') + "; a=b");
  for (const auto& text : std::vector<std::string>{"Cookie: theme=" + one, "Set-Cookie: consent=" + one + "; Path=/",
                                                   "Cookie: session=deleted; Path=/", "A cookie sessionid=" + one,
                                                   "cookie.session=" + one, "Cookie: session=${SESSION_ID}", "Cookie: session"})
    EXPECT_EQ(shown(text), text);
}

}  // namespace
