/// Stores the state of the Drive copy: files, positions in change logs, and cached contents.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>
#include <hondana/resource.hpp>

#include "os/sqlite/database_file.hpp"
#include "sources/gdrive/drive/api_types.hpp"
#include "sources/gdrive/item.hpp"

namespace hondana::gdrive {

/// How far one home (`item::home`) has been listed in full, and its change log read.
struct sync_position {
  std::string home{};
  std::string start_page_token{};  ///< The page token for the next request for changes.
  std::string
      crawl_start_token{};  ///< The `start_page_token` from the end of the full listing in progress on. Empty: start over.
  std::string next_page_token{};  ///< The next page of the full listing in progress. Empty: the first.
  std::int64_t generation = 0;    ///< Number of the last full listing that began. Its files are stored with this number.
  bool is_crawled = false;        ///< A full listing was completed once.
  bool is_crawling = false;       ///< A full listing is in progress or due.
  bool is_behind = false;         ///< The change log has not been read to its end. It may add folders of known files.

  bool operator==(const sync_position&) const = default;
};

/// Changes that are stored in one transaction.
struct update_batch {
  std::vector<shared_item> upserts{};  ///< Files to add or replace.
  std::int64_t generation = 0;         ///< The `sync_position::generation` of `upserts`.
  std::vector<std::string> removed_ids{};
  std::optional<sync_position> position{};     ///< The new position of its home.
  std::vector<std::string> folders_to_list{};  ///< Ids of folders whose entries must still be listed.
  std::vector<std::string> listed_folders{};   ///< Ids of folders whose entries were listed.
};

/// A cached content of a file.
struct cached_content {
  std::string version{};  ///< `version_of` the file when it was read.
  std::string mime_type{};
  shared_bytes bytes{};
  std::chrono::system_clock::time_point read_at{};  ///< When it was read from Drive.
  bool uses_export_link = false;                    ///< As `fetch_result::uses_export_link`.
};

/// A home with more files than the limit.
struct full_home {
  std::string home{};
  std::size_t max_files = 0;  ///< The limit when it was reached. 0: stored by a version that did not record it.

  bool operator==(const full_home&) const = default;
};

/// The store of a source: an SQLite file, or memory. Before `open`, only the calls for contents and `set_access_denied` may be
/// used; they store nothing. Calls except `open` take microseconds to milliseconds. Errors of all calls: source_unavailable.
/// Threads: any.
class drive_store {
 public:
  /// Creates the folder of the file. `path`: of the file; empty: in memory. `max_content_bytes`: limit of all cached contents;
  /// the least recently used are removed first. `log`: may be empty.
  [[nodiscard]] static result<std::shared_ptr<drive_store>> create(const std::string& path, std::uint64_t max_content_bytes,
                                                                   std::function<void(std::string_view)> log);
  /// Opens the file. Waits a few seconds for a process that holds it. If the file cannot be opened, logs this and uses memory
  /// instead. Errors: also cancelled.
  [[nodiscard]] result<void> open(const std::stop_token& stop);
  /// Closes the file, so that another source can open it. Until the next `open`, the store is empty and in memory.
  [[nodiscard]] result<void> close();

  // Reading.

  /// Calls `visitor` for each file. `generation`: `update_batch::generation`.
  [[nodiscard]] result<void> for_each_item(const std::function<void(shared_item, std::int64_t generation)>& visitor);
  [[nodiscard]] result<std::vector<sync_position>> positions();
  /// Ids of folders whose entries must still be listed.
  [[nodiscard]] result<std::vector<std::string>> folders_to_list();
  /// The shared drives, ordered by id, with id and name only.
  [[nodiscard]] result<std::vector<drive::shared_drive>> drives();
  /// Id of the user's own root folder. Empty: unknown.
  [[nodiscard]] result<std::string> root_id();
  /// The `follower_options::account_id` when the root folder was last read. Empty: unknown.
  [[nodiscard]] result<std::string> account_id();
  /// The homes of the last `put_full_homes`.
  [[nodiscard]] result<std::vector<full_home>> full_homes();
  /// Ids of spreadsheets, and the names of their sheets.
  [[nodiscard]] result<std::vector<std::pair<std::string, std::vector<std::string>>>> sheets();

  // Writing.

  [[nodiscard]] result<void> apply(const update_batch& batch);
  /// Replaces the list of shared drives.
  [[nodiscard]] result<void> put_drives(const std::vector<drive::shared_drive>& drives);
  /// Stores the id of the root folder. If another one was stored, deletes all data of that account.
  [[nodiscard]] result<void> put_root_id(const std::string& id);
  [[nodiscard]] result<void> put_account_id(const std::string& id);
  /// Replaces the list of homes with more files than the limit.
  [[nodiscard]] result<void> put_full_homes(const std::vector<full_home>& homes);
  /// Deletes all files of a home with their contents, and its position.
  [[nodiscard]] result<void> remove_home(const std::string& home);
  /// Stores the names of a spreadsheet's sheets. `id`: of the spreadsheet.
  [[nodiscard]] result<void> put_sheets(const std::string& id, const std::vector<std::string>& names);

  /// Records whether Google denies access to the account. While it does, `content` returns nothing, even after a restart.
  [[nodiscard]] result<void> set_access_denied(bool is_denied);

  // Cached contents. `id`: of the file. `part`: which content of the file.

  /// Deletes all cached contents of a file.
  [[nodiscard]] result<void> remove_contents(const std::string& id);
  /// Returns a cached content, of any version. nullopt: there is none, or access is denied.
  [[nodiscard]] result<std::optional<cached_content>> content(const std::string& id, std::string_view part);
  /// Caches a content, unless it is larger than an eighth of the limit.
  [[nodiscard]] result<void> put_content(const std::string& id, std::string_view part, const cached_content& cached);
  /// Size of all cached contents.
  [[nodiscard]] std::uint64_t content_bytes() const;

 private:
  drive_store(std::string path, std::uint64_t max_content_bytes, std::function<void(std::string_view)> log)
      : path_(std::move(path)), max_content_bytes_(max_content_bytes), log_(std::move(log)) {}
  /// Empty path: in memory.
  [[nodiscard]] result<void> open_database(const std::string& path);

  // Call these functions with `mutex_` held.

  [[nodiscard]] result<void> put(const std::vector<shared_item>& items, std::int64_t generation);
  [[nodiscard]] result<void> remove_file(const std::string& id);
  /// Returns a named text of the table `facts`. Empty: it is not stored.
  [[nodiscard]] result<std::string> property(const char* name);
  [[nodiscard]] result<void> put_property(const char* name, const std::string& text);
  /// Runs one statement. `parameter`: the value of its first parameter; an empty one is not bound.
  [[nodiscard]] result<void> execute(const char* sql, std::optional<std::string_view> parameter = std::nullopt);
  /// Removes cached contents until they fit the limit.
  [[nodiscard]] result<void> evict();
  /// Computes `content_bytes_` from the database.
  [[nodiscard]] result<void> update_content_bytes();

  const std::string path_;
  const std::uint64_t max_content_bytes_;
  const std::function<void(std::string_view)> log_;
  mutable std::mutex mutex_;
  sqlite::owned_file file_;
  std::uint64_t content_bytes_ = 0;
  bool is_access_denied_ = false;
};

}  // namespace hondana::gdrive
