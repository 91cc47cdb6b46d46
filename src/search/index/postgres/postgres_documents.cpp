/// The store in PostgreSQL: documents and their passages.
#include <algorithm>
#include <cmath>
#include <utility>

#include "search/index/postgres/postgres_state.hpp"

namespace hondana::search {
namespace {

constexpr std::size_t most_at_once = 500;

/// Of the columns that `describe` changes: $2 to $13.
void add_described(arguments& to, const document& what, std::int64_t described) {
  std::int64_t audience = 0;
  for (const auto one : what.audience) audience |= bit_of(one);
  to.text(what.version).text(what.name).text(what.title).text(what.description).text(what.mime_type).text(what.kind);
  // No number is greater than any, which PostgreSQL sees otherwise.
  what.priority && !std::isnan(*what.priority) ? to.real(*what.priority) : to.null();
  to.number(audience);
  what.modified ? to.number(what.modified->time_since_epoch().count()) : to.null();
  what.size ? to.number(static_cast<std::int64_t>(*what.size)) : to.null();
  to.number(described).text(what.owners);
}

arguments range_of(std::int64_t document) {
  return arguments().number(passage_id::of(document, 0).number).number(passage_id::of(document + 1, 0).number);
}

/// Passages that are written together.
struct passage_rows {
  std::vector<std::int64_t> ids{}, first{}, last{}, pages{}, lengths{};
  std::vector<std::string> headings{}, texts{}, digests{}, words{};

