/// Merges layers of configuration into one tree, and finds differences between two trees.
#include "sources/config_files/merged_layers.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "sources/config_files/masked_values.hpp"

namespace hondana::config_files {
namespace {

bool is_table(const located::node& of) noexcept { return of.is == located::kind::table; }

/// Finds members of a table by raw key, in constant time for large tables.
class member_index {
 public:
  explicit member_index(const std::vector<blend_member>& members) : members_(members) {
    if (members.size() <= few) return;
    for (std::size_t i = 0; i < members.size(); ++i) places_.emplace(members[i].raw_key, i);
  }
  /// Returns `count` if there is none. `count`: the number of members at construction.
  [[nodiscard]] std::size_t place_of(std::string_view key, std::size_t count) const {
    if (places_.empty()) {
      for (std::size_t i = 0; i < count; ++i) {
        if (members_[i].raw_key == key) return i;
      }
      return count;
    }
    const auto found = places_.find(key);
    return found == places_.end() ? count : found->second;
  }

 private:
  static constexpr std::size_t few = 16;
  const std::vector<blend_member>& members_;
  std::unordered_map<std::string_view, std::size_t> places_;
};

/// Replaces `into` by a value.
void take_over(blend& into, const layered_value& from) {
  into.from = from;
  into.is_table = is_table(*from.raw);
  into.merged.clear();
  into.members.clear();
  if (!into.is_table) return;
  into.members.reserve(from.raw->members.size());
  for (std::size_t i = 0; i < from.raw->members.size(); ++i) {
    const auto& raw = from.raw->members[i];
    const auto& shown = from.shown->members[i];
    into.members.push_back({shown.key, raw.key, {}});
    take_over(into.members.back().value, {from.layer, &shown.value, &raw.value});
  }
}

}  // namespace

void lay_over(blend& below, const layered_value& above) {
  if (below.from.raw == nullptr) return take_over(below, above);
  if (!below.is_table || !is_table(*above.raw)) {
    std::vector<layered_value> replaced{below.from};
    for (const auto* more : {&below.merged, &below.overrides}) replaced.insert(replaced.end(), more->begin(), more->end());
    take_over(below, above);
    below.overrides = std::move(replaced);
    return;
  }
  below.merged.insert(below.merged.begin(), below.from);
  below.from = above;
  const auto count = below.members.size();
  const member_index known(below.members);
  for (std::size_t i = 0; i < above.raw->members.size(); ++i) {
    const auto& raw = above.raw->members[i];
    const auto& shown = above.shown->members[i];
    const layered_value value{above.layer, &shown.value, &raw.value};
    const auto place = known.place_of(raw.key, count);
    if (place != count) {
      lay_over(below.members[place].value, value);
      continue;
    }
    below.members.push_back({shown.key, raw.key, {}});
    take_over(below.members.back().value, value);
  }
}

blend blend_of(const layered_value& only) {
  blend made;
  take_over(made, only);
  return made;
}

sought_in_blend seek(const blend& in, const key_path& along) {
  sought_in_blend now{&in, nullptr, {}, 0};
  while (now.used < along.size() && now.at->is_table) {
    const auto& members = now.at->members;
    const auto* found = step(along, now.used, [&members](std::string_view name) {
      const auto place = std::find_if(members.begin(), members.end(), [name](const auto& one) { return one.key == name; });
      return place == members.end() ? nullptr : &*place;
    });
    if (found == nullptr) return now;
    append_part(now.key, found->key);
    now.at = &found->value;
  }
  if (now.used == along.size() || now.at->is_table) return now;
  auto inner = seek(*now.at->from.shown, along, now.used, now.key);
  if (inner.used != now.used) now.inside = inner.at;
  now.key = std::move(inner.key);
  now.used = inner.used;
  return now;
}

std::vector<std::string> names_in(const sought_in_blend& of, std::size_t most) {
  if (of.inside != nullptr) return names_in(*of.inside, most);
  if (!of.at->is_table) return names_in(*of.at->from.shown, most);
  std::vector<std::string> names;
  for (const auto& one : of.at->members) {
    if (names.size() == most) break;
    names.emplace_back(one.key);
  }
  return names;
}

namespace {

const located::node& empty_table() {
  static const located::node one = [] {
    located::node made;
    made.is = located::kind::table;
    return made;
  }();
  return one;
}

/// Whether a layer has a value: an empty YAML file is null.
bool has_something(const layer_state& of) { return of.what && of.what->raw.root.is != located::kind::null; }

layered_value root_of(const layer_states& all, std::size_t which) {
  return {which, &all[which].what->shown.root, &all[which].what->raw.root};
}

}  // namespace

std::optional<std::size_t> layer_called(const std::vector<layer_options>& among, std::string_view name) {
  const auto found = std::find_if(among.begin(), among.end(), [name](const auto& one) { return one.name == name; });
  if (found == among.end()) return std::nullopt;
  return static_cast<std::size_t>(found - among.begin());
}

blend merged(const layer_states& all) {
  blend made;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (has_something(all[i])) lay_over(made, root_of(all, i));
  }
  if (made.from.raw == nullptr) made = blend_of({0, &empty_table(), &empty_table()});
  return made;
}

