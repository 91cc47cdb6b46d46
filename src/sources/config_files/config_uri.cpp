/// Parses and builds URIs and templates of configuration.
#include "sources/config_files/config_uri.hpp"

#include <array>
#include <cstddef>
#include <span>
#include <utility>

#include <hondana/uri.hpp>

#include "base/uri/query_parameters.hpp"

namespace hondana::config_files {
namespace {

constexpr std::string_view json_type = "application/json";

tl::unexpected<failure> unknown_resource_error() {
  return fail(errc::resource_not_found,
              "This configuration set has no such resource. It has file/PATH and, if it has layers, merged, layers/NAME and "
              "diff/FROM..TO.");
}

constexpr std::array<std::string_view, 1> format_choices{"json"};
constexpr auto file_parameters = std::to_array<uri::query_parameter>({
    {.name = "key"},
    {.name = "format", .type = uri::parameter_type::choice, .choices = format_choices},
});

/// By kind.
constexpr std::array<std::string_view, 5> uri_forms{"config://SET", "config://SET/file/PATH", "config://SET/merged",
                                                    "config://SET/layers/NAME", "config://SET/diff/FROM..TO"};

std::span<const uri::query_parameter> parameters_of(resource_kind kind) noexcept {
  if (kind == resource_kind::file) return file_parameters;
  return std::span(file_parameters).first(kind == resource_kind::merged ? 1 : 0);
}

result<config_address> with_parameters(config_address address, const std::optional<std::string_view>& query) {
  HONDANA_TRY(const auto values,
              uri::parse_query(query, parameters_of(address.kind), uri_forms.at(static_cast<std::size_t>(address.kind))));
  if (values.has("key")) address.key = values.text("key");
  address.is_json = values.has("format");
  return address;
}

resource_template make_template(std::string uri, std::string name, std::string title, std::string description,
                                std::string_view type) {
  resource_template entry;
  entry.uri_template = std::move(uri);
  entry.name = std::move(name);
  entry.title = std::move(title);
  entry.description = std::move(description);
  entry.mime_type = type;
  return entry;
}

}  // namespace

std::string uri_prefix(std::string_view set) { return "config://" + std::string(set); }
std::string uri_of_file(std::string_view set, std::string_view path) {
  return uri_prefix(set) + "/file/" + percent_encode(path, true);
}
std::string uri_of_layer(std::string_view set, std::string_view layer) {
  return uri_prefix(set) + "/layers/" + percent_encode(layer);
}
std::string uri_of_merged(std::string_view set) { return uri_prefix(set) + "/merged"; }
std::string uri_of_diff(std::string_view set, std::string_view from_layer, std::string_view to_layer) {
  return uri_prefix(set) + "/diff/" + percent_encode(from_layer) + ".." + percent_encode(to_layer);
}

result<config_address> parse_address(std::string_view set, std::string_view uri) {
  const auto parts = split_uri(uri);
  if (parts.scheme != "config" || parts.authority != set || parts.fragment) return unknown_resource_error();
  auto remaining = parts.path;
  const auto consume = [&remaining](std::string_view prefix) {
    const bool is_match = remaining.starts_with(prefix);
    if (is_match) remaining.remove_prefix(prefix.size());
    return is_match;
  };
  config_address address;
  if (remaining.empty() || remaining == "/file" || remaining == "/layers") {
    return with_parameters(std::move(address), parts.query);
  }
  if (remaining == "/merged") {
    address.kind = resource_kind::merged;
    return with_parameters(std::move(address), parts.query);
  }
  if (consume("/file/")) {
    // No name contains an escaped slash.
    if (remaining.empty() || remaining.find("%2F") != std::string_view::npos) return unknown_resource_error();
    HONDANA_TRY(auto path, percent_decode(remaining));
    address.kind = resource_kind::file;
    address.path = std::move(path);
    return with_parameters(std::move(address), parts.query);
  }
  if (consume("/layers/")) {
    address.kind = resource_kind::layer;
    address.layer = remaining;
    return with_parameters(std::move(address), parts.query);
  }
  if (consume("/diff/")) {
    const auto dots = remaining.find("..");
    address.kind = resource_kind::diff;
    address.layer = remaining.substr(0, dots);
    if (dots != std::string_view::npos) address.target_layer = remaining.substr(dots + 2);
    return with_parameters(std::move(address), parts.query);
  }
  return unknown_resource_error();
}

std::vector<resource_template> make_templates(const std::string& set, bool has_layers) {
  const auto claim = uri_prefix(set);
  const auto name = "config-" + set;
  std::vector<resource_template> templates{
      make_template(claim + "/file/{+path}{?key,format}", name + "-file", "Configuration file of " + set,
                    "A file as it is, with secrets masked. format=json: its values as JSON. key: one value with its line, such "
                    "as key=server.tls.port; write names that contain dots as [\"app.name\"], list items as numbers.",
                    ""),
  };
  if (!has_layers) return templates;
  templates.push_back(
      make_template(claim + "/merged{?key}", name + "-merged", "Effective configuration of " + set,
                    "All layers merged, with the origin of each value. key: one value with all that it overrides.", json_type));
  templates.push_back(make_template(claim + "/layers/{name}", name + "-layer", "Layer of " + set,
                                    "The values of one layer: a file, the environment, the command line.", json_type));
  templates.push_back(
      make_template(claim + "/diff/{from}..{to}", name + "-diff", "Difference between two layers of " + set,
                    "Keys added, removed and changed from one layer to another, with both values and their locations. "
                    "merged stands for all layers together.",
                    json_type));
  return templates;
}

}  // namespace hondana::config_files
