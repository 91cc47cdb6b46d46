/// What keys and command lines say is secret: it is hidden in trees and in their texts, and nothing else is.
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "text/located/format.hpp"
#include "text/located/masking.hpp"
#include "text/located/node.hpp"
#include "text/secrets/scanner.hpp"
#include "unit/text/secrets/corpus.hpp"

namespace {

using namespace hondana;
using located::config_format;
using located::mask_secrets;

std::string json_shown(config_format how, const std::string& text) {
  auto read = located::read(how, text);
  if (!read) return read.error().public_text;
  mask_secrets(*read, text);
  return located::json_text(read->root);
}

/// The text with what is masked in its tree masked.
std::string text_shown(config_format how, std::string text) {
  auto read = located::read(how, text);
  if (!read) return read.error().public_text;
  std::vector<secrets::span> in_text;
  mask_secrets(*read, text, in_text);
  for (const auto& one : in_text) text.replace(one.begin, one.end - one.begin, one.end - one.begin, '*');
  return text;
}

std::string stars_of(std::string_view what) { return std::string(what.size(), '*'); }

TEST(texts_masked_by_keys, are_masked_in_all_lines_of_a_value) {
  test::lots from(20);
  const auto one = from.alnum(6);
  const auto other = from.alnum(7);
  const auto two = stars_of(one) + "\n" + stars_of(other);
  for (const std::string quote : {"\"", "'"}) {
    EXPECT_EQ(text_shown(config_format::dotenv, "A=1\nMULTI_SECRET=" + quote + one + "\n" + other + quote + "\nB=2\n"),
              "A=1\nMULTI_SECRET=" + quote + two + quote + "\nB=2\n");
    EXPECT_EQ(text_shown(config_format::yaml, "password2: " + quote + one + "\n  " + other + quote + "\nb: 2\n"),
              "password2: " + quote + stars_of(one) + "\n  " + stars_of(other) + quote + "\nb: 2\n");
  }
  EXPECT_EQ(text_shown(config_format::toml, "token = \"\"\"\n" + one + "\n" + other + "\"\"\"\nb = 2\n"),
            "token = \"\"\"\n" + two + "\"\"\"\nb = 2\n");
  EXPECT_EQ(text_shown(config_format::properties, "db.password = " + one + "\\\n    " + other + "\nb = 2\n"),
            "db.password = " + stars_of(one) + "\\\n    " + stars_of(other) + "\nb = 2\n");
}

// attacks: secrets (a value that is given again)
TEST(texts_masked_by_keys, are_masked_where_they_are_given_again) {
  test::lots from(22);
  const auto one = from.alnum(9);
  const auto stars = stars_of(one);
  const std::vector<std::pair<config_format, std::string>> all = {
      {config_format::dotenv, "API_TOKEN=@\nAPI_TOKEN=other\n"},
      {config_format::properties, "db.token=@\ndb.token=x\n"},
      {config_format::ini, "[a]\ntoken = @\ntoken = other\n"},
      {config_format::ini, "[a]\ntoken = @\n[b]\nx = 1\n[a]\ntoken = other\n"},
      {config_format::json, R"({"password":"@","password":"x"})"},
      {config_format::json, R"({"a":[1,{"password":["@",{"b":"@"}],"password":"x"}],"a":2})"},
      {config_format::json, R"({"password":"@","password":"@","password":3,"z":1})"},
      {config_format::yaml, "password:\n  - @\npassword: x\n"},
      {config_format::yaml, "a:\n  password: {b: @}\n  password: x\n"},
      {config_format::yaml, "db:\n  password: x\n  <<:\n    password: @\n"},
      {config_format::yaml, "db: {password: x, <<: {password: {b: @}}}\n"},
      {config_format::yaml, "db:\n  <<: [{password: x}, {password: [@, @]}]\n"},
      {config_format::yaml, "db:\n  <<: {password: {b: @}, password: x}\n  user: y\n"},
      {config_format::systemd, "[Service]\nExecStart=/bin/x --token @\nExecStart=\nExecStart=/bin/y\n"}};
  for (const auto& [how, pattern] : all) {
    auto text = pattern, wanted = pattern;
    for (auto at = text.find('@'); at != text.npos; at = text.find('@')) text.replace(at, 1, one);
    for (auto at = wanted.find('@'); at != wanted.npos; at = wanted.find('@')) wanted.replace(at, 1, stars);
    const auto shown = text_shown(how, text);
    EXPECT_EQ(shown.find(one), std::string::npos) << shown;
    EXPECT_NE(shown.find(stars), std::string::npos) << shown;
    EXPECT_EQ(json_shown(how, text).find(one), std::string::npos);
  }
}

// attacks: secrets (a tag that switches masking off)
TEST(texts_masked_by_keys, tags_of_yaml_leave_names_alone_as_they_are) {
  test::lots from(23);
  const auto one = from.alnum(9) + "#v2";
  for (const std::string tag : {"!unsafe", "!Sub", "!<tag:yaml.org,2002:str>", "!!str", "!", "!Ref", "!secret", "!vault"}) {
    for (const std::string quote : {"", "'", "\""}) {
      const auto text = "password: " + tag + " " + quote + one + quote + "\n";
      const auto shown = text_shown(config_format::yaml, text);
      EXPECT_EQ(shown, "password: " + tag + " " + quote + stars_of(one) + quote + "\n");
    }
  }
  for (const std::string named :
       {"!Ref DbPassword", "!secret wifi_password", "!ImportValue stack-DbPassword", "!env_var DB_PASSWORD"})
    EXPECT_EQ(text_shown(config_format::yaml, "password: " + named + "\n"), "password: " + named + "\n");
}

// attacks: secrets (keys in other encodings)
TEST(trees_masked_by_keys, hide_private_members_of_web_keys) {
  test::lots from(27);
  const auto one = from.word(9);
  const auto stars = stars_of(one);
  EXPECT_EQ(text_shown(config_format::yaml, "jwk:\n  d: " + one + "\n  x: " + one + "\n  kty: EC\nd: " + one + "\n"),
            "jwk:\n  d: " + stars + "\n  x: " + one + "\n  kty: EC\nd: " + one + "\n");
  EXPECT_EQ(text_shown(config_format::toml, "[jwk]\nkty = 'oct'\nk = '" + one + "'\nd = '" + one + "'\n"),
            "[jwk]\nkty = 'oct'\nk = '" + stars + "'\nd = '" + one + "'\n");
  EXPECT_EQ(json_shown(config_format::json, R"({"kty":"RSA","oth":[{"r":")" + one + R"("}],"n":")" + one + "\"}"),
            R"({"kty":"RSA","oth":[{"r":")" + stars + R"("}],"n":")" + one + "\"}");
}

