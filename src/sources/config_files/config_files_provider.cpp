/// The provider of one set of configuration files.
#include "sources/config_files/config_files_provider.hpp"

#include <algorithm>
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
#include "sources/config_files/access_filter.hpp"
#include "sources/config_files/config_views.hpp"
#include "sources/config_files/key_path.hpp"
#include "sources/config_files/merged_layers.hpp"

namespace hondana::config_files {

scheme_documentation describe() {
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

constexpr std::uint64_t most_described = 64ull << 20;

/// Whether the error allows that the path names a folder instead of a file.
bool is_missing(const failure& why) { return why.code == errc::resource_not_found; }

}  // namespace

set_provider::set_provider(std::shared_ptr<watched_set> set, const options& all) : set_(std::move(set)), redacts_(all.redact) {
  if (!all.watch || set_->files().grounds().empty()) return;
  std::vector<std::string> paths;
  for (const auto& one : set_->files().grounds()) paths.push_back(one->path());
  watch::lookout_options with;
  with.what = "the configuration " + all.name;
  with.quiet = std::chrono::milliseconds(20);
  with.latest = std::chrono::milliseconds(200);
  with.log = all.log;
  const auto look = [of = std::weak_ptr(set_)](const call& by, const watch::lookout::trees&) {
    const auto there = of.lock();
    if (!there) return true;
    const auto now = there->refreshed(by);
    return now.has_value() && (*now)->unreachable.empty();  // the log has the reason
  };
  watching_ = std::make_unique<watch::lookout>(std::move(paths), look, std::move(with));
  // Passes a handle, not the watcher itself: the watcher's own thread must not become its last owner.
  set_->cover_with(watching_->coverer());
}

set_provider::~set_provider() { set_->be_silent(); }

result<std::shared_ptr<set_provider>> set_provider::open(options all) {
  HONDANA_TRY(auto set, watched_set::open(all));
  return std::shared_ptr<set_provider>(new set_provider(std::move(set), all));
}

result<std::shared_ptr<const scene>> set_provider::refreshed(const call& by) {
  if (watching_ && has_listener_) watching_->start();
  return set_->refreshed(by);
}

result<list_result> set_provider::list(const list_request& request) {
  return refreshed(request).map([&](const auto& now) {
    auto asked = request;
    asked.who = mindful_of_links(request.who, set_->name(), now);
    return now->entries->page(asked);
  });
}

result<reading> set_provider::read(const read_request& request) {
  HONDANA_TRY(const auto what, address_of(set_->name(), request.uri));
  if (what.what == topic::folder) return read_folder(request);
  auto made = give(set_->files(), set_->name(), what, request.who, redacts_, request.asked_uri, request.max_bytes);
  if (!made) {
    const bool may_be_folder = what.what == topic::file && !what.key && !what.as_json && is_missing(made.error());
    if (may_be_folder) {
      if (auto folder = read_folder(request)) return folder;
    }
    return tl::unexpected(std::move(made.error()));
  }
  reading answer;
  answer.version = std::move(made->version);
  answer.is_racy = made->is_racy;
  if (!answer.version.empty() && answer.version == request.if_version) return answer;
  content one;
  one.name = std::move(made->name);
  one.mimeType = std::move(made->type);
  one.metadata = std::move(made->facts);
  one.data = std::make_shared<const std::string>(std::move(made->text));
  answer.contents.push_back(std::move(one));
  return answer;
}

result<reading> set_provider::read_folder(const read_request& request) {
  children_request next;
  static_cast<call&>(next) = static_cast<const call&>(request);
  next.uri = request.uri;
  const bool looks = request.who.view && request.who.view->looks_at_entries();
  std::string text;
  for (;;) {
    auto page = children(next);
    if (!page) return tl::unexpected(std::move(page.error()));
    for (const auto& one : page->entries) {
      if (!looks || request.who.view->may_see_entry(one)) (text += one.uri) += '\n';
    }
    if (text.size() > request.max_bytes) {
      return tl::unexpected(bytes::too_large(request.asked_uri, text.size(), request.max_bytes, false));
    }
    if (!page->resume) break;
    next.after = std::move(*page->resume);
  }
  bytes::sha256 digest;
  digest.feed(text);
  auto answer = text_reading(std::move(text), "inode/directory");
  answer.version = digest.finish();
  return answer;
}

result<resource> set_provider::describe(const describe_request& request) {
  HONDANA_TRY(const auto what, address_of(set_->name(), request.uri));
  const bool is_plain_file = what.what == topic::file && !what.key && !what.as_json;
  if (is_plain_file) {
    if (const auto file = set_->files().see(what.path)) {
      HONDANA_TRY(may_read_behind(set_->name(), what.path, file->behind, request.who));
      auto entry = entry_of(set_->name(), what.path, *file);
      if (entry.version.empty()) entry.version = request.known_version;
      if (!entry.version.empty()) return entry;
    } else if (!is_missing(file.error())) {
      return tl::unexpected(file.error());
    }
  }
  read_request content;
  static_cast<call&>(content) = static_cast<const call&>(request);
  content.uri = content.asked_uri = request.uri;
  content.max_bytes = most_described;
  HONDANA_TRY(const auto now, refreshed(request));
  auto listed = now->entries->find(request.uri);
  if (what.what == topic::folder || (listed && listed->mimeType == "inode/directory")) {
    resource entry = listed.value_or(resource{.uri = request.uri, .name = set_->name(), .mimeType = "inode/directory"});
    entry.kind = "folder";
    HONDANA_TRY(auto read, read_folder(content));
    entry.version = std::move(read.version);
    return entry;
  }
  HONDANA_TRY(auto made, give(set_->files(), set_->name(), what, request.who, redacts_, request.uri, most_described));
  resource entry = listed.value_or(resource{.uri = request.uri, .name = made.name, .mimeType = made.type});
  entry.kind = made.kind;
  entry.version = std::move(made.version);
  entry.size = made.text.size();
  return entry;
}

result<list_result> set_provider::children(const children_request& request) {
  HONDANA_TRY(const auto now, refreshed(request));
  const auto entry = now->entries->find(request.uri);
  if (request.uri != claim_of(set_->name()) && (!entry || entry->mimeType != "inode/directory")) {
    if (entry) return fail(errc::invalid_argument, request.uri + " is not a folder. Read it with resources/read.");
    return fail(errc::resource_not_found, "The set has no folder of this name.");
  }
  auto asked = request;
  asked.who = mindful_of_links(request.who, set_->name(), now);
  return now->entries->children(asked);
}

std::vector<resource_template> set_provider::templates() const {
  return templates_of(set_->name(), !set_->files().layer_settings().empty());
}

result<void> set_provider::survey(const call& request, const std::function<void(const survey_item&)>& each) {
  return refreshed(request).map([&](const auto& now) {
    for (const auto& [path, file] : now->files) each({path, uri_of_file(set_->name(), path), true, {}});
    for (const auto& one : now->left_out) each({one.path, {}, false, one.reason});
  });
}

void set_provider::watch(std::shared_ptr<change_listener> to) {
  has_listener_ = to != nullptr;
  set_->watch(std::move(to));
}

void set_provider::attach(const std::string& uri) {
  if (!watching_ || !has_listener_) return;
  set_->attach(uri);
  watching_->start();
}

void set_provider::detach(const std::string& uri) { set_->detach(uri); }

void set_provider::attach_list() {
  if (!watching_ || !has_listener_) return;
  set_->attach_list();
  watching_->start();
}

hondana::needs set_provider::needs() const {
  hondana::needs all;
  for (const auto& one : set_->files().grounds()) all.folders.push_back({one->path(), false});
  return all;
}

hondana::masking set_provider::masking() const noexcept { return redacts_ ? masking::by_source : masking::none; }

namespace {

/// Limits of the keys that completion considers.
constexpr std::size_t most_keys = 20'000;
constexpr std::size_t most_key_bytes = 4u << 20;

/// Collects keys level by level, so that the limit drops the deepest ones.
class key_list {
 public:
  void add_below(const std::string& key, const located::node& of) {
    level next{{key, &of, nullptr}};
    go_down(std::move(next));
  }
  void add_below(const blend& of) {
    level next{{{}, nullptr, &of}};
    go_down(std::move(next));
  }
  [[nodiscard]] std::vector<std::string> take() { return std::move(keys_); }

