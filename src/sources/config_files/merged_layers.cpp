/// Merges layers of configuration into one tree, and finds differences between two trees.
#include "sources/config_files/merged_layers.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sources/config_files/masked_values.hpp"

namespace hondana::config_files {
namespace {

bool is_table(const located::node& node) noexcept { return node.kind == located::node_kind::table; }

/// Finds members of a table by raw key, in constant time for large tables.
class member_index {
 public:
  explicit member_index(const std::vector<merged_member>& members) : members_(members) {
    if (members.size() <= max_scanned) return;
    for (std::size_t i = 0; i < members.size(); ++i) positions_.emplace(members[i].raw_key, i);
  }
  /// Returns `member_count` if there is none. `member_count`: the number of members at construction.
  [[nodiscard]] std::size_t find(std::string_view key, std::size_t member_count) const {
    if (positions_.empty()) {
      for (std::size_t i = 0; i < member_count; ++i) {
        if (members_[i].raw_key == key) return i;
      }
      return member_count;
    }
    const auto match = positions_.find(key);
    return match == positions_.end() ? member_count : match->second;
  }

 private:
  static constexpr std::size_t max_scanned = 16;
  const std::vector<merged_member>& members_;
  std::unordered_map<std::string_view, std::size_t> positions_;
};

/// Replaces `target` by a value.
void assign(merged_value& target, const layered_value& value) {
  target.origin = value;
  target.is_table = is_table(*value.raw);
  target.merged_tables.clear();
  target.members.clear();
  if (!target.is_table) return;
  target.members.reserve(value.raw->members.size());
  for (std::size_t i = 0; i < value.raw->members.size(); ++i) {
    const auto& raw_member = value.raw->members[i];
    const auto& masked_member = value.masked->members[i];
    target.members.push_back({masked_member.key, raw_member.key, {}});
    assign(target.members.back().value, {value.layer, &masked_member.value, &raw_member.value});
  }
}

}  // namespace

void merge_over(merged_value& target, const layered_value& layer_value) {
  if (target.origin.raw == nullptr) return assign(target, layer_value);
  if (!target.is_table || !is_table(*layer_value.raw)) {
    std::vector<layered_value> replaced{target.origin};
    for (const auto* list : {&target.merged_tables, &target.overrides})
      replaced.insert(replaced.end(), list->begin(), list->end());
    assign(target, layer_value);
    target.overrides = std::move(replaced);
    return;
  }
  target.merged_tables.insert(target.merged_tables.begin(), target.origin);
  target.origin = layer_value;
  const auto count = target.members.size();
  const member_index index(target.members);
  for (std::size_t i = 0; i < layer_value.raw->members.size(); ++i) {
    const auto& raw_member = layer_value.raw->members[i];
    const auto& masked_member = layer_value.masked->members[i];
    const layered_value value{layer_value.layer, &masked_member.value, &raw_member.value};
    const auto position = index.find(raw_member.key, count);
    if (position != count) {
      merge_over(target.members[position].value, value);
      continue;
    }
    target.members.push_back({masked_member.key, raw_member.key, {}});
    assign(target.members.back().value, value);
  }
}

merged_value make_merged(const layered_value& value) {
  merged_value tree;
  assign(tree, value);
  return tree;
}

merged_match find_key(const merged_value& root, const key_path& path) {
  merged_match match{&root, nullptr, {}, 0};
  while (match.matched_parts < path.size() && match.value->is_table) {
    const auto& members = match.value->members;
    const auto* member = follow_part(path, match.matched_parts, [&members](std::string_view name) {
      const auto position =
          std::find_if(members.begin(), members.end(), [name](const auto& candidate) { return candidate.key == name; });
      return position == members.end() ? nullptr : &*position;
    });
    if (member == nullptr) return match;
    append_part(match.key, member->key);
    match.value = &member->value;
  }
  if (match.matched_parts == path.size() || match.value->is_table) return match;
  auto inner_match = find_key(*match.value->origin.masked, path, match.matched_parts, match.key);
  if (inner_match.matched_parts != match.matched_parts) match.node = inner_match.node;
  match.key = std::move(inner_match.key);
  match.matched_parts = inner_match.matched_parts;
  return match;
}

std::vector<std::string> list_names(const merged_match& match, std::size_t max_names) {
  if (match.node != nullptr) return list_names(*match.node, max_names);
  if (!match.value->is_table) return list_names(*match.value->origin.masked, max_names);
  std::vector<std::string> names;
  for (const auto& member : match.value->members) {
    if (names.size() == max_names) break;
    names.emplace_back(member.key);
  }
  return names;
}

namespace {

const located::node& empty_table() {
  static const located::node table = [] {
    located::node node;
    node.kind = located::node_kind::table;
    return node;
  }();
  return table;
}

/// Whether a layer has a value: an empty YAML file is null.
bool has_value(const layer_state& layer) { return layer.values && layer.values->raw.root.kind != located::node_kind::null; }

layered_value root_value(const layer_states& layers, std::size_t index) {
  return {index, &layers[index].values->masked.root, &layers[index].values->raw.root};
}

}  // namespace

std::optional<std::size_t> find_layer(const std::vector<layer_options>& layers, std::string_view name) {
  const auto match = std::find_if(layers.begin(), layers.end(), [name](const auto& layer) { return layer.name == name; });
  if (match == layers.end()) return std::nullopt;
  return static_cast<std::size_t>(match - layers.begin());
}

merged_value merge_layers(const layer_states& layers) {
  merged_value tree;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (has_value(layers[i])) merge_over(tree, root_value(layers, i));
  }
  if (tree.origin.raw == nullptr) tree = make_merged({0, &empty_table(), &empty_table()});
  return tree;
}

