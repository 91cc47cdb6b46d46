/// The index in PostgreSQL: documents, passages and vectors.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>

#include "search/index/postgres/postgres_store_impl.hpp"

namespace hondana::search {
namespace {

constexpr std::size_t most_at_once = 500;

/// Adds the arguments $2 to $13, for the columns that `describe` changes.
void add_described(arguments& to, const document& what, std::int64_t described) {
  std::int64_t audience = 0;
  for (const auto one : what.audience) audience |= bit_of(one);
  to.text(what.version).text(what.name).text(what.title).text(what.description).text(what.mime_type).text(what.kind);
  // PostgreSQL orders NaN above all numbers, so store it as NULL.
  what.priority && !std::isnan(*what.priority) ? to.real(*what.priority) : to.null();
  to.number(audience);
  what.modified ? to.number(what.modified->time_since_epoch().count()) : to.null();
  what.size ? to.number(static_cast<std::int64_t>(*what.size)) : to.null();
  to.number(described).text(what.owners);
}

arguments range_of(std::int64_t document) {
  return arguments().number(passage_id::of(document, 0).number).number(passage_id::of(document + 1, 0).number);
}

/// Columns of passages that one statement writes.
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

namespace {

/// Dimension limit of pgvector's index.
constexpr std::size_t most_dimensions = 2000;
constexpr std::size_t most_vectors_a_statement = 1000;

constexpr const char* texts_without_vector =
    "SELECT p.digest, p.heading, p.text, d.title, d.name FROM (SELECT digest, min(id) AS id, max(importance) AS importance "
    "FROM "
    "(SELECT q.digest, q.id, coalesce(o.priority,0.5) AS importance FROM passages q JOIN documents o ON o.id=(q.id>>16) "
    "WHERE NOT EXISTS(SELECT 1 FROM vectors v WHERE v.digest=q.digest)) AS every GROUP BY digest) AS one "
    "JOIN passages p ON p.id=one.id JOIN documents d ON d.id=(p.id>>16) ORDER BY one.importance DESC, p.id LIMIT $1::bigint";

/// The dimension of pgvector's column; 0: the column does not exist.
constexpr const char* dimensions_of_near =
    "SELECT coalesce((SELECT atttypmod::bigint FROM pg_attribute WHERE attrelid='vectors'::regclass AND attname='near' AND "
    "NOT attisdropped), 0)";

std::string bytes_of(std::span<const float> numbers) {
  std::string out(numbers.size_bytes(), '\0');
  if (!numbers.empty()) std::memcpy(out.data(), numbers.data(), out.size());
  return out;
}

void floats_of(std::string_view bytes, std::vector<float>& into) {
  into.resize(bytes.size() / sizeof(float));
  if (!into.empty()) std::memcpy(into.data(), bytes.data(), into.size() * sizeof(float));
}

/// A vector in pgvector's text format.
std::string written(std::span<const float> numbers) {
  std::string out = "[";
  for (const auto one : numbers) {
    if (out.size() > 1) out += ',';
    std::array<char, 32> room{};
    const auto end = std::to_chars(room.data(), room.data() + room.size(), one).ptr;
    out.append(room.data(), end);
  }
  return out + ']';
}

}  // namespace

result<void> postgres_store::use_model(const std::string& id) {
  HONDANA_TRY(begin());
  if (auto changed = change_model(id); !changed) {
    roll_back();
    return changed;
  }
  return commit();
}

result<void> postgres_store::change_model(const std::string& id) {
  HONDANA_TRY(const auto before, write("SELECT value FROM facts WHERE name='model'"));
  if (before.count() > 0 ? before.bytes(0, 0) == id : id.empty()) return {};
  // Delete in batches, so that no statement takes too long.
  for (bool has_more = true; has_more;) {
    HONDANA_TRY(
        const auto gone,
        write("WITH gone AS (DELETE FROM vectors WHERE digest IN (SELECT digest FROM vectors LIMIT 100000) RETURNING 1) "
              "SELECT count(*) FROM gone"));
    has_more = gone.number(0, 0) > 0;
  }
  // Another model may have another dimension. Dropping the column locks the table for readers, so do it only if the column
  // exists.
  HONDANA_TRY(const auto there, write(dimensions_of_near));
  if (there.number(0, 0) != 0) {
    HONDANA_TRY(write("ALTER TABLE vectors DROP COLUMN near"));
  }
  const auto set = write("INSERT INTO facts VALUES('model',$1::text) ON CONFLICT (name) DO UPDATE SET value=excluded.value",
                         arguments().text(id));
  return set ? result<void>() : tl::unexpected(set.error());
}

result<std::vector<wanted_vector>> postgres_store::without_vector(std::size_t count) {
  const auto with = arguments().number(static_cast<std::int64_t>(count));
  result<postgres_rows> rows{};
  if (has_begun_) {
    rows = write(texts_without_vector, with);
  } else {
    // Read without a transaction, so that others may write while these texts are embedded.
    rows = read(texts_without_vector, with);
  }
  if (!rows) return tl::unexpected(std::move(rows.error()));
  std::vector<wanted_vector> out;
  out.reserve(static_cast<std::size_t>(rows->count()));
  for (int i = 0; i < rows->count(); ++i) {
    document of;
    of.title = rows->text(i, 3);
    of.name = rows->text(i, 4);
    out.push_back({rows->text(i, 0), text_to_embed(of, rows->bytes(i, 1), rows->bytes(i, 2))});
  }
  return out;
}

result<void> postgres_store::put_vectors(std::span<const made_vector> what) {
  HONDANA_TRY(begin());
  while (!what.empty()) {
    const auto some = what.first(std::min(what.size(), most_vectors_a_statement));
    what = what.subspan(some.size());
    std::map<std::string, std::string> once;
    for (const auto& one : some) once.insert_or_assign(one.digest, bytes_of(one.numbers));
    std::vector<std::string> digests;
    std::vector<std::string> numbers;
    digests.reserve(once.size());
    numbers.reserve(once.size());
    for (auto& [digest, bytes] : once) {
      digests.push_back(digest);
      numbers.push_back(std::move(bytes));
    }
    if (auto done =
            write("INSERT INTO vectors(digest, numbers, used) SELECT d, n, $3::bigint FROM unnest($1::bytea[], $2::bytea[]) "
                  "AS v(d, n) ON CONFLICT (digest) DO UPDATE SET numbers=excluded.numbers, used=excluded.used",
                  arguments().blobs(digests).blobs(numbers).number(hours_now()));
        !done)
      return tl::unexpected(std::move(done.error()));
    if (!has_pgvector_) continue;
    HONDANA_TRY(put_nearby(some));
  }
  return {};
}

result<void> postgres_store::put_nearby(std::span<const made_vector> what) {
  const auto dimensions = what.front().numbers.size();
  if (dimensions == 0 || dimensions > most_dimensions) return {};
  HONDANA_TRY(const auto there, write(dimensions_of_near));
  if (there.number(0, 0) == 0) {
    const auto sql = "ALTER TABLE vectors ADD COLUMN near vector(" + std::to_string(dimensions) + ')';
    HONDANA_TRY(write(sql.c_str()));
    HONDANA_TRY(write("CREATE INDEX vectors_by_near ON vectors USING hnsw (near vector_cosine_ops)"));
  } else if (there.number(0, 0) != static_cast<std::int64_t>(dimensions)) {
    return {};
  }
  std::vector<std::string> digests;
  std::vector<std::string> numbers;
  for (const auto& one : what) {
    if (one.numbers.size() != dimensions) continue;
    digests.push_back(one.digest);
    numbers.push_back(written(one.numbers));
  }
  auto done = write(
      "UPDATE vectors v SET near=n.numbers::vector FROM unnest($1::bytea[], $2::text[]) AS n(digest, numbers) "
      "WHERE v.digest=n.digest",
      arguments().blobs(digests).texts(numbers));
  return done ? result<void>() : tl::unexpected(std::move(done.error()));
}

result<void> postgres_store::tidy() {
  HONDANA_TRY(begin());
  HONDANA_TRY(
      write("DELETE FROM vectors v WHERE used<$1::bigint AND NOT EXISTS(SELECT 1 FROM passages p WHERE "
            "p.digest=v.digest)",
            arguments().number(hours_now() - hours_kept_unused)));
  HONDANA_TRY(write("DELETE FROM ways w WHERE NOT EXISTS(SELECT 1 FROM documents d WHERE d.way=w.id)"));
  return commit();
}

// Reads in batches: the callback adds vectors to a graph, which is slower than reading, and must not keep a statement open.
result<void> postgres_store::each_vector(const vector_hearer& each) const {
  std::vector<float> numbers;
  for (std::int64_t last = -1;;) {
    HONDANA_TRY(const auto rows, read("SELECT p.id, v.numbers FROM (SELECT id, digest FROM passages WHERE id>$1::bigint ORDER "
                                      "BY id LIMIT $2::bigint) AS p "
                                      "LEFT JOIN vectors v ON v.digest=p.digest",
                                      arguments().number(last).number(most_vectors_a_statement)));
    if (rows.count() == 0) return {};
    for (int row = 0; row < rows.count(); ++row) {
      const auto id = rows.number(row, 0);
      last = std::max(last, id);
      if (rows.is_null(row, 1)) continue;
      floats_of(rows.bytes(row, 1), numbers);
      each({id}, numbers);
    }
  }
}

result<void> postgres_store::vectors_of(std::span<const std::string> digests, const vector_hearer& each) const {
  std::vector<float> numbers;
  while (!digests.empty()) {
    const auto some = digests.first(std::min(digests.size(), most_vectors_a_statement));
    digests = digests.subspan(some.size());
    const auto which = arguments().blobs(some);
    HONDANA_TRY(const auto made, read("SELECT digest, numbers FROM vectors WHERE digest=ANY($1::bytea[])", which));
    // Many passages may have the same text, so read its vector only once.
    HONDANA_TRY(const auto those, read("SELECT id, digest FROM passages WHERE digest=ANY($1::bytea[])", which));
    std::map<std::string_view, int> rows;
    for (int row = 0; row < made.count(); ++row) rows.emplace(made.bytes(row, 0), row);
    for (int row = 0; row < those.count(); ++row) {
      const auto found = rows.find(those.bytes(row, 1));
      if (found == rows.end()) continue;
      floats_of(made.bytes(found->second, 1), numbers);
      each({those.number(row, 0)}, numbers);
    }
  }
  return {};
}

std::optional<result<std::vector<match>>> postgres_store::nearest_by(postgres_connection& by, std::span<const float> to,
                                                                     std::size_t count) const {
  if (!has_pgvector_ || to.empty() || to.size() > most_dimensions) return std::nullopt;
  HONDANA_TRY(const auto there, by.ask(dimensions_of_near));
  if (there.number(0, 0) != static_cast<std::int64_t>(to.size())) return std::nullopt;
  HONDANA_TRY(
      const auto rows,
      by.ask("SELECT p.id, (1-n.far)::float8 FROM (SELECT digest, near<=>($1::text)::vector AS far FROM vectors ORDER BY "
             "near<=>($1::text)::vector LIMIT $2::bigint) AS n JOIN passages p ON p.digest=n.digest ORDER BY n.far LIMIT "
             "$2::bigint",
             arguments().text(written(to)).number(static_cast<std::int64_t>(count))));
  std::vector<match> all;
  all.reserve(static_cast<std::size_t>(rows.count()));
  for (int i = 0; i < rows.count(); ++i) all.push_back({{rows.number(i, 0)}, rows.real(i, 1)});
  return all;
}

}  // namespace hondana::search
