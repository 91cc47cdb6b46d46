/// How much a document matters where nobody says it.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::docs {

/// A priority from 0 to 1, and why.
struct weight {
  double priority = 0.5;
  std::string reason{};  ///< For people: "an introduction by its name, 6 documents link to it".

  bool operator==(const weight&) const = default;
};

/// The rules of docs/documents.md. `path`: readable (`readable`), folders included; `modified`: nothing: not known;
/// `links`: how many other documents of the set link to it.
[[nodiscard]] weight usual_weight(std::string_view path,
                                  std::optional<std::chrono::sys_time<std::chrono::milliseconds>> modified, std::size_t links,
                                  std::chrono::system_clock::time_point now);

}  // namespace hondana::docs
