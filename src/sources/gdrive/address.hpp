/// What a gdrive URI asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

namespace hondana::gdrive {

struct address {
  enum class place : std::uint8_t {
    top,      ///< `gdrive:///`: the drives.
    starred,  ///< `gdrive:///starred`
    recent,   ///< `gdrive:///recent`
    id,       ///< `gdrive:///ID`
    path,     ///< `gdrive://DRIVE` and `gdrive://DRIVE/PATH`
  };
  place what = place::top;
  std::string id{};
  std::string uri{};  ///< With `path`: without its parameters.
  std::optional<std::string> sheet{};
  bool is_original = false;  ///< `format=original`
};

/// Takes a canonical URI apart. Errors: resource_not_found for what can be nothing of Drive's; invalid_argument for parameters
/// that there are not, or that do not go together.
[[nodiscard]] result<address> address_of(std::string_view scheme, std::string_view uri);

}  // namespace hondana::gdrive
