/// A confined folder of documents, and the options of its set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/provider.hpp>

#include "os/disk/file_descriptor.hpp"
#include "os/disk/file_stamp.hpp"
#include "os/disk/served_dir.hpp"
#include "sources/docs/document_rules.hpp"
#include "text/rendering/renderer.hpp"

namespace hondana::docs {

/// The options of a set: a folder of documents that is served together.
struct set_options {
  std::string name{};  ///< The set's name: 1 to 64 of a-z, 0-9 and `-`.
  std::string path{};  ///< Absolute.
  /// Patterns as in `.gitignore` of files that are documents, even with other file name endings. If there are any, no other
  /// files are documents.
  std::vector<std::string> include{};
  std::vector<std::string> exclude{};     ///< Patterns of files and folders that are not served.
  std::uint64_t max_bytes = 64ull << 20;  ///< Larger files are listed, but cannot be read.
  bool ignore_files = true;               ///< Obey `.gitignore`, `.hondanaignore` and `.git/info/exclude` in the folder.
  bool originals = true;                  ///< Reads also return the original file if it differs from the text.
  bool redact = true;                     ///< Mask secrets.
  bool watch = true;                      ///< Watch the folder for changes.
  std::shared_ptr<const rendering::renderer> renderer{};  ///< Null: PDF and Office files are listed, but have no text.
  rendering::limits render_limits{};
  std::size_t max_concurrent_renders = 2;
  std::size_t max_calls = 16;                   ///< Calls that run at once.
  std::function<void(std::string_view)> log{};  ///< Receives one line for people; may be empty.
  /// Absolute paths, with links resolved, of the server's own files. They are never served, nor are their locks, older versions
  /// and copies.
  std::vector<std::string> own_files{};
};

/// The rules file in the set's folder, with priorities and more (docs/documents.md).
inline constexpr std::string_view rules_file_name = ".hondana-docs.toml";

/// A regular file that a walk found.
struct scanned_file {
  std::string path{};  ///< Relative to the folder, in the file system's bytes.
  disk::stamp stamp{};

  bool operator==(const scanned_file&) const = default;
};

/// A file or folder that is not served.
struct omitted_entry {
  std::string path{};
  std::string reason{};  ///< For people.

  bool operator==(const omitted_entry&) const = default;
};

/// The result of a walk; each list is sorted by path.
struct walk_result {
  std::vector<scanned_file> documents{};
  std::vector<scanned_file> other_files{};  ///< Not documents by their names, but links in documents may point to them.
  std::vector<omitted_entry> omitted{};

  bool operator==(const walk_result&) const = default;
};

/// An open regular file.
struct opened_file {
  disk::handle file{};
  disk::stamp stamp{};  ///< When it was opened.
};

/// A folder of documents. It is opened once, and again when its path names another folder. No call follows symbolic links in
/// it. While the path does not name a folder, `walk` and `open_file` fail with source_unavailable. Threads: any.
class document_folder {
 public:
  /// Errors: source_unavailable if `options.path` is not a folder or cannot be opened; invalid_argument for an invalid pattern.
  [[nodiscard]] static result<std::unique_ptr<document_folder>> open(const set_options& options);

  [[nodiscard]] const std::string& path() const noexcept { return dir_.path(); }

  /// Lists everything in the folder and below. Names with a leading dot are skipped. `walk_result::omitted` has everything else
  /// that is not served: links and other special files, ignored and excluded entries, names of secrets, and own files. Also
  /// entries that cannot be accessed, are deeper than 32 levels, or come after the first 100,000 files.
  ///
  /// `on_enter_folder`: called with the path (empty: the folder itself) and descriptor of each folder before it is read; may be
  /// empty. Errors: cancelled, timed_out, source_unavailable.
  [[nodiscard]] result<walk_result> walk(const request_context& request,
                                         const std::function<void(const std::string&, int)>& on_enter_folder = {}) const;

  /// Opens a regular file by its path relative to the folder. Does not apply the rules of `walk`, except those about links and
  /// own files. Errors: resource_not_found, access_denied, source_unavailable.
  [[nodiscard]] result<opened_file> open_file(std::string_view path) const;
  /// Whether anything, even a link, exists at this path. True if that cannot be determined.
  [[nodiscard]] bool exists(std::string_view path) const;

 private:
  document_folder(const set_options& options, disk::served_dir dir);
  /// The folder that the path names now. Errors: source_unavailable.
  [[nodiscard]] result<std::shared_ptr<const disk::served_dir::opened>> current() const;

  const disk::served_dir dir_;
  const bool uses_ignore_files_;
  patterns include_;
  patterns exclude_;
};

/// Reads a whole file. Errors: content_changed if its stamp has changed since it was opened; source_unavailable.
[[nodiscard]] result<std::string> read_all(const opened_file& file);
/// Reads the first `max_bytes` bytes, or all if there are fewer. Does not notice changes. Errors: source_unavailable.
[[nodiscard]] result<std::string> read_front(const opened_file& file, std::size_t max_bytes);

}  // namespace hondana::docs
