/// Makes a set of configuration from its `[[source]]` table.
#include <algorithm>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include "base/ascii/characters.hpp"
#include "base/ascii/slug.hpp"
#include "sources/config/section.hpp"
#include "sources/config/table_reader.hpp"
#include "sources/config_files/layers.hpp"
#include "sources/config_files/set_provider.hpp"

namespace hondana::config_files {
namespace {

constexpr std::size_t longest_layer_name = 64;
constexpr std::size_t most_paths = 1000;

bool is_layer_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= longest_layer_name && std::all_of(name.begin(), name.end(), [](char c) {
    return ascii::is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

/// A folder's or file's name made of what names of sets are made of.
std::string slug_of(const std::string& path) {
  auto made = ascii::slug_of(std::filesystem::path(path).stem().string());
  return made.empty() ? "config" : made;
}

result<layer_options> read_layer(config::section& from) {
  config::table_reader reader(from);
  layer_options made;
  made.name = reader.text("name").value_or("");
  const auto file = reader.text("file");
  const auto prefix = reader.text("env");
  const bool has_flags = from.has("flags");
  const bool has_values = from.has("values");
  made.flags = reader.take(from.strings("flags"));
  made.values = reader.take(from.strings_by_name("values"));
  // A key that is not known is said first: it may be one of these, misspelt.
  HONDANA_TRY(reader.finish());
  if (!is_layer_name(made.name) || made.name == merged_name) {
    reader.wrong("name", "expected 1 to 64 letters, digits, - and _, and not merged");
  }
  if (int(file.has_value() || prefix.has_value()) + int(has_flags) + int(has_values) != 1) {
    const auto* key = has_flags ? "flags" : has_values ? "values" : prefix ? "env" : "file";
    reader.wrong(key,
                 "a layer needs exactly one of file, env, flags and values; env with file reads the variables of that file");
  }
  if (file) made.file = reader.path("file", *file);
  if (prefix) {
    made.prefix = *prefix;
    made.is = layer_options::kind::environment;
    if (prefix->empty() && !file) reader.wrong("env", "missing; without a prefix, the whole environment would be served");
  }
  if (has_flags) made.is = layer_options::kind::flags;
  if (has_values) made.is = layer_options::kind::values;
  HONDANA_TRY(reader.finish());
  return made;
}

std::vector<format_rule> formats_of(config::table_reader& reader, const variables& written) {
  std::vector<format_rule> all;
  for (const auto& [pattern, name] : written) {
    const auto how = located::format_named(name);
    if (how) {
      all.emplace_back(pattern, *how);
    } else {
      reader.wrong("formats", "\"" + name + "\" is not a format; use toml, yaml, json, ini, dotenv, properties or systemd");
    }
  }
  return all;
}

result<options> read_options(config::section& from) {
  config::table_reader reader(from);
  options made;
  auto written = reader.texts("path");
  auto several = reader.texts("paths");
  written.insert(written.end(), several.begin(), several.end());
  if (written.size() > most_paths) reader.wrong("paths", "at most 1000 paths are allowed; name their folder");
  for (const auto& one : written) made.paths.push_back(reader.path("path", one));
  made.include = reader.texts("include");
  made.exclude = reader.texts("exclude");
  made.allow = reader.texts("allow");
  made.formats = formats_of(reader, reader.take(from.strings_by_name("formats")));
  made.hidden = reader.truth("hidden", made.hidden);
  made.redact = reader.truth("redact", made.redact);
  made.watch = reader.truth("watch", made.watch);
  auto layers = reader.take(from.sections("layer"));
  if (layers.size() > most_layers) reader.wrong("layer", "at most 16 layers are allowed");
  for (auto& one : layers) {
    auto layer = read_layer(one);
    if (!layer) return tl::unexpected(std::move(layer.error()));
    if (layer_called(made.layers, layer->name)) return tl::unexpected(one.wrong("name", "another layer has this name"));
    made.layers.push_back(std::move(*layer));
  }
  if (made.paths.empty() && made.layers.empty()) {
    reader.wrong("path", "missing; name a configuration file or folder, or layers");
  }
  auto name = reader.slug("name");
  HONDANA_TRY(reader.finish());
  made.name = name ? *name : slug_of(made.paths.empty() ? std::string() : made.paths.front());
  made.kept_back = from.kept_back();
  return made;
}

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& from, const std::function<void(std::string_view)>& log) {
  HONDANA_TRY(auto all, read_options(from));
  all.log = log;
  auto opened = set_provider::open(std::move(all));
  if (opened) return std::shared_ptr<provider>(std::move(*opened));
  auto why = std::move(opened.error());
  if (why.code == errc::invalid_argument) why = from.wrong("path", why.public_text);
  return tl::unexpected(std::move(why));
}

}  // namespace hondana::config_files