 private:
  struct one {
    std::string key;
    const located::node* plain;
    const blend* merged;
  };
  using level = std::vector<one>;

  void go_down(level now) {
    while (!now.empty() && !is_full()) {
      level next;
      for (const auto& above : now) {
        if (above.merged != nullptr && above.merged->is_table) {
          for (const auto& below : above.merged->members) add(next, above.key, below.key, nullptr, &below.value);
        } else {
          const auto& of = above.merged != nullptr ? *above.merged->from.shown : *above.plain;
          for (const auto& below : of.members) add(next, above.key, below.key, &below.value, nullptr);
          for (std::size_t i = 0; i < of.items.size(); ++i) add(next, above.key, std::to_string(i), &of.items[i], nullptr);
        }
      }
      now = std::move(next);
    }
  }
  void add(level& to, std::string key, std::string_view name, const located::node* plain, const blend* merged) {
    if (is_full()) return;
    append_part(key, name);
    bytes_ += key.size();
    keys_.push_back(key);
    to.push_back({std::move(key), plain, merged});
  }
  [[nodiscard]] bool is_full() const noexcept { return keys_.size() >= most_keys || bytes_ >= most_key_bytes; }

  std::vector<std::string> keys_;
  std::size_t bytes_ = 0;
};

/// Writes a path as a value of `{+path}`: escapes characters that have a meaning in URIs.
std::string written_in_template(std::string_view path) {
  std::string value;
  for (const char c : path) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_special = byte < 0x20 || byte == 0x7F || std::string_view("%?#[]").find(c) != std::string_view::npos;
    value += is_special ? percent_encode(std::string_view(&c, 1)) : std::string(1, c);
  }
  return value;
}

}  // namespace

