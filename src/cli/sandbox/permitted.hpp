/// What a server needs of the machine once it serves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/server.hpp>

#include "cli/assembly.hpp"
#include "sandbox/permissions.hpp"

namespace hondana::cli {

/// How a server is reached, and what else the command line says of files.
struct serving_place {
  const http_options* http = nullptr;  ///< Null: over standard input and output.
  std::string config;                  ///< A file that is read again; empty: none.
  std::string tokens;                  ///< Of the command line; empty: as configured.
};

/// The union of what its sources need and of what the program itself does: reading its configuration, tokens and certificates
/// again, listening, looking up names and time zones, and opening libraries when they are needed.
[[nodiscard]] sandbox::permissions permitted(const parts& whole, const serving_place& at);

/// The folder of the record of requests, to be written with all below it; empty: there is none.
[[nodiscard]] std::string record_folder(const config::settings& of);
/// Whether that may be opened for writing, which a sandbox does with all below it: a warning, or nothing. Errors:
/// invalid_argument where a sandbox is wanted, for one that holds much else, something of the server's own or of a source, or
/// that lies in a source.
[[nodiscard]] result<std::optional<std::string>> check_record_folder(const parts& whole);

/// The ports of "host:port" among `sockets` are added to `connects`, which "*:*" makes nothing: any.
void add_ports(const std::vector<std::string>& sockets, std::optional<std::vector<std::uint16_t>>& connects);

/// Whether a folder holds so much else that a file in it does not open it and all below: it is one of the first level or above,
/// anybody's home folder, one with the settings of all programs of a user, or one where all programs have something. `home`: of
/// this user; may be empty.
[[nodiscard]] bool is_shared_folder(std::string_view folder, std::string_view home);

}  // namespace hondana::cli