TEST(trees_masked_by_keys, hide_passwords_by_names_of_other_languages) {
  test::lots from(28);
  const auto one = from.alnum(6);
  for (const std::string name :
       {"contraseña", "mot de passe", "Passwort", "senha", "wachtwoord", "hasło", "пароль", "パスワード", "密码", "비밀번호"}) {
    EXPECT_EQ(text_shown(config_format::yaml, "a: " + one + "\n" + name + ": " + one + "\n"),
              "a: " + one + "\n" + name + ": " + stars_of(one) + "\n");
  }
  EXPECT_EQ(json_shown(config_format::json, R"({"\u30d1\u30b9\u30ef\u30fc\u30c9":")" + one + "\"}"),
            R"({"パスワード":")" + stars_of(one) + "\"}");
  for (const std::string name : {"clave", "sleutel", "schlüssel", "ключ"})
    EXPECT_EQ(text_shown(config_format::yaml, name + ": " + one + "\n"), name + ": " + one + "\n");
}

TEST(texts_masked_by_keys, keep_the_form_of_blocks) {
  test::lots from(21);
  const auto one = from.alnum(8);
  const auto other = from.alnum(9);
  for (const std::string header : {"|", ">-", "|2-", "| # pem"}) {
    const auto front = "a:\n  password: " + header + "\n    ";
    EXPECT_EQ(text_shown(config_format::yaml, front + one + "\n    " + other + "\n  next: 1\n"),
              front + stars_of(one) + "\n    " + stars_of(other) + "\n  next: 1\n");
  }
  const auto listed = text_shown(config_format::yaml, "passwords:\n  - " + one + "\n  - '" + other + "'\n");
  EXPECT_EQ(listed, "passwords:\n  - " + stars_of(one) + "\n  - '" + stars_of(other) + "'\n");
}

