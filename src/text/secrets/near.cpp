/// What shapes of secrets have in common.
#include "text/secrets/near.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/ascii/characters.hpp"

namespace hondana::secrets {
namespace {

constexpr std::size_t looked_at = 128;  // bytes of something long that tell what it is like

/// How many different bytes there are, and what they say.
struct variety {
  std::size_t different = 0;
  double entropy = 0;
};

variety variety_of(std::string_view what) noexcept {
  // n * log2(n), which entropy is a sum of.
  static const auto parts = [] {
    std::array<double, looked_at + 1> out{};
    for (std::size_t n = 1; n < out.size(); ++n) out[n] = static_cast<double>(n) * std::log2(n);
    return out;
  }();
  std::array<std::uint8_t, 256> counts{};
  variety out;
  double sum = 0;
  for (const char byte : what) {
    auto& count = counts[static_cast<unsigned char>(byte)];
    out.different += count == 0 ? 1 : 0;
    sum += parts[count + 1u] - parts[count];
    ++count;
  }
  const auto size = static_cast<double>(what.size());
  if (!what.empty()) out.entropy = std::log2(size) - sum / size;
  return out;
}

/// Words long enough not to come about by chance.
constexpr std::array<std::string_view, 14> stand_ins{"example",    "placeholder", "redacted", "changeme",  "change_me",
                                                     "change-me",  "your_",       "your-",    "_here",     "-here",
                                                     "replace_me", "replaceme",   "xxxxxx",   "notasecret"};

/// The bytes that one of them begins with.
constexpr auto beginnings = [] {
  std::array<bool, 256> table{};
  for (const auto word : stand_ins) table[static_cast<unsigned char>(word.front())] = true;
  return table;
}();

bool has_stand_in(std::string_view what) noexcept {
  for (std::size_t i = 0; i < what.size(); ++i) {
    if (!beginnings[static_cast<unsigned char>(ascii::lower(what[i]))]) continue;
    const auto rest = what.substr(i);
    if (std::any_of(stand_ins.begin(), stand_ins.end(), [rest](auto word) { return begins_with(rest, word); })) return true;
  }
  return false;
}

bool stands_in(std::string_view front, const variety& of) noexcept {
  if (front.empty()) return true;
  if (front.size() >= 6 && of.different <= 2) return true;
  if (front.size() >= 16 && of.different <= 5) return true;
  return has_stand_in(front);
}

}  // namespace

std::size_t known_runs::end_of(kind what, std::size_t at, std::size_t slot) noexcept {
  auto& known = known_[static_cast<std::size_t>(std::countr_zero(static_cast<std::uint16_t>(what)))][slot];
  if (at < known.begin || at >= known.end) {
    const auto size = run_of(what, whole_.substr(std::min(at, whole_.size())));
    known = {at, at + size};
    count(size + 1);
  }
  return known.end;
}

bool begins_anew(const place& near, std::size_t at) noexcept {
  if (at == 0 || !is(kind::alnum, near[at - 1])) return true;
  const char before = near[at - 1];
  const bool is_letter_escape = at >= 2 && near[at - 2] == '\\' && (before == 'n' || before == 'r' || before == 't');
  const bool is_percent =
      at >= 3 && near[at - 3] == '%' && is(kind::hex, ascii::lower(near[at - 2])) && is(kind::hex, ascii::lower(before));
  const bool is_unicode = at >= 6 && near[at - 6] == '\\' && near[at - 5] == 'u' && near[at - 4] == '0' && near[at - 3] == '0';
  if (is_letter_escape || is_percent || is_unicode) return true;
  if (before != 'm') return false;
  auto colour = at - 1;
  while (colour > 0 && at - colour < 20 && (near[colour - 1] == ';' || (near[colour - 1] >= '0' && near[colour - 1] <= '9')))
    --colour;
  return colour >= 1 && near[colour - 1] == '[';
}

bool is_placeholder(std::string_view what) noexcept {
  const auto front = what.substr(0, looked_at);
  return stands_in(front, variety_of(front));
}

double entropy_of(std::string_view what) noexcept { return variety_of(what.substr(0, looked_at)).entropy; }

bool is_random(std::string_view what) noexcept {
  const auto front = what.substr(0, looked_at);
  const auto is_small = [](char c) { return c >= 'a' && c <= 'z'; };
  const auto is_capital = [](char c) { return c >= 'A' && c <= 'Z'; };
  bool has_digit = false;
  bool has_letter = false;
  std::size_t changes = 0;
  for (std::size_t i = 0; i < front.size(); ++i) {
    has_digit = has_digit || (front[i] >= '0' && front[i] <= '9');
    has_letter = has_letter || is_small(front[i]) || is_capital(front[i]);
    if (i > 0 && is_small(front[i]) != is_small(front[i - 1])) ++changes;
  }
  // Letters alone may be drawn, too; then they change their case far more often than the words of a name do.
  const bool is_mixed = front.size() >= 20 && changes * 3 >= front.size();
  if (!has_letter || (!has_digit && !is_mixed)) return false;
  const auto of = variety_of(front);
  return of.entropy >= 3 && !stands_in(front, of);
}

}  // namespace hondana::secrets
