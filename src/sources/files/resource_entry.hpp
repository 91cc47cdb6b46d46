/// Makes the resource entries of files, with titles and descriptions.
#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <memory>
#include <string_view>

#include <hondana/resource.hpp>

#include "sources/files/listing.hpp"
#include "sources/files/root.hpp"

namespace hondana::files {

/// The kind of thing: "file", "folder", "link" or "special".
[[nodiscard]] std::string_view kind_of(mode_t mode) noexcept;

/// The entry of a record, with what is known of title, description and type.
///
/// A folder has no version: its own inode does not change with the files that are read along with it. A file that had changed
/// within 50 ms of when it was walked is looked at again; one that has just changed has none: a read of it answers with a
/// version made from its bytes.
[[nodiscard]] resource entry_of(const block& in, std::size_t index);

/// The entry of something on the way, before anything was read from it. `looked_at` as for `record_of`.
[[nodiscard]] resource entry_of(const root& of, std::string_view path, const struct stat& facts, std::int64_t looked_at);

/// Adds what the front of a file tells: title, description and, where the name does not tell it, type. What cannot be read
/// adds nothing. Reads at most 4 KiB.
void describe_entry(resource& entry, const root& of, std::string_view path, const located& place);

/// The second pass over a block: opens each file whose front says something, and lets `previous` (may be null) spare it that
/// for files of the same version. Reads at most 4 KiB a file.
[[nodiscard]] std::unique_ptr<const block_descriptions> describe_block(const block& what, const listing* previous);

}  // namespace hondana::files
