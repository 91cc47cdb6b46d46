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

constexpr std::size_t batch_size = 500;

/// Adds the arguments $2 to $13, for the columns that `describe` changes.
void add_description(arguments& parameters, const document& document, std::int64_t listed_digest) {
  std::int64_t audience = 0;
  for (const auto recipient : document.audience) audience |= bit_of(recipient);
  parameters.text(document.version)
      .text(document.name)
      .text(document.title)
      .text(document.description)
      .text(document.mime_type)
      .text(document.kind);
  // PostgreSQL orders NaN above all numbers, so store it as NULL.
  document.priority && !std::isnan(*document.priority) ? parameters.real(*document.priority) : parameters.null();
  parameters.number(audience);
  document.modified ? parameters.number(document.modified->time_since_epoch().count()) : parameters.null();
  document.size ? parameters.number(static_cast<std::int64_t>(*document.size)) : parameters.null();
  parameters.number(listed_digest).text(document.owners);
}

arguments range_of(std::int64_t document) {
  return arguments().number(passage_id::create(document, 0).number).number(passage_id::create(document + 1, 0).number);
}

/// Columns of passages that one statement writes.
struct passage_rows {
  std::vector<std::int64_t> ids{}, first_lines{}, last_lines{}, pages{}, lengths{};
  std::vector<std::string> headings{}, texts{}, digests{}, words{};

