/// Parses and builds URIs and templates of configuration.
#include "sources/config_files/config_uri.hpp"

#include <utility>

#include <hondana/uri.hpp>

#include "base/uri/uri_syntax.hpp"

namespace hondana::config_files {
namespace {

constexpr std::string_view json_type = "application/json";

tl::unexpected<failure> no_such_resource() {
  return fail(errc::resource_not_found,
              "This configuration set has no such resource. It has file/PATH and, if it has layers, merged, layers/NAME and "
              "diff/FROM..TO.");
}

/// Parses the parameters. `has_key` and `has_format`: whether the URI form allows them.
result<void> read_parameters(std::string_view query, bool has_key, bool has_format, address& into) {
  bool is_format_given = false;
  while (!query.empty()) {
    const auto [name, written] = uri::take_parameter(query);
    HONDANA_TRY(auto value, percent_decode(written));
    if (name == "key" && has_key && !into.key) {
      into.key = std::move(value);
    } else if (name == "format" && has_format && !is_format_given) {
      if (value != "json") return fail(errc::invalid_argument, "format: only json is supported. Omit it for the file itself.");
      into.as_json = is_format_given = true;
    } else {
      return fail(errc::invalid_argument,
                  std::string("The URI has an unknown or repeated parameter. ") + (has_format ? "Files accept key and format."
                                                                                   : has_key  ? "The merged view accepts key."
                                                                                              : "This resource accepts none."));
    }
  }
  return {};
}

result<address> with_parameters(address made, const std::optional<std::string_view>& query, bool has_key, bool has_format) {
  return read_parameters(query.value_or(std::string_view()), has_key, has_format, made).map([&made] {
    return std::move(made);
  });
}

resource_template template_at(std::string uri, std::string name, std::string title, std::string description,
                              std::string_view type) {
  resource_template one;
  one.uriTemplate = std::move(uri);
  one.name = std::move(name);
  one.title = std::move(title);
  one.description = std::move(description);
  one.mimeType = type;
  return one;
}

}  // namespace

std::string claim_of(std::string_view set) { return "config://" + std::string(set); }
std::string uri_of_file(std::string_view set, std::string_view path) {
  return claim_of(set) + "/file/" + percent_encode(path, true);
}
std::string uri_of_layer(std::string_view set, std::string_view layer) {
  return claim_of(set) + "/layers/" + percent_encode(layer);
}
std::string uri_of_merged(std::string_view set) { return claim_of(set) + "/merged"; }
std::string uri_of_diff(std::string_view set, std::string_view from, std::string_view to) {
  return claim_of(set) + "/diff/" + percent_encode(from) + ".." + percent_encode(to);
}

result<address> address_of(std::string_view set, std::string_view uri) {
  const auto parts = split_uri(uri);
  if (parts.scheme != "config" || parts.authority != set || parts.fragment) return no_such_resource();
  auto rest = parts.path;
  const auto take = [&rest](std::string_view front) {
    const bool is_there = rest.starts_with(front);
    if (is_there) rest.remove_prefix(front.size());
    return is_there;
  };
  address made;
  if (rest.empty() || rest == "/file" || rest == "/layers") {
    return with_parameters(std::move(made), parts.query, false, false);
  }
  if (rest == "/merged") {
    made.what = topic::merged;
    return with_parameters(std::move(made), parts.query, true, false);
  }
  if (take("/file/")) {
    // No name contains an escaped slash.
    if (rest.empty() || rest.find("%2F") != std::string_view::npos) return no_such_resource();
    HONDANA_TRY(auto path, percent_decode(rest));
    made.what = topic::file;
    made.path = std::move(path);
    return with_parameters(std::move(made), parts.query, true, true);
  }
  if (take("/layers/")) {
    made.what = topic::layer;
    made.layer = rest;
    return with_parameters(std::move(made), parts.query, false, false);
  }
  if (take("/diff/")) {
    const auto dots = rest.find("..");
    made.what = topic::diff;
    made.layer = rest.substr(0, dots);
    if (dots != std::string_view::npos) made.to = rest.substr(dots + 2);
    return with_parameters(std::move(made), parts.query, false, false);
  }
  return no_such_resource();
}

std::vector<resource_template> templates_of(const std::string& set, bool has_layers) {
  const auto claim = claim_of(set);
  const auto name = "config-" + set;
  std::vector<resource_template> all{
      template_at(claim + "/file/{+path}{?key,format}", name + "-file", "Configuration file of " + set,
                  "A file as it is, with secrets masked. format=json: its values as JSON. key: one value with its line, such "
                  "as key=server.tls.port; write names that contain dots as [\"app.name\"], list items as numbers.",
                  ""),
  };
  if (!has_layers) return all;
  all.push_back(template_at(claim + "/merged{?key}", name + "-merged", "Effective configuration of " + set,
                            "All layers merged, with the origin of each value. key: one value with all that it overrides.",
                            json_type));
  all.push_back(template_at(claim + "/layers/{name}", name + "-layer", "Layer of " + set,
                            "The values of one layer: a file, the environment, the command line.", json_type));
  all.push_back(template_at(claim + "/diff/{from}..{to}", name + "-diff", "Difference between two layers of " + set,
                            "Keys added, removed and changed from one layer to another, with both values and their locations. "
                            "merged stands for all layers together.",
                            json_type));
  return all;
}

}  // namespace hondana::config_files
