/// Secret names of variables and settings, such as DB_PASSWORD.
#include "text/secrets/secret_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "base/ascii/code_points.hpp"

namespace hondana::secrets {
namespace {

using word_list = std::span<const std::string_view>;

/// Anywhere in a word.
constexpr auto sensitive_parts =
    std::to_array<std::string_view>({"password", "passwd", "passphrase", "passcode", "secret", "apikey"});
/// At the end of a word.
constexpr auto sensitive_endings =
    std::to_array<std::string_view>({"token", "tokens", "credential", "credentials", "pwd", "pass", "masterauth"});
constexpr auto sensitive_words =
    std::to_array<std::string_view>({"pw", "pat", "creds", "cred", "jwt", "psk", "bearer", "mnemonic"});
constexpr auto weakly_sensitive_words = std::to_array<std::string_view>(
    {"auth", "authorization", "cookie", "cookies", "salt", "otp", "totp", "pin", "seed", "sig", "signature", "geheim", "mdp"});
/// Words that end like sensitive ones by chance.
constexpr auto harmless_words = std::to_array<std::string_view>(
    {"bypass",  "compass",  "encompass", "surpass",  "trespass",   "overpass", "underpass", "multipass", "subpass",
     "prepass", "highpass", "lowpass",   "bandpass", "renderpass", "lastpass", "keepass",   "askpass",   "oldpwd",
     "monkey",  "donkey",   "turkey",    "whiskey",  "hockey",     "jockey",   "hotkey",    "hotkeys"});
/// Words before `key` that make it a secret key.
constexpr auto words_before_key = std::to_array<std::string_view>(
    {"api",     "access",  "private", "secret",  "encryption", "decryption",  "signing",      "account", "master",
     "shared",  "storage", "service", "auth",    "app",        "application", "hmac",         "crypto",  "cipher",
     "session", "license", "licence", "webhook", "client",     "host",        "subscription", "admin",   "preshared",
     "deploy",  "ssh",     "tls",     "ssl",     "jwt",        "server",      "root",         "project", "user"});
/// Last words of names that are about a secret, but are not secrets.
constexpr auto property_words = std::to_array<std::string_view>(
    {"id",       "ids",        "file",     "files",    "path",    "paths",  "dir",     "directory", "folder",   "url",
     "uri",      "name",       "names",    "type",     "ttl",     "length", "len",     "size",      "count",    "expires",
     "expiry",   "expiration", "lifetime", "timeout",  "min",     "max",    "limit",   "policy",    "endpoint", "host",
     "port",     "regex",      "pattern",  "field",    "label",   "env",    "ref",     "algorithm", "alg",      "method",
     "mode",     "enabled",    "disabled", "required", "version", "arn",    "alias",   "location",  "sock",     "socket",
     "provider", "issuer",     "audience", "scheme",   "days",    "hours",  "minutes", "seconds",   "ms",       "bytes",
     "bits",     "format",     "stdin",    "backend",  "store",   "helper", "layout",  "map",       "rotation"});
/// The same in other languages.
constexpr auto localized_property_words = std::to_array<std::string_view>(
    {"datei",     "pfad",    "länge",  "laenge",   "richtlinie", "fichier", "chemin",  "longueur",
     "archivo",   "fichero", "ruta",   "longitud", "arquivo",    "caminho", "tamanho", "percorso",
     "lunghezza", "bestand", "lengte", "plik",     "sökväg",     "файл",    "путь",    "длина"});
/// Endings of words for a password or a secret key in German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Polish,
/// Russian, Japanese, Chinese and Korean.
constexpr auto localized_secret_endings = std::to_array<std::string_view>(
    {"passwort",    "passwörter", "passwoerter",  "kennwort",     "kennwörter", "kennwoerter", "geheimnis",  "motdepasse",
     "motsdepasse", "secrète",    "secreta",      "secreto",      "contraseña", "contraseñas", "contrasena", "contrasenas",
     "segreto",     "segredo",    "wachtwoord",   "wachtwoorden", "lösenord",   "losenord",    "hasło",      "пароль",
     "пароли",      "パスワード", "パスフレーズ", "暗証番号",     "秘密鍵",     "密码",        "密碼",       "口令",
     "密钥",        "密鑰",       "私钥",         "私鑰",         "비밀번호",   "암호",        "비밀키",     "개인키"});
constexpr auto localized_secret_words = std::to_array<std::string_view>({"senha", "senhas", "haslo"});
/// Pairs of consecutive words, each of which alone would match too much.
constexpr auto localized_secret_pairs = std::to_array<std::string_view>(
    {"de_passe", "palavra_passe", "clave_privada", "clave_api", "chave_privada", "chave_api", "chiave_privata", "chiave_api",
     "clé_privée", "cle_privee", "clé_api", "cle_api", "privater_schlüssel", "privater_schluessel", "geheimer_schlüssel",
     "geheimer_schluessel", "geheime_sleutel"});
/// Words before `tokens` that make it a count of text tokens.
constexpr auto token_count_qualifiers = std::to_array<std::string_view>(
    {"max", "min", "num", "total", "prompt", "completion", "output", "input", "context", "new", "stop"});
constexpr auto digest_words =
    std::to_array<std::string_view>({"sha", "commit", "rev", "revision", "digest", "hash", "checksum", "cksum", "git", "tree",
                                     "etag", "md", "fingerprint", "image", "ref", "head", "build", "version", "oid"});

bool is_listed(std::string_view word, word_list list) { return std::find(list.begin(), list.end(), word) != list.end(); }

/// Lower-cases ASCII, Latin-1 and Cyrillic letters, and Ł.
char32_t to_lower(char32_t code) noexcept {
  const bool is_capital = (code >= 0xC0 && code <= 0xDE && code != 0xD7) || (code >= 0x410 && code <= 0x42F);
  return is_capital ? code + 0x20 : code == 0x141 ? 0x142 : ascii::to_lower(code);
}

/// Whether this is a letter, a digit, or a character beyond ASCII that is not punctuation.
bool is_part_of_word(char32_t code) noexcept {
  if (code < 0x80) return ascii::is_letter(static_cast<char>(code)) || (code >= '0' && code <= '9');
  return code >= 0xC0 && (code < 0x2000 || code > 0x206F) && (code < 0x3000 || code > 0x3004) &&
         (code < 0x3008 || code > 0x3020) && code != 0x30FB;
}

/// The words of a name in lower case, without trailing digits.
std::vector<std::string> split_name(std::string_view name) {
  std::vector<std::string> out;
  std::string word;
  const auto end_word = [&] {
    while (!word.empty() && word.back() >= '0' && word.back() <= '9') word.pop_back();
    if (!word.empty()) out.push_back(std::move(word));
    word.clear();
  };
  bool follows_lowercase = false;  // or a digit
  bool follows_wide = false;       // after an East Asian character; these scripts have no blanks between words
  while (!name.empty()) {
    const auto character = ascii::first_character(name);
    name.remove_prefix(character.bytes);
    // Drop combining marks, and turn full-width characters into ASCII.
    if (character.code >= 0x300 && character.code <= 0x36F) continue;
    const auto code = character.code > 0xFF00 && character.code < 0xFF5F ? character.code - 0xFEE0 : character.code;
    const bool is_part = character.is_well_formed && is_part_of_word(code);
    const bool is_capital = to_lower(code) != code;
    const bool is_wide = code >= 0x1100;
    if (!is_part || (is_capital && follows_lowercase) || is_wide != follows_wide) end_word();
    if (is_part) ascii::append_utf8(word, to_lower(code));
    follows_lowercase = is_part && !is_capital;
    follows_wide = is_wide;
  }
  end_word();
  return out;
}

bool ends_with_key(std::string_view word) noexcept { return word.ends_with("key") || word.ends_with("keys"); }

sensitivity classify_key_word(std::string_view word, std::string_view previous) {
  if (previous == "public" || previous == "pub") return sensitivity::none;
  if (word != "key" && word != "keys") return word.ends_with("key") ? sensitivity::strong : sensitivity::weak;
  return is_listed(previous, words_before_key) ? sensitivity::strong : sensitivity::weak;
}

sensitivity classify_word(std::string_view word, std::string_view previous) {
  if (is_listed(word, harmless_words)) return sensitivity::none;
  if (word == "tokens" && is_listed(previous, token_count_qualifiers)) return sensitivity::none;
  const bool has_part = std::any_of(sensitive_parts.begin(), sensitive_parts.end(),
                                    [word](auto part) { return word.find(part) != std::string_view::npos; });
  const bool has_end =
      std::any_of(sensitive_endings.begin(), sensitive_endings.end(), [word](auto end) { return word.ends_with(end); });
  if (has_part || has_end || is_listed(word, sensitive_words)) return sensitivity::strong;
  if (ends_with_key(word)) return classify_key_word(word, previous);
  return is_listed(word, weakly_sensitive_words) ? sensitivity::weak : sensitivity::none;
}

/// Whether the last word says that the value is only about a secret. Exception: Vault's secret id is itself a secret.
bool names_secret_property(const std::vector<std::string>& words) {
  const std::string_view last = words.back();
  if (!is_listed(last, property_words)) return is_listed(last, localized_property_words);
  return last != "id" || words.size() < 2 || words[words.size() - 2] != "secret";
}

/// Whether some words mean a password or a secret key in a language other than English.
bool has_localized_secret_word(const std::vector<std::string>& words) {
  std::string pair;
  for (const auto& word : words) {
    pair += word;
    const bool has_end = std::any_of(localized_secret_endings.begin(), localized_secret_endings.end(),
                                     [&word](auto end) { return word.ends_with(end); });
    if (has_end || is_listed(word, localized_secret_words) || is_listed(pair, localized_secret_pairs)) return true;
    pair = word + '_';
  }
  return false;
}

}  // namespace

sensitivity classify_name(std::string_view name) {
  const auto words = split_name(name);
  // `PWD`: the current folder of a shell.
  if (words.empty() || (words.size() == 1 && words.front() == "pwd") || names_secret_property(words)) return sensitivity::none;
  auto result = sensitivity::none;
  std::string_view previous;
  for (const auto& word : words) {
    result = std::max(result, classify_word(word, previous));
    previous = word;
  }
  return result != sensitivity::strong && has_localized_secret_word(words) ? sensitivity::strong : result;
}

bool names_localized_password(std::string_view name) {
  const auto words = split_name(name);
  return !words.empty() && !names_secret_property(words) && has_localized_secret_word(words);
}

bool names_property(std::string_view name) {
  const auto words = split_name(name);
  return !words.empty() && names_secret_property(words);
}

bool names_digest(std::string_view name) {
  const auto words = split_name(name);
  return std::any_of(words.begin(), words.end(), [](const std::string& word) { return is_listed(word, digest_words); });
}

}  // namespace hondana::secrets