  [[nodiscard]] arguments parameters() const {
    arguments out;
    out.numbers(ids)
        .texts(headings)
        .texts(texts)
        .numbers(first_lines)
        .numbers(last_lines)
        .numbers(pages)
        .blobs(digests)
        .numbers(lengths);
    return out.vectors(words);
  }
  void add(std::int64_t id, const chunking::passage& passage, std::string digest, std::int64_t length, std::string vector) {
    ids.push_back(id);
    headings.push_back(passage.heading);
    texts.push_back(passage.text);
    first_lines.push_back(static_cast<std::int64_t>(passage.first_line));
    last_lines.push_back(static_cast<std::int64_t>(passage.last_line));
    pages.push_back(static_cast<std::int64_t>(passage.page));
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

result<std::vector<passage_id>> postgres_store::put(const document& document, std::span<const chunking::passage> passages) {
  HONDANA_TRY(const auto checked, make_storable(document, passages));
  HONDANA_TRY(begin());
  return put(checked, static_cast<std::int64_t>(listed_digest_of(document)));
}

result<std::int64_t> postgres_store::find_processing(const std::string& processing) {
  if (const auto existing = processing_ids_.find(processing); existing != processing_ids_.end()) return existing->second;
  const auto parameters = arguments().text(processing);
  auto rows = write("SELECT id FROM ways WHERE way=$1::text", parameters);
  if (rows && rows->count() == 0) rows = write("INSERT INTO ways(way) VALUES($1::text) RETURNING id", parameters);
  if (!rows) return tl::unexpected(std::move(rows.error()));
  return processing_ids_[processing] = rows->number(0, 0);
}

result<std::vector<passage_id>> postgres_store::put(const storable& item, std::int64_t listed_digest) {
  auto removed = remove_document(item.metadata.uri);
  if (!removed) return removed;
  auto row = arguments().text(item.metadata.uri);
  add_description(row, item.metadata, listed_digest);
  const auto processing_id = find_processing(item.metadata.processing);
  if (!processing_id) return tl::unexpected(processing_id.error());
  row.bytes(digest_of_text(item.metadata.uri)).text(item.metadata.language).text(item.metadata.problem).number(*processing_id);
  HONDANA_TRY(
      const auto inserted,
      write(
          "INSERT INTO documents(uri, version, name, title, description, mime_type, kind, priority, audience, modified, size, "
          "described, owners, uri_digest, language, problem, way) VALUES($1::text,$2::text,$3::text,$4::text,$5::text,$6::text,"
          "$7::text,$8::float8,$9::bigint,$10::bigint,$11::bigint,$12::bigint,$13::text,$14::bytea,$15::text,$16::text,$17::"
          "bigint)"
          " "
          "RETURNING id",
          row));
  const auto id = inserted.number(0, 0);
  const auto titles = make_title_words(item.metadata);
  for (std::size_t begin = 0; begin < item.passages.size(); begin += batch_size) {
    passage_rows rows;
    for (std::size_t i = begin; i < std::min(begin + batch_size, item.passages.size()); ++i) {
      const auto& passage = item.passages[i];
      std::int64_t length = 0;
      const auto words = make_word_vector(titles, passage, length);
      words.for_each_word([this](const std::string& word) { ++terms_[word]; });
      rows.add(passage_id::create(id, i).number, passage,
               digest_of_text(text_to_embed(item.metadata, passage.heading, passage.text)), length, words.bytes());
      ++passage_change_;
      length_change_ += length;
    }
    HONDANA_TRY(write(insert_passages, rows.parameters()));
  }
  return removed;
}

result<std::vector<passage_id>> postgres_store::remove(const std::string& uri) {
  HONDANA_TRY(begin());
  return remove_document(uri);
}

result<std::vector<passage_id>> postgres_store::remove_document(const std::string& uri) {
  HONDANA_TRY(const auto deleted,
              write("DELETE FROM documents WHERE uri_digest=$1::bytea RETURNING id", arguments().bytes(digest_of_text(uri))));
  std::vector<passage_id> removed;
  if (deleted.count() == 0) return removed;
  const auto id = deleted.number(0, 0);
  HONDANA_TRY(subtract_words(id));
  const auto range = range_of(id);
  auto touched = range;
  touched.number(hours_now());
  if (auto rows_touched =
          write("UPDATE vectors SET used=$3::bigint WHERE used<$3::bigint AND digest IN (SELECT digest FROM passages WHERE "
                "id>=$1::bigint AND id<$2::bigint)",
                touched);
      !rows_touched)
    return tl::unexpected(std::move(rows_touched.error()));
  HONDANA_TRY(const auto rows, write("DELETE FROM passages WHERE id>=$1::bigint AND id<$2::bigint RETURNING id", range));
  removed.reserve(static_cast<std::size_t>(rows.count()));
  for (int i = 0; i < rows.count(); ++i) removed.push_back({rows.number(i, 0)});
  std::sort(removed.begin(), removed.end());
  passage_change_ -= rows.count();
  return removed;
}

result<void> postgres_store::describe(const document& document) {
  HONDANA_TRY(const auto checked, make_storable(document));
  HONDANA_TRY(begin());
  const auto digest = digest_of_text(checked.uri);
  HONDANA_TRY(const auto stored, write("SELECT id, title, name, description FROM documents WHERE uri_digest=$1::bytea",
                                       arguments().bytes(digest)));
  if (stored.count() == 0) return {};
  arguments row;
  row.bytes(digest);
  add_description(row, checked, static_cast<std::int64_t>(listed_digest_of(document)));
  HONDANA_TRY(
      write("UPDATE documents SET version=$2::text, name=$3::text, title=$4::text, description=$5::text, mime_type=$6::text, "
            "kind=$7::text, priority=$8::float8, audience=$9::bigint, modified=$10::bigint, size=$11::bigint, "
            "described=$12::bigint, owners=$13::text WHERE uri_digest=$1::bytea",
            row));
  const bool has_same_names =
      stored.bytes(0, 1) == checked.title && stored.bytes(0, 2) == checked.name && stored.bytes(0, 3) == checked.description;
  return has_same_names ? result<void>() : rewrite(stored.number(0, 0), checked);
}

result<void> postgres_store::rewrite(std::int64_t id, const document& document) {
  HONDANA_TRY(subtract_words(id));
  const auto titles = make_title_words(document);
  for (auto next = passage_id::create(id, 0).number;;) {
    auto range = arguments().number(next).number(passage_id::create(id + 1, 0).number).number(batch_size);
    HONDANA_TRY(const auto stored, write("SELECT id, heading, text, first_line, last_line, page FROM passages WHERE "
                                         "id>=$1::bigint AND id<$2::bigint ORDER BY "
                                         "id "
                                         "LIMIT $3::bigint",
                                         range));
    if (stored.count() == 0) return {};
    passage_rows rows;
    for (int i = 0; i < stored.count(); ++i) {
      chunking::passage passage;
      passage.heading = stored.text(i, 1);
      passage.first_line = static_cast<std::size_t>(stored.number(i, 3));
      passage.last_line = static_cast<std::size_t>(stored.number(i, 4));
      passage.page = static_cast<std::size_t>(stored.number(i, 5));
      passage.text = passage.first_line == 0 ? document.description : stored.text(i, 2);
      std::int64_t length = 0;
      const auto words = make_word_vector(titles, passage, length);
      words.for_each_word([this](const std::string& word) { ++terms_[word]; });
      length_change_ += length;
      rows.add(stored.number(i, 0), passage, digest_of_text(text_to_embed(document, passage.heading, passage.text)), length,
               words.bytes());
      next = stored.number(i, 0) + 1;
    }
    HONDANA_TRY(write(update_passages, rows.parameters()));
  }
}

namespace {

/// Dimension limit of pgvector's index.
constexpr std::size_t max_pgvector_dimensions = 2000;
constexpr std::size_t max_vectors_per_statement = 1000;

constexpr const char* select_texts_without_vector =
    "SELECT p.digest, p.heading, p.text, d.title, d.name FROM (SELECT digest, min(id) AS id, max(importance) AS importance "
    "FROM "
    "(SELECT q.digest, q.id, coalesce(o.priority,0.5) AS importance FROM passages q JOIN documents o ON o.id=(q.id>>16) "
    "WHERE NOT EXISTS(SELECT 1 FROM vectors v WHERE v.digest=q.digest)) AS every GROUP BY digest) AS one "
    "JOIN passages p ON p.id=one.id JOIN documents d ON d.id=(p.id>>16) ORDER BY one.importance DESC, p.id LIMIT $1::bigint";

/// The dimension of pgvector's column; 0: the column does not exist.
constexpr const char* pgvector_dimension =
    "SELECT coalesce((SELECT atttypmod::bigint FROM pg_attribute WHERE attrelid='vectors'::regclass AND attname='near' AND "
    "NOT attisdropped), 0)";

std::string bytes_of(std::span<const float> numbers) {
  std::string out(numbers.size_bytes(), '\0');
  if (!numbers.empty()) std::memcpy(out.data(), numbers.data(), out.size());
  return out;
}

void copy_floats(std::string_view bytes, std::vector<float>& numbers) {
  numbers.resize(bytes.size() / sizeof(float));
  if (!numbers.empty()) std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(float));
}

/// A vector in pgvector's text format.
std::string pgvector_text(std::span<const float> numbers) {
  std::string out = "[";
  for (const auto number : numbers) {
    if (out.size() > 1) out += ',';
    std::array<char, 32> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), number).ptr;
    out.append(buffer.data(), end);
  }
  return out + ']';
}

}  // namespace

