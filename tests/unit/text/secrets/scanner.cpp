/// Every shape of secret, everything that looks like one, and the same through every window.
#include "text/secrets/scanner.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "text/secrets/anchor_search.hpp"
#include "text/secrets/provider_tokens.hpp"
#include "text/secrets/redactor.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace {

using namespace hondana;
using secrets::masking_policy;
using secrets::redactor;
using test::lots;

std::string masked(std::string text, masking_policy how = masking_policy::text) {
  redactor(how, {}).mask(text);
  return text;
}

TEST(the_redactor, masks_every_shape_of_secret_and_nothing_around_it) {
  EXPECT_GE(test::secret_shapes().size(), 60u);
  for (const auto& shape : test::secret_shapes()) {
    lots from(7);
    for (int draw = 0; draw < 200; ++draw) {
      const auto one = shape.draw(from);
      ASSERT_EQ(masked(one.text(), shape.how), one.masked()) << shape.name;
    }
  }
}

TEST(the_redactor, masks_secrets_wherever_they_stand) {
  struct surroundings {
    std::string_view before;
    std::string_view after;
  };
  // What follows must not be a part of the secret, as it would be behind a cut-off key.
  constexpr surroundings all[] = {{"\n", "\n\n"},
                                  {"A sentence: ", "\n and so on."},
                                  {"x=\"", "\"\n"},
                                  {"\xEF\xBB\xBF", "\n"},
                                  {"{\"a\":\"\\n", "\"}"},
                                  {"日本語 ", " 日本語"},
                                  {"\x1b[31m", "\x1b[0m"},
                                  {"<td>", "</td>"},
                                  {"`", "`"},
                                  {"(", ")"}};
  for (const auto& shape : test::secret_shapes()) {
    lots from(9);
    for (const auto& around : all) {
      const auto one = shape.draw(from);
      const auto text = std::string(around.before) + one.text() + std::string(around.after);
      const auto whole = masked(text, shape.how);
      EXPECT_EQ(whole.find(one.secret), std::string::npos) << shape.name << " in " << around.before;
      EXPECT_EQ(whole.size(), text.size());
      if (!one.after.empty()) {
        EXPECT_EQ(whole, std::string(around.before) + one.masked() + std::string(around.after)) << shape.name;
      }
    }
  }
}

TEST(the_redactor, leaves_what_only_looks_like_a_secret) {
  std::size_t alarms = 0;
  std::size_t all = 0;
  std::map<std::string_view, std::size_t> by_name;
  for (const auto& one : test::look_alikes()) {
    lots from(11);
    for (int draw = 0; draw < 100; ++draw) {
      const auto text = one.draw(from);
      ++all;
      if (masked(text, one.how) == text) continue;
      ++alarms;
      if (by_name[one.name]++ == 0)
        ADD_FAILURE_AT(__FILE__, __LINE__) << one.name << ": " << masked(text, one.how).substr(0, 300);
    }
  }
  EXPECT_LT(alarms * 20, all);
}

/// All shapes in one text, with prose between.
std::string anthology(std::uint64_t seed) {
  lots from(seed);
  std::string text = "Begin.\n";
  for (const auto& shape : test::secret_shapes()) {
    if (shape.how != masking_policy::text) continue;
    text += shape.draw(from).text() + "\n\nThen there is some prose, with 日本語 in it.\n";
  }
  return text;
}

