/// Reads a folder: its listing, its small text files, and pages of its children.
#pragma once

#include <cstddef>
#include <cstdint>

#include <hondana/capabilities.hpp>
#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "os/disk/confined_dir.hpp"
#include "sources/files/file_content.hpp"
#include "sources/files/root.hpp"

namespace hondana::files {

/// Reads a folder. The first content is the listing: the URIs of its children, one per line, as `inode/directory`. The text
/// files directly in the folder follow in the same order, each under its own URI, at most `budget` bytes in total. The first
/// file that exceeds the rest of the budget ends the response. Binary and empty files, links, and files that are not served are
/// skipped. Children that the caller's access filter hides leave no trace. The version is a digest of the listing and of the
/// versions of these files.
///
/// An entry that the disk fails to read is left out; `dev.hondana/unreadable` of the listing counts these. If all fail, the
/// result is source_unavailable.
///
/// Until it is sent, a listing above 64 KiB counts against `resources.buffers`; above 1 MiB, against
/// `resources.listing_buffers`.
/// Errors: response_too_large for a listing above `request.max_bytes`, or a folder with more than 5,000,000 names. overloaded
/// when no buffer is available. access_denied, resource_not_found, source_unavailable, cancelled, timed_out.
[[nodiscard]] result<read_result> read_folder(const served_root& root, const disk::resolved_path& folder, std::uint64_t budget,
                                              const read_request& request, read_resources& resources);

/// A page of a folder's direct children that the caller may see. Ends after `max_scanned_names` names once it has a child, so
/// it may be short although `next_key` is set. Leaves out entries that the disk fails to read. Errors: as `read_folder`.
[[nodiscard]] result<list_result> list_children(const served_root& root, const disk::resolved_path& folder,
                                                const children_request& request, std::size_t max_scanned_names = 20'000);

/// Converts a rejection to the error for clients. Missing and hidden resources get the same public text; the private text has
/// the reason.
[[nodiscard]] failure to_failure(const rejection& rejection, const std::string& requested_uri);

}  // namespace hondana::files
