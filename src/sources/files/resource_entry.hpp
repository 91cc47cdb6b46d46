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

/// The kind of an entry: "file", "folder", "link" or "special".
[[nodiscard]] std::string_view kind_of(mode_t mode) noexcept;

/// Makes the entry of a record, with title, description and type if the block has descriptions.
///
/// A folder has no version, because its inode does not change with the files that a read of it includes. A file whose stamp was
/// racy during the walk is checked again. If it is still racy, it has no version; a read of it returns one made from its bytes.
[[nodiscard]] resource make_entry(const record_block& block, std::size_t index);

/// Makes the entry of a resolved path without reading content: without title and description. `checked_at`: as for
/// `make_record`.
[[nodiscard]] resource make_entry(const served_root& root, std::string_view path, const struct stat& attributes,
                                  std::int64_t checked_at);

/// Adds the title, description and active content that the front of a file shows, and the type if the name does not determine
/// it. Adds nothing if the file cannot be read, or the path leads through a link. Reads at most 8 KiB, of which the first 4 KiB
/// are described.
void describe_entry(resource& entry, const served_root& root, std::string_view path, const disk::resolved_path& resolved);

/// Describes all files of a block. Copies the descriptions of files with the same version in `previous` (may be null). Reads at
/// most 8 KiB of each of the others, if their type can have a description.
[[nodiscard]] std::unique_ptr<const block_descriptions> describe_block(const record_block& block, const listing* previous);

}  // namespace hondana::files
