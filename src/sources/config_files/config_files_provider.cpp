/// The provider of one set of configuration files.
#include "sources/config_files/config_files_provider.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <memory>
#include <string_view>
#include <utility>

#include <hondana/completion.hpp>
#include <hondana/uri.hpp>

#include "base/ascii/ascii.hpp"
#include "base/bytes/prepared_content.hpp"
#include "base/bytes/sha256.hpp"
#include "sources/config/section.hpp"
#include "sources/config/table_reader.hpp"
#include "sources/config_files/config_views.hpp"
#include "sources/config_files/key_path.hpp"
#include "sources/config_files/link_filter.hpp"
#include "sources/config_files/merged_layers.hpp"

namespace hondana::config_files {

scheme_documentation describe_scheme() {
  return {
      "config",
      "Configuration files in TOML, YAML, JSON, INI, dotenv, properties and systemd format, with secrets masked, and the "
      "values in effect of several layers.",
      {{"file", "A configuration file."},
       {"value", "One value, with its location."},
       {"merged", "All layers merged, with the origin of each value and the values that it overrides."},
       {"layer", "The values of one layer: a file, the environment, a command line."},
       {"diff", "The keys added, removed and changed from one layer to another."},
       {"folder", "A folder of files or layers. Reading it returns the URIs of its entries, one per line."}},
      {{"config://SET/file/PATH", "A file of the set SET as it is, with secrets masked."},
       {"config://SET/file/PATH?format=json", "Its values as JSON."},
       {"config://SET/file/PATH?key=server.tls.port",
        "One value: key, value, file and line. List items are numbered (hosts.0); names with dots are in brackets "
        "(labels[\"app.name\"])."},
       {"config://SET/merged?key=KEY", "The values in effect: all layers merged, or one value with all that it overrides."},
       {"config://SET/layers/NAME", "The values of one layer."},
       {"config://SET/diff/FROM..TO", "Differences from one layer to another; merged stands for all layers together."}},
  };
}

namespace {

constexpr std::uint64_t max_described_bytes = 64ull << 20;

/// Whether the error allows that the path names a folder instead of a file.
bool is_missing(const failure& error) { return error.code == errc::resource_not_found; }

}  // namespace

config_files_provider::config_files_provider(std::shared_ptr<watched_set> set, const options& options)
    : set_(std::move(set)), masks_secrets_(options.redact) {
  if (!options.watch || set_->files().folders().empty()) return;
  std::vector<std::string> paths;
  for (const auto& folder : set_->files().folders()) paths.push_back(folder->path());
  watch::watcher_options watch_options;
  watch_options.subject = "the configuration " + options.name;
  watch_options.quiet_time = std::chrono::milliseconds(20);
  watch_options.max_delay = std::chrono::milliseconds(200);
  watch_options.log = options.log;
  const auto rescan = [weak_set = std::weak_ptr(set_)](const request_context& context, const watch::folder_watcher::trees&) {
    const auto locked_set = weak_set.lock();
    if (!locked_set) return true;
    const auto snapshot = locked_set->refresh(context);
    return snapshot.has_value() && (*snapshot)->unreadable_folders.empty();  // the log has the reason
  };
  watcher_ = std::make_unique<watch::folder_watcher>(std::move(paths), rescan, std::move(watch_options));
  // Passes a handle, not the watcher itself: the watcher's own thread must not become its last owner.
  set_->set_folder_listener(watcher_->folder_adder());
}

config_files_provider::~config_files_provider() { set_->disable_log(); }

result<std::shared_ptr<config_files_provider>> config_files_provider::open(options options) {
  HONDANA_TRY(auto set, watched_set::open(options));
  return std::shared_ptr<config_files_provider>(new config_files_provider(std::move(set), options));
}

result<std::shared_ptr<const snapshot>> config_files_provider::refresh(const request_context& context) {
  if (watcher_ && has_listener_) watcher_->start();
  return set_->refresh(context);
}

result<list_result> config_files_provider::list(const list_request& request) {
  return refresh(request).map([&](const auto& snapshot) {
    auto filtered_request = request;
    filtered_request.caller = with_link_filter(request.caller, set_->name(), snapshot);
    return snapshot->entries->page(filtered_request);
  });
}

result<read_result> config_files_provider::read(const read_request& request) {
  HONDANA_TRY(const auto address, parse_address(set_->name(), request.uri));
  if (address.kind == resource_kind::folder) return read_folder(request);
  auto rendered =
      render(set_->files(), set_->name(), address, request.caller, masks_secrets_, request.requested_uri, request.max_bytes);
  if (!rendered) {
    const bool may_be_folder =
        address.kind == resource_kind::file && !address.key && !address.is_json && is_missing(rendered.error());
    if (may_be_folder) {
      if (auto folder = read_folder(request)) return folder;
    }
    return tl::unexpected(std::move(rendered.error()));
  }
  read_result response;
  response.version = std::move(rendered->version);
  response.is_racy = rendered->is_racy;
  if (!response.version.empty() && response.version == request.cached_version) return response;
  resource_content item;
  item.name = std::move(rendered->name);
  item.mime_type = std::move(rendered->type);
  item.metadata = std::move(rendered->metadata);
  item.data = std::make_shared<const std::string>(std::move(rendered->text));
  response.contents.push_back(std::move(item));
  return response;
}

result<read_result> config_files_provider::read_folder(const read_request& request) {
  children_request page_request;
  static_cast<request_context&>(page_request) = static_cast<const request_context&>(request);
  page_request.uri = request.uri.substr(0, request.uri.find('?'));
  const bool uses_entries = request.caller.access_filter && request.caller.access_filter->uses_entries();
  std::string text;
  for (;;) {
    auto page = children(page_request);
    if (!page) return tl::unexpected(std::move(page.error()));
    for (const auto& entry : page->entries) {
      if (!uses_entries || request.caller.access_filter->may_see_entry(entry)) (text += entry.uri) += '\n';
    }
    if (text.size() > request.max_bytes) {
      return tl::unexpected(bytes::too_large_error(request.requested_uri, text.size(), request.max_bytes, false));
    }
    if (!page->next_key) break;
    page_request.after_key = std::move(*page->next_key);
  }
  bytes::sha256 digest;
  digest.update(text);
  auto response = text_read_result(std::move(text), "inode/directory");
  response.version = digest.finish();
  return response;
}

result<resource> config_files_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto address, parse_address(set_->name(), request.uri));
  const bool is_plain_file = address.kind == resource_kind::file && !address.key && !address.is_json;
  if (is_plain_file) {
    if (const auto file = set_->files().inspect(address.path)) {
      HONDANA_TRY(check_link_target(set_->name(), address.path, file->link_target, request.caller));
      auto entry = make_entry(set_->name(), address.path, *file);
      if (entry.version.empty()) entry.version = request.known_version.value_or(std::string());
      if (!entry.version.empty()) return entry;
    } else if (!is_missing(file.error())) {
      return tl::unexpected(file.error());
    }
  }
  read_request content_request;
  static_cast<request_context&>(content_request) = static_cast<const request_context&>(request);
  content_request.uri = content_request.requested_uri = request.uri;
  content_request.max_bytes = max_described_bytes;
  HONDANA_TRY(const auto snapshot, refresh(request));
  auto listed_entry = snapshot->entries->find(request.uri);
  if (address.kind == resource_kind::folder || (listed_entry && listed_entry->mime_type == "inode/directory")) {
    resource entry = listed_entry.value_or(resource{.uri = request.uri, .name = set_->name(), .mime_type = "inode/directory"});
    entry.kind = "folder";
    HONDANA_TRY(auto folder, read_folder(content_request));
    entry.version = std::move(folder.version);
    return entry;
  }
  HONDANA_TRY(auto rendered,
              render(set_->files(), set_->name(), address, request.caller, masks_secrets_, request.uri, max_described_bytes));
  resource entry = listed_entry.value_or(resource{.uri = request.uri, .name = rendered.name, .mime_type = rendered.type});
  entry.kind = rendered.kind;
  entry.version = std::move(rendered.version);
  entry.size = rendered.text.size();
  return entry;
}

