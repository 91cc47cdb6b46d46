/// Names of repositories in URIs.
#include <string>
#include <unordered_set>

#include "base/ascii/characters.hpp"
#include "sources/git/place.hpp"

namespace hondana::git {
namespace {

constexpr std::size_t longest_slug = 40;

std::string_view folder_name_of(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  auto name = path.substr(path.rfind('/') + 1);  // 0 where there is none
  // A git folder is called after the folder it is in.
  if (name == ".git" && path.size() > name.size() + 1) return folder_name_of(path.substr(0, path.size() - name.size() - 1));
  return name;
}

}  // namespace

std::string slug_of(std::string_view folder_name) {
  if (folder_name.ends_with(".git")) folder_name.remove_suffix(4);
  std::string slug;
  for (const char one : folder_name) {
    const char c = ascii::lower(one);
    if (ascii::is_letter(c) || (c >= '0' && c <= '9')) {
      slug += c;
    } else if (!slug.empty() && slug.back() != '-') {
      slug += '-';
    }
    if (slug.size() == longest_slug) break;
  }
  if (slug.ends_with('-')) slug.pop_back();
  return slug.empty() ? "repo" : slug;
}

std::vector<std::string> slugs_of(const std::vector<std::string>& paths) {
  std::vector<std::string> slugs;
  std::unordered_set<std::string> taken;
  for (const auto& one : paths) {
    const auto plain = slug_of(folder_name_of(one));
    auto slug = plain;
    for (std::size_t number = 2; !taken.insert(slug).second; ++number) slug = plain + '-' + std::to_string(number);
    slugs.push_back(std::move(slug));
  }
  return slugs;
}

}  // namespace hondana::git
