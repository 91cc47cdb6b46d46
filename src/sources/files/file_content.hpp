/// Reads a file consistently while it may change, within limits on memory and open files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "base/bytes/digest.hpp"
#include "os/disk/file_stamp.hpp"
#include "sources/files/file_range.hpp"
#include "sources/files/open_file.hpp"
#include "text/secrets/scanner.hpp"

namespace hondana::files {

/// The most a whole read takes; what is larger is streamed.
inline constexpr std::size_t whole_bytes = 1 << 20;

/// Lends buffers of at most `byte_cap` together, until what is in them has been sent. Nobody waits: the threads that read are
/// few, and slow peers hold buffers for long. Small buffers are always lent, since they are encoded and given back at once.
/// Threads: any, at once.
class buffer_set {
 public:
  explicit buffer_set(std::size_t byte_cap = 128u << 20);

  /// A buffer of `size` bytes of unspecified content. One that grows later counts as large as it was here, or as `room` says.
  /// It goes back when the last copy of the pointer dies, which may be after the set itself; what is much larger than
  /// `whole_bytes` is then freed. Errors: overloaded when too much is lent.
  [[nodiscard]] result<std::shared_ptr<std::string>> borrow(std::size_t size, std::size_t room = 0);

 private:
  struct state;
  struct loan;
  std::shared_ptr<state> state_;
};

/// Places for answers that are read while they are sent, each with an open file: an eighth of the descriptors this process may
/// open, and of those a quarter for the callers of one address (of IPv6: one /64; those of this machine have all), so that slow
/// readers leave enough for everybody's small files and for connections. Threads: any.
class reader_set {
 public:
  /// `most`: instead of what the descriptor limit allows; 0: that.
  explicit reader_set(std::size_t most = 0);

  /// A place, given up with the last copy of the pointer, which may outlive the set. Errors: overloaded.
  [[nodiscard]] result<std::shared_ptr<void>> enter(const std::string& address);

 private:
  struct state;
  std::shared_ptr<state> state_;
};

/// A scan goes through this much; a larger file is judged by its front.
inline constexpr std::uint64_t scan_limit = 256ull << 20;

/// The outcome of a scan.
struct scan_result {
  content_form form = content_form::text;  ///< `text` or `blob`.
  std::optional<bytes::digest> digest;     ///< Of the whole content, when it was asked for and within the limit.
};

/// Goes through the first `size` bytes of a file; stops at the first sign of a blob unless a digest is wanted.
/// Errors: as `for_each_window`.
[[nodiscard]] result<scan_result> scan(const open_file& file, std::uint64_t size, bool want_digest, const call& by);

/// Remembers the forms of files by their stamps. Threads: any, at once.
class form_memory {
 public:
  explicit form_memory(std::size_t limit = 4096) : limit_(limit) {}

  [[nodiscard]] std::optional<content_form> find(const disk::stamp& state);
  /// A racy stamp must not be remembered.
  void remember(const disk::stamp& state, content_form form);

 private:
  using entry = std::pair<bytes::digest, content_form>;

  std::size_t limit_;
  std::mutex mutex_;
  std::list<entry> by_use_;  // latest first
  std::map<bytes::digest, std::list<entry>::iterator> by_key_;
};

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
