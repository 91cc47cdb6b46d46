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

/// A view that shows and gives the resource at `uri` (canonical) with its parts, and the whole that it is a part of, and
/// nothing else: who may not have the whole may not have the part either, be it listed by itself. What is indexed is read
/// through it, so that a source which makes a text out of others, such as a list of them, leaves these out, and no passage
/// tells of what whoever finds it may not see.
[[nodiscard]] std::shared_ptr<const view> alone_with(std::string uri);

/// Whether reading it gives what else there is, whatever the caller's view, so that there is no text of its own: a folder by
/// its media type, or by the kind that a source (also that of a mounted server) gives it.
[[nodiscard]] bool is_list_of_others(const resource& entry) noexcept;
/// The media type says so: `inode/directory`.
[[nodiscard]] bool is_list_by_type(std::string_view mime_type) noexcept;

/// Of what masks secrets, and of what cuts texts into passages. Raised whenever the same text would become another one, so that
/// what older ones made is made anew.
inline constexpr int version_of_masking = 3;
inline constexpr int version_of_cutting = 2;

/// How the texts of a resource are made now: by whom its secrets are masked, as the source says that has it, and by which
/// versions of the two. At most 300 bytes. Empty: nobody serves it.
[[nodiscard]] std::string making_of(const catalog::catalog& in, std::string_view uri);
/// All ways in which texts are made now.
[[nodiscard]] std::vector<std::string> makings_of(const catalog::catalog& in);

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

/// Reads what `entry` stands for as the server gives it to who may see it and nothing else (see document_reader.hpp), with its
/// secrets masked, also those that only show once it is decoded, and cuts it. What is no text, gives other resources, or has
/// more than `largest` bytes, is a document with a `problem` and without passages. Blocks. Errors: those of reads that may pass
/// (timed_out, overloaded, source_unavailable, content_changed, cancelled), and resource_not_found: it has gone.
[[nodiscard]] result<cut_document> cut(const call& by, const tools::surroundings& in, const resource& entry,
                                       const std::string& known_version, std::uint64_t largest);

}  // namespace hondana::search