result<void> postgres_store::use_model(const std::string& id) {
  HONDANA_TRY(begin());
  if (auto status = change_model(id); !status) {
    roll_back();
    return status;
  }
  return commit();
}

result<void> postgres_store::change_model(const std::string& id) {
  HONDANA_TRY(const auto current, write("SELECT value FROM facts WHERE name='model'"));
  if (current.count() > 0 ? current.bytes(0, 0) == id : id.empty()) return {};
  // Delete in batches, so that no statement takes too long.
  for (bool has_more = true; has_more;) {
    HONDANA_TRY(
        const auto deleted,
        write("WITH gone AS (DELETE FROM vectors WHERE digest IN (SELECT digest FROM vectors LIMIT 100000) RETURNING 1) "
              "SELECT count(*) FROM gone"));
    has_more = deleted.number(0, 0) > 0;
  }
  // Another model may have another dimension. Dropping the column locks the table for readers, so do it only if the column
  // exists.
  HONDANA_TRY(const auto column, write(pgvector_dimension));
  if (column.number(0, 0) != 0) {
    HONDANA_TRY(write("ALTER TABLE vectors DROP COLUMN near"));
  }
  const auto rows = write("INSERT INTO facts VALUES('model',$1::text) ON CONFLICT (name) DO UPDATE SET value=excluded.value",
                          arguments().text(id));
  return rows ? result<void>() : tl::unexpected(rows.error());
}

