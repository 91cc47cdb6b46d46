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
constexpr std::int64_t no_number = std::numeric_limits<std::int64_t>::min();

/// Bits of the column `crawling` of positions.
constexpr std::int64_t crawling_bit = 1;
constexpr std::int64_t behind_bit = 2;

constexpr sqlite::file_kind kind_of_kept{
    .what = "Drive cache",
    .purpose = "cache Drive files",
    .user = "another process uses it for its Drive cache",
    .application = 0x68676472,  // "hgdr"
    .version = 2,
    .schema = schema,
    .before = "PRAGMA page_size=4096; PRAGMA auto_vacuum=INCREMENTAL",
    .settings =
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA journal_size_limit=16777216; "
        "PRAGMA temp_store=MEMORY; PRAGMA cache_size=-4096",
    .replaces_older = true,
};

std::string text(const sqlite::statement& from, int column) { return std::string(from.bytes(column)); }

std::optional<drive::time> time_in(const sqlite::statement& from, int column) {
  if (from.number(column) == no_number) return std::nullopt;
  return drive::time(std::chrono::milliseconds(from.number(column)));
}

shared_item item_in(const sqlite::statement& from) {
  item made;
  made.id = text(from, 0);
  made.name = text(from, 1);
  made.mime_type = text(from, 2);
  made.parent = text(from, 3);
  made.home = text(from, 4);
  made.version = text(from, 5);
  made.content = text(from, 6);
  made.owner = text(from, 7);
  made.web_link = text(from, 8);
  made.resource_key = text(from, 9);
  made.target = text(from, 10);
  made.target_type = text(from, 11);
  made.target_key = text(from, 12);
  if (from.number(13) != no_number) made.size = static_cast<std::uint64_t>(from.number(13));
  made.modified = time_in(from, 14);
  made.created = time_in(from, 15);
  made.is_trashed = from.number(16) != 0;
  made.is_starred = from.number(17) != 0;
  made.is_barred = from.number(19) != 0;
  return std::make_shared<const item>(std::move(made));
}

/// Calls `take` for each row.
result<void> each_row(sqlite::connection& in, const char* sql, const std::function<void(const sqlite::statement&)>& take) {
  HONDANA_TRY(auto all, in.prepare(sql));
  for (;;) {
    HONDANA_TRY(const auto has_row, all.step());
    if (!has_row) return {};
    take(all);
  }
}

}  // namespace

result<std::shared_ptr<kept>> kept::make(const std::string& path, std::uint64_t most_content,
                                         std::function<void(std::string_view)> log) {
  if (!path.empty()) {
    const auto folder = std::filesystem::path(path).parent_path().string();
    HONDANA_TRY(disk::make_private_folder(folder));
  }
  return std::shared_ptr<kept>(new kept(path, most_content, std::move(log)));
}

result<void> kept::open(const std::string& path) {
  HONDANA_TRY(auto file, sqlite::open_owned(path, kind_of_kept, log_));
  const std::lock_guard lock(mutex_);
  file_ = std::move(file);
  HONDANA_TRY(auto refused, fact("refused"));
  is_refused_ = is_refused_ || !refused.empty();
  HONDANA_TRY(count_content());
  // The limit may be lower than before.
  return content_bytes_ > most_content_ ? make_room() : result<void>();
}

result<void> kept::begin(const std::stop_token& stop) {
  // Each attempt waits a second for the process that holds the file. A reconfigured source releases its file within that time.
  constexpr int attempts = 5;
  result<void> opened;
  for (int i = 0; i < attempts; ++i) {
    if (stop.stop_requested()) return fail(errc::cancelled, "The source was stopped.");
    const auto begun = monotonic_clock::now();
    opened = open(path_);
    if (opened) return opened;
    // An attempt that failed without waiting will fail again.
    if (monotonic_clock::now() - begun < std::chrono::milliseconds(500)) break;
  }
  if (log_)
    log_(opened.error().public_text + "; the Drive cache stays in memory until the next restart (" +
         opened.error().private_text + ')');
  return open({});
}

result<void> kept::let_go() { return open({}); }

result<void> kept::each(const std::function<void(shared_item, std::int64_t)>& take) {
  const std::lock_guard lock(mutex_);
  return each_row(file_.writer,
                  "SELECT id, name, mime, parent, home, version, content, owner, link, key, target, target_type, target_key, "
                  "size, modified, created, trashed, starred, generation, barred FROM files",
                  [&take](const auto& row) { take(item_in(row), row.number(18)); });
}

