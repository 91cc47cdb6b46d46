/// From a resource to what is indexed of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "search/chunking/passages.hpp"
#include "search/index/store.hpp"
#include "server/tools/place.hpp"

namespace hondana::search {

struct cut_document {
  document what{};
  std::vector<chunking::passage> passages{};
  bool is_unchanged = false;        ///< It has the version that is known already; nothing else is set.
  std::optional<failure> failed{};  ///< Why its source did not give it, though it is there.
};

/// The version of what is not read, since it gives other resources: it does not change with them.
inline constexpr std::string_view version_of_lists = "list";

/// What a list says of a resource.
[[nodiscard]] document document_of(const resource& entry);
/// Whether its source has not looked into it yet, so that it has a name for a title and no description.
[[nodiscard]] bool is_provisional(const resource& entry) noexcept;

/// Reads what `entry` stands for as the server gives it to who may see it and nothing else (see alone.hpp), with its secrets
/// masked, also those that only show once it is decoded, and cuts it. What is no text, gives other resources, or has more than
/// `largest` bytes, is a document with a `problem` and without passages. Blocks. Errors: those of reads that may pass
/// (timed_out, overloaded, source_unavailable, content_changed, cancelled), and resource_not_found: it has gone.
[[nodiscard]] result<cut_document> cut(const call& by, const tools::surroundings& in, const resource& entry,
                                       const std::string& known_version, std::uint64_t largest);

}  // namespace hondana::search
