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
  file,    ///< `config://SET/file/PATH`: the file as it is; with a key or format, its values. May also be a folder of files.
  merged,  ///< `config://SET/merged`
  layer,   ///< `config://SET/layers/NAME`
  diff,    ///< `config://SET/diff/FROM..TO`
};

/// A parsed URI of a set.
struct config_address {
  resource_kind kind = resource_kind::folder;
  std::string path{};                ///< Of a file, decoded.
  std::string layer{};               ///< Of a layer; for a diff, the first one.
  std::string target_layer{};        ///< For a diff, the second layer.
  std::optional<std::string> key{};  ///< As written.
  bool is_json = false;              ///< `format=json`
};

/// `config://SET`, the prefix of all URIs of a set.
[[nodiscard]] std::string uri_prefix(std::string_view set);
[[nodiscard]] std::string uri_of_file(std::string_view set, std::string_view path);
[[nodiscard]] std::string uri_of_layer(std::string_view set, std::string_view layer);
[[nodiscard]] std::string uri_of_merged(std::string_view set);
[[nodiscard]] std::string uri_of_diff(std::string_view set, std::string_view from_layer, std::string_view to_layer);

/// Parses a canonical URI. Errors: resource_not_found if it has none of the forms; invalid_argument for parameters that the
/// form does not have.
[[nodiscard]] result<config_address> parse_address(std::string_view set, std::string_view uri);

/// The templates of a set. Those of layers are included only if it has some.
[[nodiscard]] std::vector<resource_template> make_templates(const std::string& set, bool has_layers);

}  // namespace hondana::config_files
