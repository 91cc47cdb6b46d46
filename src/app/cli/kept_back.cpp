/// Collecting the paths of what is never served.
#include "app/cli/kept_back.hpp"

#include <filesystem>
#include <functional>
#include <set>
#include <system_error>

#include "app/cli/callers/ways.hpp"
#include "auth/google/credentials.hpp"
#include "search/index/needs.hpp"
#include "sources/analyses/settings.hpp"
#include "sources/gdrive/settings.hpp"

namespace hondana::cli {
namespace fs = std::filesystem;
namespace {

/// Where analyses are kept, also where the table names no store.
void add_analyses(config::section from, const std::function<void(const std::string&)>& add) {
  if (const auto store = from.string("store"); store && *store) return add(from.path_from(**store));
  if (from.string("redis").value_or(std::nullopt)) return;
  if (const auto usual = analyses_source::usual_store()) add(*usual);
}

/// The places that a Drive takes where none are written.
void add_drive(config::section from, const std::function<void(const std::string&)>& add) {
  add(google::own_environment()(google::file_variable));
  const auto all = gdrive::read_settings(from);
  if (!all) return;
  add(all->who.log_in_file);
  add(all->how.store);
}

}  // namespace

std::vector<std::string> kept_back(const config::settings& settings, const std::string& config,
                                   const std::vector<std::string>& more) {
  std::set<std::string> all;
  const auto add = [&all](const std::string& path) {
    if (path.empty()) return;
    std::error_code problem;
    const auto whole = fs::absolute(path, problem).lexically_normal();
    if (problem) return;
    if (const auto real = fs::weakly_canonical(whole, problem); !problem) all.insert(real.string());
    if (const auto folder = fs::weakly_canonical(whole.parent_path(), problem); !problem)
      all.insert((folder / whole.filename()).string());
  };
  // What SQLite leaves beside a store, too.
  const auto add_store = [&add](const std::string& path) {
    if (path.empty() || path == ":memory:") return;
    for (const auto* const ending : {"", "-wal", "-shm"}) add(path + ending);
  };
  add(config);
  if (settings.file)
    for (const auto& one : settings.file->own_files()) add(one);
  add(settings.auth.tokens);
  add(usual_tokens());
  if (settings.auth.oauth && settings.auth.oauth->introspection) add(settings.auth.oauth->introspection->secret_file);
  add(settings.http.tls.key);
  if (settings.audit) add(settings.audit->path);
  if (settings.tracing) add(settings.tracing->bearer_file);
  if (settings.search) {
    add(settings.search->path);
    if (!settings.search->postgres.empty())
      for (const auto& path : search::postgres_files(settings.search->postgres)) add(path);
    if (settings.search->embeddings) add(settings.search->embeddings->bearer_file);
  }
  for (const auto& one : settings.sources) {
    if (one.type == "analyses") add_analyses(one.options, add_store);
    if (one.type == "gdrive") add_drive(one.options, add_store);
  }
  for (const auto& one : more) add(one);
  return {all.begin(), all.end()};
}

}  // namespace hondana::cli
