/// Parses and builds URIs and templates of configuration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

namespace hondana::config_files {

/// The kinds of URIs of a set.
enum class resource_kind : std::uint8_t {
  folder,  ///< `config://SET`, `config://SET/layers` or `config://SET/file`.
  file,    ///< `config://SET/file/PATH`: a file as it is; with a key or format, its values. PATH may also be a folder.
  merged,  ///< `config://SET/merged`: the values of all layers merged.
  layer,   ///< `config://SET/layers/NAME`
  diff,    ///< `config://SET/diff/FROM..TO`
};

/// A parsed URI of a set.
struct config_address {
  resource_kind kind = resource_kind::folder;
  std::string path{};                ///< For `file`: PATH, percent-decoded.
  std::string layer{};               ///< For `layer`: NAME; for `diff`: FROM. As written, also if no such layer exists.
  std::string target_layer{};        ///< For `diff`: TO; empty: missing.
  std::optional<std::string> key{};  ///< The parameter `key`, percent-decoded, for `parse_key`.
  bool is_json = false;              ///< Whether it has `format=json`.
};

/// `config://SET`, the prefix of all URIs of a set.
[[nodiscard]] std::string uri_prefix(std::string_view set);
[[nodiscard]] std::string uri_of_file(std::string_view set, std::string_view path);
[[nodiscard]] std::string uri_of_layer(std::string_view set, std::string_view layer);
[[nodiscard]] std::string uri_of_merged(std::string_view set);
[[nodiscard]] std::string uri_of_diff(std::string_view set, std::string_view from_layer, std::string_view to_layer);

/// Parses a canonical URI. Does not check whether its file or layers exist. Errors: resource_not_found if it has none of the
/// forms of `resource_kind`; invalid_argument for unknown, malformed or repeated parameters.
[[nodiscard]] result<config_address> parse_address(std::string_view set, std::string_view uri);

/// The templates of a set. `has_layers`: also those of merged values, layers and differences.
[[nodiscard]] std::vector<resource_template> make_templates(const std::string& set, bool has_layers);

}  // namespace hondana::config_files
