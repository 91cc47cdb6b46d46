/// The index in SQLite: opening, ownership, damage and writes.

#include <array>
#include <cerrno>
#include <cstring>
#include <initializer_list>
#include <utility>

#include "search/index/embedded/embedded_store_impl.hpp"
#include "search/index/store.hpp"

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

/// Merges enough at once to keep searches fast, without long pauses now and then.
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
    // The writer closes last and checkpoints its write-ahead log into the file.
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
  // A page with a valid checksum may still be in the wrong place. A second suspicion counts as damage.
  if (suspicions_ > 1) return "its content was inconsistent again, although each of its pages is intact";
  is_damaged_ = false;
  sqlite::trust(options_.path);
  return {};
}

result<void> embedded_store::check_on_disk() const {
  // Use a new connection, because the writer has cached pages.
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
      // If there is no new file at the path, remove leftovers of the old one, so that the new index does not use them.
      if (!sqlite::identity_of(options_.path)) {
        HONDANA_TRY(sqlite::remove_owned(options_.path, kind_of_index));
      }
    }
  }
  return own(std::move(lock));
}

void embedded_store::note_damage() const noexcept {
  is_damaged_ = true;
  // The process that writes the index checks for this mark.
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

result<void> embedded_store::note(const progress& how) {
  HONDANA_TRY(begin());
  return noting_failure(set_fact("progress", spelled(how)));
}

result<void> embedded_store::begin() {
  if (has_failed_)
    return fail(errc::source_unavailable, "a write to the search index has failed; it must be rolled back first");
  if (!is_ours_)
    return fail(errc::source_unavailable,
                "another process writes the search index " + options_.path + "; this one only searches it");
  if (is_damaged_)
    return tl::unexpected(sqlite::damaged("the search index is damaged; it is moved aside and created again", {}));
  if (is_in_memory_ && !writing_.owns_lock()) writing_ = std::unique_lock(in_memory_);
  if (file_.writer.is_in_transaction()) return {};
  auto begun = file_.writer.run("BEGIN IMMEDIATE");
  return begun ? begun : tl::unexpected(told(std::move(begun.error())));
}

bool embedded_store::is_writing() const noexcept {
  // In memory, the transaction may belong to a search.
  return (!is_in_memory_ || writing_.owns_lock()) && file_.writer.is_in_transaction();
}

result<void> embedded_store::commit() {
  result<void> done{};
  if (has_failed_) {
    done = fail(errc::source_unavailable, "a write to the search index failed, so all of it was rolled back");
  } else if (is_writing()) {
    count_commit_.bind(1, changing_).bind(2, rewriting_);
    done = count_commit_.run();
    if (done) done = file_.writer.run("COMMIT");
  }
  if (!done) {
    roll_back();
    return tl::unexpected(told(std::move(done.error())));
  }
  changing_ = rewriting_ = 0;
  if (writing_.owns_lock()) writing_.unlock();
  return done;
}

void embedded_store::roll_back() noexcept {
  has_failed_ = false;
  changing_ = rewriting_ = 0;
  if (is_writing()) {
    const auto undone = file_.writer.run("ROLLBACK");
    static_cast<void>(undone);  // if it fails, SQLite rolls back when the file is opened next
  }
  if (writing_.owns_lock()) writing_.unlock();
}

std::string embedded_store::words_in(std::string_view text) const { return indexed_words(*options_.words, text); }

result<void> embedded_store::write_words(sqlite::statement& by, std::int64_t passage, const title_words& of,
                                         std::string_view heading, std::string_view text) {
  const auto heading_words = words_in(heading);
  const auto text_words = words_in(text);
  by.bind(1, passage).bind_text(2, of.title).bind_text(3, heading_words).bind_text(4, of.name).bind_text(5, text_words);
  return by.run();
}

embedded_store::title_words embedded_store::words_of_document(std::string_view title, std::string_view name,
                                                              const std::string& uri) const {
  return {words_in(title), words_in(name_and_path(name, uri))};
}

result<std::vector<passage_id>> embedded_store::take_out(std::int64_t id, const title_words& of) {
  const auto first = passage_id::of(id, 0).number;
  const auto end = passage_id::of(id + 1, 0).number;
  std::vector<passage_id> gone;
  passages_of_.bind(1, first).bind(2, end);
  for (;;) {
    HONDANA_TRY(const auto more, passages_of_.step());
    if (!more) break;
    gone.push_back({passages_of_.number(0)});
    if (auto out = write_words(delete_words_, gone.back().number, of, passages_of_.bytes(1), passages_of_.bytes(2)); !out) {
      passages_of_.reset();
      return tl::unexpected(std::move(out.error()));
    }
  }
  passages_of_.reset();
  changing_ += static_cast<std::int64_t>(gone.size());
  use_vectors_.bind(1, first).bind(2, end).bind(3, hours_now());
  HONDANA_TRY(use_vectors_.run());
  delete_passages_.bind(1, first).bind(2, end);
  HONDANA_TRY(delete_passages_.run());
  return gone;
}

result<std::vector<passage_id>> embedded_store::remove(const std::string& uri) {
  HONDANA_TRY(begin());
  return noting_failure(take_out(uri));
}

result<std::vector<passage_id>> embedded_store::take_out(const std::string& uri) {
  find_document_.bind_text(1, uri);
  HONDANA_TRY(const auto there, find_document_.step());
  if (!there) {
    find_document_.reset();
    return std::vector<passage_id>();
  }
  const auto id = find_document_.number(0);
  const auto of = words_of_document(find_document_.bytes(1), find_document_.bytes(2), uri);
  find_document_.reset();
  auto gone = take_out(id, of);
  if (!gone) return gone;
  delete_document_.bind(1, id);
  HONDANA_TRY(delete_document_.run());
  return gone;
}

void embedded_store::bind_document(sqlite::statement& to, const document& what, std::int64_t described) const {
  to.bind_text(1, what.uri).bind_text(2, what.version).bind_text(3, what.name).bind_text(4, what.title);
  to.bind_text(5, what.description).bind_text(6, what.mime_type).bind_text(7, what.kind);
  if (what.priority) to.bind_real(10, *what.priority);
  std::int64_t audience = 0;
  for (const auto one : what.audience) audience |= bit_of(one);
  to.bind(11, audience);
  if (what.modified) to.bind(12, what.modified->time_since_epoch().count());
  if (what.size) to.bind(13, static_cast<std::int64_t>(*what.size));
  to.bind(14, described).bind_text(16, what.owners);
}

result<std::vector<passage_id>> embedded_store::put(const document& what, std::span<const chunking::passage> of) {
  HONDANA_TRY(const auto checked, storable_of(what, of));
  HONDANA_TRY(begin());
  return noting_failure(put(checked, static_cast<std::int64_t>(described_of(what))));
}

result<std::int64_t> embedded_store::way_of(const std::string& made) {
  find_way_.bind_text(1, made);
  HONDANA_TRY(const auto there, find_way_.step());
  const auto known = there ? std::optional(find_way_.number(0)) : std::nullopt;
  find_way_.reset();
  if (known) return *known;
  HONDANA_TRY(auto adding, file_.writer.prepare("INSERT INTO ways(way) VALUES(?1)"));
  adding.bind_text(1, made);
  HONDANA_TRY(adding.run());
  return file_.writer.last_row();
}

result<std::vector<passage_id>> embedded_store::put(const storable& what, std::int64_t described) {
  auto gone = take_out(what.of.uri);
  if (!gone) return gone;
  HONDANA_TRY(const auto way, way_of(what.of.made));
  bind_document(insert_document_, what.of, described);
  insert_document_.bind_text(8, what.of.language).bind_text(9, what.of.problem).bind(15, way);
  HONDANA_TRY(insert_document_.run());
  const auto id = file_.writer.last_row();
  const auto words = words_of_document(what.of.title, what.of.name, what.of.uri);
  changing_ += static_cast<std::int64_t>(what.all.size());
  std::size_t order = 0;
  for (const auto& one : what.all) {
    const auto number = passage_id::of(id, order++).number;
    const auto digest = digest_of_text(text_to_embed(what.of, one.heading, one.text));
    insert_passage_.bind(1, number).bind_text(2, one.heading).bind_text(3, one.text);
    insert_passage_.bind(4, static_cast<std::int64_t>(one.first_line)).bind(5, static_cast<std::int64_t>(one.last_line));
    insert_passage_.bind(6, static_cast<std::int64_t>(one.page)).bind(7, digest);
    HONDANA_TRY(insert_passage_.run());
    HONDANA_TRY(write_words(insert_words_, number, words, one.heading, one.text));
  }
  return gone;
}

result<void> embedded_store::describe(const document& what) {
  HONDANA_TRY(const auto checked, storable_of(what));
  HONDANA_TRY(begin());
  return noting_failure(describe(checked, static_cast<std::int64_t>(described_of(what))));
}

result<void> embedded_store::describe(const document& what, std::int64_t described) {
  find_document_.bind_text(1, what.uri);
  HONDANA_TRY(const auto there, find_document_.step());
  const auto id = there ? find_document_.number(0) : 0;
  const bool is_called_the_same = !there || (find_document_.bytes(1) == what.title && find_document_.bytes(2) == what.name &&
                                             find_document_.bytes(3) == what.description);
  title_words before{};
  if (!is_called_the_same) before = words_of_document(find_document_.bytes(1), find_document_.bytes(2), what.uri);
  find_document_.reset();
  if (!there) return {};
  bind_document(update_document_, what, described);
  HONDANA_TRY(update_document_.run());
  return is_called_the_same ? result<void>() : rewrite(id, before, what);
}

result<void> embedded_store::rewrite(std::int64_t id, const title_words& before, const document& what) {
  const auto now = words_of_document(what.title, what.name, what.uri);
  std::vector<std::pair<std::int64_t, chunking::passage>> all;
  passages_of_.bind(1, passage_id::of(id, 0).number).bind(2, passage_id::of(id + 1, 0).number);
  for (;;) {
    HONDANA_TRY(const auto more, passages_of_.step());
    if (!more) break;
    auto& one = all.emplace_back(passages_of_.number(0), chunking::passage()).second;
    one.heading = passages_of_.bytes(1);
    one.text = passages_of_.bytes(2);
    one.first_line = static_cast<std::size_t>(passages_of_.number(3));
  }
  passages_of_.reset();
  changing_ += static_cast<std::int64_t>(all.size());
  for (const auto& [number, one] : all) {
    HONDANA_TRY(write_words(delete_words_, number, before, one.heading, one.text));
    const auto& text = one.first_line == 0 ? what.description : one.text;
    if (one.first_line == 0) ++rewriting_;
    HONDANA_TRY(write_words(insert_words_, number, now, one.heading, text));
    const auto digest = digest_of_text(text_to_embed(what, one.heading, text));
    update_passage_.bind(1, number).bind_text(2, text).bind(3, digest);
    HONDANA_TRY(update_passage_.run());
  }
  return {};
}

result<void> embedded_store::use_model(const std::string& id) {
  HONDANA_TRY(begin());
  if (auto changed = noting_failure(change_model(id)); !changed) {
    roll_back();
    return changed;
  }
  return commit();
}

result<void> embedded_store::change_model(const std::string& id) {
  HONDANA_TRY(const auto before, fact("model"));
  if (before == id) return {};
  HONDANA_TRY(file_.writer.run("DELETE FROM vectors"));
  return set_fact("model", id);
}

result<std::vector<wanted_vector>> embedded_store::without_vector(std::size_t count) {
  if (!is_ours_) return fail(errc::source_unavailable, "another process writes the search index " + options_.path);
  std::unique_lock lock(in_memory_, std::defer_lock);
  if (is_in_memory_ && !writing_.owns_lock()) lock.lock();
  std::vector<wanted_vector> out;
  without_vector_.bind(1, static_cast<std::int64_t>(count));
  for (;;) {
    const auto more = without_vector_.step();
    if (!more) return tl::unexpected(told(more.error()));
    if (!*more) break;
    document of;
    of.title = without_vector_.bytes(3);
    of.name = without_vector_.bytes(4);
    out.push_back(
        {std::string(without_vector_.bytes(0)), text_to_embed(of, without_vector_.bytes(1), without_vector_.bytes(2))});
  }
  without_vector_.reset();
  return out;
}

result<void> embedded_store::put_vectors(std::span<const made_vector> what) {
  HONDANA_TRY(begin());
  return noting_failure(write_vectors(what));
}

result<void> embedded_store::write_vectors(std::span<const made_vector> what) {
  for (const auto& one : what) {
    const std::string_view numbers(reinterpret_cast<const char*>(one.numbers.data()), one.numbers.size() * sizeof(float));
    put_vector_.bind(1, one.digest).bind(2, numbers).bind(3, hours_now());
    HONDANA_TRY(put_vector_.run());
  }
  return {};
}

result<void> embedded_store::tidy() {
  HONDANA_TRY(begin());
  if (auto done = noting_failure(forget_unused()); !done) {
    roll_back();
    return done;
  }
  HONDANA_TRY(commit());
  return is_in_memory_ ? result<void>() : file_.writer.run("PRAGMA incremental_vacuum(2000)");
}

result<void> embedded_store::forget_unused() {
  HONDANA_TRY(auto deleting,
              file_.writer.prepare(
                  "DELETE FROM vectors WHERE used<?1 AND NOT EXISTS(SELECT 1 FROM passages p WHERE p.digest=vectors.digest)"));
  deleting.bind(1, hours_now() - hours_kept_unused);
  HONDANA_TRY(deleting.run());
  return file_.writer.run("DELETE FROM ways WHERE NOT EXISTS(SELECT 1 FROM documents d WHERE d.way=ways.id)");
}

}  // namespace hondana::search
