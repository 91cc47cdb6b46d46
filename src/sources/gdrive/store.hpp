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

/// How far one home (`item::home`) has been listed and followed.
struct sync_position {
  std::string home{};
  std::string start_page_token{};   ///< The page token for the next request for changes.
  std::string crawl_start_token{};  ///< The value that `start_page_token` gets when the listing in progress ends.
  std::string next_page_token{};    ///< The next page of the listing; empty: the first.
  std::int64_t generation = 0;      ///< Number of the full listing, growing. Files that it has seen carry it.
  bool is_crawled = false;          ///< A full listing has completed once.
  bool is_crawling = false;
  bool is_behind = false;  ///< Changes have not been read up to the end. They may add folders of files that are known.

  bool operator==(const sync_position&) const = default;
};

/// Changes that are stored in one transaction.
struct update_batch {
  std::vector<shared_item> upserts{};
  std::int64_t generation = 0;  ///< The listing generation of `upserts`.
  std::vector<std::string> removed_ids{};
  std::optional<sync_position> position{};
  std::vector<std::string> folders_to_list{};  ///< Folders whose children are to be listed.
  std::vector<std::string> listed_folders{};
};

/// A cached content.
struct cached_content {
  std::string version{};
  std::string mime_type{};
  shared_bytes bytes{};
  std::chrono::system_clock::time_point read_at{};
  bool uses_export_link = false;  ///< As `fetch_result::uses_export_link`.
};

/// A home with more files than the limit.
struct full_home {
  std::string home{};
  std::size_t max_files = 0;  ///< The limit of that listing; 0: stored by a version that did not record it.

  bool operator==(const full_home&) const = default;
};

/// The persistent store: an SQLite file, or memory. Calls take microseconds to milliseconds. Errors of all: source_unavailable.
/// Threads: any.
class drive_store {
 public:
  /// Creates the folder; `open` opens the file. `path` empty: in memory. `max_content_bytes`: limit of all cached contents in
  /// bytes; the least recently used are removed first.
  [[nodiscard]] static result<std::shared_ptr<drive_store>> create(const std::string& path, std::uint64_t max_content_bytes,
                                                                   std::function<void(std::string_view)> log);
  /// Opens the file. Must come before all calls except those for contents. Waits a few seconds for a process that holds the
  /// file. If that fails, or the file cannot be opened, logs it and uses memory instead. Errors: cancelled.
  [[nodiscard]] result<void> open(const std::stop_token& stop);
  /// Closes the file, so that another source can open it. The store is empty until the next `open`.
  [[nodiscard]] result<void> close();

  /// `for_each_item` to `sheets`: read what is stored. `folders_to_list`: folders whose children are to be listed.
  [[nodiscard]] result<void> for_each_item(const std::function<void(shared_item, std::int64_t generation)>& visitor);
  [[nodiscard]] result<std::vector<sync_position>> positions();
  [[nodiscard]] result<std::vector<std::string>> folders_to_list();
  [[nodiscard]] result<std::vector<drive::shared_drive>> drives();
  /// The id of the user's own root folder; empty: not known yet.
  [[nodiscard]] result<std::string> root_id();
  /// The account when the root was last read, as returned by `follower_options::account_id`; empty: not known.
  [[nodiscard]] result<std::string> account_id();
  /// Homes with more files than the limit, as last stored.
  [[nodiscard]] result<std::vector<full_home>> full_homes();
  /// Names of the sheets of workbooks, by id.
  [[nodiscard]] result<std::vector<std::pair<std::string, std::vector<std::string>>>> sheets();

  [[nodiscard]] result<void> apply(const update_batch& batch);
  [[nodiscard]] result<void> put_drives(const std::vector<drive::shared_drive>& drives);
  /// Stores the root's id. If it differs from the stored one, everything else is deleted.
  [[nodiscard]] result<void> put_root_id(const std::string& id);
  [[nodiscard]] result<void> put_account_id(const std::string& id);
  [[nodiscard]] result<void> put_full_homes(const std::vector<full_home>& homes);
  /// Deletes all stored data of a drive that is no longer followed.
  [[nodiscard]] result<void> remove_home(const std::string& home);
  [[nodiscard]] result<void> put_sheets(const std::string& id, const std::vector<std::string>& names);

  /// Records whether Google denies access to the account. While it does, no cached contents are served, even after a restart.
  [[nodiscard]] result<void> set_access_denied(bool is_denied);
  /// Deletes the cached contents of a file that Drive no longer gives access to.
  [[nodiscard]] result<void> remove_contents(const std::string& id);
  /// A cached content. `part`: which part of the file. Empty before `open`.
  [[nodiscard]] result<std::optional<cached_content>> content(const std::string& id, std::string_view part);
  /// Caches a content, unless it is larger than an eighth of the limit.
  [[nodiscard]] result<void> put_content(const std::string& id, std::string_view part, const cached_content& cached);
  [[nodiscard]] std::uint64_t content_bytes() const;

 private:
  drive_store(std::string path, std::uint64_t max_content_bytes, std::function<void(std::string_view)> log)
      : path_(std::move(path)), max_content_bytes_(max_content_bytes), log_(std::move(log)) {}
  [[nodiscard]] result<void> open_database(const std::string& path);
  [[nodiscard]] result<void> put(const std::vector<shared_item>& items, std::int64_t generation);
  [[nodiscard]] result<void> remove_file(const std::string& id);
  [[nodiscard]] result<std::string> property(const char* name);
  [[nodiscard]] result<void> put_property(const char* name, const std::string& text);
  [[nodiscard]] result<void> execute(const char* sql, std::string_view parameter = {});
  [[nodiscard]] result<void> evict();
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
