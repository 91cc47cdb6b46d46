/// Escaping names, and telling drives apart.
#include "sources/gdrive/naming.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include <hondana/uri.hpp>

#include "base/ascii/slug.hpp"
#include "base/bytes/sha256.hpp"
#include "text/language/language.hpp"

namespace hondana::gdrive {
namespace {

constexpr std::size_t digits_of_id = 8;
constexpr std::size_t longest_base = ascii::longest_slug - digits_of_id - 1;

std::string digits_of(std::string_view id) { return bytes::to_hex(bytes::sha256_of(id)).substr(0, digits_of_id); }

std::string without_nul(std::string_view name) {
  std::string out;
  for (const char c : name) out += c == '\0' ? std::string("\xEF\xBF\xBD") : std::string(1, c);
  return out;
}

}  // namespace

std::string segment_of(std::string_view name) {
  if (name.empty() || name == "." || name == "..") return {};
  return percent_encode(language::composed(without_nul(name)));
}

std::string segment_of(std::string_view name, std::string_view id) {
  auto made = percent_encode(language::composed(without_nul(name)));
  made += id_mark;
  return made += percent_encode(id);
}

std::string shown(std::string_view name) {
  std::string out;
  for (const char c : language::composed(name)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_control = byte < 0x20 || byte == 0x7F;
    if (!is_control) out += c;
    if (is_control && !out.ends_with(' ')) out += ' ';
  }
  return out;
}

std::string listed_spelling(std::string_view uri) {
  std::string out;
  const auto authority = uri.find("://");
  auto begin = uri.find('/', authority == std::string_view::npos ? 0 : authority + 3);
  if (begin == std::string_view::npos) return std::string(uri);
  out += uri.substr(0, begin);
  while (begin != std::string_view::npos) {
    const auto end = uri.find('/', begin + 1);
    const auto segment = uri.substr(begin + 1, end == std::string_view::npos ? std::string_view::npos : end - begin - 1);
    if (segment.empty() && end == std::string_view::npos) break;
    const auto decoded = percent_decode(segment);
    out += '/';
    out += decoded ? percent_encode(language::composed(*decoded)) : std::string(segment);
    begin = end;
  }
  return out;
}

std::map<std::string, std::string, std::less<>> slugs_of(const std::vector<drive::shared_drive>& all) {
  std::map<std::string, std::string, std::less<>> bases;  // by id, and so in its order
  for (const auto& one : all) bases[one.id] = ascii::slug_of(one.name);
  std::set<std::string, std::less<>> taken{std::string(my_drive), std::string(shared_with_me)};
  std::map<std::string, std::string, std::less<>> made;
  for (const auto& [id, base] : bases) {
    auto slug = base.empty() ? "drive-" + digits_of(id) : base;
    if (taken.contains(slug)) {
      auto shorter = slug.substr(0, longest_base);
      while (shorter.ends_with('-')) shorter.pop_back();
      slug = shorter + '-' + digits_of(id);
    }
    // A drive may be called as another one is told apart.
    for (int more = 2; taken.contains(slug); ++more) slug = "drive-" + digits_of(id) + '-' + std::to_string(more);
    taken.insert(slug);
    made.emplace(id, std::move(slug));
  }
  return made;
}

}  // namespace hondana::gdrive
