/// The method names of an operation, and the resources that it concerns, for scope rules.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/model/operations.hpp"

namespace hondana::gate {

/// What rules compare with an operation. Its members are views into the operation.
struct subject {
  std::span<const std::string_view> methods{};  ///< Any of these matches. Empty: rules do not apply.
  std::vector<std::string_view> uris{};         ///< Canonical.
  std::string_view name{};                      ///< Name of the tool or prompt.
};

[[nodiscard]] subject subject_of(const model::operation& operation);

/// Whether this is the method name of a request that rules can apply to.
[[nodiscard]] bool is_method(std::string_view name) noexcept;

}  // namespace hondana::gate
