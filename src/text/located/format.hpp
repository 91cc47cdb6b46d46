/// The formats of configuration files, and parsing a text in any of them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>

#include <hondana/error.hpp>

#include "text/located/node.hpp"

namespace hondana::located {

enum class config_format : std::uint8_t {
  toml,          ///< TOML 1.0.
  yaml,          ///< YAML 1.2, core schema; several documents (Kubernetes manifests) become a list.
  json,          ///< JSON with comments and trailing commas.
  ini,           ///< Sections as tables; all values are texts. For programs without a specification of their format.
  gitconfig,     ///< Git configuration; a variable without `=` is true, a repeated one becomes a list.
  editorconfig,  ///< EditorConfig; keys in lower case, no comments after values.
  desktop,       ///< Desktop entries; only lines that begin with `#` are comments.
  configparser,  ///< Python's configparser with its defaults; no comments after values.
  dotenv,        ///< NAME=value lines as the npm package `dotenv` reads them; one table of texts.
  compose_env,   ///< NAME=value lines as Compose reads them; one table of texts.
  properties,    ///< java.util.Properties; one table of texts, by whole keys.
  systemd,       ///< Units: sections as tables. A repeated setting becomes a list; an empty value clears it.
};

/// Returns the name in settings and answers: "toml", "yaml", …
[[nodiscard]] std::string_view name_of(config_format format) noexcept;
/// Parses a result of `name_of`; no value for other names.
[[nodiscard]] std::optional<config_format> parse_format(std::string_view name) noexcept;
/// Determines the format by the last segments of a path: `app.toml`, `.env.production`, `nginx.service.d/override.conf`. No
/// value: unknown.
[[nodiscard]] std::optional<config_format> detect_format(std::string_view path) noexcept;

/// Whether a format has NAME=value lines of environment variables: `dotenv` or `compose_env`.
[[nodiscard]] constexpr bool is_environment_format(config_format format) noexcept {
  return format == config_format::dotenv || format == config_format::compose_env;
}

/// Limits for parsing.
struct parse_limits {
  std::size_t max_bytes = 8u << 20;  ///< Size of a text, and of all texts that YAML aliases repeat.
  std::size_t max_depth = 100;       ///< Nesting of lists and tables.
  std::size_t max_values = 200'000;  ///< Number of nodes; those of YAML aliases count each time.
};

/// Parses a text. Errors: invalid_argument, which says what is wrong and in which line, also for deeper nesting than allowed;
/// response_too_large beyond the other limits. The public text contains no part of the text except keys that are not secret.
/// Time: linear in the text and the nodes.
[[nodiscard]] result<document> read(config_format format, std::string_view text, const parse_limits& limits);
/// Parses a text within the default limits.
[[nodiscard]] result<document> read(config_format format, std::string_view text);

}  // namespace hondana::located
