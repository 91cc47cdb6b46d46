/// The greeting of a server that starts: what it serves, where, and how to connect.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

namespace hondana::cli {

/// Everything a greeting names.
struct greeting_facts {
  std::string program{};                 ///< Absolute path of this binary.
  std::vector<std::string> arguments{};  ///< Those that start the same server over stdio.
  std::vector<std::shared_ptr<provider>> providers{};
  std::string url{};                   ///< Of the HTTP endpoint; empty when there is none.
  std::string socket{};                ///< The path of the Unix socket of that endpoint; empty when there is none.
  std::vector<std::string> callers{};  ///< How these are told apart; empty: not at all.
  bool takes_tokens = false;           ///< And not only by what they are connected with.
  bool has_log_in = false;             ///< There is an authorization server to get these tokens from.
  bool shows_certificate = false;      ///< A client has to show one.
  bool is_inherited = false;           ///< Serves on sockets that a supervisor handed over.
};

/// The greeting, in lines that end in newlines.
[[nodiscard]] std::string greeting(const greeting_facts& facts);

/// The absolute path of the running binary, or its name when it cannot be found out.
[[nodiscard]] std::string running_program();

}  // namespace hondana::cli
