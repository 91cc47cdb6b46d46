/// Reads a folder: its listing, its small text files, and pages of its children.
#pragma once

#include <cstddef>
#include <cstdint>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "sources/files/confined_dir.hpp"
#include "sources/files/file_content.hpp"
#include "sources/files/root.hpp"

namespace hondana::files {

/// Reads a folder. The first content is the folder itself: the URIs of its children, one per line, as `inode/directory`. Its
/// direct text files follow in the order of the listing, each under its own URI. The first file that exceeds the rest of
/// `budget` bytes ends the response. Files that are binary, empty, links or not served are skipped. Children that the caller's
/// access filter hides leave no trace. The version is a digest of all that.
/// Memory: until it is sent, the listing counts against the shared buffers; above 1 MiB, against those for long listings.
/// Errors: response_too_large for a listing above `request.max_bytes`, or a folder with more than 5,000,000 names. overloaded
/// when too much is being sent. access_denied, resource_not_found, source_unavailable, cancelled, timed_out.
[[nodiscard]] result<read_result> read_folder(const served_root& root, const resolved_path& folder, std::uint64_t budget,
                                              const read_request& request, read_resources& resources);

/// A page of a folder's direct children that the caller may see. It may be short while `next_key` is set, which names a child
/// of the page. Once it has a child, a page ends after `max_scanned_names` names. Errors: as `read_folder`.
[[nodiscard]] result<list_result> list_children(const served_root& root, const resolved_path& folder,
                                                const children_request& request, std::size_t max_scanned_names = 20'000);

/// The public failure for a resource that cannot be read. Missing and hidden resources get the same message.
[[nodiscard]] failure to_failure(const rejection& rejection, const std::string& requested_uri);

}  // namespace hondana::files
