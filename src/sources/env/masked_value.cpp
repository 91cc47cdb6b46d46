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

using secrets::byte_set;
using secrets::is_in;

constexpr std::size_t max_piece_bytes = 15;  // of a name with several pieces

bool is_run_char(char c) noexcept { return is_in(byte_set::word, c) || c == '+' || c == '/'; }
bool is_separator(char c) noexcept { return c == '-' || c == '_'; }

bool has_single_case(std::string_view text) noexcept {
  bool has_lower = false;
  bool has_upper = false;
  for (const char c : text) {
    has_lower = has_lower || ascii::is_lower(c);
    has_upper = has_upper || (c >= 'A' && c <= 'Z');
  }
  return !has_lower || !has_upper;
}

bool is_hex_text(std::string_view text) noexcept {
  bool has_letter = false;
  for (const char c : text) {
    if (!is_in(byte_set::hex, ascii::to_lower(c))) return false;
    has_letter = has_letter || !ascii::is_digit(c);
  }
  return has_letter && has_single_case(text);
}

bool has_digest_size(std::string_view digits) noexcept {
  constexpr std::array<std::size_t, 6> sizes{32, 40, 56, 64, 96, 128};
  return std::find(sizes.begin(), sizes.end(), digits.size()) != sizes.end();
}

/// Calls `predicate` for each piece of `text` between separators, until it returns false.
template <class Predicate>
bool every_piece(std::string_view text, bool (*is_delimiter)(char), Predicate predicate) {
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = static_cast<std::size_t>(
        std::find_if(text.begin() + static_cast<std::ptrdiff_t>(begin), text.end(), is_delimiter) - text.begin());
    if (!predicate(begin, text.substr(begin, end - begin))) return false;
    begin = end + 1;
  }
  return true;
}

/// Whether capital letters only begin words, as in `ClassName`, or all letters are capitals.
bool has_word_case(std::string_view text) noexcept {
  constexpr std::size_t min_word_bytes = 4;  // on average
  std::size_t changes = 0;
  std::size_t words = 1;
  for (std::size_t i = 1; i < text.size(); ++i) {
    changes += ascii::is_lower(text[i]) != ascii::is_lower(text[i - 1]) ? 1 : 0;
    words += is_in(byte_set::capital, text[i]) && !ascii::is_digit(text[i]) && ascii::is_lower(text[i - 1]) ? 1 : 0;
  }
  return has_single_case(text) || (changes * 5 < text.size() * 2 && text.size() >= words * min_word_bytes);
}

bool is_word_separator(char c) noexcept { return !is_in(byte_set::alnum, c); }

/// Whether a text is one or more words, with digits where names have them.
bool consists_of_words(std::string_view text) {
  return secrets::is_name(text) &&
         every_piece(text, is_word_separator, [](std::size_t, std::string_view word) { return has_word_case(word); });
}

bool is_timestamp(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return ascii::is_digit(c) || c == 'T' || c == 'Z'; });
}

/// Whether a text consists of short pieces, none of which mixes cases and digits: UUIDs, host names, versions with dates.
bool consists_of_short_pieces(std::string_view text) {
  return every_piece(text, is_separator, [](std::size_t, std::string_view piece) {
    return is_timestamp(piece) || (piece.size() <= max_piece_bytes && (has_single_case(piece) || consists_of_words(piece)));
  });
}

/// Whether a text without slashes looks random.
bool is_random(std::string_view text, bool is_digest) {
  if (text.size() < min_random_bytes) return false;
  if (is_hex_text(text)) {
    if (is_digest && has_digest_size(text)) return false;
    return secrets::entropy_of(text) >= min_hex_entropy;
  }
  if (consists_of_short_pieces(text)) return false;
  if (consists_of_words(text)) return false;
  return secrets::is_random(text) && secrets::entropy_of(text) >= min_base64_entropy;
}

bool is_slash(char c) noexcept { return c == '/'; }

/// Nix and Guix name folders after digests.
bool is_store_path(std::string_view parent, std::string_view part) noexcept {
  constexpr std::size_t digest_size = 32;
  return parent == "store" && part.size() > digest_size && part[digest_size] == '-';
}

