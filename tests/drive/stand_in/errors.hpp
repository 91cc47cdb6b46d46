/// The bodies that Google's servers give with errors.
#pragma once

#include <string>
#include <string_view>

#include "drive/stand_in/web.hpp"

namespace drive_test {

/// What an error says of where it comes from: a parameter or a header.
struct at_place {
  std::string type{};  ///< parameter or header.
  std::string name{};
};

/// An error of the API. `message`: the real one of the reason when empty; `what` stands in some of these, such as the id.
answer error_of(int status, std::string_view reason, std::string_view what = {}, std::string_view message = {},
                const at_place& at = {});
/// The usual reason of a status, for faults.
std::string usual_reason(int status);
/// An error of the token endpoint (RFC 6749 section 5.2).
answer token_error(int status, std::string_view error, std::string_view description);

[[noreturn]] void refuse(int status, std::string_view reason, std::string_view what = {}, std::string_view message = {},
                         const at_place& at = {});
[[noreturn]] void refuse_parameter(std::string_view name, std::string_view message = "Invalid Value");
[[noreturn]] void refuse_file(std::string_view id);

}  // namespace drive_test