std::vector<std::string> set_provider::layer_names(const caller& who) const {
  std::vector<std::string> names;
  for (const auto& one : set_->files().layer_settings()) {
    if (!who.view || who.view->may_see(uri_of_layer(set_->name(), one.name))) names.push_back(one.name);
  }
  return names;
}

result<std::vector<std::string>> set_provider::values_of(const complete_request& request) {
  auto& files = set_->files();
  const auto& view = request.who.view;
  const bool is_merged = request.uriTemplate == claim_of(set_->name()) + "/merged{?key}";
  std::vector<std::string> values;
  if (request.argument == "path") {
    HONDANA_TRY(const auto now, refreshed(request));
    for (const auto& [path, file] : now->files) {
      const auto uri = uri_of_file(set_->name(), path);
      const bool is_seen = !view || (view->may_see(uri) &&
                                     (!view->looks_at_entries() || view->may_see_entry(entry_of(set_->name(), path, file))) &&
                                     (file.behind.empty() || may_see_file(set_->name(), file.behind, request.who)));
      if (is_seen) values.push_back(written_in_template(path));
    }
  } else if (request.argument == "format") {
    values.emplace_back("json");
  } else if (request.argument == "name") {
    values = layer_names(request.who);
  } else if (request.argument == "from" || request.argument == "to") {
    values = layer_names(request.who);
    const auto other = request.chosen(request.argument == "from" ? "to" : "from");
    values.emplace_back(merged_name);
    std::erase(values, other);
  } else if (request.argument == "key" && is_merged) {
    const auto uri = uri_of_merged(set_->name());
    if (view && (!view->may_see(uri) || !view->may_read(uri))) return values;
    if (!may_use_layers(files, set_->name(), request.who, true)) return values;
    HONDANA_TRY(const auto layers, files.layers());
    if (!may_use(layers, set_->name(), request.who, true)) return values;
    const auto all = merged(layers);
    key_list keys;
    keys.add_below(all);
    return keys.take();
  } else if (request.argument == "key") {
    const auto path = percent_decode(request.chosen("path"));
    if (!path || path->empty()) return values;
    const auto uri = uri_of_file(set_->name(), *path);
    if (view && (!view->may_see(uri) || !view->may_read(uri))) return values;
    if (view && view->looks_at_entries()) {
      const auto file = files.see(*path);
      if (!file || !view->may_read_entry(entry_of(set_->name(), *path, *file))) return values;
    }
    const auto said = files.values(*path);
    if (said && !may_read_behind(set_->name(), *path, said->behind, request.who)) return values;
    if (!said) return values;  // an unreadable file has no keys to suggest
    key_list keys;
    keys.add_below({}, said->what->shown.root);
    return keys.take();
  }
  return values;
}

result<complete_result> set_provider::complete(const complete_request& request) {
  return values_of(request).map([&request](const auto& values) { return complete_from(request.value, values); });
}

namespace {

constexpr std::size_t longest_layer_name = 64;
constexpr std::size_t most_paths = 1000;

bool is_layer_name(std::string_view name) noexcept {
  return !name.empty() && name.size() <= longest_layer_name && std::all_of(name.begin(), name.end(), [](char c) {
    return ascii::is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

/// Makes the name of a set from the name of a folder or file.
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
  // Report unknown keys first: one may be a misspelling of the keys checked below.
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