result<list_result> config_files_provider::children(const children_request& request) {
  HONDANA_TRY(const auto snapshot, refresh(request));
  const auto entry = snapshot->entries->find(request.uri);
  if (request.uri != uri_prefix(set_->name()) && (!entry || entry->mime_type != "inode/directory")) {
    if (entry) return fail(errc::invalid_argument, request.uri + " is not a folder. Read it with resources/read.");
    return fail(errc::resource_not_found, "The set has no folder of this name.");
  }
  auto filtered_request = request;
  filtered_request.caller = with_link_filter(request.caller, set_->name(), snapshot);
  return snapshot->entries->children(filtered_request);
}

std::vector<resource_template> config_files_provider::templates() const {
  return make_templates(set_->name(), !set_->files().layer_settings().empty());
}

result<void> config_files_provider::inventory(const request_context& request,
                                              const std::function<void(const inventory_item&)>& visit) {
  return refresh(request).map([&](const auto& snapshot) {
    for (const auto& [path, file] : snapshot->files) visit({path, uri_of_file(set_->name(), path), true, {}});
    for (const auto& omitted : snapshot->omitted) visit({omitted.path, {}, false, omitted.reason});
  });
}

void config_files_provider::set_listener(std::shared_ptr<change_listener> listener) {
  has_listener_ = listener != nullptr;
  set_->set_listener(std::move(listener));
}

