/// Why a caller is told of a template, tool or prompt, or not.
#pragma once

#include <string>
#include <string_view>

#include <hondana/access.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>

#include "server/session/session.hpp"

namespace hondana::cli {

/// Whom to explain to, and how.
struct explained_caller {
  const session::context& in;
  const access_rules& rules;  ///< Those in force in `in`.
  const caller& who;
  bool as_json = false;
};

enum class offered { tool, prompt };

/// Prints what each access rule says of the template, and what follows for its being listed; what it stands for is decided URI
/// by URI. Errors: invalid_argument for what is no template.
[[nodiscard]] result<void> explain_template(const explained_caller& to, const std::string& text);
/// The same of a tool or prompt, whether there is one or not.
void explain_offered(const explained_caller& to, offered kind, const std::string& name);

/// A grant as check prints it: "deny", "allow list", "allow list, read".
[[nodiscard]] std::string_view spelled_grant(grant one) noexcept;

}  // namespace hondana::cli
