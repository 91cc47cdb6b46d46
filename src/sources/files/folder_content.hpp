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

/// The folder itself comes first: the URIs of its children, one a line, as `inode/directory`. Then its direct text files in the
/// order of the listing, each under its own URI, up to the first that does not fit into what is left of `budget` bytes. Files
/// that are binary, empty, links or not served are passed over, and of what the caller's view does not show there is no trace.
/// Its version is a digest of all that.
/// Memory: the listing counts against the room's buffers, beyond 1 MiB against those for long listings, until it is sent.
/// Errors: response_too_large for a listing beyond `request.max_bytes` or a folder of more than 5,000,000 names, overloaded
/// when too much is being sent, access_denied, resource_not_found, cancelled, timed_out.
[[nodiscard]] result<reading> read_folder(const root& of, const located& folder, std::uint64_t budget,
                                          const read_request& request, reading_room& room);

/// A page of a folder's direct children that the caller may see. A page may be short while `resume` is set, which names a child
/// of the page: once it has some, it ends after `most_passed` names. Errors: as `read_folder`.
[[nodiscard]] result<list_result> list_children(const root& of, const located& folder, const children_request& request,
                                                std::size_t most_passed = 20'000);

/// The public failure for something that cannot be had. What is not there and what may not be known to be there are told
/// in the same words.
[[nodiscard]] failure failure_of(const refusal& why, const std::string& asked_uri);

}  // namespace hondana::files
