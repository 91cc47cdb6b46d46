/// The method names of an operation and the resources it is about, for rules.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/model/operations.hpp"

namespace hondana::gate {

/// Views into the operation.
struct subject {
  std::span<const std::string_view> methods{};  ///< Any of these; none: rules do not concern it.
  std::vector<std::string_view> uris{};         ///< Canonical.
  std::string_view name{};                      ///< Of the tool or prompt.
};

[[nodiscard]] subject subject_of(const model::operation& what);

/// Whether a request that rules may concern is called so.
[[nodiscard]] bool is_method(std::string_view name) noexcept;

}  // namespace hondana::gate