result<std::vector<position>> kept::positions() {
  const std::lock_guard lock(mutex_);
  std::vector<position> out;
  auto done =
      each_row(file_.writer, "SELECT home, start, crawl_start, next_page, generation, crawled, crawling FROM positions",
               [&out](const auto& row) {
                 out.push_back({text(row, 0), text(row, 1), text(row, 2), text(row, 3), row.number(4), row.number(5) != 0,
                                (row.number(6) & crawling_bit) != 0, (row.number(6) & behind_bit) != 0});
               });
  if (!done) return tl::unexpected(std::move(done.error()));
  return out;
}

result<std::vector<std::string>> kept::looks() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> out;
  auto done = each_row(file_.writer, "SELECT id FROM looks", [&out](const auto& row) { out.push_back(text(row, 0)); });
  if (!done) return tl::unexpected(std::move(done.error()));
  return out;
}

result<std::vector<drive::shared_drive>> kept::drives() {
  const std::lock_guard lock(mutex_);
  std::vector<drive::shared_drive> out;
  auto done = each_row(file_.writer, "SELECT id, name FROM drives", [&out](const auto& row) {
    drive::shared_drive one;
    one.id = text(row, 0);
    one.name = text(row, 1);
    out.push_back(std::move(one));
  });
  if (!done) return tl::unexpected(std::move(done.error()));
  return out;
}

result<std::string> kept::root() {
  const std::lock_guard lock(mutex_);
  return fact("root");
}

result<std::string> kept::who() {
  const std::lock_guard lock(mutex_);
  return fact("who");
}

result<void> kept::put_who(const std::string& spelled) {
  const std::lock_guard lock(mutex_);
  return put_fact("who", spelled);
}

result<std::vector<full_home>> kept::full() {
  const std::lock_guard lock(mutex_);
  const auto spelled = fact("full");
  if (!spelled) return tl::unexpected(spelled.error());
  std::vector<full_home> homes;
  for (std::string_view rest = *spelled; !rest.empty();) {
    const auto end = std::min(rest.find('\n'), rest.size());
    const auto one = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const auto blank = std::min(one.find(' '), one.size());
    full_home made{std::string(one.substr(0, blank)), 0};
    if (blank < one.size()) std::from_chars(one.data() + blank + 1, one.data() + one.size(), made.most_files);
    homes.push_back(std::move(made));
  }
  return homes;
}

result<void> kept::put_full(const std::vector<full_home>& homes) {
  // My Drive's home is "", and no home contains a blank.
  std::string spelled;
  for (const auto& one : homes) spelled += one.home + ' ' + std::to_string(one.most_files) + '\n';
  const std::lock_guard lock(mutex_);
  return put_fact("full", spelled);
}

result<void> kept::set_refused(bool is_so) {
  const std::lock_guard lock(mutex_);
  if (std::exchange(is_refused_, is_so) == is_so || !file_.writer.is_open()) return {};
  return put_fact("refused", is_so ? "yes" : "");
}

result<std::string> kept::fact(const char* name) {
  HONDANA_TRY(auto from, file_.writer.prepare("SELECT value FROM facts WHERE name=?"));
  HONDANA_TRY(const auto has_row, from.bind_text(1, name).step());
  return has_row ? text(from, 0) : std::string();
}

result<void> kept::put_fact(const char* name, const std::string& spelled) {
  auto to = file_.writer.prepare("INSERT OR REPLACE INTO facts VALUES(?,?)");
  if (!to) return tl::unexpected(std::move(to.error()));
  return to->bind_text(1, name).bind_text(2, spelled).run();
}

result<std::vector<std::pair<std::string, std::vector<std::string>>>> kept::sheets() {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<std::string, std::vector<std::string>>> out;
  auto done = each_row(file_.writer, "SELECT id, names FROM sheets", [&out](const auto& row) {
    const auto parsed = value::parse(row.bytes(1));
    if (!parsed || parsed->as_array() == nullptr) return;  // the next read finds them again
    std::vector<std::string> names;
    for (const auto& one : *parsed->as_array()) {
      if (const auto* name = one.as_string()) names.push_back(*name);
    }
    out.emplace_back(text(row, 0), std::move(names));
  });
  if (!done) return tl::unexpected(std::move(done.error()));
  return out;
}

result<void> kept::run(const char* sql, std::string_view first) {
  auto made = file_.writer.prepare(sql);
  if (!made) return tl::unexpected(std::move(made.error()));
  if (!first.empty()) made->bind_text(1, first);
  return made->run();
}

