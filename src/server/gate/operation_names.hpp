/// The method names and resources of an operation, for scope rules.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "protocol/model/operations.hpp"

namespace hondana::gate {

/// The properties of an operation that scope rules examine: views into the operation.
struct subject {
  std::span<const std::string_view> methods{};  ///< A rule applies if it has one of them. Empty: no rule applies.
  std::vector<std::string_view> uris{};         ///< Canonical.
  std::string_view name{};                      ///< Name of the tool or prompt. Empty: none.
};

/// The properties of an operation, which must outlive them.
[[nodiscard]] subject subject_of(const model::operation& operation);

/// The method names of requests that rules can apply to.
[[nodiscard]] std::vector<std::string_view> known_methods();
/// Whether `known_methods` contains a name.
[[nodiscard]] bool is_method(std::string_view name) noexcept;

}  // namespace hondana::gate
