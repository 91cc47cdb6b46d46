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

/// The options of a set of documents.
struct set_options {
  std::string name{};  ///< The set's name: 1 to 64 of a-z, 0-9 and `-`.
  std::string path{};  ///< Absolute.
  /// Patterns as in `.gitignore`. Files that match `include` are served with any ending, if they are text. If `include` is set,
  /// no other files are.
  std::vector<std::string> include{};
  std::vector<std::string> exclude{};
  std::uint64_t max_bytes = 64ull << 20;  ///< Of one document, as stored on disk.
  bool ignore_files = true;               ///< `.gitignore` and `.hondanaignore` apply.
  bool originals = true;                  ///< Reads also return the original file if it is not UTF-8 text.
  bool redact = true;
  bool watch = true;
  std::shared_ptr<const rendering::renderer> renderer{};  ///< Null: PDF and Office files are listed, but have no text.
  rendering::limits render_limits{};
  std::size_t max_concurrent_renders = 2;
  std::size_t max_calls = 16;  ///< Calls that run at once.
  std::function<void(std::string_view)> log{};
  std::vector<std::string> own_files{};  ///< Absolute paths of files that are treated as missing.
};

/// The rules file in the set's folder, with priorities and more (docs/documents.md).
inline constexpr std::string_view rules_file_name = ".hondana-docs.toml";

/// A regular file in the folder. The path is relative, in the bytes it has on disk.
struct scanned_file {
  std::string path{};
  disk::stamp stamp{};

  bool operator==(const scanned_file&) const = default;
};

/// An entry that is not served.
struct omitted_entry {
  std::string path{};
  std::string reason{};

  bool operator==(const omitted_entry&) const = default;
};

/// The result of a walk, sorted by path.
struct walk_result {
  std::vector<scanned_file> documents{};
  std::vector<scanned_file> other_files{};  ///< Not documents by their names; links may point to them.
  std::vector<omitted_entry> omitted{};

  bool operator==(const walk_result&) const = default;
};

/// An open regular file, with its state at that moment.
struct opened_file {
  disk::handle file{};
  disk::stamp stamp{};
};

/// A folder of documents. It is opened once, and again when its path names another folder. No call follows symbolic links in
/// it. While the path is not a folder, all calls fail with source_unavailable. Threads: any.
class document_folder {
 public:
  /// Errors: source_unavailable if the path is not a folder or cannot be opened; invalid_argument for patterns.
  [[nodiscard]] static result<std::unique_ptr<document_folder>> open(const set_options& options);

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// Lists everything in the folder except names with a leading dot. Left out, with a reason: anything other than files and
  /// folders; ignored or excluded entries; names of secrets. Also entries that cannot be opened, are deeper than 32 levels, or
  /// come after the first 100 000 files.
  /// `on_enter_folder` is called with each folder's path and descriptor before it is read; may be null. Errors: cancelled,
  /// timed_out, source_unavailable.
  [[nodiscard]] result<walk_result> walk(const request_context& request,
                                         const std::function<void(const std::string&, int)>& on_enter_folder = {}) const;

  /// Errors: resource_not_found, access_denied, source_unavailable.
  [[nodiscard]] result<opened_file> open_file(std::string_view path) const;
  /// Whether an entry exists at this path, including links. True if that cannot be determined.
  [[nodiscard]] bool exists(std::string_view path) const;

 private:
  /// The open folder, shared with calls that began before it was opened again.
  struct open_folder {
    disk::handle handle;
    disk::own_files own_files;
  };
  explicit document_folder(const set_options& options);
  [[nodiscard]] std::shared_ptr<const open_folder> make_open_folder(disk::handle root) const;
  [[nodiscard]] result<std::shared_ptr<const open_folder>> root() const;

  const std::string path_;
  const std::vector<std::string> own_files_;
  const bool uses_ignore_files_;
  patterns include_;
  patterns exclude_;
  mutable std::mutex mutex_;
  mutable std::shared_ptr<const open_folder> current_;
};

/// Reads a whole file as it was when it was opened. Errors: content_changed, source_unavailable.
[[nodiscard]] result<std::string> read_all(const opened_file& file);
/// Reads the first `max_bytes` bytes, or all if there are fewer. Errors: source_unavailable.
[[nodiscard]] result<std::string> read_front(const opened_file& file, std::size_t max_bytes);

}  // namespace hondana::docs
