/// Masking, and what texts of wider characters need besides.
#include "text/secrets/redactor.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii/characters.hpp"

namespace hondana::secrets {
namespace {

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
  return std::any_of(names.begin(), names.end(), [name](std::string_view one) { return ascii::is_same(one, name); });
}

}  // namespace

std::vector<span> redactor::places::all() const {
  auto out = narrow;
  for (const auto& [how, spans] : wide) out.insert(out.end(), spans.begin(), spans.end());
  unite(out);
  return out;
}

redactor::places redactor::look_at(std::string_view text) const {
  places out;
  secrets::find(text, how_, out.narrow);
  // What is looked for is ASCII, so where there is no NUL it is not to be found in wider characters.
  if (text.find('\0') == std::string_view::npos) return out;
  const auto within = widths_within(text);
  for (const auto how : all_widths) {
    if (!widths_.has(how) && !within.has(how)) continue;
    std::vector<span> found;
    // What shorter rows have would be found or not by where the text begins.
    secrets::find(narrowed(text, how), how_, found, widths_.has(how) ? 0 : row_bytes / bytes_of(how));
    if (found.empty()) continue;
    for (auto& one : found) one = {bytes_of(how) * one.begin, bytes_of(how) * one.end};
    out.wide.emplace_back(how, std::move(found));
  }
  return out;
}

void redactor::find(std::string_view text, std::vector<span>& into) const { into = look_at(text).all(); }

void redactor::blot(std::span<char> text, const places& found) const noexcept {
  for (const auto& one : found.narrow) {
    // NULs stay, since they may belong to wider characters that stand between.
    for (char& byte : text.subspan(one.begin, one.end - one.begin)) {
      if (!is_line_end(byte) && byte != '\0') byte = '*';
    }
  }
  for (const auto& [how, spans] : found.wide) {
    const auto bytes = bytes_of(how);
    const auto of_ascii = ascii_byte_of(how);
    for (const auto& one : spans) {
      for (std::size_t at = one.begin; at + bytes <= one.end; at += bytes) {
        const auto unit = text.subspan(at, bytes);
        const bool is_ascii = std::count(unit.begin(), unit.end(), '\0') + 1 == static_cast<std::ptrdiff_t>(bytes);
        if (is_ascii && is_line_end(unit[of_ascii])) continue;
        std::fill(unit.begin(), unit.end(), '\0');
        unit[of_ascii] = '*';
      }
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
  if (found.wide.empty()) return static_cast<std::size_t>(std::count_if(found.narrow.begin(), found.narrow.end(), is_ours));
  const auto all = found.all();
  return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), is_ours));
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
