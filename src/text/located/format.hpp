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

enum class format : std::uint8_t {
  toml,        ///< TOML 1.0.
  yaml,        ///< YAML 1.2, core schema; several documents (Kubernetes manifests) become a list of them.
  json,        ///< JSON, with comments and a comma behind the last of a list or a table.
  ini,         ///< Sections as tables; all values are texts.
  dotenv,      ///< NAME=value lines as `dotenv` and Compose read them; one table of texts.
  properties,  ///< java.util.Properties; one table of texts by whole keys.
  systemd,  ///< Units: sections as tables; a setting that is given more than once is a list, and an empty one begins it anew.
};

/// The name in settings and answers: "toml", "yaml", …
[[nodiscard]] std::string_view name_of(format of) noexcept;
[[nodiscard]] std::optional<format> format_named(std::string_view name) noexcept;
/// By the last name of a path: `app.toml`, `.env.production`, `nginx.service.d/override.conf`; nothing for what is none.
[[nodiscard]] std::optional<format> format_of_path(std::string_view path) noexcept;

/// What is read at most.
struct limits {
  std::size_t bytes = 8u << 20;  ///< Of a text.
  std::size_t depth = 100;       ///< Lists and tables within each other.
  std::size_t values = 200'000;  ///< Nodes, those that aliases of YAML stand for counted each time.
};

/// Reads one text. Errors: invalid_argument; the public text says what is wrong and in which line, and holds nothing of the
/// text but names of keys that are no secrets; response_too_large beyond `most`. Time: linear in the text and the nodes.
[[nodiscard]] result<document> read(format how, std::string_view text, const limits& most);
[[nodiscard]] result<document> read(format how, std::string_view text);

}  // namespace hondana::located
