/// A table while its members come.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>

#include "text/located/node.hpp"

namespace hondana::located {

/// Keeps the keys apart in constant time.
class growing_table {
 public:
  explicit growing_table(place at) {
    table_.is = kind::table;
    table_.at = at;
  }

  /// The value of a key that has been put; null when there is none. Valid until the next is put.
  [[nodiscard]] node* find(std::string_view key);
  /// Puts a value in the place of one that is there, which is kept as replaced, or behind all. Says whether there was none.
  bool put(std::string key, place key_at, node value);

  [[nodiscard]] node& table() noexcept { return table_; }
  [[nodiscard]] node take() { return std::move(table_); }

 private:
  node table_;
  std::unordered_map<std::string, std::size_t> known_;
};

}  // namespace hondana::located
