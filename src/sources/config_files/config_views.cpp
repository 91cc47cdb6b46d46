/// Contents of config:// URIs: files, values, merged layers and differences, as text or JSON.
#include "sources/config_files/config_views.hpp"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <variant>
#include <vector>

#include "base/bytes/prepared_content.hpp"
#include "base/bytes/sha256.hpp"
#include "base/json/writer.hpp"
#include "sources/config_files/link_filter.hpp"
#include "sources/config_files/masked_values.hpp"
#include "sources/config_files/merged_layers.hpp"
#include "text/located/node.hpp"
#include "text/secrets/redactor.hpp"

namespace hondana::config_files {
namespace {

/// Writes JSON up to a size limit.
class view_writer {
 public:
  view_writer(const layer_states& layers, size_limit limit) : layers_(layers), limit_(limit) {}

  [[nodiscard]] bool is_full() const noexcept { return text_.size() > limit_.max_bytes; }
  [[nodiscard]] json::writer& json_writer() noexcept { return writer_; }
  [[nodiscard]] std::string release() { return std::move(text_); }

  void write(const located::node& node) {
    if (!is_full()) writer_.raw(located::json_text(node));
  }
  void write(const merged_value& value) {
    if (!value.is_table) return write(*value.origin.masked);
    writer_.begin_object();
    // Masked names may be equal. Only the first is written, which is also the one that a key finds.
    std::unordered_set<std::string_view> written_keys;
    for (const auto& member : value.members) {
      if (is_full()) break;
      if (!written_keys.insert(member.key).second) continue;
      writer_.key(member.key);
      write(member.value);
    }
    writer_.end_object();
  }

  /// Writes where a value comes from, as members of an object.
  void write_location(const layered_value& value, std::uint32_t line) {
    const auto& layer = layers_[value.layer];
    writer_.member("layer", layer.options->name);
    if (!layer.file.empty()) {
      writer_.member("file", layer.file).key("line").unsigned_integer(line);
    } else if (layer.options->kind == layer_options::layer_kind::environment && line >= 1 && line <= layer.names.size()) {
      writer_.member("variable", layer.names[line - 1]);
    } else if (layer.options->kind == layer_options::layer_kind::flags) {
      writer_.key("argument").unsigned_integer(line);
    }
  }
  void write_location(const layered_value& value) { write_location(value, value.masked->range.line); }

  /// Writes where each value of a tree comes from, and what it overrides.
  void write_origins(std::string& key, const merged_value& value, bool with_values) {
    if (is_full()) return;
    const bool is_empty_tree = key.empty() && value.is_table && value.members.empty();  // no layer has a value
    if ((!value.is_table || value.members.empty() || !value.overrides.empty()) && !is_empty_tree) {
      writer_.begin_object().member("key", key);
      write_location(value.origin);
      write_overrides(value, with_values);
      writer_.end_object();
    }
    for (const auto& member : value.members) {
      const auto size = key.size();
      append_part(key, member.key);
      write_origins(key, member.value, with_values);
      key.resize(size);
    }
  }
  void write_overrides(const merged_value& value, bool with_values) {
    if (value.overrides.empty()) return;
    writer_.key("overrides").begin_array();
    for (const auto& overridden : value.overrides) {
      writer_.begin_object();
      write_location(overridden);
      if (with_values) {
        writer_.key("value");
        write(*overridden.masked);
      }
      writer_.end_object();
    }
    writer_.end_array();
  }

  void write_layer_info(const layer_state& layer) {
    writer_.member("layer", layer.options->name).member("kind", name_of(layer.options->kind)).member_if("file", layer.file);
    writer_.member_if("prefix", layer.options->prefix);
    if (!layer.values) writer_.key("missing").boolean(true);
    if (!layer.stale_reason.empty()) writer_.key("stale").begin_object().member("error", layer.stale_reason).end_object();
    if (!layer.values || layer.values->masked.warnings.empty()) return;
    writer_.key("warnings").begin_array();
    for (const auto& warning : layer.values->masked.warnings) writer_.string(warning);
    writer_.end_array();
  }
  void write_layers() {
    writer_.key("layers").begin_array();
    for (const auto& layer : layers_) {
      writer_.begin_object();
      write_layer_info(layer);
      writer_.end_object();
    }
    writer_.end_array();
  }

