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

std::string_view display_name(located::config_format format) noexcept {
  switch (format) {
    case located::config_format::toml:
      return "TOML";
    case located::config_format::yaml:
      return "YAML";
    case located::config_format::json:
      return "JSON";
    case located::config_format::ini:
      return "INI";
    case located::config_format::gitconfig:
      return "Git configuration";
    case located::config_format::editorconfig:
      return "EditorConfig";
    case located::config_format::desktop:
      return "Desktop entry";
    case located::config_format::configparser:
      return "Python configuration";
    case located::config_format::dotenv:
    case located::config_format::compose_env:
      return "Environment file";
    case located::config_format::properties:
      return "Properties";
    case located::config_format::systemd:
      return "systemd unit";
  }
  return {};
}

resource make_plain_entry(std::string uri, std::string name, std::string_view type, std::string_view kind) {
  resource entry;
  entry.uri = std::move(uri);
  entry.name = std::move(name);
  entry.mime_type = type;
  entry.kind = kind;
  return entry;
}

}  // namespace

std::string_view media_type_of(located::config_format format) noexcept {
  switch (format) {
    case located::config_format::toml:
      return "application/toml";
    case located::config_format::yaml:
      return "application/yaml";
    case located::config_format::json:
      return "application/json";
    case located::config_format::properties:
      return "text/x-java-properties";
    default:
      return "text/plain";
  }
}

resource make_entry(std::string_view set, const std::string& path, const served_file& file) {
  auto entry = make_plain_entry(uri_of_file(set, path), path, media_type_of(file.format), "file");
  entry.description = std::string(display_name(file.format)) + " of the configuration " + std::string(set);
  entry.size = file.state.size;
  entry.annotations.last_modified = std::chrono::sys_time<std::chrono::milliseconds>(
      std::chrono::floor<std::chrono::milliseconds>(std::chrono::nanoseconds(file.state.modified)));
  if (!file.is_racy) entry.version = disk::version_of(file.state);
  return entry;
}

std::shared_ptr<const entry_snapshot> make_entries(std::string_view set,
                                                   const std::map<std::string, served_file, std::less<>>& files,
                                                   const std::vector<layer_options>& layers) {
  std::vector<resource> entries;
  std::set<std::string, std::less<>> folders;
  for (const auto& [path, file] : files) {
    entries.push_back(make_entry(set, path, file));
    for (auto parent = parent_folder(path); !parent.empty() && folders.emplace(parent).second;) parent = parent_folder(parent);
  }
  for (const auto& path : folders) entries.push_back(make_plain_entry(uri_of_file(set, path), path, folder_type, "folder"));
  entries.push_back(make_plain_entry(uri_prefix(set) + "/file", "file", folder_type, "folder"));
  if (!layers.empty()) {
    entries.push_back(make_plain_entry(uri_prefix(set) + "/layers", "layers", folder_type, "folder"));
    auto merged = make_plain_entry(uri_of_merged(set), "merged", "application/json", "merged");
    merged.description = "The effective configuration of " + std::string(set) + ", with the origin of each value";
    merged.annotations.priority = merged_priority;
    entries.push_back(std::move(merged));
  }
  for (const auto& layer : layers) {
    auto entry = make_plain_entry(uri_of_layer(set, layer.name), "layer " + layer.name, "application/json", "layer");
    entry.description = "Values of the layer " + layer.name + " (" + std::string(name_of(layer.kind)) + ")";
    entries.push_back(std::move(entry));
  }
  return std::make_shared<const entry_snapshot>(std::move(entries));
}

}  // namespace hondana::config_files
