/// Completing paths, keys and layers, without what the caller may not see.
#include <utility>

#include <hondana/completion.hpp>
#include <hondana/uri.hpp>

#include "sources/config_files/key_path.hpp"
#include "sources/config_files/layers.hpp"
#include "sources/config_files/set_provider.hpp"
#include "sources/config_files/sight.hpp"
#include "sources/config_files/views.hpp"

namespace hondana::config_files {
namespace {

/// Of all keys of a file or of merged layers, so many are offered.
constexpr std::size_t most_keys = 20'000;
constexpr std::size_t most_key_bytes = 4u << 20;

/// Keys, level by level, so that of more than are offered those near the top are.
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

/// As a value of `{+path}`: what has a meaning in URIs is escaped.
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
    if (!said) return values;  // there is nothing to offer of what is not there or cannot be read
    key_list keys;
    keys.add_below({}, said->what->shown.root);
    return keys.take();
  }
  return values;
}

result<complete_result> set_provider::complete(const complete_request& request) {
  return values_of(request).map([&request](const auto& values) { return complete_from(request.value, values); });
}

}  // namespace hondana::config_files
