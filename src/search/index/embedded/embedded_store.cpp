/// The store in SQLite: writing.
#include <utility>

#include "search/index/embedded/embedded_state.hpp"
#include "search/index/storable.hpp"

namespace hondana::search {

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
  // In memory a transaction may be that of who searches.
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
    static_cast<void>(undone);  // what cannot be rolled back now is so when the file is opened
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