/// Whether at least half of the text is in parts that are typical of paths. In base64, less is.
bool is_path_like(std::string_view run) {
  std::size_t word_bytes = 0;
  std::size_t total_bytes = 0;
  std::string_view parent;
  every_piece(run, is_slash, [&](std::size_t, std::string_view part) {
    const bool is_short = part.size() > 3 && part.size() <= max_piece_bytes && has_single_case(part);
    if (is_short || consists_of_words(part) || is_store_path(parent, part)) word_bytes += part.size();
    total_bytes += part.size();
    parent = part;
    return true;
  });
  return word_bytes * 2 >= total_bytes;
}

/// Whether the text before `offset` ends with the name of a digest and a colon.
bool follows_digest_name(std::string_view value, std::size_t offset) noexcept {
  constexpr std::array<std::string_view, 7> names{"sha1:", "sha224:", "sha256:", "sha384:", "sha512:", "md5:", "blake3:"};
  const auto preceding = value.substr(0, offset);
  return std::any_of(names.begin(), names.end(),
                     [preceding](auto name) { return ascii::ends_with_ignore_case(preceding, name); });
}

}  // namespace

void find_random(std::string_view value, bool is_digest, std::vector<secrets::span>& spans) {
  for (std::size_t offset = 0; offset < value.size();) {
    if (!is_run_char(value[offset])) {
      ++offset;
      continue;
    }
    const auto begin = offset;
    while (offset < value.size() && is_run_char(value[offset])) ++offset;
    const auto run = value.substr(begin, offset - begin);
    if (run.size() < min_random_bytes) continue;
    const bool may_be_digest = is_digest || follows_digest_name(value, begin);
    const auto padded_end = [&] {
      auto end = offset;
      while (end < value.size() && end < offset + 2 && value[end] == '=') ++end;
      return end;
    };
    const bool has_slash = run.find('/') != std::string_view::npos;
    if (!has_slash || !is_path_like(run)) {
      if (is_random(run, may_be_digest)) {
        spans.push_back({begin, padded_end()});
        continue;
      }
    }
    if (!has_slash) continue;
    std::string_view parent;
    every_piece(run, is_slash, [&](std::size_t part_offset, std::string_view part) {
      if (!is_store_path(parent, part) && is_random(part, may_be_digest)) {
        const auto end = begin + part_offset + part.size();
        spans.push_back({begin + part_offset, end == offset ? padded_end() : end});
      }
      parent = part;
      return true;
    });
  }
}

namespace {

/// Finds secrets in the value as if the name preceded it.
void find_after_name(std::string_view name, std::string_view separator, std::string_view value,
                     std::vector<secrets::span>& spans) {
  std::string line(name);
  line += separator;
  const auto prefix_size = line.size();
  line += value;
  std::vector<secrets::span> matches;
  secrets::find(line, secrets::masking_policy::settings, matches);
  for (const auto& span : matches) {
    if (span.end > prefix_size)
      spans.push_back({span.begin < prefix_size ? 0 : span.begin - prefix_size, span.end - prefix_size});
  }
}

}  // namespace

masked_value mask_value(std::string_view name, std::string_view value, std::vector<secrets::span> known_spans) {
  if (value.empty()) return {};
  if (secrets::classify_name(name) != secrets::sensitivity::none) return {std::string(full_mask), 1};
  auto spans = std::move(known_spans);
  find_after_name({}, {}, value, spans);
  find_after_name(name, "=", value, spans);
  find_after_name(name, ": ", value, spans);
  secrets::find_embedded(value, spans);
  find_random(value, secrets::names_digest(name), spans);
  secrets::merge_spans(spans);
  masked_value out{std::string(value), spans.size()};
  for (const auto& span : spans) {
    for (auto offset = span.begin; offset < span.end; ++offset) {
      if (out.text[offset] != '\n' && out.text[offset] != '\r') out.text[offset] = '*';
    }
  }
  // A secret ended within a character, so the mask would break the encoding.
  if (!spans.empty() && json::is_utf8(value) && !json::is_utf8(out.text)) return {std::string(full_mask), spans.size()};
  return out;
}

bool is_secret_name(std::string_view name) { return mask_value({}, name).count > 0; }

}  // namespace hondana::env
