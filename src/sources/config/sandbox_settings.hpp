/// The table `[sandbox]`: how the process is held back.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "sources/config/section.hpp"

namespace hondana::config {

enum class sandbox_mode : std::uint8_t {
  as_far_as_possible,  ///< "auto": what the kernel lacks is said.
  required,            ///< Without it nothing is served.
  off,
};

/// "auto", "required", "off".
[[nodiscard]] std::optional<sandbox_mode> sandbox_mode_named(std::string_view name) noexcept;

struct sandbox_settings {
  sandbox_mode mode = sandbox_mode::as_far_as_possible;
  std::vector<std::string> folders;  ///< Absolute: may be read although no source of the start needs them.
  friend bool operator==(const sandbox_settings&, const sandbox_settings&) = default;
};

/// Reads and checks the table. Errors: invalid_argument, "FILE:LINE: sandbox.KEY: what was expected".
[[nodiscard]] result<sandbox_settings> read_sandbox(section from);

}  // namespace hondana::config
