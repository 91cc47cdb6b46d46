/// Layers made of environment variables, command-line flags and flat names.
#include "sources/config_files/variable_layers.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "sources/config_files/key_path.hpp"

namespace hondana::config_files {
namespace {

using key_parts = std::vector<std::string>;
constexpr std::size_t max_key_parts = 50;

/// Builds a table of strings, together with a text of lines "NAME=value" as its source.
class flat_table {
 public:
  flat_table() { document_.root.kind = located::node_kind::table; }

  void add(const std::string& name, std::string_view value, std::uint32_t line, bool is_boolean = false) {
    located::member member;
    member.key = name;
    member.key_range = {text_.size(), text_.size() + name.size(), line};
    (text_ += name) += '=';
    member.value.kind = is_boolean ? located::node_kind::boolean : located::node_kind::text;
    member.value.boolean = is_boolean;
    if (!is_boolean) member.value.text = value;
    member.value.range = {text_.size(), text_.size() + value.size(), line};
    (text_ += value) += '\n';
    document_.root.members.push_back(std::move(member));
  }
  void warn(std::string message) { document_.warnings.push_back(std::move(message)); }
  [[nodiscard]] shared_values build(bool masks) { return make_values(std::move(document_), text_, masks); }

 private:
  located::document document_;
  std::string text_;
};

/// Two trees with the same structure, built value by value. Finds members by name in constant time.
class tree_builder {
 public:
  tree_builder(located::node& raw, located::node& masked) : raw_(raw), masked_(masked) {}

  /// Adds a value below the parts of its key. Replaces values that are in the way.
  void put(const key_parts& parts, const located::node& raw_value, const located::member& masked_member, bool is_key_masked) {
    auto* node = &raw_;
    auto* masked_node = &masked_;
    std::size_t table = 0;
    auto* table_number = &table;  // of the current table
    for (const auto& part : parts) {
      if (node->kind != located::node_kind::table) {
        for (auto* target : {node, masked_node}) {
          *target = {};
          target->kind = located::node_kind::table;
          target->range = raw_value.range;
        }
        *table_number = ++table_count_;
      }
      auto [match, is_new] =
          members_.try_emplace(std::to_string(*table_number) + '.' + part, known_member{node->members.size(), 0});
      if (is_new) {
        node->members.push_back({part, {}, {}});
        masked_node->members.push_back({is_key_masked ? masked_member.key : part, {}, {}});
      }
      node = &node->members[match->second.index].value;
      masked_node = &masked_node->members[match->second.index].value;
      table_number = &match->second.table_number;
    }
    *node = raw_value;
    *masked_node = masked_member.value;
  }

 private:
  struct known_member {
    std::size_t index;         // index among the members
    std::size_t table_number;  // its number if it is a table; replaced tables have other numbers
  };
  located::node& raw_;
  located::node& masked_;
  std::unordered_map<std::string, known_member> members_;
  std::size_t table_count_ = 0;
};

/// Converts names to keys with `split`, which returns nothing for names to skip.
template <class Splitter>
shared_values nest_values(const values& flat, Splitter&& split) {
  located::document raw{{}, flat.raw.warnings};
  located::document masked{{}, flat.masked.warnings};
  raw.root.kind = masked.root.kind = located::node_kind::table;
  tree_builder builder(raw.root, masked.root);
  std::size_t count = 0;
  for (std::size_t i = 0; i < flat.raw.root.members.size(); ++i) {
    const auto& member = flat.raw.root.members[i];
    const auto& masked_member = flat.masked.root.members[i];
    const std::optional<key_parts> key = split(member.key);
    if (!key) continue;
    if (++count > max_variables) {
      masked.warnings.push_back("only the first " + std::to_string(max_variables) + " are used");
      break;
    }
    if (key->empty()) {
      masked.warnings.push_back(masked_member.key + " is left out: its name is empty or has an empty part");
      continue;
    }
    builder.put(*key, member.value, masked_member, member.key != masked_member.key);
  }
  return make_values(std::move(raw), std::move(masked));
}

key_parts split_variable(std::string_view name) {
  key_parts parts;
  for (;;) {
    const auto end = name.find("__");
    if (end == 0 || name.empty() || parts.size() == max_key_parts) return {};
    parts.push_back(ascii::to_lower(name.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    name.remove_prefix(end + 2);
  }
}

auto prefix_splitter(std::string_view prefix) {
  return [prefix](std::string_view name) -> std::optional<key_parts> {
    if (!name.starts_with(prefix)) return std::nullopt;
    return split_variable(name.substr(prefix.size()));
  };
}

std::optional<key_parts> split_key(std::string_view key) {
  const auto parsed = parse_key(key);
  if (!parsed || parsed->size() > max_key_parts) return key_parts();
  key_parts parts;
  for (const auto& part : *parsed) parts.push_back(part.name);
  return parts;
}

}  // namespace

variables process_environment() {
  variables list;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view line(*entry);
    const auto equals = line.find('=');
    if (equals != std::string_view::npos && equals != 0) list.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  }
  return list;
}

named_values convert_environment(const variables& variables, std::string_view prefix, bool masks) {
  auto sorted = variables;
  std::erase_if(sorted, [prefix](const auto& variable) { return !variable.first.starts_with(prefix); });
  std::sort(sorted.begin(), sorted.end());
  flat_table table;
  if (sorted.size() > max_variables) {
    table.warn("only the first " + std::to_string(max_variables) + " variables are used");
    sorted.resize(max_variables);
  }
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    table.add(sorted[i].first, sorted[i].second, static_cast<std::uint32_t>(i + 1));
  }
  const auto flat = table.build(masks);
  named_values named;
  for (const auto& member : flat->masked.root.members) named.names.push_back(member.key);
  named.values = nest_values(*flat, prefix_splitter(prefix));
  return named;
}

shared_values convert_environment(const values& file, std::string_view prefix) {
  return nest_values(file, prefix_splitter(prefix));
}

shared_values parse_flags(const std::vector<std::string>& arguments, bool masks) {
  flat_table table;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument = arguments[i];
    const auto line = static_cast<std::uint32_t>(i + 1);
    if (argument == "--") {
      if (i + 1 < arguments.size()) table.warn("arguments after -- are left out");
      break;
    }
    if (argument.size() < 2 || argument[0] != '-') {
      table.warn("argument " + std::to_string(line) + " is left out: it is neither a flag nor the value of one");
      continue;
    }
    const auto flag = argument.substr(argument[1] == '-' ? 2 : 1);
    const auto equals = flag.find('=');
    const std::string name(flag.substr(0, equals));
    if (equals != std::string_view::npos) {
      table.add(name, flag.substr(equals + 1), line);
    } else if (i + 1 < arguments.size() && !arguments[i + 1].starts_with('-')) {
      table.add(name, arguments[++i], line);
    } else {
      table.add(name, "true", line, true);
    }
  }
  return nest_values(*table.build(masks), split_key);
}

shared_values convert_texts(const variables& texts, bool masks) {
  flat_table table;
  for (const auto& [key, text] : texts) table.add(key, text, 0);
  return nest_values(*table.build(masks), split_key);
}

}  // namespace hondana::config_files
