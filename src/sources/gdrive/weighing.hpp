/// How much a file of Drive matters.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "sources/gdrive/item.hpp"

namespace hondana::gdrive {

/// A priority from 0 to 0.95, and why.
struct weight {
  double priority = 0.5;
  std::string reason{};  ///< For people: "starred, changed within a week".
};

/// The rules of docs/gdrive.md. `links`: how many shortcuts lead to it.
[[nodiscard]] weight weight_of(const item& what, std::size_t links, std::chrono::system_clock::time_point now);

}  // namespace hondana::gdrive
