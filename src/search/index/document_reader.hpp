/// Reads a resource for the index, masks its secrets and splits it into passages.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "search/chunking/passages.hpp"
#include "search/index/store.hpp"
#include "server/catalog/catalog.hpp"
#include "server/tools/tool_context.hpp"

namespace hondana::search {

/// Creates an access filter that allows only the resource at `uri` (canonical), its parts, and the whole that it is a part of.
/// The index reads each resource through this filter. So a source that combines several resources into one text, such as a
/// list, leaves the others out. No passage then contains content that a caller who may see the passage's resource may not see.
[[nodiscard]] std::shared_ptr<const access_filter> make_single_resource_filter(std::string uri);

/// Whether reading the resource lists other resources, so that it has no text of its own. True for the media type of folders,
/// and for the kinds `folder`, `outline` and `tree`.
[[nodiscard]] bool is_listing(const resource& entry) noexcept;
/// Whether the media type is `inode/directory`.
[[nodiscard]] bool is_listing_type(std::string_view mime_type) noexcept;

/// The version of masking. Increase it whenever the same text would give another result. Documents from older versions are then
/// indexed again.
inline constexpr int masking_version = 3;
/// The version of splitting into passages. Increase it in the same way.
inline constexpr int chunking_version = 3;

/// Identifies how the texts of a resource are made now: by which source, whether it masks secrets, `masking_version` and
/// `chunking_version`. At most 300 bytes. Empty: no source serves the resource.
[[nodiscard]] std::string processing_id(const catalog::catalog& catalog, std::string_view uri);
/// Returns the values of `processing_id` for everything served now.
[[nodiscard]] std::vector<std::string> processing_ids(const catalog::catalog& catalog);

/// The result of reading a resource.
struct chunked_document {
  document metadata{};
  std::vector<chunking::passage> passages{};
  bool is_unchanged = false;       ///< The resource still has the known version; there are no passages.
  std::optional<failure> error{};  ///< The error of the source, if it refused to return the content of an existing resource.
};

/// The version of resources that only list others and are not read. It stays the same when the listed ones change.
inline constexpr std::string_view listing_version = "list";

/// Makes a document of the properties in an entry of a list.
[[nodiscard]] document make_document(const resource& entry);
/// Whether the entry is provisional: its source has not read the content yet, so the title is only a name and there is no
/// description.
[[nodiscard]] bool is_provisional(const resource& entry) noexcept;

/// Reads a resource through `make_single_resource_filter`, masks its secrets, also those that only decoding reveals, and splits
/// the text. `known_version`: the indexed version; empty: none. Blocks.
///
/// A resource that is not text, only lists others, or has more than `max_bytes` bytes gives a document with a `problem` and
/// without passages. So does one that its source refuses to return. Errors: temporary ones (timed_out, overloaded,
/// source_unavailable, content_changed, cancelled, too_many_requests), and resource_not_found if it was removed.
[[nodiscard]] result<chunked_document> read_document(const request_context& context, const tools::tool_services& services,
                                                     const resource& entry, const std::string& known_version,
                                                     std::uint64_t max_bytes);

}  // namespace hondana::search
