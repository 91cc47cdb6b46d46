/// What a server needs of the machine once it serves.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <hondana/provider.hpp>
#include <hondana/server.hpp>

#include "app/cli/assembly.hpp"
#include "os/sandbox/permissions.hpp"

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

/// The ports of "host:port" among `sockets` are added to `connects`, which "*:*" makes nothing: any.
void add_ports(const std::vector<std::string>& sockets, std::optional<std::vector<std::uint16_t>>& connects);

}  // namespace hondana::cli
