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

using variables = std::vector<std::pair<std::string, std::string>>;

/// A layer of the merged view.
struct layer_options {
  enum class kind : std::uint8_t {
    file,         ///< What a file says.
    environment,  ///< Variables with a prefix, of this process or of a file.
    flags,        ///< A command line.
    values,       ///< Texts by key.
  };
  std::string name;  ///< Letters, digits, `-` and `_`.
  kind is = kind::file;
  std::string file{};                ///< Absolute; empty: none.
  std::string prefix{};              ///< Of variables.
  std::vector<std::string> flags{};  ///< As a shell would hand them over.
  variables values{};                ///< By key.
};

/// A pattern of names with the format they have.
using format_rule = std::pair<std::string, located::format>;

inline constexpr std::size_t most_layers = 16;

struct options {
  std::string name;                  ///< Of the set: a-z, 0-9 and `-`.
  std::vector<std::string> paths;    ///< Files and folders, absolute.
  std::vector<std::string> include;  ///< gitignore patterns; when there are some, nothing else is served of folders.
  std::vector<std::string> exclude;  ///< The same of what is not served of folders.
  std::vector<std::string> allow;    ///< The same of names that would be left out as those of credentials.
  std::vector<format_rule> formats;  ///< The first that matches decides, before the name's own ending does.
  bool hidden = false;               ///< Whether names that begin with a dot are served of folders.
  bool redact = true;
  bool watch = true;
  std::vector<layer_options> layers;   ///< The weakest first.
  std::vector<std::string> kept_back;  ///< Absolute paths, links resolved, of files that are as if they were not there.
  std::function<void(std::string_view)> log;
  std::function<variables()> environment;  ///< What `env` layers read; empty: the environment of this process.
};

}  // namespace hondana::config_files