TEST(trees_masked_by_keys, hide_all_that_keys_say_is_secret_whatever_it_looks_like) {
  test::lots from(22);
  const auto word = from.alnum(5);
  const auto say = [&word](const std::string& text, config_format how = config_format::yaml) {
    const auto both = json_shown(how, text) + text_shown(how, text);
    return both.find(word) == std::string::npos;
  };
  for (const auto* key : {"apiKey", "api_key", "token", "access_key", "private_key", "password", "secret", "credentials",
                          "api-key", "clientSecret", "PGPASSWORD", "db_pass"}) {
    const auto name = std::string(key);
    EXPECT_TRUE(say(name + ": " + word + "\n")) << name;
    EXPECT_TRUE(say(name + ": \"a " + word + " c\"\n")) << name;
    EXPECT_TRUE(say(name + ": {inner: " + word + "}\n")) << name;
    EXPECT_TRUE(say(name + ": [" + word + ", b]\n")) << name;
    EXPECT_TRUE(say(name + ": [{name: x, value: " + word + "}]\n")) << name;
    EXPECT_TRUE(say("env: [{name: " + name + ", value: " + word + "}]\n")) << name;
    EXPECT_TRUE(say(name + "=" + word + "\n", config_format::dotenv)) << name;
    EXPECT_TRUE(say("spring." + name + " = " + word + "\n", config_format::properties)) << name;
    EXPECT_TRUE(say("a = { " + name + " = { b = '" + word + "' } }\n", config_format::toml)) << name;
    EXPECT_TRUE(say("[a]\n" + name + " = " + word + "\n", config_format::ini)) << name;
  }
  EXPECT_TRUE(say("secrets:\n  a: " + word + "1x9\n"));
  EXPECT_TRUE(say("auth: Horse80" + word + "xx7Q\n"));
  EXPECT_EQ(json_shown(config_format::json, R"({"token": 123456})"), R"({"token":"******"})");
}

TEST(trees_masked_by_keys, hide_what_command_lines_have) {
  test::lots from(23);
  const auto word = from.alnum(6);
  const auto stars = stars_of(word);
  const auto unit = [](const std::string& line) { return text_shown(config_format::systemd, "[Service]\n" + line + "\n"); };
  const auto expect = [&](const std::string& front, const std::string& back) {
    EXPECT_EQ(unit(front + word + back), "[Service]\n" + front + stars + back + "\n");
  };
  expect("ExecStart=/usr/bin/shop --token ", " --port 80");
  expect("ExecStart=/usr/bin/shop --password=", " --port 80");
  expect("ExecStart=/usr/bin/curl -u bob:", " https://example.org/");
  expect("ExecStart=/bin/sh -c 'TOKEN=", " app'");
  expect("Environment=DB_PASSWORD=", " MODE=x");
  expect("Environment=\"DB_PASSWORD=", "\" MODE=x");
  expect("ExecStart=/bin/x postgres://me:", "@host/db?a=b");
  expect("ExecStart=/bin/x https://host/?password=", "&mode=c");
  EXPECT_EQ(text_shown(config_format::systemd, "[Service]\nEnvironment=A=1 \"DB_PASSWORD=x " + word + "\"\n"),
            "[Service]\nEnvironment=A=1 \"DB_PASSWORD=" + stars_of("x " + word) + "\"\n");
  EXPECT_EQ(json_shown(config_format::systemd, "[Service]\nEnvironment=DB_PASSWORD=" + word + " MODE=x\n"),
            R"({"Service":{"Environment":"DB_PASSWORD=)" + stars + R"( MODE=x"}})");
  EXPECT_EQ(text_shown(config_format::yaml, "args: [\"--token\", \"" + word + "\", \"--port\", \"80\"]\n"),
            "args: [\"--token\", \"" + stars + "\", \"--port\", \"80\"]\n");
  EXPECT_EQ(text_shown(config_format::yaml, "args:\n- curl\n- -u\n- bob:" + word + "\n- https://example.org\n"),
            "args:\n- curl\n- -u\n- bob:" + stars + "\n- https://example.org\n");
  EXPECT_EQ(text_shown(config_format::yaml, "environment:\n- DB_PASSWORD=a " + word + "\n- B=2\n"),
            "environment:\n- DB_PASSWORD=" + stars_of("a " + word) + "\n- B=2\n");
}

