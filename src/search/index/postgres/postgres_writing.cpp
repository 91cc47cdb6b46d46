/// The store in PostgreSQL: opening it, and transactions.
#include <utility>

#include "search/index/postgres/postgres_schema.hpp"
#include "search/index/postgres/postgres_state.hpp"

namespace hondana::search {
namespace {

// A server whose machine has gone keeps others from writing for a minute, and one that hangs for ten at most.
constexpr const char* writer_settings =
    "SET statement_timeout='120s'; SET lock_timeout='30s'; SET idle_in_transaction_session_timeout='600s'; SET jit=off; "
    "SET client_min_messages=error; SET tcp_keepalives_idle=30; SET tcp_keepalives_interval=10; SET tcp_keepalives_count=3";
/// More is written before the end.
constexpr std::size_t most_words_at_once = 200'000;

}  // namespace

postgres_store::postgres_store(postgres_options from) : options_(std::move(from)) {}

result<void> postgres_store::open() {
  HONDANA_TRY(auto library, loaded_libpq());
  library_ = library;
  HONDANA_TRY(auto place, place_of(*library_, options_.url, options_.schema));
  place_ = std::move(place);
  HONDANA_TRY(auto writer, connect(writer_settings));
  HONDANA_TRY(make_tables(writer, place_, options_.words->id()));
  HONDANA_TRY(auto vectors, search::has_pgvector(writer));
  has_pgvector_ = vectors;
  // A connection from before the extension was made does not look into its schema.
  if (!has_pgvector_) writer_ = std::move(writer);
  if (options_.log)
    options_.log("search: the index is stored in " + place_.name + ", schema " + place_.schema +
                 (has_pgvector_ ? ", with pgvector" : ", without pgvector"));
  return {};
}

result<postgres_connection> postgres_store::connect(const char* settings) const {
  return postgres_connection::open(*library_, place_, settings);
}

result<postgres_rows> postgres_store::write(const char* sql, const arguments& with) {
  auto done = writer_.ask(sql, with);
  if (!done) has_failed_ = true;
  return done;
}

result<void> postgres_store::start() {
  HONDANA_TRY(writer_.run("BEGIN"));
  HONDANA_TRY(lock_index(writer_, place_));
  // Another server may have made an empty one its own.
  const auto words = writer_.ask("SELECT value FROM facts WHERE name='words'");
  if (!words) return tl::unexpected(words.error());
  if (words->count() == 0 || words->bytes(0, 0) != options_.words->id())
    return fail(errc::source_unavailable,
                "the search index in " + place_.name +
                    " now has another setting of words; use the same setting, or set another postgres_schema");
  return {};
}

result<void> postgres_store::begin() {
  if (has_failed_)
    return fail(errc::source_unavailable,
                "a write to the search index in " + place_.name + " has failed; it must be rolled back first");
  if (has_begun_) return {};
  for (bool is_second = false;; is_second = true) {
    const bool is_new = !writer_.is_alive();
    if (is_new) {
      HONDANA_TRY(auto made, connect(writer_settings));
      writer_ = std::move(made);
      // With the connection its turn has gone.
      if (std::exchange(has_turn_, false))
        return fail(errc::source_unavailable,
                    "the connection to " + place_.name +
                        " was lost, and another server may be writing the search index; this server requests the lock again");
    }
    auto started = start();
    if (started) break;
    const bool had_gone = !writer_.is_alive();
    roll_back();
    if (is_new || is_second || !had_gone) return started;
  }
  has_begun_ = true;
  return {};
}

result<writing_turn> postgres_store::take_turn() {
  if (has_begun_) return writing_turn{has_turn_, life_};
  // Asked, so that a connection that has gone is noticed.
  if (has_turn_ && (!writer_.is_alive() || !writer_.run("SELECT 1"))) has_turn_ = false;
  if (has_turn_) return writing_turn{true, life_};
  if (!writer_.is_alive()) {
    HONDANA_TRY(auto made, connect(writer_settings));
    writer_ = std::move(made);
  }
  HONDANA_TRY(const auto taken, take_turn_by(writer_, place_));
  has_turn_ = taken;
  if (has_turn_) ++life_;
  if (options_.log && has_turn_ == has_followed_)
    options_.log(has_turn_ ? "search: this server writes the index in " + place_.name + " from now on"
                           : "search: another server writes the index in " + place_.name +
                                 "; this one only searches it, and takes over when the other ends");
  has_followed_ = !has_turn_;
  return writing_turn{has_turn_, life_};
}

result<void> postgres_store::note(const progress& how) {
  HONDANA_TRY(begin());
  auto set = write("INSERT INTO facts VALUES('progress',$1::text) ON CONFLICT (name) DO UPDATE SET value=excluded.value",
                   arguments().text(spelled(how)));
  return set ? result<void>() : tl::unexpected(std::move(set.error()));
}

result<void> postgres_store::count_words() {
  std::vector<std::string> words;
  std::vector<std::int64_t> more;
  words.reserve(terms_.size());
  more.reserve(terms_.size());
  bool are_fewer = false;
  for (const auto& [word, count] : terms_) {
    if (count == 0) continue;
    are_fewer = are_fewer || count < 0;
    words.push_back(word);
    more.push_back(count);
  }
  terms_.clear();
  if (!words.empty()) {
    const auto with = arguments().texts(words).numbers(more);
    HONDANA_TRY(
        write("INSERT INTO terms SELECT * FROM unnest($1::text[], $2::bigint[]) "
              "ON CONFLICT (word) DO UPDATE SET passages=terms.passages+excluded.passages",
              with));
  }
  if (are_fewer) {
    HONDANA_TRY(write("DELETE FROM terms WHERE word=ANY($1::text[]) AND passages<=0", arguments().texts(words)));
  }
  if (passages_ == 0 && length_ == 0) return {};
  auto done = write("UPDATE totals SET passages=passages+$1::bigint, length=length+$2::bigint",
                    arguments().number(passages_).number(length_));
  passages_ = length_ = 0;
  return done ? result<void>() : tl::unexpected(std::move(done.error()));
}

result<void> postgres_store::commit() {
  if (!has_begun_ && !has_failed_) return {};
  result<void> done{};
  if (has_failed_)
    done = fail(errc::source_unavailable,
                "a write to the search index in " + place_.name + " failed, so all of it was rolled back");
  if (done) done = count_words();
  if (done) {
    if (auto counted = write("UPDATE facts SET value=(value::bigint+1)::text WHERE name='commits'"); !counted)
      done = tl::unexpected(std::move(counted.error()));
  }
  if (done) done = writer_.commit();
  if (!done) {
    roll_back();
    return done;
  }
  has_begun_ = false;
  ways_.clear();
  return done;
}

void postgres_store::roll_back() noexcept {
  terms_.clear();
  ways_.clear();
  passages_ = length_ = 0;
  has_begun_ = has_failed_ = false;
  if (!writer_.is_alive() || !writer_.is_in_transaction()) return;
  // What cannot be rolled back is so when its connection ends.
  if (!writer_.run("ROLLBACK")) writer_ = postgres_connection();
}

postgres_store::title_words postgres_store::words_of(const document& what) const {
  return {options_.words->tokens_of(what.title, tokenizer::purpose::index),
          options_.words->tokens_of(name_and_path(what.name, what.uri), tokenizer::purpose::index)};
}

word_vector postgres_store::vector_of(const title_words& of, const chunking::passage& one, std::int64_t& length) const {
  word_vector out;
  out.add(place::title, of.title);
  out.add(place::heading, options_.words->tokens_of(one.heading, tokenizer::purpose::index));
  out.add(place::name, of.name);
  const auto text = options_.words->tokens_of(one.text, tokenizer::purpose::index);
  out.add(place::text, text);
  length = static_cast<std::int64_t>(text.size());
  return out;
}

result<void> postgres_store::forget_words(std::int64_t id) {
  const auto which = arguments().number(passage_id::of(id, 0).number).number(passage_id::of(id + 1, 0).number);
  HONDANA_TRY(const auto words, write("SELECT w, count(*) FROM passages p, unnest(tsvector_to_array(p.words)) AS w WHERE "
                                      "p.id>=$1::bigint AND p.id<$2::bigint "
                                      "GROUP BY w",
                                      which));
  for (int i = 0; i < words.count(); ++i) terms_[words.text(i, 0)] -= words.number(i, 1);
  HONDANA_TRY(
      const auto lengths,
      write("SELECT coalesce(sum(length),0)::bigint FROM passages p WHERE p.id>=$1::bigint AND p.id<$2::bigint", which));
  length_ -= lengths.number(0, 0);
  if (terms_.size() > most_words_at_once) return count_words();
  return {};
}

result<std::shared_ptr<store>> open_postgres(postgres_options from) {
  auto made = std::make_shared<postgres_store>(std::move(from));
  HONDANA_TRY(made->open());
  return std::shared_ptr<store>(std::move(made));
}

}  // namespace hondana::search
