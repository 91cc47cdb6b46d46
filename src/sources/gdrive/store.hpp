/// The store of what is known of Drive: files, positions in change logs, and cached contents.
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

/// How far one home (`item::home`) is known.
struct position {
  std::string home{};
  std::string start{};          ///< The token that changes are asked with.
  std::string crawl_start{};    ///< The one that will be, once the crawl under way has ended.
  std::string next_page{};      ///< Of the crawl; empty: its first.
  std::int64_t generation = 0;  ///< Of the crawl, growing; what it saw has it.
  bool is_crawled = false;      ///< It was seen whole once.
  bool is_crawling = false;
  bool is_behind = false;  ///< Changes are still to be asked for, folders perhaps among them, that what is known lies in.

  bool operator==(const position&) const = default;
};

/// What changes at once, or not at all.
struct batch {
  std::vector<shared_item> put{};
  std::int64_t generation = 0;  ///< Of what is put.
  std::vector<std::string> gone{};
  std::optional<position> at{};
  std::vector<std::string> looks_begun{};  ///< Folders whose children are to be listed.
  std::vector<std::string> looks_done{};
};

/// A content as it was once read.
struct kept_content {
  std::string version{};
  std::string mime_type{};
  shared_bytes bytes{};
  std::chrono::system_clock::time_point read_at{};
  bool is_by_link = false;  ///< As `fetched::is_by_link`.
};

/// A home with more files than are kept.
struct full_home {
  std::string home{};
  std::size_t most_files = 0;  ///< That it was listed with; 0: a store from before this was kept.

  bool operator==(const full_home&) const = default;
};

/// One file of SQLite, or memory. Calls take microseconds to milliseconds. Errors of all: source_unavailable. Threads: any.
class kept {
 public:
  /// Makes the folder; the file is opened by `begin`. `path` empty: in memory. `most_content`: bytes of contents together;
  /// those used longest ago go first.
  [[nodiscard]] static result<std::shared_ptr<kept>> make(const std::string& path, std::uint64_t most_content,
                                                          std::function<void(std::string_view)> log);
  /// Opens it, before anything else is asked but contents. Waits a few seconds for another that has it; when that does not let
  /// it go, or it cannot be had at all, what is kept is in memory this time, which the log says. Errors: cancelled.
  [[nodiscard]] result<void> begin(const std::stop_token& stop);
  /// Another may open it; until it is begun again there is nothing kept.
  [[nodiscard]] result<void> let_go();

  [[nodiscard]] result<void> each(const std::function<void(shared_item, std::int64_t generation)>& take);
  [[nodiscard]] result<std::vector<position>> positions();
  [[nodiscard]] result<std::vector<std::string>> looks();
  [[nodiscard]] result<std::vector<drive::shared_drive>> drives();
  /// The id of the folder that is the user's own drive; empty: not known yet.
  [[nodiscard]] result<std::string> root();
  /// Who asked Drive when the root was seen last, as `follower_options::who` spells it; empty: not known.
  [[nodiscard]] result<std::string> who();
  /// Homes with more files than are kept, as they were put last.
  [[nodiscard]] result<std::vector<full_home>> full();
  /// Names of the sheets of workbooks, by their ids.
  [[nodiscard]] result<std::vector<std::pair<std::string, std::vector<std::string>>>> sheets();

  [[nodiscard]] result<void> apply(const batch& what);
  [[nodiscard]] result<void> put_drives(const std::vector<drive::shared_drive>& all);
  /// Everything else is forgotten when it is another than before.
  [[nodiscard]] result<void> put_root(const std::string& id);
  [[nodiscard]] result<void> put_who(const std::string& spelled);
  [[nodiscard]] result<void> put_full(const std::vector<full_home>& homes);
  /// A drive that is not ours any more.
  [[nodiscard]] result<void> forget_home(const std::string& home);
  [[nodiscard]] result<void> put_sheets(const std::string& id, const std::vector<std::string>& names);

  /// Google does not let us in, or does again: no contents are given meanwhile, whoever restarts what.
  [[nodiscard]] result<void> set_refused(bool is_so);
  /// Of a file that is not given to us any more.
  [[nodiscard]] result<void> forget_contents(const std::string& id);
  /// `part`: what of the file. Nothing before `begin`.
  [[nodiscard]] result<std::optional<kept_content>> content(const std::string& id, std::string_view part);
  /// What is longer than an eighth of all is not kept.
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
