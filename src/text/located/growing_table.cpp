/// Members of a growing table, by key.
#include "text/located/growing_table.hpp"

#include <utility>

namespace hondana::located {

node* growing_table::find(std::string_view key) {
  const auto found = known_.find(std::string(key));
  return found == known_.end() ? nullptr : &table_.members[found->second].value;
}

bool growing_table::put(std::string key, place key_at, node value) {
  const auto [known, is_new] = known_.try_emplace(key, table_.members.size());
  if (is_new) {
    table_.members.push_back({std::move(key), key_at, std::move(value)});
  } else {
    auto& there = table_.members[known->second];
    table_.replaced.push_back(std::exchange(there, {std::move(key), key_at, std::move(value)}));
  }
  return is_new;
}

}  // namespace hondana::located
