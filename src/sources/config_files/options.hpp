/// The options of a set of configuration files and its layers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/located/format.hpp"

namespace hondana::config_files {

/// Names and values.
using variables = std::vector<std::pair<std::string, std::string>>;

/// A layer of the merged view.
struct layer_options {
  enum class layer_kind : std::uint8_t {
    file,         ///< The values of a file.
    environment,  ///< Variables with a prefix, of this process or of a file.
    flags,        ///< Command-line flags.
    values,       ///< Strings by key.
  };
  std::string name;  ///< Letters, digits, `-` and `_`.
  layer_kind kind = layer_kind::file;
  std::string file{};                ///< Absolute; empty: none.
  std::string prefix{};              ///< Of variables.
  std::vector<std::string> flags{};  ///< As a shell would pass them.
  variables values{};                ///< By key.
};

/// A pattern of names, and the format of matching files.
using format_rule = std::pair<std::string, located::config_format>;

inline constexpr std::size_t max_layers = 16;

/// The options of a set.
struct options {
  std::string name;                  ///< Of the set: a-z, 0-9 and `-`.
  std::vector<std::string> paths;    ///< Files and folders, absolute.
  std::vector<std::string> include;  ///< Patterns as in `.gitignore`. If set, only matching files of folders are served.
  std::vector<std::string> exclude;  ///< Patterns of files in folders that are not served.
  std::vector<std::string> allow;    ///< Patterns of files that are served despite having the name of a credentials file.
  std::vector<format_rule> formats;  ///< The first match decides; without one, the name's ending.
  bool show_hidden = false;          ///< Whether names with a leading dot are served from folders.
  bool redact = true;
  bool watch = true;
  std::vector<layer_options> layers;   ///< The weakest first.
  std::vector<std::string> own_files;  ///< Absolute paths, links resolved, of files that are treated as missing.
  std::function<void(std::string_view)> log;
  std::function<variables()> environment;  ///< Read by `environment` layers; null: the environment of this process.
};

}  // namespace hondana::config_files