void config_files_provider::watch(const std::string& uri) {
  if (!watcher_ || !has_listener_) return;
  set_->watch(uri);
  watcher_->start();
}

void config_files_provider::unwatch(const std::string& uri) { set_->unwatch(uri); }

void config_files_provider::watch_list() {
  if (!watcher_ || !has_listener_) return;
  set_->watch_list();
  watcher_->start();
}

hondana::system_requirements config_files_provider::requirements() const {
  hondana::system_requirements requirements;
  for (const auto& folder : set_->files().folders()) requirements.folders.push_back({folder->path(), false});
  return requirements;
}

provider_traits config_files_provider::traits() const noexcept {
  return {.masking = masks_secrets_ ? secret_masking::by_source : secret_masking::none};
}

namespace {

/// Limits of the keys that completion considers.
constexpr std::size_t max_keys = 20'000;
constexpr std::size_t max_total_key_bytes = 4u << 20;

/// Collects keys level by level, so that the limit drops the deepest ones.
class key_collector {
 public:
  void add_below(const std::string& key, const located::node& node) {
    level next{{key, &node, nullptr}};
    collect(std::move(next));
  }
  void add_below(const merged_value& value) {
    level next{{{}, nullptr, &value}};
    collect(std::move(next));
  }
  [[nodiscard]] std::vector<std::string> release() { return std::move(keys_); }

 private:
  struct pending_key {
    std::string key;
    const located::node* node;
    const merged_value* merged;
  };
  using level = std::vector<pending_key>;

  void collect(level current) {
    while (!current.empty() && !is_full()) {
      level next;
      for (const auto& parent : current) {
        if (parent.merged != nullptr && parent.merged->is_table) {
          for (const auto& member : parent.merged->members) add(next, parent.key, member.key, nullptr, &member.value);
        } else {
          const auto& node = parent.merged != nullptr ? *parent.merged->origin.masked : *parent.node;
          for (const auto& member : node.members) add(next, parent.key, member.key, &member.value, nullptr);
          for (std::size_t i = 0; i < node.items.size(); ++i) add(next, parent.key, std::to_string(i), &node.items[i], nullptr);
        }
      }
      current = std::move(next);
    }
  }
  void add(level& next_level, std::string key, std::string_view name, const located::node* node, const merged_value* merged) {
    if (is_full()) return;
    append_part(key, name);
    bytes_ += key.size();
    keys_.push_back(key);
    next_level.push_back({std::move(key), node, merged});
  }
  [[nodiscard]] bool is_full() const noexcept { return keys_.size() >= max_keys || bytes_ >= max_total_key_bytes; }

  std::vector<std::string> keys_;
  std::size_t bytes_ = 0;
};

/// Writes a path as a value of `{+path}`: escapes characters that have a meaning in URIs.
std::string encode_template_value(std::string_view path) {
  std::string value;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_special = byte < 0x20 || byte == 0x7F || std::string_view("%?#[]").find(c) != std::string_view::npos;
    value += is_special ? percent_encode(std::string_view(&c, 1)) : std::string(1, c);
  }
  return value;
}

}  // namespace

