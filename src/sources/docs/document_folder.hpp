/// A confined folder of documents, and the options of its set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/file_stamp.hpp"
#include "os/disk/private_file.hpp"
#include "sources/docs/document_rules.hpp"
#include "text/rendering/renderer.hpp"

namespace hondana::docs {

struct options {
  std::string name{};  ///< The set's: 1 to 64 of a-z, 0-9 and `-`.
  std::string path{};  ///< Absolute.
  /// Patterns as in `.gitignore`. What `include` names is served whatever its name ends in, as far as it is text; when there
  /// are any, nothing else is.
  std::vector<std::string> include{};
  std::vector<std::string> exclude{};
  std::uint64_t max_bytes = 64ull << 20;  ///< Of one document as it stands on disk.
  bool ignore_files = true;               ///< `.gitignore` and `.hondanaignore` are obeyed.
  bool originals = true;                  ///< What is not UTF-8 text is given as it is, too.
  bool redact = true;
  bool watch = true;
  std::shared_ptr<const rendering::renderer> renderer{};  ///< Null: PDF and Office files are listed and have no text.
  rendering::limits rendered{};
  std::size_t rendered_at_once = 2;
  std::size_t calls = 16;  ///< Threads that the source has.
  std::function<void(std::string_view)> log{};
  std::vector<std::string> kept_back{};  ///< Absolute paths of files that are as if they were not there.
};

/// In the set's folder: what its documents are worth (docs/documents.md).
inline constexpr std::string_view rules_file_name = ".hondana-docs.toml";

/// A regular file below the folder; the path is relative to it, in the bytes it has on disk.
struct seen_file {
  std::string path{};
  disk::stamp state{};

  bool operator==(const seen_file&) const = default;
};

/// Something that is not served.
struct omission {
  std::string path{};
  std::string reason{};

  bool operator==(const omission&) const = default;
};

/// What a walk found, sorted by path.
struct walked {
  std::vector<seen_file> documents{};
  std::vector<seen_file> others{};  ///< By their names no documents; links may lead to them.
  std::vector<omission> left_out{};

  bool operator==(const walked&) const = default;
};

/// An open regular file, with its state when it was opened.
struct opened_file {
  disk::handle file{};
  disk::stamp state{};
};

/// One folder, opened once, and again when its path has come to name another. Symbolic links below it are not followed, by no
/// call. While there is no folder at its path, all calls fail with source_unavailable. Threads: any.
class ground {
 public:
  /// Errors: source_unavailable for what is no folder or cannot be opened; invalid_argument for patterns.
  [[nodiscard]] static result<std::unique_ptr<ground>> open(const options& from);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Everything below, but names that begin with a dot. Left out with a reason: what is no file and no folder, is ignored or
  /// excluded, has the name of a secret, cannot be opened, lies deeper than 32 levels or beyond the first 100 000 files.
  /// `entering` (may be empty) is called with each folder's path and a descriptor of it before it is read.
  /// Errors: cancelled, timed_out, source_unavailable.
  [[nodiscard]] result<walked> walk(const call& by, const std::function<void(const std::string&, int)>& entering = {}) const;

  /// Errors: resource_not_found, access_denied, source_unavailable.
  [[nodiscard]] result<opened_file> open_file(std::string_view below) const;
  /// Whether there is anything at this path, be it a link, or that cannot be told.
  [[nodiscard]] bool has(std::string_view below) const;

 private:
  /// What is open; shared with calls that began before it was opened again.
  struct place {
    disk::handle at;
    disk::own_files own;
  };
  explicit ground(const options& from);
  [[nodiscard]] std::shared_ptr<const place> hold(disk::handle root) const;
  [[nodiscard]] result<std::shared_ptr<const place>> root() const;

  const std::string path_;
  const std::vector<std::string> kept_back_;
  const bool obeys_;
  patterns include_;
  patterns exclude_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const place> now_;
};

/// A whole file as it was when it was opened. Errors: content_changed, source_unavailable.
[[nodiscard]] result<std::string> read_whole(const opened_file& file);
/// Its first `most` bytes, or fewer where it ends. Errors: source_unavailable.
[[nodiscard]] result<std::string> read_front(const opened_file& file, std::size_t most);

}  // namespace hondana::docs