TEST(the_redactor, finds_in_a_part_with_its_surroundings_what_it_finds_in_the_whole) {
  lots from(3);
  const auto prose = from.of("abcdefgh ijkl\n", 70'000) + "\n";
  for (const auto& shape : test::secret_shapes()) {
    const auto one = shape.draw(from);
    const auto text = prose + one.text() + "\n\nThe next.\n" + prose;
    const redactor by(shape.how, text);
    const auto whole = masked(text, shape.how);
    ASSERT_EQ(whole.substr(prose.size(), one.text().size()), one.masked()) << shape.name;
    // Parts that begin before, in and behind the secret, each with what decides about it and nothing else.
    const auto last = prose.size() + one.text().size() + 20;
    for (std::size_t at = prose.size() - 20; at < last; at += one.secret.size() > 200 ? 13 : 1) {
      const std::size_t size = at % 2 == 0 ? 1 : 37;
      const auto begin = at - by.margin_bytes();
      auto window = text.substr(begin, size + 2 * by.margin_bytes());
      by.mask_part(window, at - begin, at - begin + size, true);
      ASSERT_EQ(window.substr(at - begin, size), whole.substr(at, size)) << shape.name << " at " << at - prose.size();
    }
  }
}

TEST(the_redactor, decides_by_the_same_bytes_when_others_are_far_away) {
  lots from(5);
  std::string text;
  for (int i = 0; i < 4; ++i) {
    text += anthology(static_cast<std::uint64_t>(20 + i));
    text += from.of("abcdefgh ijkl\n", 70'000);
  }
  const auto whole = masked(text);
  const redactor by(masking_policy::text, text);
  for (std::size_t at = 0; at < text.size(); at += 4096 + from.below(999)) {
    const auto begin = at - std::min(at, by.margin_bytes());
    auto window = text.substr(begin, at - begin + 5000 + by.margin_bytes());
    by.mask_part(window, at - begin, at - begin + 5000, true);
    ASSERT_EQ(window.substr(at - begin, 5000), whole.substr(at, 5000)) << at;
  }
}

TEST(the_redactor, keeps_line_ends_in_keys) {
  lots from(1);
  const auto one = test::secret_shapes().front().draw(from);
  const auto out = masked(one.text());
  EXPECT_EQ(std::count(out.begin(), out.end(), '\n'), std::count(one.before.begin(), one.before.end(), '\n') +
                                                          std::count(one.secret.begin(), one.secret.end(), '\n') +
                                                          std::count(one.after.begin(), one.after.end(), '\n'));
}

TEST(the_redactor, looks_at_settings_only_where_it_is_told_to) {
  lots from(2);
  const auto text = "DB_PASSWORD=" + from.alnum(12) + "1!\n";
  EXPECT_EQ(masked(text, masking_policy::text), text);
  EXPECT_NE(masked(text, masking_policy::settings), text);
  const auto token = "ghp_" + from.alnum(36);
  EXPECT_EQ(masked(token, masking_policy::none), token);
  // An old key of Airtable, which only its name gives away.
  const auto key = "key" + from.alnum(12) + from.digits(2);
  EXPECT_EQ(masked("AIRTABLE_API_KEY=" + key + "\n", masking_policy::settings),
            "AIRTABLE_API_KEY=" + std::string(17, '*') + "\n");
  EXPECT_EQ(masked("AIRTABLE_API_KEY=" + key + "\n", masking_policy::text), "AIRTABLE_API_KEY=" + key + "\n");
}

TEST(the_redactor, masks_passwords_that_are_like_references_only_in_part) {
  for (const auto* password :
       {"!QAZ2wsx#EDC4rfv", "@Winter2024!x9", "$uperS3cret99x", "Tr0ub4dor(3)xyz", "Summer(2024)", "*7fkq02ZmQp",
        "&9Kd,e;f&gh2", "{Zq81}kfPw02", "/aB3xY9/qR7tU1", "~Zq81kfPw02mx", "<Zq81>kfPw02", "ab${c}D3fg9"}) {
    const std::string stars(std::string_view(password).size(), '*');
    EXPECT_EQ(masked(std::string("DB_PASSWORD=") + password + "\n", masking_policy::settings), "DB_PASSWORD=" + stars + "\n");
    EXPECT_EQ(masked(std::string("export DB_PASSWORD=") + password + "\n", masking_policy::settings),
              "export DB_PASSWORD=" + stars + "\n");
    EXPECT_EQ(masked(std::string("{\"password\": \"") + password + "\"}", masking_policy::settings),
              "{\"password\": \"" + stars + "\"}");
  }
  for (const auto* password : {"$uperS3cret99x", "*7fkq02ZmQp", "%Zq81kfPw02", "{Zq81}kfPw02", "[Zq81kfPw02"}) {
    const std::string stars(std::string_view(password).size(), '*');
    EXPECT_EQ(masked(std::string("postgres://app:") + password + "@db/x"), "postgres://app:" + stars + "@db/x");
  }
}

TEST(the_redactor, masks_plain_words_where_names_say_that_they_are_passwords) {
  EXPECT_EQ(masked("spring.datasource.password = Sunshine\n", masking_policy::settings),
            "spring.datasource.password = ********\n");
  EXPECT_EQ(masked("db.passwd=sunshine\n", masking_policy::settings), "db.passwd=********\n");
  EXPECT_EQ(masked(R"({"jwt.secret": "supersecretive"})", masking_policy::settings), R"({"jwt.secret": "**************"})");
  for (const auto* text :
       {"auth.token = Sunshine\n", "api.key=Sunshine\n", "app.pass = sunshine\n", "db.password = required\n"})
    EXPECT_EQ(masked(text, masking_policy::settings), text);
}

TEST(the_redactor, masks_settings_that_are_called_passwords_in_other_languages) {
  lots from(44);
  for (const std::string name : {"passwort",
                                 "db_kennwort",
                                 "Geheimnis",
                                 "PRIVATER_SCHLUESSEL",
                                 "privater_schlüssel",
                                 "mot_de_passe",
                                 "MOT_DE_PASSE_DB",
                                 "motDePasse",
                                 "motdepasse",

                                 "clé_secrète",
                                 "cle_privee",
                                 "clé_privée",
                                 "contraseña",
                                 "CONTRASEÑA",
                                 "contrasena",
                                 "clave_secreta",
                                 "clave_privada",
                                 "chiave_privata",
                                 "segreto",
                                 "senha",
                                 "senha_banco",
                                 "segredo",
                                 "wachtwoord",
                                 "geheime_sleutel",
                                 "lösenord",
                                 "losenord",
                                 "hasło",
                                 "HASŁO",
                                 "haslo",
                                 "пароль",
                                 "ПАРОЛЬ",
                                 "пароль_бд",
                                 "パスワード",
                                 "DBパスワード",
                                 "パスフレーズ",
                                 "暗証番号",
                                 "秘密鍵",
                                 "密码",
                                 "密碼",
                                 "口令",
                                 "密钥",
                                 "私钥",
                                 "비밀번호",
                                 "암호",
                                 "비밀키",
                                 "개인키",
                                 "Kennwörter",
                                 "passwoerter"}) {
    const auto secret = from.alnum(10) + "q7K-1";
    const std::string stars(secret.size(), '*');
    EXPECT_EQ(masked("a: 1\n" + name + ": " + secret + "\n", masking_policy::settings), "a: 1\n" + name + ": " + stars + "\n");
    EXPECT_EQ(masked(name + "=" + secret + "\n", masking_policy::settings), name + "=" + stars + "\n");
    EXPECT_EQ(masked("{\"" + name + "\": \"" + secret + "\"}", masking_policy::settings),
              "{\"" + name + "\": \"" + stars + "\"}");
    EXPECT_EQ(masked(name + "=" + secret + "\n", masking_policy::text), name + "=" + secret + "\n");
  }
  const auto secret = from.alnum(10) + "q7K-1";
  const std::string sentence = "12:00 接続に失敗しましたので次の設定を確認してください、データベースのユーザーとパスワード: ";
  EXPECT_EQ(masked(sentence + secret + "\n", masking_policy::settings), sentence + std::string(secret.size(), '*') + "\n");
  for (const std::string name : {"clave", "sleutel", "schlüssel", "clé", "passeport", "resenha", "contraste", "ключ", "パス",
                                 "パスワード長", "公開鍵", "密码学", "암호화", "번호", "пароль_длина", "passwort_datei"})
    EXPECT_EQ(masked(name + ": " + secret + "\n", masking_policy::settings), name + ": " + secret + "\n");
  for (const std::string text : {"passwort: erforderlich\n", "mot_de_passe: ${MOT_DE_PASSE_2}\n", "senha=\n",
                                 "contraseña: <su contraseña 1>\n", "密码: /run/secrets/db1\n", "пароль: changeme\n"})
    EXPECT_EQ(masked(text, masking_policy::settings), text);
}

TEST(the_redactor, masks_what_has_right_check_digits_however_it_looks) {
  // The CRC-32 of thirty times the same, in base 62.
  std::string body(30, 'A');
  EXPECT_FALSE(secrets::has_check_digits(body + "000000"));
  const auto plain = "ghp_" + std::string(36, 'A') + "\n";
  EXPECT_EQ(masked(plain), plain);
  lots from(4);
  for (int i = 0; i < 50; ++i) {
    const auto one = test::secret_shapes().at(14).draw(from);
    ASSERT_EQ(one.before, "ghp_");
    EXPECT_TRUE(secrets::has_check_digits(one.secret)) << one.secret;
  }
}

/// Texts made to be slow: fronts of tokens one after the other, in runs that each of them would have to measure.
constexpr std::array slow_texts{"-eyJa",
                                "eyJa.eyJa.",
                                "-glpat-",
                                "-sk-a",
                                "http://a:b/",
                                "a://b:",
                                "a://",
                                "AccountKey=",
                                "authorization=",
                                "authorization: Bearer a",
                                "-----BEGIN PRIVATE KEY-----\n",
                                "-----BEGIN PRIVATE KEY-----\nAAAA",
                                "Private-Lines:\n",
                                "Private-Lines:",
                                "xoxb-",
                                "&sig=",
                                "pass=",
                                "pwd=",
                                ";pwd=a",
                                "password=\"",
                                "passpass",
                                "<password>",
                                "pw=",
                                "pw>",
                                "pass=$",
                                "pass=${",
                                "pass=${A:",
                                "pass=$(",
                                "pass=a('",
                                "pass={{",
                                "pass=[",
                                "pwd={",
                                "token=${",
                                "${pw:",
                                "key_base=",
                                "<password ",
                                "<pwd>",
                                "password value=",
                                "login a password ",
                                "\nh:5432:a:b:",
                                ":$2y$05$",
                                "ENV pw ",
                                "secret.token.",
                                "----",
                                "SG.a",
                                "--- BEGIN PRIVATE KEY----x",
                                "---- BEGIN PRIVATE KEY----x",
                                "Subject: Private-Lines:\n",
                                "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0t",
                                "LS0tLS1CRUdJTiBQUklWQVRFIEtFWS0tLS0tCk1J\n",
                                "-----BEGIN%20PRIVATE%20KEY-----%0A",
                                "\nMIIf/wIBADANBgkqhkiG9w0BAQEFAASC",
                                "\n-MIIf/wIBADANBgkqhkiG9w0BAQEFAASC",
                                "\nMIIE",
                                " MIIE",
                                "pw: !1 ",
                                "pwd: !",
                                "pwd: !! ",
                                "\"kty\":\"RSA\",\"d\":\"a\",",
                                "{\"kty\":",
                                "kty: ",
                                "kty: EC\n",
                                "kty: EC\nd: abc\n",
                                "- kty: EC\n",
                                "\"kty\": ",
                                "\"\"kty\":\"EC\"",
                                "Cookie:sid=",
                                "cookie: session=a;",
                                "IDENTIFIED BY '",
                                "create user IDENTIFIED BY a ",
                                "alter user a password '",
                                "curl -u ",
                                "curl -u a:b",
                                "passwort: ",
                                "\xE5\xAF\x86\xE7\xA0\x81",
                                "\xE5\xAF\x86\xE7\xA0\x81=a"};

std::string repeated(std::string_view what, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += what;
  return text;
}

TEST(the_redactor, looks_at_no_more_than_so_many_bytes_for_each_byte_of_a_text) {
  EXPECT_EQ(secrets::max_steps_per_byte, 512u);
  std::vector<secrets::span> found;
  for (const auto* what : slow_texts) {
    for (const std::size_t bytes : {std::size_t{8192}, std::size_t{262'144}}) {
      const auto text = repeated(what, bytes);
      const auto steps = secrets::find(text, masking_policy::settings, found);
      EXPECT_LT(steps, 300 * text.size()) << what;
    }
  }
  // Keys whose end is far away share no byte of what is between.
  EXPECT_LT(secrets::find(repeated("--- BEGIN PRIVATE KEY----x", 60'000) + "\n-----END PRIVATE KEY-----\n",
                          masking_policy::text, found),
            600'000u);
  // What is counted is what is done: twice the text, twice the steps.
  const auto one = secrets::find(repeated("pwd=", 20'000), masking_policy::settings, found);
  EXPECT_GT(one, 20'000u);
  const auto two = secrets::find(repeated("pwd=", 40'000), masking_policy::settings, found);
  EXPECT_GT(two * 10, one * 19);
  EXPECT_LT(two * 10, one * 21);
}

TEST(the_redactor, masks_what_is_longer_than_it_looks_at_to_its_end) {
  lots from(43);
  const auto body = from.alnum(3000) + "1";
  const std::string stars(body.size(), '*');
  for (const auto* front : {"DB_PASSWORD=", "client_secret: \"", "postgres://app:", "xoxb-", "https://a.example/?sig=",
                            "Authorization: Bearer ", "Server=db;Password=", "{\"apiKey\": \"", "export API_TOKEN='"}) {
    const auto text = front + body + "@\"' rest of it\n";
    const auto out = masked(text, masking_policy::settings);
    EXPECT_EQ(out.substr(0, std::string_view(front).size() + stars.size()), front + stars) << front;
    EXPECT_TRUE(out.ends_with("' rest of it\n")) << out.substr(3000);
  }
}

TEST(the_search_for_anchors, finds_the_same_with_vectors_and_without) {
  std::vector<secrets::anchor_pattern> narrow{"abcd", "[ab][cd]..", "[a-f]://", "----", "dcba",
                                              "0123", "[0-3]x a",   "ffff",     "a:b/"};
  std::vector<secrets::anchor_pattern> wide = narrow;
  wide.push_back("[\x80-\xFF][0-9]x ");
  const std::vector<std::string> spelled{"abcd",
                                         "bd..",
                                         "e://",
                                         "-----",
                                         "dcba",
                                         "0123",
                                         "2x a",
                                         "ffff",
                                         "a:b/",
                                         "\xC3"
                                         "3x "};
  for (const auto& anchors : {narrow, wide}) {
    const secrets::anchor_search search(anchors);
    lots from(6);
    std::size_t found = 0;
    for (int round = 0; round < 600; ++round) {
      std::string text;
      for (auto left = from.below(60); left != 0; --left) {
        text += from.of("abcdef:/-. 0123x\x80\xC3\xFF", from.below(6));
        if (from.below(3) == 0) text += spelled[from.below(spelled.size())];
      }
      // What has a NUL is no text, and is searched in another way.
      if (round % 2 != 0) text.insert(from.below(text.size() + 1), 1, '\0');
      std::vector<secrets::candidate> one;
      std::vector<secrets::candidate> other;
      search.find(text, one);
      search.find_portable(text, other);
      ASSERT_EQ(one, other) << text;
      found += one.size();
    }
    EXPECT_GT(found, 600u);
  }
  const secrets::anchor_search search(narrow);
  std::vector<secrets::candidate> found;
  search.find("xabcd", found);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found.front().position, 1u);
}

}  // namespace
