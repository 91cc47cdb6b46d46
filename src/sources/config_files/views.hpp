/// What a URI gives.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "sources/config_files/address.hpp"
#include "sources/config_files/blend.hpp"
#include "sources/config_files/file_set.hpp"

namespace hondana::config_files {

/// One of them, not masked any further.
struct given {
  std::string text;
  std::string type;
  std::string kind;  ///< Of its entry.
  std::string name;  ///< Of its entry.
  std::string version;
  hondana::metadata facts{};
  bool is_racy = false;
};

/// Reads what an address, which is of no folder, asks for. `most`: bytes; `uri` is named in errors. Errors: as
/// `provider::read`; access_denied, too, where layers need a file that the caller's view does not let be read.
[[nodiscard]] result<given> give(file_set& from, std::string_view set, const address& what, const caller& who, bool redacts,
                                 const std::string& uri, std::uint64_t most);

/// What is wrong with a key: nothing stands below `found`, which is among `names`.
[[nodiscard]] tl::unexpected<failure> no_such_key(std::string_view where, const key_path& asked, std::string_view found,
                                                  std::size_t used, std::vector<std::string> names);

}  // namespace hondana::config_files
