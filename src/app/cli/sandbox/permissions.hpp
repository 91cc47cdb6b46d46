/// Permissions that a server needs once it serves, and the folders it writes to.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/server.hpp>

#include "app/cli/assembly.hpp"
#include "os/sandbox/sandbox.hpp"

namespace hondana::cli {

/// The folder of the record of requests; empty: there is none.
[[nodiscard]] std::string record_folder(const config::settings& of);

/// Whether the folders of the record, of the index and of stores of metrics may be opened for writing: warnings. Errors:
/// invalid_argument where a sandbox is wanted, for the first that holds much else, something of the server's own or of a
/// source, or that lies in a source. Indexes and stores may share a folder.
[[nodiscard]] result<std::vector<std::string>> check_written_folders(const parts& whole);

/// Whether a folder holds so much else that a file in it does not open it and all below: it is one of the first level or above,
/// anybody's home folder, one with the settings of all programs of a user, or one where all programs have something. `home`: of
/// this user; may be empty.
[[nodiscard]] bool is_shared_folder(std::string_view folder, std::string_view home);

/// Where a path leads, as far as it is there.
[[nodiscard]] std::string behind_links(const std::string& path);

/// A variable of the environment, read before threads that would change it exist; empty: it is not there.
[[nodiscard]] std::string environment_of(const char* name);

/// How a server is reached, and what else the command line says of files.
struct serving_place {
  const http_options* http = nullptr;  ///< Null: over standard input and output.
  std::string config;                  ///< A file that is read again; empty: none.
  std::string tokens;                  ///< Of the command line; empty: as configured.
};

/// The union of what its sources need and of what the program itself does: reading its configuration, tokens and certificates
/// again, listening, looking up names and time zones, and opening libraries when they are needed.
[[nodiscard]] sandbox::permissions permitted(const parts& whole, const serving_place& at);

/// The ports of "host:port" among `sockets` are added to `connects`, which "*:*" makes nothing: any.
void add_ports(const std::vector<std::string>& sockets, std::optional<std::vector<std::uint16_t>>& connects);

}  // namespace hondana::cli
