/// Whether access rules are about callers that can come at all: a name that nobody has protects nothing from anybody.
#pragma once

#include <string>
#include <vector>

#include "sources/config/settings.hpp"

namespace hondana::cli {

/// Warnings, "FILE:LINE: access.rule.identities: …", of identities that no way of telling callers apart gives, and of groups
/// where no token can name any. `tokens`: the file after --tokens; empty: as configured. `may_get_tokens`: such a flag may
/// still come, which matters where the configuration says nothing of callers.
[[nodiscard]] std::vector<std::string> unknown_callers(const config::settings& settings, const std::string& tokens,
                                                       bool may_get_tokens);
/// The same where the one caller is whoever has started the program: over standard input and output.
[[nodiscard]] std::vector<std::string> unknown_callers_of_stdio(const config::settings& settings);

}  // namespace hondana::cli
