/// Makes a source of git repositories from its `[[source]]` table.
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "sources/config/section.hpp"
#include "sources/git/git_provider.hpp"

namespace hondana::git {
namespace {

constexpr std::int64_t deepest = 8;

/// The paths under a key for one and a key for several.
result<std::vector<std::string>> paths_of(config::section& from, std::string_view one, std::string_view several) {
  HONDANA_TRY(const auto single, from.string(one));
  auto all = from.strings(several);
  if (!all) return all;
  if (single) all->push_back(*single);
  for (auto& path : *all) {
    path = from.path_from(path);
    // A repository is called by the last name of its path.
    std::error_code problem;
    auto whole = std::filesystem::absolute(path, problem).lexically_normal().string();
    if (problem) return tl::unexpected(from.wrong(one, "cannot be made absolute: " + problem.message()));
    if (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
    path = std::move(whole);
  }
  return all;
}

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  git_options options;
  HONDANA_TRY(auto repositories, paths_of(from, "path", "paths"));
  HONDANA_TRY(auto folders, paths_of(from, "root", "roots"));
  if (repositories.empty() && folders.empty()) {
    return tl::unexpected(from.wrong("path", "missing; name a repository, or set root to a folder that contains repositories"));
  }
  HONDANA_TRY(const auto depth, from.integer("depth", 0, deepest));
  HONDANA_TRY(const auto redact, from.boolean("redact"));
  HONDANA_TRY(const auto watch, from.boolean("watch"));
  HONDANA_TRY(from.finish());
  // A linked work tree and its main repository may both be named.
  options.within = repositories;
  options.repositories = std::move(repositories);
  options.folders = std::move(folders);
  if (depth) options.depth = static_cast<std::size_t>(*depth);
  options.redact = redact.value_or(options.redact);
  options.watch = watch.value_or(options.watch);
  options.keep_back = from.kept_back();
  options.log = log;
  HONDANA_TRY(auto opened, git_provider::open(std::move(options)));
  return std::shared_ptr<provider>(std::move(opened));
}

}  // namespace hondana::git
