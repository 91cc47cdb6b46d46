/// What a watch has yet to tell: bounded, and each piece of news once.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <string>
#include <utility>

#include <hondana/client_types.hpp>

namespace hondana::outbound {

/// Changes in the order in which they became the latest of their kind and URI. Threads: guarded by its owner.
class waiting_changes {
 public:
  /// Bytes of changes that wait; beyond them everything that `what` names is told as missed instead.
  static constexpr std::size_t most_bytes = 8u << 20;

  /// The same news again, not yet told, is one piece of news: the newest. `what`: what is watched.
  void add(change news, const watch_request& what);
  [[nodiscard]] bool empty() const noexcept { return order_.empty(); }
  /// The oldest; there must be one.
  [[nodiscard]] change take();
  void clear();

 private:
  using key = std::pair<change_kind, std::string>;
  struct waiting {
    change news;
    std::size_t bytes;
  };
  void put(change news, std::size_t bytes);
  void overflow(const watch_request& what);

  std::list<waiting> order_;
  std::map<key, std::list<waiting>::iterator> by_key_;
  std::size_t bytes_ = 0;
};

}  // namespace hondana::outbound
