/// Media types of files, by name and by content.
#include "sources/files/media_type.hpp"

#include <magic.h>

#include <cstddef>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "base/bytes/media_type.hpp"
#include "base/json/utf8.hpp"

namespace hondana::files {

std::string_view mime_type_of_mode(mode_t mode) noexcept {
  switch (mode & S_IFMT) {
    case S_IFDIR:
      return "inode/directory";
    case S_IFLNK:
      return "inode/symlink";
    case S_IFIFO:
      return "inode/fifo";
    case S_IFSOCK:
      return "inode/socket";
    case S_IFCHR:
      return "inode/chardevice";
    case S_IFBLK:
      return "inode/blockdevice";
    default:
      return {};
  }
}

namespace {

/// libmagic behind a lock, because a handle serves one thread at a time. Opened on first use. Never destroyed, because
/// abandoned threads may outlive `main`.
class magic_database {
 public:
  std::string_view type_of(std::string_view front) {
    const std::lock_guard lock(mutex_);
    if (!is_opened_) {
      is_opened_ = true;
      open();
    }
    const char* detected = database_ ? ::magic_buffer(database_.get(), front.data(), front.size()) : nullptr;
    if (detected == nullptr) return "application/octet-stream";
    const std::string_view type(detected);
    // There are few real types. A file can name a type in its own text, so the number of types that are accepted is limited.
    if (type.empty() || type.size() > 100 || type.starts_with("text/") || types_.size() >= 1000)
      return "application/octet-stream";
    return *types_.emplace(type).first;
  }

 private:
  struct closer {
    void operator()(magic_set* database) const noexcept { ::magic_close(database); }
  };

  void open() {
    // No decompression and no scan of tar members: only the front is available, and less code processes untrusted bytes.
    database_.reset(::magic_open(MAGIC_MIME_TYPE | MAGIC_NO_CHECK_COMPRESS | MAGIC_NO_CHECK_TAR | MAGIC_NO_CHECK_ELF |
                                 MAGIC_NO_CHECK_TEXT | MAGIC_NO_CHECK_ENCODING | MAGIC_NO_CHECK_TOKENS | MAGIC_NO_CHECK_CDF |
                                 MAGIC_NO_CHECK_CSV | MAGIC_NO_CHECK_JSON));
    if (database_ && ::magic_load(database_.get(), nullptr) != 0) database_.reset();
  }

  std::mutex mutex_;
  bool is_opened_ = false;
  std::unique_ptr<magic_set, closer> database_;
  std::set<std::string, std::less<>> types_;
};

/// Whether a front is text. It may end inside a code point.
bool is_text_front(std::string_view front) {
  front.remove_suffix(json::incomplete_tail(front));
  return json::is_utf8(front) && !json::has_nul(front);
}

}  // namespace

std::string_view sniff(std::string_view front, content_kind kind) {
  front = front.substr(0, head_bytes);
  const bool is_text = kind == content_kind::text || (kind == content_kind::detect && is_text_front(front));
  if (is_text) return bytes::script_type_of(front);
  if (const auto signature_type = bytes::sniff_media_type(front); !signature_type.empty()) return signature_type;
  if (is_text_front(front)) return "application/octet-stream";  // binary only after the front: no format that libmagic knows
  static auto& database = *new magic_database;
  return database.type_of(front);
}

std::string_view effective_mime_type(std::string_view name, std::string_view front, content_kind kind) {
  if (mime_type_of(name).name.empty()) return sniff(front, kind);
  const bool is_text =
      kind == content_kind::text || (kind == content_kind::detect && is_text_front(front.substr(0, head_bytes)));
  return bytes::effective_named_type(name, front, is_text);
}

void add_active_label(resource_content& item, std::string_view name, std::string_view front) {
  const auto active = bytes::detect_active_content(mime_type_of(name).name, front);
  if (active != bytes::active_content::none)
    item.metadata.emplace_back(bytes::active_content_key, std::string(bytes::media_type_of(active)));
}

}  // namespace hondana::files