result<void> kept::put(const std::vector<shared_item>& all, std::int64_t generation) {
  HONDANA_TRY(auto to, file_.writer.prepare("INSERT OR REPLACE INTO files VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"));
  const auto number_of = [](const std::optional<drive::time>& when) {
    return when ? std::int64_t{when->time_since_epoch().count()} : no_number;
  };
  for (const auto& one : all) {
    const auto& what = *one;
    to.bind_text(1, what.id).bind_text(2, what.name).bind_text(3, what.mime_type).bind_text(4, what.parent);
    to.bind_text(5, what.home).bind_text(6, what.version).bind_text(7, what.content).bind_text(8, what.owner);
    to.bind_text(9, what.web_link).bind_text(10, what.resource_key).bind_text(11, what.target);
    to.bind_text(12, what.target_type).bind_text(13, what.target_key);
    to.bind(14, what.size ? static_cast<std::int64_t>(*what.size) : no_number);
    to.bind(15, number_of(what.modified)).bind(16, number_of(what.created));
    to.bind(17, std::int64_t{what.is_trashed}).bind(18, std::int64_t{what.is_starred}).bind(19, generation);
    to.bind(20, std::int64_t{what.is_barred});
    HONDANA_TRY(to.run());
    if (!what.is_barred) continue;
    HONDANA_TRY(run("DELETE FROM contents WHERE id=?", what.id));
  }
  return {};
}

result<void> kept::forget(const std::string& id) {
  for (const auto* sql : {"DELETE FROM files WHERE id=?", "DELETE FROM sheets WHERE id=?", "DELETE FROM contents WHERE id=?",
                          "DELETE FROM looks WHERE id=?"}) {
    HONDANA_TRY(run(sql, id));
  }
  return {};
}

result<void> kept::apply(const batch& what) {
  const std::lock_guard lock(mutex_);
  HONDANA_TRY(auto writing, sqlite::transaction::begin(file_.writer));
  HONDANA_TRY(put(what.put, what.generation));
  for (const auto& id : what.gone) {
    HONDANA_TRY(forget(id));
  }
  for (const auto& id : what.looks_begun) {
    HONDANA_TRY(run("INSERT OR IGNORE INTO looks VALUES(?)", id));
  }
  for (const auto& id : what.looks_done) {
    HONDANA_TRY(run("DELETE FROM looks WHERE id=?", id));
  }
  if (what.at) {
    HONDANA_TRY(auto to, file_.writer.prepare("INSERT OR REPLACE INTO positions VALUES(?,?,?,?,?,?,?)"));
    to.bind_text(1, what.at->home).bind_text(2, what.at->start).bind_text(3, what.at->crawl_start);
    to.bind_text(4, what.at->next_page).bind(5, what.at->generation);
    to.bind(6, std::int64_t{what.at->is_crawled});
    to.bind(7, (what.at->is_crawling ? crawling_bit : 0) | (what.at->is_behind ? behind_bit : 0));
    HONDANA_TRY(to.run());
  }
  HONDANA_TRY(writing.commit());
  const bool has_barred = std::any_of(what.put.begin(), what.put.end(), [](const auto& one) { return one->is_barred; });
  return what.gone.empty() && !has_barred ? result<void>() : count_content();
}

result<void> kept::put_drives(const std::vector<drive::shared_drive>& all) {
  const std::lock_guard lock(mutex_);
  auto writing = sqlite::transaction::begin(file_.writer);
  if (!writing) return tl::unexpected(std::move(writing.error()));
  HONDANA_TRY(run("DELETE FROM drives"));
  for (const auto& one : all) {
    HONDANA_TRY(auto to, file_.writer.prepare("INSERT OR REPLACE INTO drives VALUES(?,?)"));
    HONDANA_TRY(to.bind_text(1, one.id).bind_text(2, one.name).run());
  }
  return writing->commit();
}

result<void> kept::put_root(const std::string& id) {
  const std::lock_guard lock(mutex_);
  HONDANA_TRY(auto writing, sqlite::transaction::begin(file_.writer));
  HONDANA_TRY(const auto before, fact("root"));
  if (before == id) return {};
  if (!before.empty()) {
    for (const auto* sql : {"DELETE FROM files", "DELETE FROM positions", "DELETE FROM drives", "DELETE FROM looks",
                            "DELETE FROM sheets", "DELETE FROM contents", "DELETE FROM facts WHERE name='full'"}) {
      HONDANA_TRY(run(sql));
    }
  }
  HONDANA_TRY(put_fact("root", id));
  HONDANA_TRY(writing.commit());
  return count_content();
}

result<void> kept::forget_home(const std::string& home) {
  const std::lock_guard lock(mutex_);
  HONDANA_TRY(auto writing, sqlite::transaction::begin(file_.writer));
  for (const auto* sql : {"DELETE FROM contents WHERE id IN (SELECT id FROM files WHERE home=?)",
                          "DELETE FROM sheets WHERE id IN (SELECT id FROM files WHERE home=?)",
                          "DELETE FROM looks WHERE id IN (SELECT id FROM files WHERE home=?)", "DELETE FROM files WHERE home=?",
                          "DELETE FROM positions WHERE home=?"}) {
    HONDANA_TRY(run(sql, home));
  }
  HONDANA_TRY(writing.commit());
  return count_content();
}

