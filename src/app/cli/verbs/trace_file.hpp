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

/// Writes one message per line, with the prefix `-> ` to the server and `<- ` from it. In messages of more than 1 MiB from the
/// server, texts of more than 64 KiB become "*", which transcripts match with any text. A comment before the message then gives
/// size and SHA-256 of each text. Threads: any.
class trace_file {
 public:
  /// Creates or truncates the file, with mode 0600. "-" is standard error. Errors: invalid_argument if it cannot be written.
  [[nodiscard]] static result<std::shared_ptr<trace_file>> open(const std::string& path);

  /// Writes a message. After a write error, prints the reason and writes nothing more.
  void write(message_direction direction, std::string_view message);
  /// Stores bytes of a content that arrives separately from its message. The next `write` of an answer inserts them. `index`:
  /// position in `contents` of the answer.
  void store_content(std::size_t index, std::string_view bytes);
  /// Call it after a read. Drops stored content that no message followed: the read ended early, or the content came from
  /// elsewhere.
  void discard_content();

 private:
  /// Stored bytes of one content.
  struct stored_content {
    std::string bytes;  // only the beginning, if the content is too large
    std::uint64_t size = 0;
    bytes::sha256 digest;
  };
  explicit trace_file(disk::handle file) noexcept : file_(std::move(file)) {}
  /// Requires the lock. Inserts the stored contents into an answer, and adds comments about those that are too large.
  [[nodiscard]] value complete_message(const value& message, std::string& comments);
  /// Requires the lock.
  void write_all(std::string_view text);

  std::mutex mutex_;
  disk::handle file_;
  bool has_failed_ = false;
  std::map<std::size_t, stored_content> stored_;  // by position in `contents`
  std::size_t stored_bytes_ = 0;
  bool is_incomplete_ = false;  // a later message may lack content that was not read to its end
};

}  // namespace hondana::cli