  [[nodiscard]] arguments all() const {
    arguments out;
    out.numbers(ids).texts(headings).texts(texts).numbers(first).numbers(last).numbers(pages).blobs(digests).numbers(lengths);
    return out.vectors(words);
  }
  void add(std::int64_t id, const chunking::passage& one, std::string digest, std::int64_t length, std::string vector) {
    ids.push_back(id);
    headings.push_back(one.heading);
    texts.push_back(one.text);
    first.push_back(static_cast<std::int64_t>(one.first_line));
    last.push_back(static_cast<std::int64_t>(one.last_line));
    pages.push_back(static_cast<std::int64_t>(one.page));
    digests.push_back(std::move(digest));
    lengths.push_back(length);
    words.push_back(std::move(vector));
  }
};

constexpr const char* insert_passages =
    "INSERT INTO passages SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], "
    "$7::bytea[], $8::bigint[], $9::tsvector[])";
constexpr const char* update_passages =
    "UPDATE passages p SET text=n.text, digest=n.digest, length=n.length, words=n.words FROM unnest($1::bigint[], $2::text[], "
    "$3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bytea[], $8::bigint[], $9::tsvector[]) "
    "AS n(id, heading, text, first_line, last_line, page, digest, length, words) WHERE p.id=n.id";

}  // namespace

result<std::vector<passage_id>> postgres_store::put(const document& what, std::span<const chunking::passage> of) {
  HONDANA_TRY(const auto checked, storable_of(what, of));
  HONDANA_TRY(begin());
  return put(checked, static_cast<std::int64_t>(described_of(what)));
}

result<std::int64_t> postgres_store::way_of(const std::string& made) {
  if (const auto known = ways_.find(made); known != ways_.end()) return known->second;
  const auto with = arguments().text(made);
  auto there = write("SELECT id FROM ways WHERE way=$1::text", with);
  if (there && there->count() == 0) there = write("INSERT INTO ways(way) VALUES($1::text) RETURNING id", with);
  if (!there) return tl::unexpected(std::move(there.error()));
  return ways_[made] = there->number(0, 0);
}

result<std::vector<passage_id>> postgres_store::put(const storable& what, std::int64_t described) {
  auto gone = take_out(what.of.uri);
  if (!gone) return gone;
  auto row = arguments().text(what.of.uri);
  add_described(row, what.of, described);
  const auto way = way_of(what.of.made);
  if (!way) return tl::unexpected(way.error());
  row.bytes(digest_of_text(what.of.uri)).text(what.of.language).text(what.of.problem).number(*way);
  HONDANA_TRY(
      const auto made,
      write(
          "INSERT INTO documents(uri, version, name, title, description, mime_type, kind, priority, audience, modified, size, "
          "described, owners, uri_digest, language, problem, way) VALUES($1::text,$2::text,$3::text,$4::text,$5::text,$6::text,"
          "$7::text,$8::float8,$9::bigint,$10::bigint,$11::bigint,$12::bigint,$13::text,$14::bytea,$15::text,$16::text,$17::"
          "bigint)"
          " "
          "RETURNING id",
          row));
  const auto id = made.number(0, 0);
  const auto titles = words_of(what.of);
  for (std::size_t at = 0; at < what.all.size(); at += most_at_once) {
    passage_rows rows;
    for (std::size_t i = at; i < std::min(at + most_at_once, what.all.size()); ++i) {
      const auto& one = what.all[i];
      std::int64_t length = 0;
      const auto words = vector_of(titles, one, length);
      words.each_word([this](const std::string& word) { ++terms_[word]; });
      rows.add(passage_id::of(id, i).number, one, digest_of_text(text_to_embed(what.of, one.heading, one.text)), length,
               words.bytes());
      ++passages_;
      length_ += length;
    }
    HONDANA_TRY(write(insert_passages, rows.all()));
  }
  return gone;
}

result<std::vector<passage_id>> postgres_store::remove(const std::string& uri) {
  HONDANA_TRY(begin());
  return take_out(uri);
}

result<std::vector<passage_id>> postgres_store::take_out(const std::string& uri) {
  HONDANA_TRY(const auto there,
              write("DELETE FROM documents WHERE uri_digest=$1::bytea RETURNING id", arguments().bytes(digest_of_text(uri))));
  std::vector<passage_id> gone;
  if (there.count() == 0) return gone;
  const auto id = there.number(0, 0);
  HONDANA_TRY(forget_words(id));
  const auto of = range_of(id);
  auto used = of;
  used.number(hours_now());
  if (auto done =
          write("UPDATE vectors SET used=$3::bigint WHERE used<$3::bigint AND digest IN (SELECT digest FROM passages WHERE "
                "id>=$1::bigint AND id<$2::bigint)",
                used);
      !done)
    return tl::unexpected(std::move(done.error()));
  HONDANA_TRY(const auto rows, write("DELETE FROM passages WHERE id>=$1::bigint AND id<$2::bigint RETURNING id", of));
  gone.reserve(static_cast<std::size_t>(rows.count()));
  for (int i = 0; i < rows.count(); ++i) gone.push_back({rows.number(i, 0)});
  std::sort(gone.begin(), gone.end());
  passages_ -= rows.count();
  return gone;
}

result<void> postgres_store::describe(const document& what) {
  HONDANA_TRY(const auto checked, storable_of(what));
  HONDANA_TRY(begin());
  const auto digest = digest_of_text(checked.uri);
  HONDANA_TRY(const auto before, write("SELECT id, title, name, description FROM documents WHERE uri_digest=$1::bytea",
                                       arguments().bytes(digest)));
  if (before.count() == 0) return {};
  arguments row;
  row.bytes(digest);
  add_described(row, checked, static_cast<std::int64_t>(described_of(what)));
  HONDANA_TRY(
      write("UPDATE documents SET version=$2::text, name=$3::text, title=$4::text, description=$5::text, mime_type=$6::text, "
            "kind=$7::text, priority=$8::float8, audience=$9::bigint, modified=$10::bigint, size=$11::bigint, "
            "described=$12::bigint, owners=$13::text WHERE uri_digest=$1::bytea",
            row));
  const bool is_called_the_same =
      before.bytes(0, 1) == checked.title && before.bytes(0, 2) == checked.name && before.bytes(0, 3) == checked.description;
  return is_called_the_same ? result<void>() : rewrite(before.number(0, 0), checked);
}

result<void> postgres_store::rewrite(std::int64_t id, const document& what) {
  HONDANA_TRY(forget_words(id));
  const auto titles = words_of(what);
  for (auto next = passage_id::of(id, 0).number;;) {
    auto which = arguments().number(next).number(passage_id::of(id + 1, 0).number).number(most_at_once);
    HONDANA_TRY(const auto there, write("SELECT id, heading, text, first_line, last_line, page FROM passages WHERE "
                                        "id>=$1::bigint AND id<$2::bigint ORDER BY "
                                        "id "
                                        "LIMIT $3::bigint",
                                        which));
    if (there.count() == 0) return {};
    passage_rows rows;
    for (int i = 0; i < there.count(); ++i) {
      chunking::passage one;
      one.heading = there.text(i, 1);
      one.first_line = static_cast<std::size_t>(there.number(i, 3));
      one.last_line = static_cast<std::size_t>(there.number(i, 4));
      one.page = static_cast<std::size_t>(there.number(i, 5));
      one.text = one.first_line == 0 ? what.description : there.text(i, 2);
      std::int64_t length = 0;
      const auto words = vector_of(titles, one, length);
      words.each_word([this](const std::string& word) { ++terms_[word]; });
      length_ += length;
      rows.add(there.number(i, 0), one, digest_of_text(text_to_embed(what, one.heading, one.text)), length, words.bytes());
      next = there.number(i, 0) + 1;
    }
    HONDANA_TRY(write(update_passages, rows.all()));
  }
}

}  // namespace hondana::search