result<std::vector<pending_vector>> postgres_store::texts_without_vector(std::size_t count) {
  const auto parameters = arguments().number(static_cast<std::int64_t>(count));
  result<postgres_rows> rows{};
  if (has_begun_) {
    rows = write(select_texts_without_vector, parameters);
  } else {
    // Read without a transaction, so that others may write while these texts are embedded.
    rows = read(select_texts_without_vector, parameters);
  }
  if (!rows) return tl::unexpected(std::move(rows.error()));
  std::vector<pending_vector> out;
  out.reserve(static_cast<std::size_t>(rows->count()));
  for (int i = 0; i < rows->count(); ++i) {
    document metadata;
    metadata.title = rows->text(i, 3);
    metadata.name = rows->text(i, 4);
    out.push_back({rows->text(i, 0), text_to_embed(metadata, rows->bytes(i, 1), rows->bytes(i, 2))});
  }
  return out;
}

result<void> postgres_store::put_vectors(std::span<const text_vector> vectors) {
  HONDANA_TRY(begin());
  while (!vectors.empty()) {
    const auto batch = vectors.first(std::min(vectors.size(), max_vectors_per_statement));
    vectors = vectors.subspan(batch.size());
    std::map<std::string, std::string> unique;
    for (const auto& vector : batch) unique.insert_or_assign(vector.digest, bytes_of(vector.numbers));
    std::vector<std::string> digests;
    std::vector<std::string> numbers;
    digests.reserve(unique.size());
    numbers.reserve(unique.size());
    for (auto& [digest, bytes] : unique) {
      digests.push_back(digest);
      numbers.push_back(std::move(bytes));
    }
    if (auto rows =
            write("INSERT INTO vectors(digest, numbers, used) SELECT d, n, $3::bigint FROM unnest($1::bytea[], $2::bytea[]) "
                  "AS v(d, n) ON CONFLICT (digest) DO UPDATE SET numbers=excluded.numbers, used=excluded.used",
                  arguments().blobs(digests).blobs(numbers).number(hours_now()));
        !rows)
      return tl::unexpected(std::move(rows.error()));
    if (!has_pgvector_) continue;
    HONDANA_TRY(put_pgvectors(batch));
  }
  return {};
}

result<void> postgres_store::put_pgvectors(std::span<const text_vector> vectors) {
  const auto dimensions = vectors.front().numbers.size();
  if (dimensions == 0 || dimensions > max_pgvector_dimensions) return {};
  HONDANA_TRY(const auto column, write(pgvector_dimension));
  if (column.number(0, 0) == 0) {
    const auto sql = "ALTER TABLE vectors ADD COLUMN near vector(" + std::to_string(dimensions) + ')';
    HONDANA_TRY(write(sql.c_str()));
    HONDANA_TRY(write("CREATE INDEX vectors_by_near ON vectors USING hnsw (near vector_cosine_ops)"));
  } else if (column.number(0, 0) != static_cast<std::int64_t>(dimensions)) {
    return {};
  }
  std::vector<std::string> digests;
  std::vector<std::string> numbers;
  for (const auto& vector : vectors) {
    if (vector.numbers.size() != dimensions) continue;
    digests.push_back(vector.digest);
    numbers.push_back(pgvector_text(vector.numbers));
  }
  auto rows = write(
      "UPDATE vectors v SET near=n.numbers::vector FROM unnest($1::bytea[], $2::text[]) AS n(digest, numbers) "
      "WHERE v.digest=n.digest",
      arguments().blobs(digests).texts(numbers));
  return rows ? result<void>() : tl::unexpected(std::move(rows.error()));
}