TEST(trees_masked_by_keys, leave_the_vocabulary_of_common_tools) {
  const auto expect_same = [](config_format how, const std::string& text) {
    auto read = located::read(how, text);
    ASSERT_TRUE(read) << read.error().public_text;
    const auto before = located::json_text(read->root);
    std::vector<secrets::span> in_text;
    EXPECT_EQ(mask_secrets(*read, text, in_text), 0u);
    EXPECT_EQ(located::json_text(read->root), before);
    EXPECT_TRUE(in_text.empty()) << text;
  };
  expect_same(config_format::yaml, R"(apiVersion: apps/v1
kind: Deployment
metadata:
  annotations: {nginx.ingress.kubernetes.io/auth-secret: basic, checksum/secret: "{{ x }}"}
spec:
  template:
    spec:
      automountServiceAccountToken: false
      serviceAccountName: shop
      imagePullSecrets: [{name: registry}]
      containers:
      - name: app
        args: [--token-file, /run/token, --password, $(PASSWORD), "--token=${TOKEN}"]
        env:
        - {name: DB_PASSWORD, valueFrom: {secretKeyRef: {name: db, key: password}}}
        - {name: TOKEN_FILE, value: /run/secrets/token}
        - {name: API_KEY, value: $(API_KEY)}
        envFrom: [{secretRef: {name: app}}]
      volumes:
      - name: tls
        secret: {secretName: tls, defaultMode: 256, optional: true, items: [{key: tls.crt, path: tls.crt}]}
      - name: all
        projected:
          sources:
          - secret: {name: a, items: [{key: user, path: user}]}
          - serviceAccountToken: {path: token, expirationSeconds: 3600, audience: vault}
)");
  expect_same(config_format::yaml, R"(services:
  token-service:
    image: example/tokens:1.2
    command: ["serve", "--password-stdin", "-u", "1000:1000"]
    environment: {DB_PASSWORD_FILE: /run/secrets/db, API_TOKEN: "${API_TOKEN:?missing}", DB_PASSWORD: "$DB_PASSWORD"}
    secrets:
    - db_password
    - {source: api, target: api, mode: 0440}
secrets:
  db_password: {file: ./db_password.txt}
  api: {external: true, name: api_key}
  other: {environment: OTHER}
)");
  expect_same(config_format::yaml, R"(openapi: 3.1.0
paths:
  /token:
    post: {operationId: makeToken, tags: [auth], summary: "Makes a token: the caller shows it later"}
components:
  securitySchemes:
    bearer: {type: http, scheme: bearer, bearerFormat: JWT}
    apiKey: {type: apiKey, in: header, name: X-API-Key}
  schemas:
    Token: {type: object, required: [token], properties: {token: {type: string, format: password, description: A token},
            refresh_token: {$ref: '#/components/schemas/Token'}, password: {type: string, minLength: 8}}}
)");
  expect_same(config_format::yaml, R"(on:
  workflow_call:
    secrets: {npm_token: {required: true, description: For the registry}}
permissions: {id-token: write, contents: read}
jobs:
  refresh-token:
    runs-on: ubuntu-latest
    steps:
    - uses: actions/cache@v4
      with: {key: "${{ runner.os }}-${{ hashFiles('**/package-lock.json') }}", token: "${{ secrets.TOKEN }}"}
    - run: echo "token=$TOKEN" && docker login -u me --password-stdin registry.example.org
      env: {PASSWORD: "${{ secrets.PASSWORD }}"}
  call:
    uses: ./.github/workflows/one.yml
    secrets: inherit
)");
  expect_same(config_format::yaml, "wifi:\n  password: !secret wifi_password\ndb:\n  Password: !Ref DbPassword\n");
  expect_same(config_format::json,
              R"({"dependencies":{"js-tokens":"^4.0.0","jsonwebtoken":"9.0.2"},"scripts":{"scan-secrets":"x y"},
    "keywords":["token"],"engines":{"node":">=18"},"max_tokens":4096,"tokenUrl":"https://example.org/token"})");
  expect_same(config_format::toml,
              "[dependencies]\njsonwebtoken = { version = \"9\", features = [\"pem\"] }\n[tls]\n"
              "private_key = 'certs/server.key'\nkey = 'name'\n");
  expect_same(config_format::properties,
              "login.password = Ihr Passwort\nerror.password.short = Too short a word\nsession.token.ttl = 30\n"
              "spring.datasource.password = ${DB_PASSWORD}\ntoken.header = Authorization\n");
  expect_same(config_format::systemd,
              "[Service]\nLoadCredential=db:/etc/db.cred\nKeyringMode=private\nPassEnvironment=HOME\n"
              "[TokenBucketFilter]\nRate=1M\n");
}

}  // namespace
