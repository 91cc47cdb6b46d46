/// The greeting of a server that starts: what it serves, where, and how to connect.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

namespace hondana::cli {

/// The information in a greeting.
struct greeting_info {
  std::string program{};                 ///< Absolute path of this binary.
  std::vector<std::string> arguments{};  ///< Arguments that start the same server over stdio.
  std::vector<std::shared_ptr<provider>> providers{};
  std::string url{};                                  ///< URL of the HTTP endpoint; empty: none.
  std::string socket_path{};                          ///< Path of the Unix socket of the HTTP endpoint; empty: none.
  std::vector<std::string> authentication_methods{};  ///< One line for each method; empty: callers are not authenticated.
  bool accepts_tokens = false;        ///< Callers authenticate with tokens, not only by properties of their connection.
  bool has_login = false;             ///< An authorization server issues these tokens.
  bool requires_certificate = false;  ///< Clients must present a certificate.
  bool is_inherited = false;          ///< Serves on sockets inherited from a supervisor.
};

/// The text of the greeting. Each line ends in a newline.
[[nodiscard]] std::string greeting(const greeting_info& info);

/// The absolute path of the running binary, or its name if the path is unknown.
[[nodiscard]] std::string executable_path();

}  // namespace hondana::cli