std::vector<std::string> config_files_provider::visible_layer_names(const caller_info& caller) const {
  std::vector<std::string> names;
  for (const auto& layer : set_->files().layer_settings()) {
    if (!caller.access_filter || caller.access_filter->may_see(uri_of_layer(set_->name(), layer.name)))
      names.push_back(layer.name);
  }
  return names;
}

result<std::vector<std::string>> config_files_provider::complete_values(const complete_request& request) {
  auto& files = set_->files();
  const auto& filter = request.caller.access_filter;
  const bool is_merged = request.uri_template == uri_prefix(set_->name()) + "/merged{?key}";
  std::vector<std::string> values;
  if (request.argument == "path") {
    HONDANA_TRY(const auto snapshot, refresh(request));
    for (const auto& [path, file] : snapshot->files) {
      const auto uri = uri_of_file(set_->name(), path);
      const bool is_visible =
          !filter ||
          (filter->may_see(uri) && (!filter->uses_entries() || filter->may_see_entry(make_entry(set_->name(), path, file))) &&
           (file.link_target.empty() || may_see_file(set_->name(), file.link_target, request.caller)));
      if (is_visible) values.push_back(encode_template_value(path));
    }
  } else if (request.argument == "format") {
    values.emplace_back("json");
  } else if (request.argument == "name") {
    values = visible_layer_names(request.caller);
  } else if (request.argument == "from" || request.argument == "to") {
    values = visible_layer_names(request.caller);
    const auto other_layer = request.context_value(request.argument == "from" ? "to" : "from");
    values.emplace_back(merged_name);
    std::erase(values, other_layer);
  } else if (request.argument == "key" && is_merged) {
    const auto uri = uri_of_merged(set_->name());
    if (filter && (!filter->may_see(uri) || !filter->may_read(uri))) return values;
    if (!may_use_layers(files, set_->name(), request.caller, true)) return values;
    HONDANA_TRY(const auto layers, files.layers());
    if (!may_use_layer_targets(layers, set_->name(), request.caller, true)) return values;
    const auto tree = merge_layers(layers);
    key_collector keys;
    keys.add_below(tree);
    return keys.release();
  } else if (request.argument == "key") {
    const auto path = percent_decode(request.context_value("path"));
    if (!path || path->empty()) return values;
    const auto uri = uri_of_file(set_->name(), *path);
    if (filter && (!filter->may_see(uri) || !filter->may_read(uri))) return values;
    if (filter && filter->uses_entries()) {
      const auto file = files.inspect(*path);
      if (!file || !filter->may_read_entry(make_entry(set_->name(), *path, *file))) return values;
    }
    const auto file_values = files.values(*path);
    if (file_values && !check_link_target(set_->name(), *path, file_values->link_target, request.caller)) return values;
    if (!file_values) return values;  // an unreadable file has no keys to suggest
    key_collector keys;
    keys.add_below({}, file_values->values->masked.root);
    return keys.release();
  }
  return values;
}

result<complete_result> config_files_provider::complete(const complete_request& request) {
  return complete_values(request).map([&request](const auto& values) { return complete_from(request.value, values); });
}

