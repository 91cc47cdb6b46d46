/// Records the messages of a connection in a file, in the format of the test transcripts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/client_types.hpp>
#include <hondana/error.hpp>
#include <hondana/value.hpp>

#include "base/bytes/sha256.hpp"
#include "os/disk/file_descriptor.hpp"

namespace hondana::cli {

/// One message per line, with the prefix `-> ` to the server and `<- ` from it. Threads: any.
/// In messages of more than 1 MiB from the server, texts of more than 64 KiB become "*", which transcripts match with any text.
/// A comment before the message then gives size and SHA-256 of the text.
class trace_file {
 public:
  /// Creates or truncates the file, with mode 0600; "-" is standard error. Errors: invalid_argument if it cannot be written.
  [[nodiscard]] static result<std::shared_ptr<trace_file>> open(const std::string& path);

  void write(message_direction direction, std::string_view message);
  /// Stores content that arrived separately from the answer in progress. `write` adds it to the answer's message.
  void store_content(std::size_t index, std::string_view bytes);
  /// Drops the stored content: no message will follow, because the read ended early or the content came from elsewhere.
  void discard_content();

 private:
  struct stored_content {
    std::string bytes;  // the beginning only, if the content is too large
    std::uint64_t size = 0;
    bytes::sha256 digest;
  };
  explicit trace_file(disk::handle file) noexcept : file_(std::move(file)) {}
  // Call with the mutex locked:
  [[nodiscard]] value complete_message(const value& message, std::string& comments);
  void write_all(std::string_view text);

  std::mutex mutex_;
  disk::handle file_;
  bool has_failed_ = false;
  std::map<std::size_t, stored_content> stored_;  // by item
  std::size_t stored_bytes_ = 0;
  bool is_incomplete_ = false;  // a later message may lack content that was not read to its end
};

}  // namespace hondana::cli
