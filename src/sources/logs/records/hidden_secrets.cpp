/// Laying bare, finding, and going back to where it came from.
#include "sources/logs/records/hidden_secrets.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/ascii/characters.hpp"
#include "sources/logs/records/answerable.hpp"
#include "text/secrets/near.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::records {
namespace {

constexpr int deepest = 3;
constexpr std::size_t least_mask = 4;  // fewer asterisks may be anybody's
constexpr std::string_view replacement = "\xEF\xBF\xBD";
constexpr std::string_view pictures = "\xE2\x90";  // U+2400 to U+243F, with one byte more

/// A text with the place in the record that each of its bytes, and its end, came from.
struct laid_bare {
  std::string text;
  std::vector<std::uint32_t> from;

  void add(char byte, std::uint32_t origin) {
    text += byte;
    from.push_back(origin);
  }
  void end(std::uint32_t origin) { from.push_back(origin); }
};

constexpr bool is_continuation(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

/// How many bytes at `at` do not show; 0: they do.
std::size_t unseen_at(std::string_view text, std::size_t at) noexcept {
  const auto byte = static_cast<unsigned char>(text[at]);
  if (byte == 0x1B) return behind_escape(text, at) - at;
  if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F) return 1;
  const auto rest = text.substr(at, 3);
  if (rest == replacement || (rest.size() == 3 && rest.starts_with(pictures))) return 3;
  return 0;
}

laid_bare without_unseen(const laid_bare& of) {
  laid_bare out;
  out.text.reserve(of.text.size());
  out.from.reserve(of.from.size());
  for (std::size_t at = 0; at < of.text.size();) {
    if (const auto unseen = unseen_at(of.text, at); unseen != 0) {
      at += unseen;
      continue;
    }
    out.add(of.text[at], of.from[at]);
    ++at;
  }
  out.end(of.from.back());
  return out;
}

/// The number of four hexadecimal digits; above 0xFFFF where they are none.
std::uint32_t unit_at(std::string_view text, std::size_t at) noexcept {
  constexpr std::uint32_t none = 0x10000;
  if (at + 4 > text.size()) return none;
  std::uint32_t sum = 0;
  for (const char c : text.substr(at, 4)) {
    const char low = ascii::lower(c);
    if (c >= '0' && c <= '9') {
      sum = sum * 16 + static_cast<std::uint32_t>(c - '0');
    } else if (low >= 'a' && low <= 'f') {
      sum = sum * 16 + static_cast<std::uint32_t>(low - 'a' + 10);
    } else {
      return none;
    }
  }
  return sum;
}

/// Escapes as what they stand for; those of characters beyond ASCII as one byte that no secret has.
laid_bare unescaped(const laid_bare& of) {
  constexpr std::string_view written = "nrtbf";
  constexpr std::string_view meant = "\n\r\t\b\f";
  const std::string_view text = of.text;
  laid_bare out;
  out.text.reserve(text.size());
  out.from.reserve(of.from.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto origin = of.from[at];
    if (text[at] != '\\' || at + 1 == text.size()) {
      out.add(text[at++], origin);
      continue;
    }
    const char what = text[at + 1];
    const auto unit = what == 'u' ? unit_at(text, at + 2) : 0x10000;
    if (unit <= 0xFFFF) {
      out.add(unit < 0x80 ? static_cast<char>(unit) : '\x80', origin);
      at += 6;
      continue;
    }
    const auto known = written.find(what);
    out.add(known == std::string_view::npos ? what : meant[known], origin);
    at += 2;
  }
  out.end(of.from.back());
  return out;
}

/// Calls `each` with stretches behind masks that end at what does not show.
template <class Each>
void each_extension(std::string_view text, const Each& each) {
  std::size_t asterisks = 0;
  bool is_masked = false;  // what came last, but for what does not show
  bool is_behind = false;
  for (std::size_t at = 0; at < text.size();) {
    const auto unseen = unseen_at(text, at);
    const auto high = static_cast<unsigned char>(text[at]) >= 0x80;
    if (unseen != 0 || (high && is_masked)) {
      is_behind = is_masked;
      asterisks = 0;
      at += std::max<std::size_t>(unseen, 1);
      continue;
    }
    if (text[at] == '*') {
      is_masked = is_masked || ++asterisks >= least_mask;
    } else {
      asterisks = 0;
      is_masked = is_masked && is_behind && secrets::is(secrets::kind::item, text[at]);
      if (is_masked) each(at);
    }
    is_behind = is_behind && is_masked;
    ++at;
  }
}

std::size_t find_and_mask(const laid_bare& in, std::string& text) {
  std::vector<secrets::span> found;
  secrets::find(in.text, secrets::policy::settings, found);
  std::size_t count = 0;
  for (const auto& one : found) {
    std::size_t begin = in.from[one.begin];
    std::size_t end = in.from[one.end];
    while (begin > 0 && is_continuation(text[begin])) --begin;
    while (end < text.size() && is_continuation(text[end])) ++end;
    bool is_new = false;
    for (auto at = begin; at < end; ++at) {
      if (text[at] == '\n' || text[at] == '\r' || text[at] == '*') continue;
      text[at] = '*';
      is_new = true;
    }
    if (is_new) ++count;
  }
  return count;
}

}  // namespace

bool may_hide(std::string_view text) noexcept {
  return text.find('\\') != std::string_view::npos || text.find(pictures) != std::string_view::npos ||
         text.find(replacement) != std::string_view::npos;
}

void extend_masks(std::string& text) {
  const auto before = text;
  each_extension(before, [&text](std::size_t at) { text[at] = '*'; });
}

std::size_t mask_hidden(std::string& text, bool as_it_is) {
  laid_bare now;
  now.text = text;
  now.from.resize(text.size() + 1);
  for (std::size_t i = 0; i < now.from.size(); ++i) now.from[i] = static_cast<std::uint32_t>(i);
  std::size_t count = as_it_is ? find_and_mask(now, text) : 0;
  for (int depth = 0;; ++depth) {
    each_extension(now.text, [&](std::size_t at) {
      const auto end = std::max<std::size_t>(now.from[at + 1], now.from[at] + 1);
      std::fill(text.begin() + static_cast<std::ptrdiff_t>(now.from[at]), text.begin() + static_cast<std::ptrdiff_t>(end), '*');
    });
    auto seen = without_unseen(now);
    if (depth > 0 || seen.text.size() != now.text.size()) count += find_and_mask(seen, text);
    if (depth == deepest || seen.text.find('\\') == std::string::npos) return count;
    now = unescaped(seen);
  }
}

}  // namespace hondana::records
