/// Reading regular files so that no mix of two states is ever sent.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "sources/files/buffers.hpp"
#include "sources/files/open_file.hpp"
#include "sources/files/ranges.hpp"
#include "sources/files/reader_set.hpp"
#include "sources/files/scan.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::files {

/// The content of a file or of a part of it.
struct file_content {
  std::variant<shared_bytes, std::shared_ptr<byte_reader>> data;
  /// Of the whole file, or of its first 256 MiB, also where this is a part; `detect` for large whole ones.
  content_form form = content_form::detect;
  bool is_checked = false;  ///< `form` is that of `data`, all of which was looked at.
  std::string front;        ///< The first 4 KiB of the whole file.
  std::string version;      ///< Of the whole file; empty where it changes too fast, and is too large, for one.
  bool is_racy = false;     ///< It changed so lately that another change might not show, or while it was being read.
  std::size_t masked = 0;   ///< Secrets, where `data` are bytes; a reader has them among its facts.
};

/// What reads share. Threads: any, at once.
struct reading_room {
  buffer_set buffers;
  buffer_set long_listings{256u << 20};  ///< Of folders, beyond `whole_bytes`; each counts as long as a read may be.
  reader_set readers;
  form_memory forms{4096};
};

/// Reads an open file, or the part `wanted` of it, as of the moment it is called; what is appended later is not part of it.
/// Everything is of the file with its secrets masked by `how`; only the version may be that of the file itself.
///
/// Up to 1 MiB it is read whole, and again when anything about the file changed meanwhile or so lately that a change might
/// not show; unequal readings are tried once more. Beyond, the content is a reader, whose user makes two passes and compares.
/// Errors: response_too_large for more than `request.max_bytes`, content_changed, invalid_argument for a range beyond the end,
/// overloaded, timed_out, cancelled, source_unavailable.
[[nodiscard]] result<file_content> read_content(const std::shared_ptr<const open_file>& file,
                                                const std::optional<range>& wanted, const read_request& request,
                                                reading_room& room, secrets::policy how = secrets::policy::none);

}  // namespace hondana::files
