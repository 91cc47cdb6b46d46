/// Masks secrets in values of variables by name, by format and by randomness.
#include "sources/env/masked_value.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/json/utf8.hpp"
#include "text/secrets/embedded_secrets.hpp"
#include "text/secrets/scanner.hpp"
#include "text/secrets/secret_names.hpp"

namespace hondana::env {
namespace {

using secrets::is;
using secrets::kind;

constexpr std::size_t longest_piece = 15;  // of a name with several pieces

bool is_of_run(char c) noexcept { return is(kind::word, c) || c == '+' || c == '/'; }
bool is_separator(char c) noexcept { return c == '-' || c == '_'; }

bool is_of_one_case(std::string_view what) noexcept {
  bool has_small = false;
  bool has_capital = false;
  for (const char c : what) {
    has_small = has_small || ascii::is_lower(c);
    has_capital = has_capital || (c >= 'A' && c <= 'Z');
  }
  return !has_small || !has_capital;
}

bool are_hex_digits(std::string_view what) noexcept {
  bool has_letter = false;
  for (const char c : what) {
    if (!is(kind::hex, ascii::lower(c))) return false;
    has_letter = has_letter || !ascii::is_digit(c);
  }
  return has_letter && is_of_one_case(what);
}

bool has_size_of_digest(std::string_view digits) noexcept {
  constexpr std::array<std::size_t, 6> sizes{32, 40, 56, 64, 96, 128};
  return std::find(sizes.begin(), sizes.end(), digits.size()) != sizes.end();
}

/// Calls `take` for each piece of `what` between separators, until it returns false.
template <class Take>
bool each_piece(std::string_view what, bool (*is_between)(char), Take take) {
  for (std::size_t begin = 0; begin <= what.size();) {
    const auto end = static_cast<std::size_t>(
        std::find_if(what.begin() + static_cast<std::ptrdiff_t>(begin), what.end(), is_between) - what.begin());
    if (!take(begin, what.substr(begin, end - begin))) return false;
    begin = end + 1;
  }
  return true;
}

/// Whether capital letters only begin words, as in `ClassName`, or all letters are capitals.
bool has_case_of_words(std::string_view what) noexcept {
  constexpr std::size_t shortest_word = 4;  // on average
  std::size_t changes = 0;
  std::size_t words = 1;
  for (std::size_t i = 1; i < what.size(); ++i) {
    changes += ascii::is_lower(what[i]) != ascii::is_lower(what[i - 1]) ? 1 : 0;
    words += is(kind::capital, what[i]) && !ascii::is_digit(what[i]) && ascii::is_lower(what[i - 1]) ? 1 : 0;
  }
  return is_of_one_case(what) || (changes * 5 < what.size() * 2 && what.size() >= words * shortest_word);
}

bool parts_words(char c) noexcept { return !is(kind::alnum, c); }

/// Whether a text is one or more words, with digits where names have them.
bool are_words_of_name(std::string_view what) {
  return secrets::is_name(what) &&
         each_piece(what, parts_words, [](std::size_t, std::string_view word) { return has_case_of_words(word); });
}

bool is_time_stamp(std::string_view what) noexcept {
  return std::all_of(what.begin(), what.end(), [](char c) { return ascii::is_digit(c) || c == 'T' || c == 'Z'; });
}

/// Whether a text consists of short pieces, none of which mixes cases and digits: UUIDs, host names, versions with dates.
bool are_short_pieces(std::string_view what) {
  return each_piece(what, is_separator, [](std::size_t, std::string_view piece) {
    return is_time_stamp(piece) || (piece.size() <= longest_piece && (is_of_one_case(piece) || are_words_of_name(piece)));
  });
}

/// Whether a text without slashes looks random.
bool is_drawn(std::string_view what, bool is_digest) {
  if (what.size() < least_drawn) return false;
  if (are_hex_digits(what)) {
    if (is_digest && has_size_of_digest(what)) return false;
    return secrets::entropy_of(what) >= least_bits_of_hex;
  }
  if (are_short_pieces(what)) return false;
  if (are_words_of_name(what)) return false;
  return secrets::is_random(what) && secrets::entropy_of(what) >= least_bits_of_base64;
}

bool is_slash(char c) noexcept { return c == '/'; }

/// Nix and Guix name folders after digests.
bool is_of_store(std::string_view above, std::string_view part) noexcept {
  constexpr std::size_t digest_size = 32;
  return above == "store" && part.size() > digest_size && part[digest_size] == '-';
}

/// Whether at least half of the text is in parts that are typical of paths. In base64, less is.
bool is_path_like(std::string_view run) {
  std::size_t in_words = 0;
  std::size_t in_all = 0;
  std::string_view above;
  each_piece(run, is_slash, [&](std::size_t, std::string_view part) {
    const bool is_short = part.size() > 3 && part.size() <= longest_piece && is_of_one_case(part);
    if (is_short || are_words_of_name(part) || is_of_store(above, part)) in_words += part.size();
    in_all += part.size();
    above = part;
    return true;
  });
  return in_words * 2 >= in_all;
}

/// Whether the text before `at` ends with the name of a digest and a colon.
bool follows_digest_name(std::string_view value, std::size_t at) noexcept {
  constexpr std::array<std::string_view, 7> names{"sha1:", "sha224:", "sha256:", "sha384:", "sha512:", "md5:", "blake3:"};
  const auto before = value.substr(0, at);
  return std::any_of(names.begin(), names.end(), [before](auto name) { return ascii::ends_with(before, name); });
}

}  // namespace

void find_drawn(std::string_view value, bool is_digest, std::vector<secrets::span>& into) {
  for (std::size_t at = 0; at < value.size();) {
    if (!is_of_run(value[at])) {
      ++at;
      continue;
    }
    const auto begin = at;
    while (at < value.size() && is_of_run(value[at])) ++at;
    const auto run = value.substr(begin, at - begin);
    if (run.size() < least_drawn) continue;
    const bool may_be_digest = is_digest || follows_digest_name(value, begin);
    const auto padded = [&] {
      auto end = at;
      while (end < value.size() && end < at + 2 && value[end] == '=') ++end;
      return end;
    };
    const bool has_slash = run.find('/') != std::string_view::npos;
    if (!has_slash || !is_path_like(run)) {
      if (is_drawn(run, may_be_digest)) {
        into.push_back({begin, padded()});
        continue;
      }
    }
    if (!has_slash) continue;
    std::string_view above;
    each_piece(run, is_slash, [&](std::size_t offset, std::string_view part) {
      if (!is_of_store(above, part) && is_drawn(part, may_be_digest)) {
        const auto end = begin + offset + part.size();
        into.push_back({begin + offset, end == at ? padded() : end});
      }
      above = part;
      return true;
    });
  }
}

namespace {

/// Finds secrets in the value as if the name preceded it.
void find_behind_name(std::string_view name, std::string_view between, std::string_view value,
                      std::vector<secrets::span>& into) {
  std::string line(name);
  line += between;
  const auto front = line.size();
  line += value;
  std::vector<secrets::span> found;
  secrets::find(line, secrets::policy::settings, found);
  for (const auto& one : found) {
    if (one.end > front) into.push_back({one.begin < front ? 0 : one.begin - front, one.end - front});
  }
}

}  // namespace

masked_value mask_value(std::string_view name, std::string_view value, std::vector<secrets::span> known) {
  if (value.empty()) return {};
  if (secrets::told_by(name) != secrets::telling::nothing) return {std::string(whole_mask), 1};
  auto found = std::move(known);
  find_behind_name({}, {}, value, found);
  find_behind_name(name, "=", value, found);
  find_behind_name(name, ": ", value, found);
  secrets::find_inner(value, found);
  find_drawn(value, secrets::says_digest(name), found);
  secrets::unite(found);
  masked_value out{std::string(value), found.size()};
  for (const auto& one : found) {
    for (auto at = one.begin; at < one.end; ++at) {
      if (out.text[at] != '\n' && out.text[at] != '\r') out.text[at] = '*';
    }
  }
  // A secret ended within a character, so the mask would break the encoding.
  if (!found.empty() && json::is_utf8(value) && !json::is_utf8(out.text)) return {std::string(whole_mask), found.size()};
  return out;
}

bool is_secret_name(std::string_view name) { return mask_value({}, name).count > 0; }

}  // namespace hondana::env
