/// The store in SQLite: whose file it is, opening it, and beginning anew.
#include <array>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "search/index/embedded/embedded_state.hpp"
#include "search/index/embedded/schema.hpp"

namespace hondana::search {

const sqlite::file_kind kind_of_index{
    .what = what_an_index_is.data(),
    .purpose = "store the search index",
    .user = "another process stores its search index there",
    .application = our_application,
    .version = schema_version,
    .schema = tables,
    .before = "PRAGMA page_size=8192; PRAGMA auto_vacuum=INCREMENTAL",
    .settings =
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA journal_size_limit=67108864; PRAGMA temp_store=MEMORY; "
        "PRAGMA cache_size=-32768; PRAGMA wal_autocheckpoint=2000",
    .check = "INSERT INTO words(words) VALUES('integrity-check')",
    .replaces_older = true,
};

namespace {

/// Merging as much at once as keeps searches quick, without a long stop now and then.
constexpr const char* table_settings =
    "INSERT INTO words(words, rank) VALUES('automerge', 4); INSERT INTO words(words, rank) VALUES('crisismerge', 16);";

result<void> prepare_all(sqlite::connection& on, std::initializer_list<std::pair<sqlite::statement*, const char*>> all) {
  for (const auto& [into, sql] : all) {
    HONDANA_TRY(auto made, on.prepare(sql));
    *into = std::move(made);
  }
  return {};
}

}  // namespace

embedded_store::embedded_store(embedded_options from)
    : options_(std::move(from)), is_in_memory_(options_.path.empty()), now_(std::make_shared<remembered>()) {}

embedded_store::~embedded_store() { let_go(); }

void embedded_store::say(const std::string& line) const {
  if (options_.log) options_.log("search: " + line);
}

result<void> embedded_store::open() {
  if (is_in_memory_) return own({});
  if (options_.path.front() != '/') return sqlite::cannot_have(options_.path, kind_of_index, "the path must be absolute");
  HONDANA_TRY(sqlite::refuse_foreign(options_.path, kind_of_index));
  HONDANA_TRY(auto lock, sqlite::lock_owned(options_.path, kind_of_index, std::chrono::milliseconds(0)));
  if (lock) return own(std::move(*lock));
  say("another process writes the index " + options_.path + "; this one only searches it, and takes over when the other ends");
  return {};
}

result<void> embedded_store::own(disk::handle lock) {
  if (auto opened = open_own(std::move(lock)); !opened) {
    let_go();
    return opened;
  }
  suspicions_ = 0;
  is_damaged_ = false;
  ++life_;
  is_ours_ = true;
  return {};
}

result<void> embedded_store::open_own(disk::handle lock) {
  disk::handle names;
  if (!is_in_memory_) {
    HONDANA_TRY(auto held, sqlite::hold_names(options_.path, kind_of_index));
    names = std::move(held);
  }
  const auto& path = options_.path;
  for (bool is_second = false;; is_second = true) {
    bool is_open_here = false;
    if (!is_in_memory_) {
      const std::lock_guard guard(mutex_);
      const auto there = sqlite::identity_of(path);
      is_open_here = there && readers_ > 0 && now_->file == there;
    }
    HONDANA_TRY(auto file, is_in_memory_
                               ? sqlite::open_owned({}, kind_of_index, options_.log)
                               : sqlite::open_locked(path, kind_of_index, std::move(lock), is_open_here, options_.log));
    file_ = std::move(file);
    identity_ = sqlite::identity_of(path);
    was_checked_ = is_in_memory_ || file_.was_suspect || sqlite::bytes_on_disk(path) <= sqlite::checked_by_kind;
    const auto words = fact("words");
    if (words && *words == options_.words->id()) break;
    if (words && words->empty()) {
      HONDANA_TRY(file_.writer.run(table_settings));
      HONDANA_TRY(set_fact("words", options_.words->id()));
      break;
    }
    if (is_second || is_in_memory_) return fail(errc::source_unavailable, "the search index cannot be created again");
    if (!words && !sqlite::says_damaged(words.error())) return tl::unexpected(words.error());
    lock = std::move(file_.lock);
    let_go();
    if (words) {
      say("the index was built with another setting of words (" + *words + ", now " + options_.words->id() +
          "), so it is built again");
      HONDANA_TRY(sqlite::remove_owned(path, kind_of_index));
    } else if (auto gone = sqlite::move_aside(path, kind_of_index, words.error().private_text, options_.log); !gone) {
      return gone;
    }
  }
  if (file_.was_suspect) sqlite::trust(path);
  return prepare();
}

result<void> embedded_store::prepare() {
  return prepare_all(
      file_.writer,
      {{&find_document_, "SELECT id, title, name, description FROM documents WHERE uri=?1"},
       {&insert_document_,
        "INSERT INTO documents(uri, version, name, title, description, mime_type, kind, language, problem, priority, "
        "audience, modified, size, described, way, owners) VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16)"},
       {&update_document_,
        "UPDATE documents SET version=?2, name=?3, title=?4, description=?5, mime_type=?6, kind=?7, priority=?10, "
        "audience=?11, modified=?12, size=?13, described=?14, owners=?16 WHERE uri=?1"},
       {&delete_document_, "DELETE FROM documents WHERE id=?1"},
       {&passages_of_, "SELECT id, heading, text, first_line FROM passages WHERE id>=?1 AND id<?2"},
       {&delete_passages_, "DELETE FROM passages WHERE id>=?1 AND id<?2"},
       {&insert_passage_, "INSERT INTO passages VALUES(?1,?2,?3,?4,?5,?6,?7)"},
       {&insert_words_, "INSERT INTO words(rowid, title, heading, name, text) VALUES(?1,?2,?3,?4,?5)"},
       {&delete_words_, "INSERT INTO words(words, rowid, title, heading, name, text) VALUES('delete',?1,?2,?3,?4,?5)"},
       {&without_vector_,
        "SELECT p.digest, p.heading, p.text, d.title, d.name, max(coalesce(d.priority,0.5)) AS importance, min(p.id) AS "
        "first FROM passages p JOIN documents d ON d.id=(p.id>>16) "
        "WHERE NOT EXISTS(SELECT 1 FROM vectors v WHERE v.digest=p.digest) GROUP BY p.digest "
        "ORDER BY importance DESC, first LIMIT ?1"},
       {&update_passage_, "UPDATE passages SET text=?2, digest=?3 WHERE id=?1"},
       {&use_vectors_,
        "UPDATE vectors SET used=?3 WHERE used<?3 AND digest IN (SELECT digest FROM passages WHERE id>=?1 AND id<?2)"},
       {&put_vector_, "INSERT OR REPLACE INTO vectors VALUES(?1,?2,?3)"},
       {&find_way_, "SELECT id FROM ways WHERE way=?1"},
       {&count_commit_,
        "UPDATE facts SET value=value+CASE name WHEN 'commits' THEN 1 WHEN 'changed' THEN ?1 ELSE ?2 END WHERE name IN "
        "('commits','changed','rewritten')"}});
}

void embedded_store::let_go() noexcept {
  is_ours_ = false;
  has_failed_ = false;
  changing_ = rewriting_ = 0;
  for (auto* one : {&find_document_, &insert_document_, &update_document_, &delete_document_, &passages_of_, &delete_passages_,
                    &insert_passage_, &insert_words_, &delete_words_, &without_vector_, &put_vector_, &update_passage_,
                    &use_vectors_, &find_way_, &count_commit_})
    *one = sqlite::statement();
  {
    // Who writes closes last, and puts into the file what is in its log.
    const std::lock_guard lock(mutex_);
    if (!is_in_memory_) readers_ -= static_cast<int>(idle_.size());
    idle_.clear();
  }
  file_ = sqlite::owned_file();
}

result<writing_turn> embedded_store::take_turn() {
  if (is_in_memory_) return writing_turn{true, life_};
  if (is_ours_ && !file_.writer.is_in_transaction() && !sqlite::is_lock_of(options_.path, file_.lock)) {
    say("the lock file of the index " + options_.path + " was removed, so the lock is requested again");
    let_go();
  }
  if (!is_ours_) {
    HONDANA_TRY(auto lock, sqlite::lock_owned(options_.path, kind_of_index, std::chrono::milliseconds(0)));
    if (!lock) return writing_turn{false, life_};
    HONDANA_TRY(own(std::move(*lock)));
    say("this process writes the index " + options_.path + " from now on");
    return writing_turn{true, life_};
  }
  if (const auto why = found_wrong(); !why.empty()) {
    HONDANA_TRY(make_anew(why));
  }
  return writing_turn{true, life_};
}

std::string embedded_store::found_wrong() {
  if (sqlite::identity_of(options_.path) != identity_) return "it was moved or removed while it was open";
  if (file_.writer.is_in_transaction()) return {};
  if (sqlite::is_suspect(options_.path)) is_damaged_ = true;
  if (!is_damaged_ && was_checked_) return {};
  if (is_damaged_) ++suspicions_;
  const auto checked = check_on_disk();
  was_checked_ = true;
  if (!checked) return sqlite::says_damaged(checked.error()) ? checked.error().private_text : std::string();
  // A page that is good by itself may stand in the wrong place; who has met it twice is believed.
  if (suspicions_ > 1) return "its content was inconsistent again, although each of its pages is intact";
  is_damaged_ = false;
  sqlite::trust(options_.path);
  return {};
}

result<void> embedded_store::check_on_disk() const {
  // By a connection of its own: the writer has pages in memory as they were.
  HONDANA_TRY(auto fresh, sqlite::connection::open(options_.path, std::string(what_an_index_is)));
  fresh.only_reads();
  return sqlite::check_whole(fresh, kind_of_index);
}

result<void> embedded_store::make_anew(const std::string& why) {
  const bool is_there = sqlite::identity_of(options_.path) == identity_;
  auto lock = std::move(file_.lock);
  let_go();
  {
    HONDANA_TRY(const auto names, sqlite::hold_names(options_.path, kind_of_index));
    if (is_there) {
      HONDANA_TRY(sqlite::move_aside(options_.path, kind_of_index, why, options_.log));
    } else {
      say("the index " + options_.path + ": " + why + ", so a new one is created");
      // Where nobody put another there, what it left must not become the new one's.
      if (!sqlite::identity_of(options_.path)) {
        HONDANA_TRY(sqlite::remove_owned(options_.path, kind_of_index));
      }
    }
  }
  return own(std::move(lock));
}

void embedded_store::note_damage() const noexcept {
  is_damaged_ = true;
  // Whoever writes it looks for that.
  if (!is_in_memory_ && !is_ours_) sqlite::suspect(options_.path);
}

failure embedded_store::told(failure what) const {
  if (!sqlite::says_damaged(what)) return what;
  note_damage();
  return sqlite::damaged("the search index is damaged; it is moved aside and created again", std::move(what.private_text));
}

result<std::string> embedded_store::fact(const char* name) {
  HONDANA_TRY(auto asked, file_.writer.prepare("SELECT value FROM facts WHERE name=?1"));
  asked.bind_text(1, name);
  HONDANA_TRY(const auto more, asked.step());
  return more ? std::string(asked.bytes(0)) : std::string();
}

result<void> embedded_store::set_fact(const char* name, const std::string& value) {
  auto setting = file_.writer.prepare("INSERT OR REPLACE INTO facts VALUES(?1,?2)");
  if (!setting) return tl::unexpected(std::move(setting.error()));
  setting->bind_text(1, name).bind_text(2, value);
  return setting->run();
}

result<std::shared_ptr<store>> open_embedded(embedded_options from) {
  auto made = std::make_shared<embedded_store>(std::move(from));
  HONDANA_TRY(made->open());
  return std::shared_ptr<store>(std::move(made));
}

}  // namespace hondana::search
