/// Collecting the paths of what is never served.
#include "cli/kept_back.hpp"

#include <filesystem>
#include <set>
#include <system_error>

#include "cli/callers/ways.hpp"

namespace hondana::cli {
namespace fs = std::filesystem;

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
  for (const auto& one : more) add(one);
  return {all.begin(), all.end()};
}

}  // namespace hondana::cli
