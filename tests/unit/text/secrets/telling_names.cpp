/// What names tell of their values.
#include "text/secrets/secret_names.hpp"

#include <gtest/gtest.h>

namespace {

using hondana::secrets::classify_name;
using hondana::secrets::names_digest;
using hondana::secrets::names_property;
using hondana::secrets::sensitivity;

TEST(telling_names, say_that_values_are_secret) {
  for (const auto* name : {"PASSWORD",
                           "DB_PASSWORD",
                           "dbPassword",
                           "PGPASSWORD",
                           "MYSQL_PWD",
                           "SSHPASS",
                           "PASSWD_2",
                           "ROOT_PASS",
                           "GITHUB_TOKEN",
                           "githubToken",
                           "NPM_TOKEN_1",
                           "CLIENT_SECRET",
                           "SECRETKEYBASE",
                           "SECRET_KEY_BASE",
                           "API_KEY",
                           "APIKEY",
                           "apiKey",
                           "AWS_SECRET_ACCESS_KEY",
                           "GOOGLE_CREDENTIALS",
                           "PRIVATE_KEY",
                           "SSH_KEY",
                           "ENCRYPTIONKEY",
                           "GITHUB_PAT",
                           "VAULT_SECRET_ID",
                           "JWT",
                           "PASSPHRASE",
                           "PASSWORD_OLD",
                           "spring.datasource.password",
                           "PUBLIC_KEY_TOKEN",
                           "REDIS-PASSWORD"})
    EXPECT_EQ(classify_name(name), sensitivity::strong) << name;
  for (const auto* name : {"KEY", "SORT_KEY", "AUTH", "HTTP_COOKIE", "PASSWORDLESS_SALT_ID_SEED", "WALLET_SEED", "SIG", "TOTP",
                           "DB_MDP", "geheim"})
    EXPECT_NE(classify_name(name), sensitivity::none) << name;
}

TEST(telling_names, of_other_things_say_nothing) {
  for (const auto* name : {"",
                           "_",
                           "PATH",
                           "HOME",
                           "PWD",
                           "OLDPWD",
                           "LANG",
                           "LC_ALL",
                           "SSH_AUTH_SOCK",
                           "SSH_ASKPASS",
                           "COMPASS",
                           "MONKEY",
                           "KEYBOARD",
                           "TOKENIZERS_PARALLELISM",
                           "MAX_TOKENS",
                           "PASSWORD_FILE",
                           "TOKEN_TTL",
                           "SECRET_NAME",
                           "AWS_ACCESS_KEY_ID",
                           "PUBLIC_KEY",
                           "SSH_PUB_KEY",
                           "GIT_AUTHOR_NAME",
                           "XDG_SESSION_TYPE",
                           "DATABASE_URL",
                           "TOKEN_URL",
                           "PASSENGER_POOL",
                           "BYPASS",
                           "TERM",
                           "XAUTHORITY",
                           "KEYMAP",
                           "PINENTRY"})
    EXPECT_EQ(classify_name(name), sensitivity::none) << name;
}

TEST(telling_names, say_that_values_are_secret_in_other_languages) {
  for (const auto* name : {"passwort",
                           "dbPasswort",
                           "DATENBANK_KENNWORT",
                           "Passwörter",
                           "GEHEIMNIS",
                           "privater_schluessel",
                           "mot_de_passe",
                           "motDePasse",
                           "MOTDEPASSE_DB",
                           "clé_secrète",
                           "CLÉ_PRIVÉE",
                           "contraseña",
                           "CONTRASEÑA",
                           "contrasen\xCC\x83"
                           "a",
                           "contraseñaBanco",
                           "contrasena",
                           "clave_secreta",
                           "clave-privada",
                           "chiave_privata",
                           "segreto",
                           "senha",
                           "SENHA_DO_BANCO",
                           "palavra-passe",
                           "wachtwoord",
                           "geheime_sleutel",
                           "lösenord",
                           "hasło",
                           "HASŁO_DB",
                           "haslo",
                           "пароль",
                           "ПАРОЛЬ",
                           "пароль_бд",
                           "パスワード",
                           "DBパスワード2",
                           "ログイン・パスワード",
                           "暗証番号",
                           "秘密鍵",
                           "密码",
                           "数据库密码",
                           "密碼",
                           "口令",
                           "密钥",
                           "密鑰",
                           "私钥",
                           "비밀번호",
                           "데이터베이스_암호",
                           "ｐａｓｓｗｏｒｄ",
                           "認証token"})
    EXPECT_EQ(classify_name(name), sensitivity::strong) << name;
}

TEST(telling_names, of_other_things_say_nothing_in_other_languages) {
  for (const auto* name : {"clave",
                           "claves",
                           "sleutel",
                           "schlüssel",
                           "clé",
                           "chave",
                           "chiave",
                           "ключ",
                           "鍵",
                           "passe",
                           "passeport",
                           "de",
                           "wort",
                           "resenha",
                           "desenha",
                           "contrato",
                           "enclave_api",
                           "bicycle_api",
                           "vehicle_private_data",
                           "passwort_datei",
                           "chemin_mot_de_passe_fichier",
                           "contraseña_longitud",
                           "パス",
                           "パスワードポリシー",
                           "パスワード有効期限",
                           "公開鍵",
                           "暗号化",
                           "密码学",
                           "암호화",
                           "番号",
                           "парольная",
                           "größe"})
    EXPECT_EQ(classify_name(name), sensitivity::none) << name;
}

TEST(telling_names, say_what_is_named_by_digests) {
  for (const auto* name : {"GIT_COMMIT", "GITHUB_SHA", "IMAGE_DIGEST", "SOURCE_VERSION", "sha256", "buildRevision"})
    EXPECT_TRUE(names_digest(name)) << name;
  for (const auto* name : {"VALUE", "SHARE", "COMMITTEE", "DATADOG"}) EXPECT_FALSE(names_digest(name)) << name;
}

TEST(telling_names, say_what_is_about_something) {
  for (const auto* name : {"file", "TOKEN_TTL", "secretName", "password.type"}) EXPECT_TRUE(names_property(name)) << name;
  for (const auto* name : {"", "password", "VAULT_SECRET_ID", "value"}) EXPECT_FALSE(names_property(name)) << name;
}

}  // namespace
