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

using parts_of_key = std::vector<std::string>;
constexpr std::size_t most_parts = 50;

/// Builds a table of strings, together with a text of lines "NAME=value" as its source.
class flat_table {
 public:
  flat_table() { made_.root.is = located::kind::table; }

  void add(const std::string& name, std::string_view value, std::uint32_t line, bool is_truth = false) {
    located::member one;
    one.key = name;
    one.key_at = {text_.size(), text_.size() + name.size(), line};
    (text_ += name) += '=';
    one.value.is = is_truth ? located::kind::boolean : located::kind::text;
    one.value.truth = is_truth;
    if (!is_truth) one.value.text = value;
    one.value.at = {text_.size(), text_.size() + value.size(), line};
    (text_ += value) += '\n';
    made_.root.members.push_back(std::move(one));
  }
  void remark(std::string what) { made_.remarks.push_back(std::move(what)); }
  [[nodiscard]] shared_values take(bool masks) { return values_of(std::move(made_), text_, masks); }

 private:
  located::document made_;
  std::string text_;
};

/// Two trees with the same structure, built value by value. Finds members by name in constant time.
class growing_trees {
 public:
  growing_trees(located::node& raw, located::node& shown) : raw_(raw), shown_(shown) {}

  /// Adds a value below the parts of its key. Replaces values that are in the way.
  void put(const parts_of_key& parts, const located::node& raw_value, const located::member& shown_value, bool is_key_masked) {
    auto* in = &raw_;
    auto* shown_in = &shown_;
    std::size_t table = 0;
    auto* number = &table;  // of the current table
    for (const auto& part : parts) {
      if (in->is != located::kind::table) {
        for (auto* one : {in, shown_in}) {
          *one = {};
          one->is = located::kind::table;
          one->at = raw_value.at;
        }
        *number = ++tables_;
      }
      auto [found, is_new] = known_.try_emplace(std::to_string(*number) + '.' + part, known{in->members.size(), 0});
      if (is_new) {
        in->members.push_back({part, {}, {}});
        shown_in->members.push_back({is_key_masked ? shown_value.key : part, {}, {}});
      }
      in = &in->members[found->second.place].value;
      shown_in = &shown_in->members[found->second.place].value;
      number = &found->second.table;
    }
    *in = raw_value;
    *shown_in = shown_value.value;
  }

 private:
  struct known {
    std::size_t place;  // index among the members
    std::size_t table;  // its number if it is a table; replaced tables have other numbers
  };
  located::node& raw_;
  located::node& shown_;
  std::unordered_map<std::string, known> known_;
  std::size_t tables_ = 0;
};

/// Converts names to keys with `parts`, which returns nothing for names to skip.
template <class Parts>
shared_values below_keys(const values& flat, Parts&& parts) {
  located::document raw{{}, flat.raw.remarks};
  located::document shown{{}, flat.shown.remarks};
  raw.root.is = shown.root.is = located::kind::table;
  growing_trees trees(raw.root, shown.root);
  std::size_t count = 0;
  for (std::size_t i = 0; i < flat.raw.root.members.size(); ++i) {
    const auto& one = flat.raw.root.members[i];
    const auto& shown_one = flat.shown.root.members[i];
    const std::optional<parts_of_key> key = parts(one.key);
    if (!key) continue;
    if (++count > most_variables) {
      shown.remarks.push_back("only the first " + std::to_string(most_variables) + " are used");
      break;
    }
    if (key->empty()) {
      shown.remarks.push_back(shown_one.key + " is left out: its name is empty or has an empty part");
      continue;
    }
    trees.put(*key, one.value, shown_one, one.key != shown_one.key);
  }
  return values_of(std::move(raw), std::move(shown));
}

parts_of_key parts_of_variable(std::string_view name) {
  parts_of_key parts;
  for (;;) {
    const auto end = name.find("__");
    if (end == 0 || name.empty() || parts.size() == most_parts) return {};
    parts.push_back(ascii::in_lower_case(name.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    name.remove_prefix(end + 2);
  }
}

auto parts_behind(std::string_view prefix) {
  return [prefix](std::string_view name) -> std::optional<parts_of_key> {
    if (!name.starts_with(prefix)) return std::nullopt;
    return parts_of_variable(name.substr(prefix.size()));
  };
}

std::optional<parts_of_key> parts_of_written(std::string_view key) {
  const auto parsed = parse_key(key);
  if (!parsed || parsed->size() > most_parts) return parts_of_key();
  parts_of_key parts;
  for (const auto& one : *parsed) parts.push_back(one.name);
  return parts;
}

}  // namespace

variables process_environment() {
  variables all;
  for (char** one = ::environ; one != nullptr && *one != nullptr; ++one) {
    const std::string_view line(*one);
    const auto equals = line.find('=');
    if (equals != std::string_view::npos && equals != 0) all.emplace_back(line.substr(0, equals), line.substr(equals + 1));
  }
  return all;
}

named_values of_environment(const variables& all, std::string_view prefix, bool masks) {
  auto sorted = all;
  std::erase_if(sorted, [prefix](const auto& one) { return !one.first.starts_with(prefix); });
  std::sort(sorted.begin(), sorted.end());
  flat_table table;
  if (sorted.size() > most_variables) {
    table.remark("only the first " + std::to_string(most_variables) + " variables are used");
    sorted.resize(most_variables);
  }
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    table.add(sorted[i].first, sorted[i].second, static_cast<std::uint32_t>(i + 1));
  }
  const auto flat = table.take(masks);
  named_values made;
  for (const auto& one : flat->shown.root.members) made.names.push_back(one.key);
  made.what = below_keys(*flat, parts_behind(prefix));
  return made;
}

shared_values of_environment(const values& file, std::string_view prefix) { return below_keys(file, parts_behind(prefix)); }

shared_values of_flags(const std::vector<std::string>& arguments, bool masks) {
  flat_table table;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view one = arguments[i];
    const auto line = static_cast<std::uint32_t>(i + 1);
    if (one == "--") {
      if (i + 1 < arguments.size()) table.remark("arguments after -- are left out");
      break;
    }
    if (one.size() < 2 || one[0] != '-') {
      table.remark("argument " + std::to_string(line) + " is left out: it is neither a flag nor the value of one");
      continue;
    }
    const auto flag = one.substr(one[1] == '-' ? 2 : 1);
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
  return below_keys(*table.take(masks), parts_of_written);
}

shared_values of_texts(const variables& by_key, bool masks) {
  flat_table table;
  for (const auto& [key, text] : by_key) table.add(key, text, 0);
  return below_keys(*table.take(masks), parts_of_written);
}

}  // namespace hondana::config_files
