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

/// The entry of a record, with title, description and type as far as they are known.
///
/// A folder has no version: its inode does not change with the files that a read of it includes. A file that had changed within
/// 50 ms before it was walked is checked again. If it has just changed, it has no version; a read of it returns one made from
/// its bytes.
[[nodiscard]] resource make_entry(const record_block& block, std::size_t index);

/// The entry of a resolved file, before any content is read. `checked_at`: as for `make_record`.
[[nodiscard]] resource make_entry(const served_root& root, std::string_view path, const struct stat& attributes,
                                  std::int64_t checked_at);

/// Adds what the front of a file says: title, description and, if the name does not determine it, the type. Adds nothing if the
/// file cannot be read. Reads at most 8 KiB, of which the first 4 KiB are described.
void describe_entry(resource& entry, const served_root& root, std::string_view path, const resolved_path& resolved);

/// The second pass over a block: opens each file whose front may say something. Files with the same version in `previous` (may
/// be null) are not opened; their descriptions are copied. Reads at most 8 KiB per file.
[[nodiscard]] std::unique_ptr<const block_descriptions> describe_block(const record_block& block, const listing* previous);

}  // namespace hondana::files
