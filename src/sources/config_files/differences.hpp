/// What differs between two merged values.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sources/config_files/blend.hpp"

namespace hondana::config_files {

/// A key whose value differs. A table that only one side has counts value by value, unless it stands against something else.
struct difference {
  std::string key;
  const blend* before = nullptr;  ///< Null: it was added.
  const blend* after = nullptr;   ///< Null: it was removed.
};

/// In the order of `before`, then of `after`. `as_texts` says whether values of two layers are compared as they are written.
/// Nothing more is looked for once `take` returns false.
void find_differences(const blend& before, const blend& after, const std::function<bool(std::size_t, std::size_t)>& as_texts,
                      const std::function<bool(const difference&)>& take);

}  // namespace hondana::config_files
