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
struct position {
  std::string home{};
  std::string start{};          ///< The page token for the next request for changes.
  std::string crawl_start{};    ///< The value that `start` gets when the listing in progress ends.
  std::string next_page{};      ///< The next page of the listing; empty: the first.
  std::int64_t generation = 0;  ///< Number of the full listing, growing. Files that it has seen carry it.
  bool is_crawled = false;      ///< A full listing has completed once.
  bool is_crawling = false;
  bool is_behind = false;  ///< Changes have not been read up to the end. They may add folders of files that are known.

  bool operator==(const position&) const = default;
};

/// Changes that are stored in one transaction.
struct batch {
  std::vector<shared_item> put{};
  std::int64_t generation = 0;  ///< The listing generation of `put`.
  std::vector<std::string> gone{};
  std::optional<position> at{};
  std::vector<std::string> looks_begun{};  ///< Folders whose children are to be listed.
  std::vector<std::string> looks_done{};
};

/// A cached content.
struct kept_content {
  std::string version{};
  std::string mime_type{};
  shared_bytes bytes{};
  std::chrono::system_clock::time_point read_at{};
  bool is_by_link = false;  ///< As `fetched::is_by_link`.
};

/// A home with more files than the limit.
struct full_home {
  std::string home{};
  std::size_t most_files = 0;  ///< The limit of that listing; 0: stored by a version that did not record it.

  bool operator==(const full_home&) const = default;
};

/// The persistent store: an SQLite file, or memory. Calls take microseconds to milliseconds. Errors of all: source_unavailable.
/// Threads: any.
class kept {
 public:
  /// Creates the folder; `begin` opens the file. `path` empty: in memory. `most_content`: limit of all cached contents in
  /// bytes; the least recently used are removed first.
  [[nodiscard]] static result<std::shared_ptr<kept>> make(const std::string& path, std::uint64_t most_content,
                                                          std::function<void(std::string_view)> log);
  /// Opens the file. Must come before all calls except those for contents. Waits a few seconds for a process that holds the
  /// file. If that fails, or the file cannot be opened, logs it and uses memory instead. Errors: cancelled.
  [[nodiscard]] result<void> begin(const std::stop_token& stop);
  /// Closes the file, so that another source can open it. The store is empty until the next `begin`.
  [[nodiscard]] result<void> let_go();

  /// `each` to `sheets`: read what is stored. `looks`: folders whose children are to be listed.
  [[nodiscard]] result<void> each(const std::function<void(shared_item, std::int64_t generation)>& take);
  [[nodiscard]] result<std::vector<position>> positions();
  [[nodiscard]] result<std::vector<std::string>> looks();
  [[nodiscard]] result<std::vector<drive::shared_drive>> drives();
  /// The id of the user's own root folder; empty: not known yet.
  [[nodiscard]] result<std::string> root();
  /// The account when the root was last read, as returned by `follower_options::who`; empty: not known.
  [[nodiscard]] result<std::string> who();
  /// Homes with more files than the limit, as last stored.
  [[nodiscard]] result<std::vector<full_home>> full();
  /// Names of the sheets of workbooks, by id.
  [[nodiscard]] result<std::vector<std::pair<std::string, std::vector<std::string>>>> sheets();

  [[nodiscard]] result<void> apply(const batch& what);
  [[nodiscard]] result<void> put_drives(const std::vector<drive::shared_drive>& all);
  /// Stores the root's id. If it differs from the stored one, everything else is deleted.
  [[nodiscard]] result<void> put_root(const std::string& id);
  [[nodiscard]] result<void> put_who(const std::string& spelled);
  [[nodiscard]] result<void> put_full(const std::vector<full_home>& homes);
  /// Deletes all stored data of a drive that is no longer followed.
  [[nodiscard]] result<void> forget_home(const std::string& home);
  [[nodiscard]] result<void> put_sheets(const std::string& id, const std::vector<std::string>& names);

  /// Records whether Google denies access to the account. While it does, no cached contents are served, even after a restart.
  [[nodiscard]] result<void> set_refused(bool is_so);
  /// Deletes the cached contents of a file that Drive no longer gives access to.
  [[nodiscard]] result<void> forget_contents(const std::string& id);
  /// A cached content. `part`: which part of the file. Empty before `begin`.
  [[nodiscard]] result<std::optional<kept_content>> content(const std::string& id, std::string_view part);
  /// Caches a content, unless it is larger than an eighth of the limit.
  [[nodiscard]] result<void> put_content(const std::string& id, std::string_view part, const kept_content& what);
  [[nodiscard]] std::uint64_t content_bytes() const;

 private:
  kept(std::string path, std::uint64_t most_content, std::function<void(std::string_view)> log)
      : path_(std::move(path)), most_content_(most_content), log_(std::move(log)) {}
  [[nodiscard]] result<void> open(const std::string& path);
  [[nodiscard]] result<void> put(const std::vector<shared_item>& all, std::int64_t generation);
  [[nodiscard]] result<void> forget(const std::string& id);
  [[nodiscard]] result<std::string> fact(const char* name);
  [[nodiscard]] result<void> put_fact(const char* name, const std::string& spelled);
  [[nodiscard]] result<void> run(const char* sql, std::string_view first = {});
  [[nodiscard]] result<void> make_room();
  [[nodiscard]] result<void> count_content();

  const std::string path_;
  const std::uint64_t most_content_;
  const std::function<void(std::string_view)> log_;
  mutable std::mutex mutex_;
  sqlite::owned_file file_;
  std::uint64_t content_bytes_ = 0;
  bool is_refused_ = false;
};

}  // namespace hondana::gdrive
