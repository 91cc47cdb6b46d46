/// Remotes, without what could be a secret.
#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ascii/characters.hpp"
#include "sources/git/references.hpp"
#include "sources/git/text.hpp"

namespace hondana::git {
namespace {

constexpr std::string_view local_repository = "a local repository";

bool is_port(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string_view behind_user(std::string_view host_and_more) noexcept {
  const auto host = host_and_more.substr(0, host_and_more.find_first_of("/?#"));
  auto at = host.rfind('@');
  // A password that has one of these in it, unescaped, reaches further than the host seems to.
  if (at == std::string_view::npos && !host.starts_with('[') && host.find(':') != std::string_view::npos &&
      !is_port(host.substr(host.rfind(':') + 1)))
    at = host_and_more.rfind('@');
  return at == std::string_view::npos ? host_and_more : host_and_more.substr(at + 1);
}

}  // namespace

std::string without_credentials(std::string_view url) {
  constexpr std::string_view mark = "://";
  if (const auto scheme = url.find(mark); scheme != std::string_view::npos) {
    const auto rest = behind_user(url.substr(scheme + mark.size()));
    return shown_path_of(url.substr(0, scheme + mark.size())) + shown_path_of(rest.substr(0, rest.find_first_of("?#")));
  }
  // `user@host:path`, as ssh takes it; what begins otherwise is a path.
  const auto host = url.substr(0, url.find('/'));
  if (const auto at = host.rfind('@'); at != std::string_view::npos && host.find(':') != std::string_view::npos)
    url.remove_prefix(at + 1);
  return shown_path_of(url);
}

std::string told_address(std::string_view url) {
  // `host:path` is no path, unless a slash comes first.
  const auto first = url.find_first_of(":/");
  // A helper's name stands before `::`, and behind it what is the helper's business.
  if (first != std::string_view::npos && first > 0 && url.substr(first).starts_with("::") && url.front() != '[') {
    const auto rest = told_address(url.substr(first + 2));
    if (rest == local_repository) return rest;
  }
  const bool is_path = first == std::string_view::npos || url[first] == '/';
  if (is_path || ascii::is_same(url.substr(0, first), "file")) return std::string(local_repository);
  return without_credentials(url);
}

result<std::vector<remote>> remotes(git_repository* in) {
  constexpr std::string_view section = "remote.", key = ".url";
  git_config* raw = nullptr;
  if (const int code = git_repository_config(&raw, in); code < 0)
    return failed("the repository's remotes cannot be read from its configuration");
  const config_pointer config(raw);
  git_config_iterator* raw_walk = nullptr;
  if (const int code = git_config_iterator_new(&raw_walk, raw); code < 0)
    return failed("the repository's remotes cannot be read from its configuration");
  const std::unique_ptr<git_config_iterator, frees<git_config_iterator_free>> walk(raw_walk);
  // Of several the first is the one that is fetched from.
  std::map<std::string, std::string> urls;
  git_config_entry* entry = nullptr;
  while (git_config_next(&entry, raw_walk) == 0) {
    const std::string_view name = entry->name;
    if (!name.starts_with(section) || !name.ends_with(key) || name.size() <= section.size() + key.size() ||
        entry->value == nullptr)
      continue;
    urls.emplace(shown_path_of(name.substr(section.size(), name.size() - section.size() - key.size())),
                 told_address(entry->value));
  }
  git_error_clear();
  std::vector<remote> found;
  found.reserve(urls.size());
  for (auto& [name, url] : urls) found.push_back({name, std::move(url)});
  return found;
}

}  // namespace hondana::git
