/// URIs of indexed documents by their numbers, so that what is hidden by its URI need not be fetched to be left out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "search/index/store.hpp"

namespace hondana::search {

/// A number never means another document in one life of an index (`state_of_index::life`). Threads: any.
class document_uris {
 public:
  [[nodiscard]] std::optional<std::string> of(std::uint64_t life, passage_id one) const {
    const std::lock_guard lock(mutex_);
    if (life != life_) return std::nullopt;
    const auto found = all_.find(one.document());
    return found == all_.end() ? std::nullopt : std::optional(found->second);
  }
  void keep(std::uint64_t life, passage_id one, const std::string& uri) {
    const std::lock_guard lock(mutex_);
    if (life != life_ || all_.size() >= most) all_.clear();
    life_ = life;
    all_.try_emplace(one.document(), uri);
  }

  /// The store has been begun anew.
  void forget() {
    const std::lock_guard lock(mutex_);
    all_.clear();
  }

 private:
  static constexpr std::size_t most = 100'000;  // about 20 MB

  mutable std::mutex mutex_;
  std::uint64_t life_ = 0;
  std::unordered_map<std::int64_t, std::string> all_;
};

}  // namespace hondana::search