result<void> postgres_store::clean_up() {
  HONDANA_TRY(begin());
  HONDANA_TRY(
      write("DELETE FROM vectors v WHERE used<$1::bigint AND NOT EXISTS(SELECT 1 FROM passages p WHERE "
            "p.digest=v.digest)",
            arguments().number(hours_now() - unused_ttl_hours)));
  HONDANA_TRY(write("DELETE FROM ways w WHERE NOT EXISTS(SELECT 1 FROM documents d WHERE d.way=w.id)"));
  return commit();
}

// Reads in batches: the callback adds vectors to a graph, which is slower than reading, and must not keep a statement open.
result<void> postgres_store::for_each_vector(const vector_visitor& visit) const {
  std::vector<float> numbers;
  for (std::int64_t last = -1;;) {
    HONDANA_TRY(const auto rows, read("SELECT p.id, v.numbers FROM (SELECT id, digest FROM passages WHERE id>$1::bigint ORDER "
                                      "BY id LIMIT $2::bigint) AS p "
                                      "LEFT JOIN vectors v ON v.digest=p.digest",
                                      arguments().number(last).number(max_vectors_per_statement)));
    if (rows.count() == 0) return {};
    for (int row = 0; row < rows.count(); ++row) {
      const auto id = rows.number(row, 0);
      last = std::max(last, id);
      if (rows.is_null(row, 1)) continue;
      copy_floats(rows.bytes(row, 1), numbers);
      visit({id}, numbers);
    }
  }
}

result<void> postgres_store::for_each_vector_of(std::span<const std::string> digests, const vector_visitor& visit) const {
  std::vector<float> numbers;
  while (!digests.empty()) {
    const auto batch = digests.first(std::min(digests.size(), max_vectors_per_statement));
    digests = digests.subspan(batch.size());
    const auto parameters = arguments().blobs(batch);
    HONDANA_TRY(const auto vectors, read("SELECT digest, numbers FROM vectors WHERE digest=ANY($1::bytea[])", parameters));
    // Many passages may have the same text, so read its vector only once.
    HONDANA_TRY(const auto passages, read("SELECT id, digest FROM passages WHERE digest=ANY($1::bytea[])", parameters));
    std::map<std::string_view, int> rows;
    for (int row = 0; row < vectors.count(); ++row) rows.emplace(vectors.bytes(row, 0), row);
    for (int row = 0; row < passages.count(); ++row) {
      const auto position = rows.find(passages.bytes(row, 1));
      if (position == rows.end()) continue;
      copy_floats(vectors.bytes(position->second, 1), numbers);
      visit({passages.number(row, 0)}, numbers);
    }
  }
  return {};
}

std::optional<result<std::vector<match>>> postgres_store::query_nearest(postgres_connection& connection,
                                                                        std::span<const float> query, std::size_t count) const {
  if (!has_pgvector_ || query.empty() || query.size() > max_pgvector_dimensions) return std::nullopt;
  HONDANA_TRY(const auto column, connection.query(pgvector_dimension));
  if (column.number(0, 0) != static_cast<std::int64_t>(query.size())) return std::nullopt;
  HONDANA_TRY(const auto rows,
              connection.query(
                  "SELECT p.id, (1-n.far)::float8 FROM (SELECT digest, near<=>($1::text)::vector AS far FROM vectors ORDER BY "
                  "near<=>($1::text)::vector LIMIT $2::bigint) AS n JOIN passages p ON p.digest=n.digest ORDER BY n.far LIMIT "
                  "$2::bigint",
                  arguments().text(pgvector_text(query)).number(static_cast<std::int64_t>(count))));
  std::vector<match> nearest;
  nearest.reserve(static_cast<std::size_t>(rows.count()));
  for (int i = 0; i < rows.count(); ++i) nearest.push_back({{rows.number(i, 0)}, rows.real(i, 1)});
  return nearest;
}

}  // namespace hondana::search
