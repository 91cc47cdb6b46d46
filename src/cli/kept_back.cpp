/// Collecting the paths of what is never served.
#include "cli/kept_back.hpp"

#include <filesystem>
#include <functional>
#include <initializer_list>
#include <set>
#include <system_error>

#include "cli/callers/ways.hpp"
#include "google/credentials.hpp"
#include "providers/analyses/settings.hpp"
#include "providers/gdrive/settings.hpp"

namespace hondana::cli {
namespace fs = std::filesystem;
namespace {

/// What a table of a source names under these keys.
void add_named(config::section& from, std::initializer_list<const char*> keys,
               const std::function<void(const std::string&)>& add) {
  for (const char* const key : keys) {
    const auto path = from.string(key);
    if (path && *path && !(*path)->empty() && **path != ":memory:") add(from.path_from(**path));
  }
}

/// What a table of a source of metrics names for the server itself, of which `from` is a copy.
void add_metrics(config::section from, const std::function<void(const std::string&)>& add) {
  add_named(from, {"bearer_file", "password_file", "key", "store"}, add);
  if (auto targets = from.sections("scrape"))
    for (const auto& one : *targets) add_metrics(one, add);
}

/// The same of analyses.
void add_analyses(config::section from, const std::function<void(const std::string&)>& add) {
  const auto add_store = [&add](const std::string& path) {
    for (const auto* const ending : {"", "-wal", "-shm"}) add(path + ending);
  };
  add_named(from, {"redis_password_file", "redis_key"}, add);
  add_named(from, {"store"}, add_store);
  if (from.string("store").value_or(std::nullopt) || from.string("redis").value_or(std::nullopt)) return;
  if (const auto usual = wallbounce::usual_store()) add_store(*usual);
}

/// The same of a Drive, of which `from` is a copy: with the places that it takes where none are written.
void add_drive(config::section from, const std::function<void(const std::string&)>& add) {
  // First, since it stands there even where the table has errors, which whoever makes the source tells.
  add_named(from, {"credentials", "log_in_file", "client", "store"}, add);
  add(google::own_environment()(google::file_variable));
  const auto all = gdrive::read_settings(from);
  if (!all) return;
  add(all->who.log_in_file);
  if (all->how.store.empty()) return;
  for (const auto* const ending : {"", "-wal", "-shm"}) add(all->how.store + ending);
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
  add(config);
  add(settings.auth.tokens);
  add(usual_tokens());
  if (settings.auth.oauth && settings.auth.oauth->introspection) add(settings.auth.oauth->introspection->secret_file);
  add(settings.http.tls.key);
  if (settings.audit) add(settings.audit->path);
  if (settings.tracing) add(settings.tracing->bearer_file);
  if (settings.search) {
    add(settings.search->path);
    if (settings.search->embeddings) add(settings.search->embeddings->bearer_file);
  }
  for (const auto& one : settings.sources) {
    if (one.type == "metrics") add_metrics(one.options, add);
    if (one.type == "analyses") add_analyses(one.options, add);
    if (one.type == "gdrive") add_drive(one.options, add);
  }
  for (const auto& one : more) add(one);
  return {all.begin(), all.end()};
}

}  // namespace hondana::cli
