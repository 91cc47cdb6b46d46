/// Masking, and what texts of two bytes a character need besides.
#include "secrets/redactor.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "letters/lower_case.hpp"

namespace hondana::secrets {
namespace {

/// The units as bytes, those that are no ASCII as one that nothing looks for.
std::string narrowed(std::string_view wide, width how) {
  const std::size_t high = how == width::utf16_le ? 1 : 0;
  std::string out(wide.size() / 2, '\x80');
  for (std::size_t i = 0; i < out.size(); ++i) {
    const char low = wide[2 * i + 1 - high];
    if (wide[2 * i + high] == '\0' && static_cast<unsigned char>(low) < 0x80) out[i] = low;
  }
  return out;
}

bool is_line_end(char byte) noexcept { return byte == '\n' || byte == '\r'; }

/// Parameters whose values let somebody in.
bool is_telling(std::string_view name) {
  constexpr std::array<std::string_view, 25> names{"token",
                                                   "access_token",
                                                   "refresh_token",
                                                   "id_token",
                                                   "auth",
                                                   "authorization",
                                                   "code",
                                                   "state",
                                                   "key",
                                                   "api_key",
                                                   "apikey",
                                                   "api-key",
                                                   "secret",
                                                   "client_secret",
                                                   "password",
                                                   "passwd",
                                                   "pwd",
                                                   "pass",
                                                   "sig",
                                                   "signature",
                                                   "x-amz-signature",
                                                   "x-goog-signature",
                                                   "x-amz-security-token",
                                                   "session",
                                                   "sessionid"};
  return std::any_of(names.begin(), names.end(), [name](std::string_view one) { return letters::is_same(one, name); });
}

}  // namespace

width width_of(std::string_view front) noexcept {
  if (front.starts_with("\xFF\xFE")) return width::utf16_le;
  if (front.starts_with("\xFE\xFF")) return width::utf16_be;
  const auto units = std::min(front.size(), front_bytes) / 2;
  std::array<std::size_t, 2> zeros{};
  for (std::size_t i = 0; i < 2 * units; ++i) {
    if (front[i] == '\0') ++zeros[i % 2];
  }
  if (units < 4 || (zeros[0] == 0) == (zeros[1] == 0)) return width::bytes;
  if (zeros[1] * 2 >= units) return width::utf16_le;
  return zeros[0] * 2 >= units ? width::utf16_be : width::bytes;
}

redactor::places redactor::look_at(std::string_view text) const {
  places out;
  secrets::find(text, how_, out.narrow);
  if (width_ == width::bytes) return out;
  secrets::find(narrowed(text, width_), how_, out.wide);
  for (auto& one : out.wide) one = {2 * one.begin, 2 * one.end};
  return out;
}

void redactor::find(std::string_view text, std::vector<span>& into) const {
  auto found = look_at(text);
  into = std::move(found.narrow);
  into.insert(into.end(), found.wide.begin(), found.wide.end());
  unite(into);
}

void redactor::blot(std::span<char> text, const places& found) const noexcept {
  for (const auto& one : found.narrow) {
    // NULs stay, since they belong to characters of two bytes that stand between.
    for (char& byte : text.subspan(one.begin, one.end - one.begin)) {
      if (!is_line_end(byte) && (width_ == width::bytes || byte != '\0')) byte = '*';
    }
  }
  const std::size_t high = width_ == width::utf16_le ? 1 : 0;
  for (const auto& one : found.wide) {
    for (std::size_t at = one.begin; at + 1 < one.end; at += 2) {
      auto& upper = text[at + high];
      auto& lower = text[at + 1 - high];
      if (upper == '\0' && is_line_end(lower)) continue;
      upper = '\0';
      lower = '*';
    }
  }
}

std::size_t redactor::mask(std::span<char> text) const { return mask_part(text, 0, text.size(), true); }

std::size_t redactor::mask_part(std::span<char> text, std::size_t begin, std::size_t end, bool is_first) const {
  const auto found = look_at(std::string_view(text.data(), text.size()));
  blot(text, found);
  const auto is_ours = [=](const span& one) {
    return one.begin < end && (one.begin >= begin || (is_first && one.end > begin));
  };
  return static_cast<std::size_t>(std::count_if(found.narrow.begin(), found.narrow.end(), is_ours) +
                                  std::count_if(found.wide.begin(), found.wide.end(), is_ours));
}

metadata facts_of(std::size_t masked) {
  if (masked == 0) return {};
  return {{"dev.hondana/redacted", static_cast<std::int64_t>(masked)}};
}

std::string redact_text(std::string_view text) {
  std::string out(text);
  redactor(policy::settings, {}).mask(out);
  return out;
}

std::string redact_uri(std::string_view uri) {
  auto out = redact_text(uri);
  const auto blot = [&out](std::size_t begin, std::size_t end) {
    std::fill(out.begin() + static_cast<std::ptrdiff_t>(begin), out.begin() + static_cast<std::ptrdiff_t>(end), '*');
  };
  if (const auto authority = out.find("://"); authority != std::string::npos) {
    const auto begin = authority + 3;
    const auto end = std::min(out.find_first_of("/?#", begin), out.size());
    const auto at_sign = out.rfind('@', end);
    const auto colon = out.find(':', begin);
    if (at_sign != std::string::npos && at_sign > begin && at_sign < end && colon < at_sign) blot(colon + 1, at_sign);
  }
  for (auto at = out.find_first_of("?#&"); at != std::string::npos; at = out.find_first_of("?#&", at + 1)) {
    const auto end = std::min(out.find_first_of("#&", at + 1), out.size());
    const auto equals = out.find('=', at);
    if (equals < end && is_telling(std::string_view(out).substr(at + 1, equals - at - 1))) blot(equals + 1, end);
  }
  return out;
}

}  // namespace hondana::secrets
