/// What the whole of a file is, found once and remembered while the file stays as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <hondana/error.hpp>
#include <hondana/provider.hpp>
#include <hondana/resource.hpp>

#include "base/bytes/digest.hpp"
#include "os/disk/stamp.hpp"
#include "sources/files/open_file.hpp"

namespace hondana::files {

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

}  // namespace hondana::files
