/// How escapes, times and digests are written.
#include "drive/stand_in/web.hpp"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>

namespace drive_test {
namespace {

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// Reads so many digits; nothing when there are fewer.
std::optional<int> taken(std::string_view& from, std::size_t count) {
  if (from.size() < count) return std::nullopt;
  int out = 0;
  const auto [end, trouble] = std::from_chars(from.data(), from.data() + count, out);
  if (trouble != std::errc() || end != from.data() + count) return std::nullopt;
  from.remove_prefix(count);
  return out;
}

bool skips(std::string_view& from, char c) {
  if (from.empty() || from.front() != c) return false;
  from.remove_prefix(1);
  return true;
}

}  // namespace

std::string asked::parameter(std::string_view name) const {
  std::string out;
  for (const auto& [key, text] : parameters) {
    if (key == name) out = text;
  }
  return out;
}

bool asked::has(std::string_view name) const {
  for (const auto& one : parameters) {
    if (one.first == name) return true;
  }
  return false;
}

bool asked::is_set(std::string_view name) const {
  const auto text = parameter(name);
  return text == "true" || text == "1";
}

std::string asked::field(const std::string& name) const {
  const auto found = fields.find(name);
  return found == fields.end() ? "" : found->second;
}

std::string unescaped(std::string_view text, bool is_form) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && is_form) {
      out += ' ';
    } else if (text[i] == '%' && i + 2 < text.size() && digit_of(text[i + 1]) >= 0 && digit_of(text[i + 2]) >= 0) {
      out += static_cast<char>(digit_of(text[i + 1]) * 16 + digit_of(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                          c == '.' || c == '~';
    if (is_plain)
      out += c;
    else
      out += '%' + hex_of(std::string_view(&c, 1));
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> form_of(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> out;
  while (!text.empty()) {
    const auto one = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(one.size() + 1, text.size()));
    if (one.empty()) continue;
    const auto equals = std::min(one.find('='), one.size());
    out.emplace_back(unescaped(one.substr(0, equals)), unescaped(one.substr(std::min(equals + 1, one.size()))));
  }
  return out;
}

std::string hex_of(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += digits[static_cast<unsigned char>(c) >> 4];
    out += digits[static_cast<unsigned char>(c) & 15];
  }
  return out;
}

std::string base64url(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out;
  unsigned held = 0;
  int bits = 0;
  for (const char c : bytes) {
    held = (held << 8) | static_cast<unsigned char>(c);
    for (bits += 8; bits >= 6;) {
      bits -= 6;
      out += letters[(held >> bits) & 63];
    }
  }
  if (bits > 0) out += letters[(held << (6 - bits)) & 63];
  return out;
}

std::optional<std::string> from_base64url(std::string_view text) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  while (text.ends_with('=')) text.remove_suffix(1);
  std::string out;
  unsigned held = 0;
  int bits = 0;
  for (const char c : text) {
    const auto at = letters.find(c);
    if (at == std::string_view::npos) return std::nullopt;
    held = (held << 6) | static_cast<unsigned>(at);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>((held >> bits) & 255);
  }
  return out;
}

std::string digest(const char* algorithm, std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> out{};
  unsigned size = 0;
  EVP_Digest(bytes.data(), bytes.size(), out.data(), &size, EVP_get_digestbyname(algorithm), nullptr);
  return hex_of({reinterpret_cast<const char*>(out.data()), size});
}

std::string made_up(std::size_t length) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  std::string out(length, '\0');
  RAND_bytes(reinterpret_cast<unsigned char*>(out.data()), static_cast<int>(length));
  for (auto& c : out) c = letters[static_cast<unsigned char>(c) & 63];
  return out;
}

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string rfc3339(std::int64_t ms) {
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 40> out{};
  const auto size = std::strftime(out.data(), out.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  std::array<char, 8> fraction{};
  std::snprintf(fraction.data(), fraction.size(), ".%03dZ", static_cast<int>(ms % 1000));
  return std::string(out.data(), size) + fraction.data();
}

std::optional<std::int64_t> time_of(std::string_view text) {
  std::tm parts{};
  const auto year = taken(text, 4);
  if (!year || !skips(text, '-')) return std::nullopt;
  const auto month = taken(text, 2);
  if (!month || !skips(text, '-')) return std::nullopt;
  const auto day = taken(text, 2);
  if (!day) return std::nullopt;
  parts.tm_year = *year - 1900;
  parts.tm_mon = *month - 1;
  parts.tm_mday = *day;
  std::int64_t ms = 0;
  int offset = 0;
  if (skips(text, 'T')) {
    const auto hour = taken(text, 2);
    if (!hour || !skips(text, ':')) return std::nullopt;
    const auto minute = taken(text, 2);
    if (!minute || !skips(text, ':')) return std::nullopt;
    const auto second = taken(text, 2);
    if (!second) return std::nullopt;
    parts.tm_hour = *hour;
    parts.tm_min = *minute;
    parts.tm_sec = *second;
    if (skips(text, '.')) {
      int place = 100;
      bool has_any = false;
      for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1), has_any = true) {
        ms += (text.front() - '0') * place;
        place /= 10;
      }
      if (!has_any) return std::nullopt;
    }
    if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
      const int sign = text.front() == '-' ? -1 : 1;
      text.remove_prefix(1);
      const auto hours = taken(text, 2);
      skips(text, ':');
      const auto minutes = taken(text, 2);
      if (!hours || !minutes) return std::nullopt;
      offset = sign * (*hours * 60 + *minutes);
    } else {
      skips(text, 'Z');
    }
  }
  if (!text.empty()) return std::nullopt;
  return (static_cast<std::int64_t>(::timegm(&parts)) - offset * 60) * 1000 + ms;
}

std::string http_date(std::int64_t ms) {
  const auto seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 40> out{};
  const auto size = std::strftime(out.data(), out.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return {out.data(), size};
}

}  // namespace drive_test
