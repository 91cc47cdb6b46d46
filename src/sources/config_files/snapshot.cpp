/// An immutable snapshot of the files of a set, with their catalog entries.
#include "sources/config_files/snapshot.hpp"

#include <chrono>
#include <set>
#include <utility>

#include "sources/config_files/config_uri.hpp"
#include "sources/config_files/file_rules.hpp"
#include "sources/config_files/merged_layers.hpp"

namespace hondana::config_files {
namespace {

constexpr std::string_view folder_type = "inode/directory";
constexpr double merged_priority = 0.8;

std::string_view called(located::format how) noexcept {
  switch (how) {
    case located::format::toml:
      return "TOML";
    case located::format::yaml:
      return "YAML";
    case located::format::json:
      return "JSON";
    case located::format::ini:
      return "INI";
    case located::format::dotenv:
      return "Environment file";
    case located::format::properties:
      return "Properties";
    case located::format::systemd:
      return "systemd unit";
  }
  return {};
}

resource plain_entry(std::string uri, std::string name, std::string_view type, std::string_view kind) {
  resource one;
  one.uri = std::move(uri);
  one.name = std::move(name);
  one.mimeType = type;
  one.kind = kind;
  return one;
}

}  // namespace

std::string_view media_type_of(located::format how) noexcept {
  switch (how) {
    case located::format::toml:
      return "application/toml";
    case located::format::yaml:
      return "application/yaml";
    case located::format::json:
      return "application/json";
    case located::format::properties:
      return "text/x-java-properties";
    default:
      return "text/plain";
  }
}

resource entry_of(std::string_view set, const std::string& path, const seen_file& file) {
  auto one = plain_entry(uri_of_file(set, path), path, media_type_of(file.how), "file");
  one.description = std::string(called(file.how)) + " of the configuration " + std::string(set);
  one.size = file.state.size;
  one.annotations.lastModified = std::chrono::sys_time<std::chrono::milliseconds>(
      std::chrono::floor<std::chrono::milliseconds>(std::chrono::nanoseconds(file.state.modified)));
  if (!file.is_racy) one.version = disk::version_of(file.state);
  return one;
}

std::shared_ptr<const entry_snapshot> entries_of(std::string_view set,
                                                 const std::map<std::string, seen_file, std::less<>>& files,
                                                 const std::vector<layer_options>& layers) {
  std::vector<resource> all;
  std::set<std::string, std::less<>> folders;
  for (const auto& [path, file] : files) {
    all.push_back(entry_of(set, path, file));
    for (auto above = folder_of(path); !above.empty() && folders.emplace(above).second;) above = folder_of(above);
  }
  for (const auto& path : folders) all.push_back(plain_entry(uri_of_file(set, path), path, folder_type, "folder"));
  all.push_back(plain_entry(claim_of(set) + "/file", "file", folder_type, "folder"));
  if (!layers.empty()) {
    all.push_back(plain_entry(claim_of(set) + "/layers", "layers", folder_type, "folder"));
    auto merged = plain_entry(uri_of_merged(set), "merged", "application/json", "merged");
    merged.description = "The effective configuration of " + std::string(set) + ", with the origin of each value";
    merged.annotations.priority = merged_priority;
    all.push_back(std::move(merged));
  }
  for (const auto& one : layers) {
    auto entry = plain_entry(uri_of_layer(set, one.name), "layer " + one.name, "application/json", "layer");
    entry.description = "Values of the layer " + one.name + " (" + std::string(name_of(one.is)) + ")";
    all.push_back(std::move(entry));
  }
  return std::make_shared<const entry_snapshot>(std::move(all));
}

}  // namespace hondana::config_files
