/// A file that records the messages of a connection as the transcripts of the tests do.
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

/// One message a line, `-> ` before those to the server and `<- ` before those from it. Texts of more than 64 KiB in messages
/// of more than a megabyte from the server become "*", which transcripts match with anything, and a comment before the message
/// tells size and SHA-256 of what stood there. Threads: any.
class trace_file {
 public:
  /// Makes the file anew, with mode 0600; "-" is standard error. Errors: invalid_argument when it cannot be written.
  [[nodiscard]] static result<std::shared_ptr<trace_file>> open(const std::string& path);

  void write(message_direction way, std::string_view message);
  /// Content of the answer under way, which its message will lack: `write` puts it back.
  void keep(std::size_t item, std::string_view bytes);
  /// No message will come for content that is kept still: it was not taken to its end, or came from elsewhere.
  void forget();

 private:
  struct content {
    std::string bytes;  // the first of them only, when there are too many
    std::uint64_t size = 0;
    bytes::sha256 digest;
  };
  explicit trace_file(disk::handle file) noexcept : file_(std::move(file)) {}
  // With the mutex held:
  [[nodiscard]] value completed(const value& message, std::string& remarks);
  void write_all(std::string_view text);

  std::mutex mutex_;
  disk::handle file_;
  bool has_failed_ = false;
  std::map<std::size_t, content> kept_;  // by item
  std::size_t kept_bytes_ = 0;
  bool was_cut_ = false;  // a message may come yet that lacks content which nobody took
};

}  // namespace hondana::cli