blend alone(const layer_states& all, std::size_t which) {
  if (!has_something(all[which])) return blend_of({which, &empty_table(), &empty_table()});
  return blend_of(root_of(all, which));
}

bool has_texts_only(const layer_options& of) noexcept { return of.is != layer_options::kind::file; }

std::string_view name_of(layer_options::kind is) noexcept {
  switch (is) {
    case layer_options::kind::file:
      return "file";
    case layer_options::kind::environment:
      return "environment";
    case layer_options::kind::flags:
      return "flags";
    case layer_options::kind::values:
      return "values";
  }
  return "file";
}

namespace {

class comparison {
 public:
  comparison(const std::function<bool(std::size_t, std::size_t)>& as_texts, const std::function<bool(const difference&)>& take)
      : as_texts_(as_texts), take_(take) {}

  void compare(const std::string& key, const blend* before, const blend* after) {
    if (is_over_) return;
    if (before != nullptr && after != nullptr && before->is_table && after->is_table)
      return compare_members(key, *before, *after);
    if (before != nullptr && after != nullptr) {
      const bool are_same =
          !before->is_table && !after->is_table &&
          says_the_same(*before->from.raw, *after->from.raw, as_texts_(before->from.layer, after->from.layer));
      if (!are_same) tell({key, before, after});
      return;
    }
    const blend& only = before != nullptr ? *before : *after;
    if (!only.is_table || only.members.empty()) return tell({key, before, after});
    for (const auto& one : only.members) {
      compare(key_of(key, one), before != nullptr ? &one.value : nullptr, before != nullptr ? nullptr : &one.value);
      if (is_over_) return;
    }
  }

 private:
  static std::string key_of(const std::string& above, const blend_member& one) {
    auto key = above;
    append_part(key, one.key);
    return key;
  }
  static std::unordered_map<std::string_view, const blend*> by_key(const blend& table) {
    std::unordered_map<std::string_view, const blend*> all;
    for (const auto& one : table.members) all.emplace(one.raw_key, &one.value);
    return all;
  }

  void compare_members(const std::string& key, const blend& before, const blend& after) {
    const auto later = by_key(after);
    const auto earlier = by_key(before);
    for (const auto& one : before.members) {
      const auto other = later.find(one.raw_key);
      compare(key_of(key, one), &one.value, other == later.end() ? nullptr : other->second);
      if (is_over_) return;
    }
    for (const auto& one : after.members) {
      if (!earlier.contains(one.raw_key)) compare(key_of(key, one), nullptr, &one.value);
      if (is_over_) return;
    }
  }
  void tell(const difference& one) { is_over_ = !take_(one); }

  const std::function<bool(std::size_t, std::size_t)>& as_texts_;
  const std::function<bool(const difference&)>& take_;
  bool is_over_ = false;
};

}  // namespace

void find_differences(const blend& before, const blend& after, const std::function<bool(std::size_t, std::size_t)>& as_texts,
                      const std::function<bool(const difference&)>& take) {
  comparison(as_texts, take).compare({}, &before, &after);
}

}  // namespace hondana::config_files
