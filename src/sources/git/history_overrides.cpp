/// Commits that are shown in place of others (`git replace`), and parents that are shown in place of recorded ones (grafts).
#include "sources/git/history_overrides.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/bytes/digest.hpp"
#include "os/disk/file_stamp.hpp"
#include "sources/git/confined_roots.hpp"
#include "sources/git/reference_lookup.hpp"

namespace hondana::git {
namespace {

constexpr const char* replace_prefix = "refs/replace/";
constexpr std::size_t max_replacements = 100'000;
constexpr std::size_t max_grafts_bytes = std::size_t{16} << 20;
constexpr int max_replacement_depth = 5;
constexpr std::size_t max_cached_overrides = 256;

using overrides_pointer = std::shared_ptr<const history_overrides>;

/// The state of the files that overrides come from, and whether it reliably shows their next change.
struct override_sources {
  std::string stamp;
  bool is_reliable = true;
};

override_sources inspect_sources(const std::string& folder, bool uses_replacements) {
  override_sources sources{uses_replacements ? "replaced " : "", true};
  const auto now = disk::wall_clock();
  for (const char* const name : {"refs/replace", "packed-refs", "info/grafts"}) {
    struct stat attributes{};
    if (::lstat((folder + name).c_str(), &attributes) != 0) {
      sources.stamp += "none ";
      continue;
    }
    const auto state = disk::stamp_of(attributes);
    sources.stamp += disk::version_of(state) + ' ';
    sources.is_reliable = sources.is_reliable && !disk::is_racy(state, now);
  }
  return sources;
}

struct overrides_cache {
  std::mutex mutex;
  std::unordered_map<std::string, std::pair<std::string, overrides_pointer>> by_folder;
};

overrides_cache& global_cache() {
  static auto& cache = *new overrides_cache();  // abandoned calls may still use it when the process ends
  return cache;
}

bool uses_replacements(git_repository* repo) {
  git_config* raw = nullptr;
  if (git_repository_config(&raw, repo) < 0) return true;
  const config_pointer config(raw);
  int value = 1;
  const int code = git_config_get_bool(&value, raw, "core.usereplacerefs");
  git_error_clear();
  return code < 0 || value != 0;
}

result<void> read_replacements(history_overrides& overrides, git_repository* repo) {
  HONDANA_TRY(const auto page, list_names(repo, {replace_prefix}, {}, max_replacements));
  for (const auto& name : page.names) {
    const auto hex = std::string_view(name).substr(std::string_view(replace_prefix).size());
    git_oid id{};
    if (hex.size() != GIT_OID_HEXSZ || git_oid_fromstrn(&id, hex.data(), hex.size()) < 0) continue;
    if (const auto target = resolve_reference(repo, name); target && target->id)
      overrides.replacements.emplace(id, *target->id);
  }
  git_error_clear();
  return {};
}

/// The ids of a line; none if it is malformed.
std::vector<git_oid> parse_graft(std::string_view line) {
  std::vector<git_oid> ids;
  while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
  while (!line.empty()) {
    const auto word = line.substr(0, line.find(' '));
    git_oid id{};
    if (word.size() != GIT_OID_HEXSZ || git_oid_fromstrn(&id, word.data(), word.size()) < 0) return {};
    ids.push_back(id);
    line.remove_prefix(std::min(word.size() + 1, line.size()));
  }
  return ids;
}

void read_grafts(history_overrides& overrides, const std::string& folder) {
  const auto text = confined_roots({folder}).read(folder + "info/grafts", max_grafts_bytes);
  if (!text) return;
  for (std::string_view remaining = *text; !remaining.empty();) {
    const auto line = remaining.substr(0, remaining.find('\n'));
    remaining.remove_prefix(std::min(line.size() + 1, remaining.size()));
    if (line.starts_with('#')) continue;
    auto ids = parse_graft(line);
    if (ids.empty()) continue;
    const auto commit = ids.front();
    ids.erase(ids.begin());
    overrides.grafted.insert_or_assign(commit, std::move(ids));
  }
  git_error_clear();
}

std::string digest_overrides(const history_overrides& overrides) {
  if (overrides.replacements.empty() && overrides.grafted.empty()) return {};
  bytes::digester digester;
  for (const auto& [id, replacement] : overrides.replacements) digester.update(to_hex(id) + to_hex(replacement));
  for (const auto& [id, parents] : overrides.grafted) {
    digester.update(" " + to_hex(id));
    for (const auto& parent : parents) digester.update(to_hex(parent));
  }
  return bytes::to_hex(digester.value());
}

}  // namespace

git_oid history_overrides::actual_id(git_oid id) const {
  if (replacements.empty()) return id;
  for (int depth = 0; depth < max_replacement_depth; ++depth) {
    const auto match = replacements.find(id);
    if (match == replacements.end()) break;
    id = match->second;
  }
  return id;
}

overrides_pointer read_history_overrides(git_repository* repo) {
  const std::string folder = git_repository_commondir(repo);
  const bool replaces = uses_replacements(repo);
  auto sources = inspect_sources(folder, replaces);
  auto& cache = global_cache();
  {
    const std::lock_guard lock(cache.mutex);
    const auto cached = cache.by_folder.find(folder);
    if (cached != cache.by_folder.end() && cached->second.first == sources.stamp) return cached->second.second;
  }
  auto overrides = std::make_shared<history_overrides>();
  // If references cannot be listed, history is shown as recorded. A view of the references reports the reason.
  if (replaces && !read_replacements(*overrides, repo)) sources.is_reliable = false;
  read_grafts(*overrides, folder);
  overrides->stamp = digest_overrides(*overrides);
  if (sources.is_reliable) {
    const std::lock_guard lock(cache.mutex);
    if (cache.by_folder.size() >= max_cached_overrides) cache.by_folder.clear();
    cache.by_folder.insert_or_assign(folder, std::pair(sources.stamp, overrides_pointer(overrides)));
  }
  return overrides;
}

}  // namespace hondana::git
