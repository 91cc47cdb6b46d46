/// That a page of the list is what the indexer would give now.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include <hondana/resource.hpp>

#include "sources/files/stillness.hpp"

namespace hondana::files {

/// How often something has begun that may change the list; shared with the pages that were made from it.
using stir_count = std::atomic<std::uint64_t>;

/// Holds while all that has happened is known and nothing of it has stirred the list, which was whole and at rest. Lets go of
/// the list itself, which may be large.
class unchanged final : public validity {
 public:
  unchanged(std::shared_ptr<const stillness> folders, std::shared_ptr<const stir_count> stirs, std::uint64_t then)
      : folders_(std::move(folders)), stirs_(std::move(stirs)), then_(then) {}

  [[nodiscard]] bool holds() const noexcept override {
    // In this order: what has been passed on has been counted.
    return folders_->is_still() && stirs_->load() == then_;
  }

 private:
  std::shared_ptr<const stillness> folders_;
  std::shared_ptr<const stir_count> stirs_;
  std::uint64_t then_;
};

}  // namespace hondana::files
