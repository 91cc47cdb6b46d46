/// Makes a provider of skills from its `[[source]]` table.
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "sources/config/section.hpp"
#include "sources/skills/folder_skills.hpp"

namespace hondana::skills {

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  const auto path = from.string("path");
  if (!path) return tl::unexpected(path.error());
  auto paths = from.strings("paths");
  if (!paths) return tl::unexpected(std::move(paths.error()));
  if (*path) paths->push_back(**path);
  if (paths->empty()) return tl::unexpected(from.wrong("path", "missing; name the folder that contains the skills"));
  for (auto& one : *paths) one = from.path_from(one);
  HONDANA_TRY(const auto prefix, from.string("prefix"));
  HONDANA_TRY(const auto watches, from.boolean("watch"));
  HONDANA_TRY(const auto redact, from.boolean("redact"));
  HONDANA_TRY(from.finish());
  HONDANA_TRY(auto opened, folder_skills::open(prefix.value_or(""), *paths, log, watches.value_or(true), redact.value_or(true),
                                               from.kept_back()));
  return std::shared_ptr<provider>(std::move(opened));
}

}  // namespace hondana::skills
