/// Stores the state of the Drive copy: files, positions in change logs, and cached contents.
#include "sources/gdrive/store.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <utility>

#include <hondana/clock.hpp>
#include <hondana/value.hpp>

#include "os/disk/private_file.hpp"

namespace hondana::gdrive {
namespace {

constexpr const char* schema = R"(
CREATE TABLE files(id TEXT PRIMARY KEY, name TEXT NOT NULL, mime TEXT NOT NULL, parent TEXT NOT NULL, home TEXT NOT NULL, version TEXT NOT NULL, content TEXT NOT NULL, owner TEXT NOT NULL, link TEXT NOT NULL, key TEXT NOT NULL, target TEXT NOT NULL, target_type TEXT NOT NULL, target_key TEXT NOT NULL, size INTEGER NOT NULL, modified INTEGER NOT NULL, created INTEGER NOT NULL, trashed INTEGER NOT NULL, starred INTEGER NOT NULL, generation INTEGER NOT NULL, barred INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE positions(home TEXT PRIMARY KEY, start TEXT NOT NULL, crawl_start TEXT NOT NULL, next_page TEXT NOT NULL, generation INTEGER NOT NULL, crawled INTEGER NOT NULL, crawling INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE drives(id TEXT PRIMARY KEY, name TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE looks(id TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE facts(name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE sheets(id TEXT PRIMARY KEY, names TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE contents(id TEXT NOT NULL, part TEXT NOT NULL, version TEXT NOT NULL, mime TEXT NOT NULL, read_at INTEGER NOT NULL, used INTEGER NOT NULL, size INTEGER NOT NULL, bytes BLOB NOT NULL, by_link INTEGER NOT NULL, UNIQUE(id, part));
CREATE INDEX contents_by_use ON contents(used);
)";

/// Marks an absent number. No size or time in Drive has this value.
constexpr std::int64_t absent_number = std::numeric_limits<std::int64_t>::min();

/// Bits of the column `crawling` of positions.
constexpr std::int64_t crawling_bit = 1;
constexpr std::int64_t behind_bit = 2;

constexpr sqlite::file_kind store_kind{
    .name = "Drive cache",
    .purpose = "cache Drive files",
    .in_use_reason = "another process uses it for its Drive cache",
    .application_id = 0x68676472,  // "hgdr"
    .schema_version = 2,
    .schema = schema,
    .setup = "PRAGMA page_size=4096; PRAGMA auto_vacuum=INCREMENTAL",
    .settings =
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA journal_size_limit=16777216; "
        "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-4096",
    .replaces_older = true,
};

std::string text_column(const sqlite::statement& statement, int column) { return std::string(statement.bytes(column)); }

std::optional<drive::time> time_column(const sqlite::statement& statement, int column) {
  if (statement.number(column) == absent_number) return std::nullopt;
  return drive::time(std::chrono::milliseconds(statement.number(column)));
}

shared_item read_item(const sqlite::statement& statement) {
  item created;
  created.id = text_column(statement, 0);
  created.name = text_column(statement, 1);
  created.mime_type = text_column(statement, 2);
  created.parent = text_column(statement, 3);
  created.home = text_column(statement, 4);
  created.version = text_column(statement, 5);
  created.content_version = text_column(statement, 6);
  created.owner = text_column(statement, 7);
  created.web_link = text_column(statement, 8);
  created.resource_key = text_column(statement, 9);
  created.target = text_column(statement, 10);
  created.target_type = text_column(statement, 11);
  created.target_key = text_column(statement, 12);
  if (statement.number(13) != absent_number) created.size = static_cast<std::uint64_t>(statement.number(13));
  created.modified = time_column(statement, 14);
  created.created = time_column(statement, 15);
  created.is_trashed = statement.number(16) != 0;
  created.is_starred = statement.number(17) != 0;
  created.is_download_denied = statement.number(19) != 0;
  return std::make_shared<const item>(std::move(created));
}

/// Calls `visitor` for each row.
result<void> for_each_row(sqlite::connection& database, const char* sql,
                          const std::function<void(const sqlite::statement&)>& visitor) {
  HONDANA_TRY(auto statement, database.prepare(sql));
  for (;;) {
    HONDANA_TRY(const auto has_row, statement.step());
    if (!has_row) return {};
    visitor(statement);
  }
}

}  // namespace

result<std::shared_ptr<drive_store>> drive_store::create(const std::string& path, std::uint64_t max_content_bytes,
                                                         std::function<void(std::string_view)> log) {
  if (!path.empty()) {
    const auto folder = std::filesystem::path(path).parent_path().string();
    HONDANA_TRY(disk::make_private_folder(folder));
  }
  return std::shared_ptr<drive_store>(new drive_store(path, max_content_bytes, std::move(log)));
}

result<void> drive_store::open_database(const std::string& path) {
  HONDANA_TRY(auto file, sqlite::open_owned(path, store_kind, log_));
  const std::lock_guard lock(mutex_);
  file_ = std::move(file);
  HONDANA_TRY(auto denial, property("refused"));
  is_access_denied_ = is_access_denied_ || !denial.empty();
  HONDANA_TRY(update_content_bytes());
  // The limit may be lower than before.
  return content_bytes_ > max_content_bytes_ ? evict() : result<void>();
}

result<void> drive_store::open(const std::stop_token& stop) {
  // Each attempt waits a second for the process that holds the file. A reconfigured source releases its file within that time.
  constexpr int attempts = 5;
  result<void> opened;
  for (int i = 0; i < attempts; ++i) {
    if (stop.stop_requested()) return fail(errc::cancelled, "The source was stopped.");
    const auto start = monotonic_clock::now();
    opened = open_database(path_);
    if (opened) return opened;
    // An attempt that failed without waiting will fail again.
    if (monotonic_clock::now() - start < std::chrono::milliseconds(500)) break;
  }
  if (log_)
    log_(opened.error().public_text + "; the Drive cache stays in memory until the next restart (" +
         opened.error().private_text + ')');
  return open_database({});
}

result<void> drive_store::close() { return open_database({}); }

result<void> drive_store::for_each_item(const std::function<void(shared_item, std::int64_t)>& visitor) {
  const std::lock_guard lock(mutex_);
  return for_each_row(
      file_.writer,
      "SELECT id, name, mime, parent, home, version, content, owner, link, key, target, target_type, target_key, "
      "size, modified, created, trashed, starred, generation, barred FROM files",
      [&visitor](const auto& row) { visitor(read_item(row), row.number(18)); });
}

result<std::vector<sync_position>> drive_store::positions() {
  const std::lock_guard lock(mutex_);
  std::vector<sync_position> out;
  auto status = for_each_row(
      file_.writer, "SELECT home, start, crawl_start, next_page, generation, crawled, crawling FROM positions",
      [&out](const auto& row) {
        out.push_back({text_column(row, 0), text_column(row, 1), text_column(row, 2), text_column(row, 3), row.number(4),
                       row.number(5) != 0, (row.number(6) & crawling_bit) != 0, (row.number(6) & behind_bit) != 0});
      });
  if (!status) return tl::unexpected(std::move(status.error()));
  return out;
}

result<std::vector<std::string>> drive_store::folders_to_list() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  auto status =
      for_each_row(file_.writer, "SELECT id FROM looks", [&out](const auto& row) { out.push_back(text_column(row, 0)); });
  if (!status) return tl::unexpected(std::move(status.error()));
  return out;
}

result<std::vector<drive::shared_drive>> drive_store::drives() {
  const std::lock_guard lock(mutex_);
  std::vector<drive::shared_drive> out;
  auto status = for_each_row(file_.writer, "SELECT id, name FROM drives ORDER BY id", [&out](const auto& row) {
    drive::shared_drive entry;
    entry.id = text_column(row, 0);
    entry.name = text_column(row, 1);
    out.push_back(std::move(entry));
  });
  if (!status) return tl::unexpected(std::move(status.error()));
  return out;
}

result<std::string> drive_store::root_id() {
  const std::lock_guard lock(mutex_);
  return property("root");
}

result<std::string> drive_store::account_id() {
  const std::lock_guard lock(mutex_);
  return property("who");
}

result<void> drive_store::put_account_id(const std::string& id) {
  const std::lock_guard lock(mutex_);
  return put_property("who", id);
}

result<std::vector<full_home>> drive_store::full_homes() {
  const std::lock_guard lock(mutex_);
  const auto stored = property("full");
  if (!stored) return tl::unexpected(stored.error());
  std::vector<full_home> homes;
  for (std::string_view remaining = *stored; !remaining.empty();) {
    const auto end = std::min(remaining.find('\n'), remaining.size());
    const auto line = remaining.substr(0, end);
    remaining.remove_prefix(std::min(end + 1, remaining.size()));
    const auto blank = std::min(line.find(' '), line.size());
    full_home entry{std::string(line.substr(0, blank)), 0};
    if (blank < line.size()) std::from_chars(line.data() + blank + 1, line.data() + line.size(), entry.max_files);
    homes.push_back(std::move(entry));
  }
  return homes;
}

result<void> drive_store::put_full_homes(const std::vector<full_home>& homes) {
  // My Drive's home is "", and no home contains a blank.
  std::string text;
  for (const auto& entry : homes) text += entry.home + ' ' + std::to_string(entry.max_files) + '\n';
  const std::lock_guard lock(mutex_);
  return put_property("full", text);
}

result<void> drive_store::set_access_denied(bool is_denied) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(is_access_denied_, is_denied) == is_denied || !file_.writer.is_open()) return {};
  return put_property("refused", is_denied ? "yes" : "");
}

result<std::string> drive_store::property(const char* name) {
  HONDANA_TRY(auto statement, file_.writer.prepare("SELECT value FROM facts WHERE name=?"));
  HONDANA_TRY(const auto has_row, statement.bind_text(1, name).step());
  return has_row ? text_column(statement, 0) : std::string();
}

result<void> drive_store::put_property(const char* name, const std::string& text) {
  auto statement = file_.writer.prepare("INSERT OR REPLACE INTO facts VALUES(?,?)");
  if (!statement) return tl::unexpected(std::move(statement.error()));
  return statement->bind_text(1, name).bind_text(2, text).execute();
}

result<std::vector<std::pair<std::string, std::vector<std::string>>>> drive_store::sheets() {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, std::vector<std::string>>> out;
  auto status = for_each_row(file_.writer, "SELECT id, names FROM sheets", [&out](const auto& row) {
    const auto parsed = value::parse(row.bytes(1));
    if (!parsed || parsed->as_array() == nullptr) return;  // the next read finds them again
    std::vector<std::string> names;
    for (const auto& element : *parsed->as_array()) {
      if (const auto* name = element.as_string()) names.push_back(*name);
    }
    out.emplace_back(text_column(row, 0), std::move(names));
  });
  if (!status) return tl::unexpected(std::move(status.error()));
  return out;
}

result<void> drive_store::execute(const char* sql, std::optional<std::string_view> parameter) {
  auto statement = file_.writer.prepare(sql);
  if (!statement) return tl::unexpected(std::move(statement.error()));
  if (parameter) statement->bind_text(1, *parameter);
  return statement->execute();
}

result<void> drive_store::put(const std::vector<shared_item>& items, std::int64_t generation) {
  HONDANA_TRY(auto statement,
              file_.writer.prepare("INSERT OR REPLACE INTO files VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  const auto number_of = [](const std::optional<drive::time>& time) {
    return time ? std::int64_t{time->time_since_epoch().count()} : absent_number;
  };
  for (const auto& shared : items) {
    const auto& item = *shared;
    statement.bind_text(1, item.id).bind_text(2, item.name).bind_text(3, item.mime_type).bind_text(4, item.parent);
    statement.bind_text(5, item.home).bind_text(6, item.version).bind_text(7, item.content_version).bind_text(8, item.owner);
    statement.bind_text(9, item.web_link).bind_text(10, item.resource_key).bind_text(11, item.target);
    statement.bind_text(12, item.target_type).bind_text(13, item.target_key);
    statement.bind(14, item.size ? static_cast<std::int64_t>(*item.size) : absent_number);
    statement.bind(15, number_of(item.modified)).bind(16, number_of(item.created));
    statement.bind(17, std::int64_t{item.is_trashed}).bind(18, std::int64_t{item.is_starred}).bind(19, generation);
    statement.bind(20, std::int64_t{item.is_download_denied});
    HONDANA_TRY(statement.execute());
    if (!item.is_download_denied) continue;
    HONDANA_TRY(execute("DELETE FROM contents WHERE id=?", item.id));
  }
  return {};
}

result<void> drive_store::remove_file(const std::string& id) {
  for (const auto* sql : {"DELETE FROM files WHERE id=?", "DELETE FROM sheets WHERE id=?", "DELETE FROM contents WHERE id=?",
                          "DELETE FROM looks WHERE id=?"}) {
    HONDANA_TRY(execute(sql, id));
  }
  return {};
}

result<void> drive_store::apply(const update_batch& batch) {
  const std::lock_guard lock(mutex_);
  HONDANA_TRY(auto writing, sqlite::transaction::begin(file_.writer));
  HONDANA_TRY(put(batch.upserts, batch.generation));
  for (const auto& id : batch.removed_ids) {
    HONDANA_TRY(remove_file(id));
  }
  for (const auto& id : batch.folders_to_list) {
    HONDANA_TRY(execute("INSERT OR IGNORE INTO looks VALUES(?)", id));
  }
  for (const auto& id : batch.listed_folders) {
    HONDANA_TRY(execute("DELETE FROM looks WHERE id=?", id));
  }
  if (batch.position) {
    HONDANA_TRY(auto statement, file_.writer.prepare("INSERT OR REPLACE INTO positions VALUES(?,?,?,?,?,?,?)"));
    statement.bind_text(1, batch.position->home)
        .bind_text(2, batch.position->start_page_token)
        .bind_text(3, batch.position->crawl_start_token);
    statement.bind_text(4, batch.position->next_page_token).bind(5, batch.position->generation);
    statement.bind(6, std::int64_t{batch.position->is_crawled});
    statement.bind(7, (batch.position->is_crawling ? crawling_bit : 0) | (batch.position->is_behind ? behind_bit : 0));
    HONDANA_TRY(statement.execute());
  }
  HONDANA_TRY(writing.commit());
  const bool has_barred =
      std::any_of(batch.upserts.begin(), batch.upserts.end(), [](const auto& item) { return item->is_download_denied; });
  return batch.removed_ids.empty() && !has_barred ? result<void>() : update_content_bytes();
}

result<void> drive_store::put_drives(const std::vector<drive::shared_drive>& drives) {
  const std::lock_guard lock(mutex_);
  auto writing = sqlite::transaction::begin(file_.writer);
  if (!writing) return tl::unexpected(std::move(writing.error()));
  HONDANA_TRY(execute("DELETE FROM drives"));
  for (const auto& drive : drives) {
    HONDANA_TRY(auto statement, file_.writer.prepare("INSERT OR REPLACE INTO drives VALUES(?,?)"));
    HONDANA_TRY(statement.bind_text(1, drive.id).bind_text(2, drive.name).execute());
  }
  return writing->commit();
}

result<void> drive_store::put_root_id(const std::string& id) {
  const std::lock_guard lock(mutex_);
  HONDANA_TRY(auto writing, sqlite::transaction::begin(file_.writer));
  HONDANA_TRY(const auto previous, property("root"));
  if (previous == id) return {};
  if (!previous.empty()) {
    for (const auto* sql : {"DELETE FROM files", "DELETE FROM positions", "DELETE FROM drives", "DELETE FROM looks",
                            "DELETE FROM sheets", "DELETE FROM contents", "DELETE FROM facts WHERE name='full'"}) {
      HONDANA_TRY(execute(sql));
    }
  }
  HONDANA_TRY(put_property("root", id));
  HONDANA_TRY(writing.commit());
  return update_content_bytes();
}

result<void> drive_store::remove_home(const std::string& home) {
  const std::lock_guard lock(mutex_);
  HONDANA_TRY(auto writing, sqlite::transaction::begin(file_.writer));
  for (const auto* sql : {"DELETE FROM contents WHERE id IN (SELECT id FROM files WHERE home=?)",
                          "DELETE FROM sheets WHERE id IN (SELECT id FROM files WHERE home=?)",
                          "DELETE FROM looks WHERE id IN (SELECT id FROM files WHERE home=?)", "DELETE FROM files WHERE home=?",
                          "DELETE FROM positions WHERE home=?"}) {
    HONDANA_TRY(execute(sql, home));
  }
  HONDANA_TRY(writing.commit());
  return update_content_bytes();
}

namespace {

/// The largest content that is cached, as a fraction of the limit: one eighth.
constexpr std::uint64_t content_size_divisor = 8;

std::int64_t to_milliseconds(std::chrono::system_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

}  // namespace

result<void> drive_store::update_content_bytes() {
  HONDANA_TRY(auto sum, file_.writer.number("SELECT coalesce(sum(size), 0) FROM contents"));
  content_bytes_ = static_cast<std::uint64_t>(sum);
  return {};
}

std::uint64_t drive_store::content_bytes() const {
  const std::lock_guard lock(mutex_);
  return content_bytes_;
}

result<void> drive_store::put_sheets(const std::string& id, const std::vector<std::string>& names) {
  const std::lock_guard lock(mutex_);
  auto statement = file_.writer.prepare("INSERT OR REPLACE INTO sheets VALUES(?,?)");
  if (!statement) return tl::unexpected(std::move(statement.error()));
  value::array values;
  values.reserve(names.size());
  for (const auto& name : names) values.emplace_back(name);
  const auto text = value(std::move(values)).to_text();
  return statement->bind_text(1, id).bind_text(2, text).execute();
}

result<void> drive_store::remove_contents(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (!file_.writer.is_open()) return {};
  HONDANA_TRY(execute("DELETE FROM contents WHERE id=?", id));
  return update_content_bytes();
}

result<std::optional<cached_content>> drive_store::content(const std::string& id, std::string_view part) {
  const std::lock_guard lock(mutex_);
  if (!file_.writer.is_open() || is_access_denied_) return std::optional<cached_content>();
  HONDANA_TRY(auto statement,
              file_.writer.prepare("SELECT version, mime, read_at, bytes, by_link FROM contents WHERE id=? AND part=?"));
  HONDANA_TRY(const auto has_row, statement.bind_text(1, id).bind_text(2, part).step());
  if (!has_row) return std::optional<cached_content>();
  cached_content cached;
  cached.version = statement.bytes(0);
  cached.mime_type = statement.bytes(1);
  cached.read_at = std::chrono::system_clock::time_point(std::chrono::milliseconds(statement.number(2)));
  cached.bytes = std::make_shared<const std::string>(statement.bytes(3));
  cached.uses_export_link = statement.number(4) != 0;
  statement.reset();
  HONDANA_TRY(auto update, file_.writer.prepare("UPDATE contents SET used=? WHERE id=? AND part=?"));
  const auto now = to_milliseconds(std::chrono::system_clock::now());
  HONDANA_TRY(update.bind(1, now).bind_text(2, id).bind_text(3, part).execute());
  return std::optional(std::move(cached));
}

result<void> drive_store::evict() {
  while (content_bytes_ > max_content_bytes_) {
    HONDANA_TRY(auto oldest, file_.writer.prepare("SELECT rowid, size FROM contents ORDER BY used LIMIT 1"));
    HONDANA_TRY(const auto has_row, oldest.step());
    if (!has_row) return {};
    const auto row = oldest.number(0);
    const auto size = static_cast<std::uint64_t>(oldest.number(1));
    oldest.reset();
    HONDANA_TRY(auto deletion, file_.writer.prepare("DELETE FROM contents WHERE rowid=?"));
    HONDANA_TRY(deletion.bind(1, row).execute());
    content_bytes_ -= std::min(content_bytes_, size);
  }
  return file_.writer.execute("PRAGMA incremental_vacuum(256)");
}

result<void> drive_store::put_content(const std::string& id, std::string_view part, const cached_content& cached) {
  if (cached.bytes->size() > max_content_bytes_ / content_size_divisor) return {};
  const std::lock_guard lock(mutex_);
  if (!file_.writer.is_open()) return {};
  HONDANA_TRY(auto deletion, file_.writer.prepare("DELETE FROM contents WHERE id=? AND part=?"));
  HONDANA_TRY(deletion.bind_text(1, id).bind_text(2, part).execute());
  HONDANA_TRY(auto insertion, file_.writer.prepare("INSERT INTO contents VALUES(?,?,?,?,?,?,?,?,?)"));
  insertion.bind_text(1, id).bind_text(2, part).bind_text(3, cached.version).bind_text(4, cached.mime_type);
  insertion.bind(5, to_milliseconds(cached.read_at)).bind(6, to_milliseconds(std::chrono::system_clock::now()));
  insertion.bind(7, static_cast<std::int64_t>(cached.bytes->size())).bind(8, std::string_view(*cached.bytes));
  insertion.bind(9, std::int64_t{cached.uses_export_link});
  HONDANA_TRY(insertion.execute());
  HONDANA_TRY(update_content_bytes());
  return evict();
}

}  // namespace hondana::gdrive
