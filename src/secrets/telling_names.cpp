/// Words of names.
#include "secrets/telling_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "letters/lower_case.hpp"

namespace hondana::secrets {
namespace {

using word_list = std::span<const std::string_view>;

/// Wherever they stand in a word.
constexpr auto telling_parts =
    std::to_array<std::string_view>({"password", "passwd", "passphrase", "passcode", "secret", "apikey"});
/// At its end.
constexpr auto telling_ends =
    std::to_array<std::string_view>({"token", "tokens", "credential", "credentials", "pwd", "pass", "masterauth"});
constexpr auto telling_words =
    std::to_array<std::string_view>({"pw", "pat", "creds", "cred", "jwt", "psk", "bearer", "mnemonic"});
constexpr auto weakly_telling_words = std::to_array<std::string_view>(
    {"auth", "authorization", "cookie", "cookies", "salt", "otp", "totp", "pin", "seed", "sig", "signature"});
/// Words that end like telling ones by chance.
constexpr auto harmless_words = std::to_array<std::string_view>(
    {"bypass",  "compass",  "encompass", "surpass",  "trespass",   "overpass", "underpass", "multipass", "subpass",
     "prepass", "highpass", "lowpass",   "bandpass", "renderpass", "lastpass", "keepass",   "askpass",   "oldpwd",
     "monkey",  "donkey",   "turkey",    "whiskey",  "hockey",     "jockey",   "hotkey",    "hotkeys"});
/// A key of one of these is one that opens something.
constexpr auto words_before_key = std::to_array<std::string_view>(
    {"api",     "access",  "private", "secret",  "encryption", "decryption",  "signing",      "account", "master",
     "shared",  "storage", "service", "auth",    "app",        "application", "hmac",         "crypto",  "cipher",
     "session", "license", "licence", "webhook", "client",     "host",        "subscription", "admin",   "preshared",
     "deploy",  "ssh",     "tls",     "ssl",     "jwt",        "server",      "root",         "project", "user"});
/// At the end of a name: it is of something about a secret.
constexpr auto about = std::to_array<std::string_view>(
    {"id",       "ids",        "file",     "files",    "path",    "paths",  "dir",     "directory", "folder",   "url",
     "uri",      "name",       "names",    "type",     "ttl",     "length", "len",     "size",      "count",    "expires",
     "expiry",   "expiration", "lifetime", "timeout",  "min",     "max",    "limit",   "policy",    "endpoint", "host",
     "port",     "regex",      "pattern",  "field",    "label",   "env",    "ref",     "algorithm", "alg",      "method",
     "mode",     "enabled",    "disabled", "required", "version", "arn",    "alias",   "location",  "sock",     "socket",
     "provider", "issuer",     "audience", "scheme",   "days",    "hours",  "minutes", "seconds",   "ms",       "bytes",
     "bits",     "format",     "stdin",    "backend",  "store",   "helper", "layout",  "map",       "rotation"});
/// Before `tokens` these count pieces of text.
constexpr auto before_counted = std::to_array<std::string_view>(
    {"max", "min", "num", "total", "prompt", "completion", "output", "input", "context", "new", "stop"});
constexpr auto digest_words =
    std::to_array<std::string_view>({"sha", "commit", "rev", "revision", "digest", "hash", "checksum", "cksum", "git", "tree",
                                     "etag", "md", "fingerprint", "image", "ref", "head", "build", "version", "oid"});

bool is_listed(std::string_view word, word_list list) { return std::find(list.begin(), list.end(), word) != list.end(); }

bool is_small_letter_or_digit(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool is_part_of_word(char c) noexcept { return letters::is_letter(c) || (c >= '0' && c <= '9'); }

/// In small letters, without the numbers at their ends.
std::vector<std::string> words_in(std::string_view name) {
  std::vector<std::string> out;
  std::string word;
  const auto end_word = [&] {
    while (!word.empty() && word.back() >= '0' && word.back() <= '9') word.pop_back();
    if (!word.empty()) out.push_back(std::move(word));
    word.clear();
  };
  char before = '\0';
  for (const char c : name) {
    if (!is_part_of_word(c) || (c >= 'A' && c <= 'Z' && is_small_letter_or_digit(before))) end_word();
    if (is_part_of_word(c)) word += letters::lower(c);
    before = c;
  }
  end_word();
  return out;
}

bool ends_as_key(std::string_view word) noexcept { return word.ends_with("key") || word.ends_with("keys"); }

telling told_by_key(std::string_view word, std::string_view before) {
  if (before == "public" || before == "pub") return telling::nothing;
  if (word != "key" && word != "keys") return word.ends_with("key") ? telling::strong : telling::weak;
  return is_listed(before, words_before_key) ? telling::strong : telling::weak;
}

telling told_by_word(std::string_view word, std::string_view before) {
  if (is_listed(word, harmless_words)) return telling::nothing;
  if (word == "tokens" && is_listed(before, before_counted)) return telling::nothing;
  const bool has_part = std::any_of(telling_parts.begin(), telling_parts.end(),
                                    [word](auto part) { return word.find(part) != std::string_view::npos; });
  const bool has_end = std::any_of(telling_ends.begin(), telling_ends.end(), [word](auto end) { return word.ends_with(end); });
  if (has_part || has_end || is_listed(word, telling_words)) return telling::strong;
  if (ends_as_key(word)) return told_by_key(word, before);
  return is_listed(word, weakly_telling_words) ? telling::weak : telling::nothing;
}

/// The last word says that the value is about a secret. What Vault calls a secret id is one itself.
bool is_about_secret(const std::vector<std::string>& words) {
  const std::string_view last = words.back();
  if (!is_listed(last, about)) return false;
  return last != "id" || words.size() < 2 || words[words.size() - 2] != "secret";
}

}  // namespace

telling told_by(std::string_view name) {
  const auto words = words_in(name);
  // The folder a shell is in.
  if (words.empty() || (words.size() == 1 && words.front() == "pwd") || is_about_secret(words)) return telling::nothing;
  auto most = telling::nothing;
  std::string_view before;
  for (const auto& word : words) {
    most = std::max(most, told_by_word(word, before));
    before = word;
  }
  return most;
}

bool says_about(std::string_view name) {
  const auto words = words_in(name);
  return !words.empty() && is_about_secret(words);
}

bool says_digest(std::string_view name) {
  const auto words = words_in(name);
  return std::any_of(words.begin(), words.end(), [](const std::string& word) { return is_listed(word, digest_words); });
}

}  // namespace hondana::secrets
