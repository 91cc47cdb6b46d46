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

/// Names and values of variables.
using variables = std::vector<std::pair<std::string, std::string>>;

/// A layer: one of the places from which a program takes its configuration.
struct layer_options {
  enum class layer_kind : std::uint8_t {
    file,         ///< The values of `file`.
    environment,  ///< The variables with `prefix`, of `file` or else of `options::environment`.
    flags,        ///< The command-line flags in `flags`.
    values,       ///< The strings in `values`.
  };
  std::string name;  ///< 1 to 64 letters, digits, `-` and `_`; not "merged".
  layer_kind kind = layer_kind::file;
  std::string file{};                ///< Absolute path, which need not exist; empty: none.
  std::string prefix{};              ///< May be empty only with `file`.
  std::vector<std::string> flags{};  ///< Arguments as a shell would pass them: "--server.port=80".
  variables values{};                ///< Keys, as for `parse_key`, and their values.
};

/// A glob for file names, or for paths if it contains `/`, and the format of matching files.
using format_rule = std::pair<std::string, located::config_format>;

inline constexpr std::size_t max_layers = 16;

/// The options of a set.
struct options {
  std::string name;                  ///< Of the set: a-z, 0-9 and `-`.
  std::vector<std::string> paths;    ///< Absolute paths of files and folders.
  std::vector<std::string> include;  ///< Patterns as in `.gitignore`. If there are any, only matches are served from folders.
  std::vector<std::string> exclude;  ///< Patterns of files and subfolders that are not served from folders.
  std::vector<std::string> allow;    ///< Patterns of files and subfolders that are served despite names of credential files.
  std::vector<format_rule> formats;  ///< The first match decides; without one, the name of the file.
  /// The format of environment files: `dotenv` or `compose_env`.
  located::config_format environment_format = located::config_format::dotenv;
  bool show_hidden = false;           ///< Whether names with a leading dot are served from folders.
  bool redact = true;                 ///< Mask secrets.
  bool watch = true;                  ///< Watch the folders for changes.
  std::vector<layer_options> layers;  ///< The weakest first; at most `max_layers`.
  /// Absolute paths, with links resolved, of the server's own files. They are never served, nor are their locks, older versions
  /// and copies.
  std::vector<std::string> own_files;
  std::function<void(std::string_view)> log;  ///< Receives one line for people; may be empty.
  /// Returns the variables for `environment` layers without a file, when the set is opened. Empty: those of this process.
  std::function<variables()> environment;
};

}  // namespace hondana::config_files
