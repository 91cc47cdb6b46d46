/// Slugs made of names.
#include "sources/env/naming.hpp"

#include <algorithm>
#include <cstddef>

#include "base/ascii/characters.hpp"

namespace hondana::env {
namespace {

constexpr std::size_t longest_slug = 40;

bool is_of_slug(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }

}  // namespace

bool is_slug(std::string_view text) noexcept {
  return !text.empty() && text.size() <= longest_slug && text.front() != '-' && text.back() != '-' &&
         std::all_of(text.begin(), text.end(), is_of_slug);
}

std::string slug_of(std::string_view path) {
  auto name = path.substr(path.rfind('/') + 1);  // 0 where there is none
  std::string slug;
  while (!name.empty()) {
    const auto part = name.substr(0, name.find('.'));
    name.remove_prefix(std::min(name.size(), part.size() + 1));
    if (part.empty() || ascii::is_same(part, "env")) continue;
    if (!slug.empty() && slug.back() != '-') slug += '-';
    for (const char one : part) {
      const char c = ascii::lower(one);
      if (is_of_slug(c) && c != '-') {
        slug += c;
      } else if (!slug.empty() && slug.back() != '-') {
        slug += '-';
      }
    }
  }
  slug.resize(std::min(slug.size(), longest_slug));
  while (slug.ends_with('-')) slug.pop_back();
  return slug.empty() ? "env" : slug;
}

}  // namespace hondana::env
