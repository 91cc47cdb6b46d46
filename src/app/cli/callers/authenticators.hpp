/// Makes the authenticator of `hondana serve` from its settings.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <hondana/authenticator.hpp>
#include <hondana/error.hpp>

#include "app/cli/providers.hpp"
#include "sources/config/settings.hpp"

namespace hondana::cli {

struct ways_to_tell {
  std::shared_ptr<hondana::authenticator> authenticator;  ///< Null: everybody is the same.
  std::vector<std::string> told;                          ///< One line each, for people.
};

/// What the server listens with, which some ways need.
struct ways_in {
  bool asks_for_certificates = false;
  bool has_socket = false;  ///< A Unix socket, or one that was handed over and may be.
};

/// `$XDG_CONFIG_HOME/hondana/tokens`, beside the usual configuration; empty without a home.
[[nodiscard]] std::string usual_tokens();

/// `tokens`: the file after --tokens; empty: as configured. Errors: invalid_argument, with file and line where it is about a
/// setting, and for a way that nobody could ever come by.
[[nodiscard]] result<ways_to_tell> ways_from(const config::settings& settings, const std::string& tokens, ways_in by,
                                             const log_function& log);

}  // namespace hondana::cli
