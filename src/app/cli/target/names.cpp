/// Reading names and targets from the configuration.
#include "app/cli/target/names.hpp"

#include <cstdlib>
#include <utility>

#include "sources/config/settings.hpp"
#include "sources/mcp/settings.hpp"

namespace hondana::cli {
namespace {

/// The tables of servers, each with its name; those without one are left out.
result<std::vector<std::pair<std::string, config::section>>> server_tables(const std::string& path) {
  auto loaded = config::load(path);
  if (!loaded) return tl::unexpected(std::move(loaded.error()));
  std::vector<std::pair<std::string, config::section>> tables;
  for (auto& source : loaded->sources) {
    if (source.type != "mcp") continue;
    HONDANA_TRY(auto name, source.options.string("name"));
    if (name) tables.emplace_back(std::move(*name), std::move(source.options));
  }
  return tables;
}

}  // namespace

std::string usual_config() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const auto folder = variable("XDG_CONFIG_HOME"); folder.starts_with('/')) return folder + "/hondana/config.toml";
  const auto home = variable("HOME");
  return home.empty() ? "" : home + "/.config/hondana/config.toml";
}

result<std::vector<std::string>> server_names(const std::string& config) {
  auto tables = server_tables(config);
  if (!tables) return tl::unexpected(std::move(tables.error()));
  std::vector<std::string> names;
  for (auto& [name, table] : *tables) names.push_back(std::move(name));
  return names;
}

result<std::optional<client_target>> server_named(const std::string& config, std::string_view name) {
  auto tables = server_tables(config);
  if (!tables) return tl::unexpected(std::move(tables.error()));
  for (auto& [known, table] : *tables) {
    if (known != name) continue;
    HONDANA_TRY(auto settings, mcp::read_settings(table));
    return std::optional(std::move(settings.target));
  }
  return std::optional<client_target>();
}

}  // namespace hondana::cli