namespace {

/// The largest content that is cached, as a fraction of the limit: one eighth.
constexpr std::uint64_t share_of_one = 8;

std::int64_t milliseconds_of(std::chrono::system_clock::time_point when) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(when.time_since_epoch()).count();
}

}  // namespace

result<void> kept::count_content() {
  HONDANA_TRY(auto sum, file_.writer.number("SELECT coalesce(sum(size), 0) FROM contents"));
  content_bytes_ = static_cast<std::uint64_t>(sum);
  return {};
}

std::uint64_t kept::content_bytes() const {
  const std::lock_guard lock(mutex_);
  return content_bytes_;
}

result<void> kept::put_sheets(const std::string& id, const std::vector<std::string>& names) {
  const std::lock_guard lock(mutex_);
  auto to = file_.writer.prepare("INSERT OR REPLACE INTO sheets VALUES(?,?)");
  if (!to) return tl::unexpected(std::move(to.error()));
  value::array all;
  all.reserve(names.size());
  for (const auto& one : names) all.emplace_back(one);
  const auto spelled = value(std::move(all)).to_text();
  return to->bind_text(1, id).bind_text(2, spelled).run();
}

result<void> kept::forget_contents(const std::string& id) {
  const std::lock_guard lock(mutex_);
  if (!file_.writer.is_open()) return {};
  HONDANA_TRY(run("DELETE FROM contents WHERE id=?", id));
  return count_content();
}

result<std::optional<kept_content>> kept::content(const std::string& id, std::string_view part) {
  const std::lock_guard lock(mutex_);
  if (!file_.writer.is_open() || is_refused_) return std::optional<kept_content>();
  HONDANA_TRY(auto from,
              file_.writer.prepare("SELECT version, mime, read_at, bytes, by_link FROM contents WHERE id=? AND part=?"));
  HONDANA_TRY(const auto has_row, from.bind_text(1, id).bind_text(2, part).step());
  if (!has_row) return std::optional<kept_content>();
  kept_content made;
  made.version = from.bytes(0);
  made.mime_type = from.bytes(1);
  made.read_at = std::chrono::system_clock::time_point(std::chrono::milliseconds(from.number(2)));
  made.bytes = std::make_shared<const std::string>(from.bytes(3));
  made.is_by_link = from.number(4) != 0;
  from.reset();
  HONDANA_TRY(auto used, file_.writer.prepare("UPDATE contents SET used=? WHERE id=? AND part=?"));
  const auto now = milliseconds_of(std::chrono::system_clock::now());
  HONDANA_TRY(used.bind(1, now).bind_text(2, id).bind_text(3, part).run());
  return std::optional(std::move(made));
}

result<void> kept::make_room() {
  while (content_bytes_ > most_content_) {
    HONDANA_TRY(auto from, file_.writer.prepare("SELECT rowid, size FROM contents ORDER BY used LIMIT 1"));
    HONDANA_TRY(const auto has_row, from.step());
    if (!has_row) return {};
    const auto row = from.number(0);
    const auto size = static_cast<std::uint64_t>(from.number(1));
    from.reset();
    HONDANA_TRY(auto gone, file_.writer.prepare("DELETE FROM contents WHERE rowid=?"));
    HONDANA_TRY(gone.bind(1, row).run());
    content_bytes_ -= std::min(content_bytes_, size);
  }
  return file_.writer.run("PRAGMA incremental_vacuum(256)");
}

result<void> kept::put_content(const std::string& id, std::string_view part, const kept_content& what) {
  if (what.bytes->size() > most_content_ / share_of_one) return {};
  const std::lock_guard lock(mutex_);
  if (!file_.writer.is_open()) return {};
  HONDANA_TRY(auto before, file_.writer.prepare("DELETE FROM contents WHERE id=? AND part=?"));
  HONDANA_TRY(before.bind_text(1, id).bind_text(2, part).run());
  HONDANA_TRY(auto to, file_.writer.prepare("INSERT INTO contents VALUES(?,?,?,?,?,?,?,?,?)"));
  to.bind_text(1, id).bind_text(2, part).bind_text(3, what.version).bind_text(4, what.mime_type);
  to.bind(5, milliseconds_of(what.read_at)).bind(6, milliseconds_of(std::chrono::system_clock::now()));
  to.bind(7, static_cast<std::int64_t>(what.bytes->size())).bind(8, std::string_view(*what.bytes));
  to.bind(9, std::int64_t{what.is_by_link});
  HONDANA_TRY(to.run());
  HONDANA_TRY(count_content());
  return make_room();
}

}  // namespace hondana::gdrive
