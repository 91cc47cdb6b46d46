/// Going through two trees together.
#include "sources/config_files/differences.hpp"

#include <string_view>
#include <unordered_map>
#include <utility>

#include "sources/config_files/values.hpp"

namespace hondana::config_files {
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
