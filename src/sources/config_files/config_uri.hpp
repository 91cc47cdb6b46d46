/// URIs and templates of configuration, parsed and built.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

namespace hondana::config_files {

/// What it is about.
enum class topic : std::uint8_t {
  folder,  ///< `config://SET`, `config://SET/layers` or `config://SET/file`.
  file,    ///< `config://SET/file/PATH`: as it is; with a key or a format what it says. May be a folder of files, too.
  merged,  ///< `config://SET/merged`
  layer,   ///< `config://SET/layers/NAME`
  diff,    ///< `config://SET/diff/FROM..TO`
};

struct address {
  topic what = topic::folder;
  std::string path{};                ///< Of a file, decoded.
  std::string layer{};               ///< Of a layer; of a diff the first.
  std::string to{};                  ///< Of a diff the second.
  std::optional<std::string> key{};  ///< As written.
  bool as_json = false;              ///< `format=json`
};

/// `config://SET`, what all URIs of a set begin with.
[[nodiscard]] std::string claim_of(std::string_view set);
[[nodiscard]] std::string uri_of_file(std::string_view set, std::string_view path);
[[nodiscard]] std::string uri_of_layer(std::string_view set, std::string_view layer);
[[nodiscard]] std::string uri_of_merged(std::string_view set);
[[nodiscard]] std::string uri_of_diff(std::string_view set, std::string_view from, std::string_view to);

/// Takes a canonical URI apart. Errors: resource_not_found for what is none of the forms; invalid_argument for parameters that
/// the form does not have.
[[nodiscard]] result<address> address_of(std::string_view set, std::string_view uri);

/// The templates of a set; those of layers only where it has some.
[[nodiscard]] std::vector<resource_template> templates_of(const std::string& set, bool has_layers);

}  // namespace hondana::config_files