 private:
  const layer_states& layers_;
  size_limit limit_;
  std::string text_;
  json::writer writer_{text_};
};

/// Whether a difference is invisible, because both values are masked.
bool is_masked_difference(const difference& difference) {
  return !difference.old_value->is_table && !difference.new_value->is_table &&
         located::json_text(*difference.old_value->origin.masked) == located::json_text(*difference.new_value->origin.masked);
}

}  // namespace

std::string render_value(const located::node& node, std::string_view key, std::string_view file,
                         std::string_view stale_reason) {
  std::string text;
  json::writer writer(text);
  writer.begin_object().member("key", key).key("value").raw(located::json_text(node));
  writer.member("file", file).key("line").unsigned_integer(node.range.line);
  if (!stale_reason.empty()) writer.key("stale").begin_object().member("error", stale_reason).end_object();
  writer.end_object();
  return text;
}

std::string render_merged(std::string_view set, const layer_states& layers, const merged_match& match, bool is_full_view,
                          size_limit limit) {
  view_writer view(layers, limit);
  view.json_writer().begin_object().member("set", set);
  if (!is_full_view) view.json_writer().member("key", match.key);
  view.json_writer().key("value");
  if (match.node != nullptr) {
    view.write(*match.node);
  } else {
    view.write(*match.value);
  }
  view.json_writer().key("from").begin_array();
  auto key = match.key;
  if (match.node != nullptr) {
    view.json_writer().begin_object().member("key", key);
    view.write_location(match.value->origin, match.node->range.line);
    view.write_overrides(*match.value, !is_full_view);
    view.json_writer().end_object();
  } else {
    view.write_origins(key, *match.value, !is_full_view);
  }
  view.json_writer().end_array();
  view.write_layers();
  view.json_writer().end_object();
  return view.release();
}

std::string render_layer(std::string_view set, const layer_states& layers, std::size_t index, size_limit limit) {
  view_writer view(layers, limit);
  const auto tree = single_layer(layers, index);
  view.json_writer().begin_object().member("set", set);
  view.write_layer_info(layers[index]);
  view.json_writer().key("value");
  view.write(tree);
  view.json_writer().key("from").begin_array();
  std::string key;
  view.write_origins(key, tree, false);
  view.json_writer().end_array();
  view.json_writer().end_object();
  return view.release();
}

std::string render_difference(std::string_view set, const layer_states& layers, diff_side from_side, diff_side to_side,
                              size_limit limit) {
  view_writer view(layers, limit);
  const auto tree_of = [&layers](diff_side side) { return side ? single_layer(layers, *side) : merge_layers(layers); };
  const auto name_of_side = [&layers](diff_side side) {
    return side ? std::string_view(layers[*side].options->name) : merged_name;
  };
  const auto old_tree = tree_of(from_side);
  const auto new_tree = tree_of(to_side);
  std::vector<difference> differences;
  std::size_t bytes = 0;
  find_differences(
      old_tree, new_tree,
      [&layers](std::size_t a, std::size_t b) {
        return has_text_only(*layers[a].options) || has_text_only(*layers[b].options);
      },
      [&](const difference& difference) {
        bytes += difference.key.size();
        differences.push_back(difference);
        return bytes <= limit.max_bytes;
      });
  const auto write_side = [&view](const merged_value& value) {
    view.json_writer().key("value");
    view.write(value);
    view.write_location(value.origin);
  };
  view.json_writer()
      .begin_object()
      .member("set", set)
      .member("from", name_of_side(from_side))
      .member("to", name_of_side(to_side));
  for (const bool is_added : {true, false}) {
    view.json_writer().key(is_added ? "added" : "removed").begin_array();
    for (const auto& difference : differences) {
      if ((is_added ? difference.old_value : difference.new_value) != nullptr || view.is_full()) continue;
      view.json_writer().begin_object().member("key", difference.key);
      write_side(is_added ? *difference.new_value : *difference.old_value);
      view.json_writer().end_object();
    }
    view.json_writer().end_array();
  }
  view.json_writer().key("changed").begin_array();
  for (const auto& difference : differences) {
    if (difference.old_value == nullptr || difference.new_value == nullptr || view.is_full()) continue;
    view.json_writer().begin_object().member("key", difference.key).key("from").begin_object();
    write_side(*difference.old_value);
    view.json_writer().end_object().key("to").begin_object();
    write_side(*difference.new_value);
    view.json_writer().end_object();
    if (is_masked_difference(difference)) view.json_writer().key("masked").boolean(true);
    view.json_writer().end_object();
  }
  view.json_writer().end_array();
  view.write_layers();
  view.json_writer().end_object();
  return view.release();
}

namespace {

constexpr std::string_view view_type = "application/json";
constexpr std::string_view stale_key = "dev.hondana/stale";
constexpr std::string_view warnings_key = "dev.hondana/warnings";
constexpr std::size_t max_nearby_names = 1000;
constexpr std::size_t max_warnings = 10;

/// The digest of a text and its metadata.
std::string digest_of(std::string_view text, const metadata& metadata = {}) {
  bytes::sha256 digest;
  digest.update(text);
  for (const auto& [name, value] : metadata) {
    const auto* string_value = std::get_if<std::string>(&value);
    digest.update(std::string_view("\0", 1));
    digest.update(name);
    digest.update(std::string_view("\0", 1));
    if (string_value != nullptr) digest.update(*string_value);
  }
  return digest.finish();
}

/// The metadata of a file's values.
metadata make_metadata(const cached_values& values) {
  metadata entries;
  if (!values.stale_reason.empty()) entries.emplace_back(stale_key, values.stale_reason);
  std::string joined;
  const auto& warnings = values.values->masked.warnings;
  for (std::size_t i = 0; i < std::min(warnings.size(), max_warnings); ++i) (joined += i == 0 ? "" : "; ") += warnings[i];
  if (!joined.empty()) entries.emplace_back(warnings_key, std::move(joined));
  return entries;
}

rendered_content make_json_content(std::string text, std::string kind, std::string name) {
  auto version = digest_of(text);
  return {std::move(text), std::string(view_type), std::move(kind), std::move(name), std::move(version)};
}

/// The error for a text that can be neither parsed nor masked.
tl::unexpected<failure> unmaskable_error(const std::string& path, const file_content& file) {
  const auto parsed = located::read(file.format, file.text.bytes);
  return fail(errc::source_unavailable, '"' + path + "\" is not UTF-8 or UTF-16 text, so secrets in it cannot be masked" +
                                            (parsed ? std::string(".") : ": " + parsed.error().public_text) + " Correct it.");
}

result<rendered_content> render_raw(file_set& files, std::string_view set, const std::string& path, const caller_info& caller,
                                    bool masks_secrets) {
  auto file = files.read(path);
  if (!file) return tl::unexpected(std::move(file.error()));
  HONDANA_TRY(check_link_target(set, path, file->text.link_target, caller));
  rendered_content content{std::move(file->text.bytes), std::string(media_type_of(file->format)), "file", path, {}};
  content.is_racy = file->text.is_racy;
  if (masks_secrets) {
    // Secrets that are recognized by the keys above them are known from the parsed tree only.
    file_content original{
        {content.text, file->text.state, file->text.is_racy, file->text.link_target}, file->format, file->sequence};
    const auto values = files.parsed_values(path, original);
    auto masked_count = mask_text(content.text, values.get());
    if (!values) {
      const auto masked_values = mask_values(content.text, file->format);
      if (!masked_values) return unmaskable_error(path, original);
      masked_count += *masked_values;
      if (*masked_values > 0) {
        content.metadata.emplace_back(warnings_key, "it cannot be read as " + std::string(located::name_of(file->format)) +
                                                        ", so everything that may be a value is masked");
      }
    }
    for (auto& entry : secrets::redaction_metadata(masked_count)) content.metadata.push_back(std::move(entry));
  }
  content.version = content.is_racy ? digest_of(content.text, content.metadata) : disk::version_of(file->text.state);
  return content;
}

result<rendered_content> render_values(file_set& files, std::string_view set, const config_address& address,
                                       const caller_info& caller) {
  HONDANA_TRY(auto values, files.values(address.path));
  HONDANA_TRY(check_link_target(set, address.path, values.link_target, caller));
  const auto& root = values.values->masked.root;
  if (!address.key) {
    auto content = make_json_content(located::json_text(root), "file", address.path);
    content.metadata = make_metadata(values);
    content.version = digest_of(content.text, content.metadata);
    return content;
  }
  HONDANA_TRY(const auto path, parse_key(*address.key));
  const auto match = find_key(root, path);
  if (match.matched_parts < path.size()) {
    return unknown_key_error('"' + address.path + '"', path, match.key, match.matched_parts,
                             list_names(*match.node, max_nearby_names));
  }
  auto content = make_json_content(render_value(*match.node, match.key, address.path, values.stale_reason), "value", match.key);
  content.metadata = make_metadata(values);
  content.version = digest_of(content.text, content.metadata);
  return content;
}

std::string join_layer_names(const file_set& files) {
  std::string names;
  for (const auto& layer : files.layer_settings()) (names += names.empty() ? "" : ", ") += layer.name;
  return names;
}

tl::unexpected<failure> missing_layer_error(const file_set& files) {
  return fail(errc::invalid_argument, "A diff needs two layers: diff/FROM..TO. The layers are " + join_layer_names(files) +
                                          ", and merged for all of them together.");
}

tl::unexpected<failure> unknown_layer_error(const file_set& files, std::string_view name) {
  return fail(errc::part_not_found,
              "Unknown layer \"" + std::string(name.substr(0, 100)) + "\". The layers are " + join_layer_names(files) + '.');
}

result<diff_side> parse_side(const file_set& files, std::string_view name) {
  if (name == merged_name) return diff_side();
  const auto index = find_layer(files.layer_settings(), name);
  if (!index) return unknown_layer_error(files, name);
  return index;
}

result<rendered_content> render_merged_view(std::string_view set, const layer_states& layers, const config_address& address,
                                            size_limit limit) {
  const auto tree = merge_layers(layers);
  HONDANA_TRY(const auto path, parse_key(address.key.value_or("")));
  const auto match = find_key(tree, path);
  if (match.matched_parts < path.size()) {
    return unknown_key_error("the merged configuration", path, match.key, match.matched_parts,
                             list_names(match, max_nearby_names));
  }
  return make_json_content(render_merged(set, layers, match, !address.key, limit), address.key ? "value" : "merged",
                           address.key ? match.key : "merged");
}

tl::unexpected<failure> layers_denied_error() {
  return fail(errc::access_denied, "This is made of files that you may not read.");
}

result<rendered_content> render_layers(file_set& files, std::string_view set, const config_address& address,
                                       const caller_info& caller, size_limit limit) {
  if (files.layer_settings().empty()) {
    return fail(errc::part_not_found, "The set has no layers, so there are no merged, layers and diff resources. Read " +
                                          uri_prefix(set) + "/file" +
                                          ", or add a [[source.layer]] table to the configuration.");
  }
  if (address.kind == resource_kind::diff && address.target_layer.empty()) return missing_layer_error(files);
  std::optional<std::size_t> layer;
  diff_side from_side;
  diff_side to_side;
  // Check names first, since that is cheap.
  if (address.kind == resource_kind::layer) {
    layer = find_layer(files.layer_settings(), address.layer);
    if (!layer) return unknown_layer_error(files, address.layer);
  } else if (address.kind == resource_kind::diff) {
    HONDANA_TRY(const auto first, parse_side(files, address.layer));
    HONDANA_TRY(const auto second, parse_side(files, address.target_layer));
    from_side = first;
    to_side = second;
  }
  HONDANA_TRY(const auto layers, files.layers());
  if (!may_use_layer_targets(layers, set, caller)) return layers_denied_error();
  if (layer) return make_json_content(render_layer(set, layers, *layer, limit), "layer", "layer " + address.layer);
  if (address.kind == resource_kind::diff) {
    return make_json_content(render_difference(set, layers, from_side, to_side, limit), "diff",
                             address.layer + ".." + address.target_layer);
  }
  return render_merged_view(set, layers, address, limit);
}

}  // namespace

tl::unexpected<failure> unknown_key_error(std::string_view container, const key_path& path, std::string_view nearest_key,
                                          std::size_t matched_parts, std::vector<std::string> names) {
  std::string text = "Unknown key in " + std::string(container) + ": ";
  text += nearest_key.empty() ? "at the top level" : "below " + std::string(nearest_key);
  const auto suggestions = find_similar_names(path[matched_parts].name, std::move(names));
  if (suggestions.empty()) {
    text += " there are no keys.";
  } else {
    text += " the nearest keys are ";
    for (std::size_t i = 0; i < suggestions.size(); ++i) {
      std::string key(nearest_key);
      append_part(key, suggestions[i]);
      (text += i == 0 ? "" : ", ") += key;
    }
    text += '.';
  }
  return fail(errc::part_not_found, std::move(text));
}

result<rendered_content> render(file_set& files, std::string_view set, const config_address& address, const caller_info& caller,
                                bool masks_secrets, const std::string& uri, std::uint64_t max_bytes) {
  result<rendered_content> content;
  if (address.kind == resource_kind::file) {
    content = address.key || address.is_json ? render_values(files, set, address, caller)
                                             : render_raw(files, set, address.path, caller, masks_secrets);
  } else if (!may_use_layers(files, set, caller)) {
    return layers_denied_error();
  } else {
    content = render_layers(files, set, address, caller, {static_cast<std::size_t>(max_bytes)});
  }
  if (!content) return content;
  if (content->text.size() > max_bytes)
    return tl::unexpected(bytes::too_large_error(uri, content->text.size(), max_bytes, false));
  return content;
}

}  // namespace hondana::config_files