merged_value single_layer(const layer_states& layers, std::size_t index) {
  if (!has_value(layers[index])) return make_merged({index, &empty_table(), &empty_table()});
  return make_merged(root_value(layers, index));
}

bool has_text_only(const layer_options& layer) noexcept { return layer.kind != layer_options::layer_kind::file; }

std::string_view name_of(layer_options::layer_kind kind) noexcept {
  switch (kind) {
    case layer_options::layer_kind::file:
      return "file";
    case layer_options::layer_kind::environment:
      return "environment";
    case layer_options::layer_kind::flags:
      return "flags";
    case layer_options::layer_kind::values:
      return "values";
  }
  return "file";
}

namespace {

class tree_comparison {
 public:
  tree_comparison(const std::function<bool(std::size_t, std::size_t)>& compares_text,
                  const std::function<bool(const difference&)>& visit)
      : compares_text_(compares_text), visit_(visit) {}

  void compare(const std::string& key, const merged_value* old_value, const merged_value* new_value) {
    if (is_stopped_) return;
    if (old_value != nullptr && new_value != nullptr && old_value->is_table && new_value->is_table)
      return compare_members(key, *old_value, *new_value);
    if (old_value != nullptr && new_value != nullptr) {
      const bool is_equal = !old_value->is_table && !new_value->is_table &&
                            is_equivalent(*old_value->origin.raw, *new_value->origin.raw,
                                          compares_text_(old_value->origin.layer, new_value->origin.layer));
      if (!is_equal) report({key, old_value, new_value});
      return;
    }
    const merged_value& value = old_value != nullptr ? *old_value : *new_value;
    if (!value.is_table || value.members.empty()) return report({key, old_value, new_value});
    for (const auto& member : value.members) {
      compare(member_key(key, member), old_value != nullptr ? &member.value : nullptr,
              old_value != nullptr ? nullptr : &member.value);
      if (is_stopped_) return;
    }
  }

 private:
  static std::string member_key(const std::string& parent_key, const merged_member& member) {
    auto key = parent_key;
    append_part(key, member.key);
    return key;
  }
  static std::unordered_map<std::string_view, const merged_value*> index_by_key(const merged_value& table) {
    std::unordered_map<std::string_view, const merged_value*> index;
    for (const auto& member : table.members) index.emplace(member.raw_key, &member.value);
    return index;
  }

  void compare_members(const std::string& key, const merged_value& old_table, const merged_value& new_table) {
    const auto new_members = index_by_key(new_table);
    const auto old_members = index_by_key(old_table);
    for (const auto& old_member : old_table.members) {
      const auto other = new_members.find(old_member.raw_key);
      compare(member_key(key, old_member), &old_member.value, other == new_members.end() ? nullptr : other->second);
      if (is_stopped_) return;
    }
    for (const auto& new_member : new_table.members) {
      if (!old_members.contains(new_member.raw_key)) compare(member_key(key, new_member), nullptr, &new_member.value);
      if (is_stopped_) return;
    }
  }
  void report(const difference& difference) { is_stopped_ = !visit_(difference); }

  const std::function<bool(std::size_t, std::size_t)>& compares_text_;
  const std::function<bool(const difference&)>& visit_;
  bool is_stopped_ = false;
};

}  // namespace

void find_differences(const merged_value& old_root, const merged_value& new_root,
                      const std::function<bool(std::size_t, std::size_t)>& compares_text,
                      const std::function<bool(const difference&)>& visit) {
  tree_comparison(compares_text, visit).compare({}, &old_root, &new_root);
}

}  // namespace hondana::config_files
