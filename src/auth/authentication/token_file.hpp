/// A file of tokens on the disk: making, listing and revoking.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>

#include "auth/authentication/token_list.hpp"
#include "os/disk/private_file.hpp"
#include "os/disk/stamp.hpp"

namespace hondana::authentication {

/// What a new one is to be like.
struct wanted_token {
  std::string name;
  std::vector<std::string> scopes;
  std::optional<wall_time> expires;
};

struct new_token {
  kept_token kept;
  std::string token;  ///< Is nowhere else.
};

struct loaded_tokens {
  token_list list;
  disk::stamp state;
};

/// Errors: as `disk::read_private`.
[[nodiscard]] result<loaded_tokens> load_tokens(const std::string& path, disk::owners whose = disk::owners::ours);
/// Adds one; makes the file if need be. Threads and processes: any, at once. Errors: invalid_argument for a name or scope that
/// is none; else as `disk::read_private` and `disk::replace_private`.
[[nodiscard]] result<new_token> add_token(const std::string& path, wanted_token like, wall_time now);
/// Takes one out. Errors: resource_not_found when there is none of that id; else as `add_token`.
[[nodiscard]] result<void> revoke_token(const std::string& path, std::string_view id);

}  // namespace hondana::authentication