namespace {

constexpr std::size_t max_layer_name_bytes = 64;
constexpr std::size_t max_paths = 1000;

bool is_layer_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= max_layer_name_bytes && std::all_of(name.begin(), name.end(), [](char c) {
    return ascii::is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

/// Makes the name of a set from the name of a folder or file.
std::string make_slug(const std::string& path) {
  auto slug = ascii::slugify(std::filesystem::path(path).stem().string());
  return slug.empty() ? "config" : slug;
}

result<layer_options> read_layer(config::section& section) {
  config::table_reader reader(section);
  layer_options layer;
  reader.string("name", layer.name);
  const auto file = reader.string("file");
  const auto prefix = reader.string("env_prefix");
  const bool has_flags = section.has("flags");
  const bool has_values = section.has("values");
  reader.strings("flags", layer.flags);
  layer.values = reader.strings_by_name("values");
  if (!is_layer_name(layer.name) || layer.name == merged_name) {
    reader.add_error_at("name", "expected 1 to 64 letters, digits, - and _, and not merged");
  }
  if (int(file.has_value() || prefix.has_value()) + int(has_flags) + int(has_values) != 1) {
    const auto* key = has_flags ? "flags" : has_values ? "values" : prefix ? "env_prefix" : "file";
    reader.add_error_at(key,
                        "a layer needs exactly one of file, env_prefix, flags and values; env_prefix with file reads the "
                        "variables of that file");
  }
  if (file) layer.file = reader.absolute_path("file", *file);
  if (prefix) {
    layer.prefix = *prefix;
    layer.kind = layer_options::layer_kind::environment;
    if (prefix->empty() && !file)
      reader.add_error_at("env_prefix", "missing; without a prefix, the whole environment would be served");
  }
  if (has_flags) layer.kind = layer_options::layer_kind::flags;
  if (has_values) layer.kind = layer_options::layer_kind::values;
  HONDANA_TRY(reader.finish());
  return layer;
}

std::vector<format_rule> read_formats(config::table_reader& reader, const config::section& section) {
  constexpr std::array<std::string_view, 12> known{"toml",      "yaml",         "json",       "ini",
                                                   "gitconfig", "editorconfig", "desktop",    "configparser",
                                                   "dotenv",    "compose-env",  "properties", "systemd"};
  std::vector<format_rule> rules;
  for (const auto& [pattern, name] : reader.strings_by_name("formats")) {
    const auto format = located::parse_format(name);
    if (format) {
      rules.emplace_back(pattern, *format);
    } else {
      reader.add_error(section.unknown_value("formats", name, known));
    }
  }
  return rules;
}

result<options> read_options(config::section& section) {
  config::table_reader reader(section);
  options parsed;
  auto paths = reader.string_or_strings("path");
  auto more_paths = reader.string_or_strings("paths");
  paths.insert(paths.end(), more_paths.begin(), more_paths.end());
  if (paths.size() > max_paths) reader.add_error_at("paths", "at most 1000 paths are allowed; name their folder");
  for (const auto& path : paths) parsed.paths.push_back(reader.absolute_path("path", path));
  parsed.include = reader.string_or_strings("include");
  parsed.exclude = reader.string_or_strings("exclude");
  parsed.allow = reader.string_or_strings("allow");
  parsed.formats = read_formats(reader, section);
  constexpr std::array<std::pair<std::string_view, located::config_format>, 2> dialects{
      {{"dotenv", located::config_format::dotenv}, {"compose", located::config_format::compose_env}}};
  reader.choice("dialect", dialects, parsed.environment_format);
  reader.boolean("hidden", parsed.show_hidden);
  reader.boolean("redact", parsed.redact);
  reader.boolean("watch", parsed.watch);
  auto layers = reader.subtables("layer");
  if (layers.size() > max_layers) reader.add_error_at("layer", "at most 16 layers are allowed");
  for (auto& table : layers) {
    auto layer = read_layer(table);
    if (!layer) return tl::unexpected(std::move(layer.error()));
    if (find_layer(parsed.layers, layer->name)) return tl::unexpected(table.error_at("name", "another layer has this name"));
    parsed.layers.push_back(std::move(*layer));
  }
  if (parsed.paths.empty() && parsed.layers.empty()) {
    reader.add_error_at("path", "missing; name a configuration file or folder, or layers");
  }
  auto name = reader.slug("name");
  HONDANA_TRY(reader.finish());
  parsed.name = name ? *name : make_slug(parsed.paths.empty() ? std::string() : parsed.paths.front());
  parsed.own_files = section.own_files();
  return parsed;
}

}  // namespace

result<std::shared_ptr<provider>> configure(config::section& section, const std::function<void(std::string_view)>& log) {
  HONDANA_TRY(auto options, read_options(section));
  options.log = log;
  auto opened = config_files_provider::open(std::move(options));
  if (opened) return std::shared_ptr<provider>(std::move(*opened));
  auto error = std::move(opened.error());
  if (error.code == errc::invalid_argument) error = section.error_at("path", error.public_text);
  return tl::unexpected(std::move(error));
}

}  // namespace hondana::config_files
