/// Merging.
#include "sources/config_files/blend.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace hondana::config_files {
namespace {

bool is_table(const located::node& of) noexcept { return of.is == located::kind::table; }

/// Members of a table found by their raw keys, quickly where there are many.
class member_index {
 public:
  explicit member_index(const std::vector<blend_member>& members) : members_(members) {
    if (members.size() <= few) return;
    for (std::size_t i = 0; i < members.size(); ++i) places_.emplace(members[i].raw_key, i);
  }
  /// The number of members there were when it was made, where there is none.
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

/// Takes a value as it is.
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

}  // namespace hondana::config_files
