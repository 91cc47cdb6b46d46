/// The store in PostgreSQL: vectors.
#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <utility>

#include "search/index/postgres/postgres_state.hpp"

namespace hondana::search {
namespace {

/// pgvector's index knows no more dimensions.
constexpr std::size_t most_dimensions = 2000;
constexpr std::size_t most_vectors_at_once = 1000;

constexpr const char* texts_without_vector =
    "SELECT p.digest, p.heading, p.text, d.title, d.name FROM (SELECT digest, min(id) AS id, max(importance) AS importance "
    "FROM "
    "(SELECT q.digest, q.id, coalesce(o.priority,0.5) AS importance FROM passages q JOIN documents o ON o.id=(q.id>>16) "
    "WHERE NOT EXISTS(SELECT 1 FROM vectors v WHERE v.digest=q.digest)) AS every GROUP BY digest) AS one "
    "JOIN passages p ON p.id=one.id JOIN documents d ON d.id=(p.id>>16) ORDER BY one.importance DESC, p.id LIMIT $1::bigint";

/// Of pgvector's column; 0: there is none.
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

/// As pgvector writes one.
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
  // However many there are, no statement takes too long.
  for (bool has_more = true; has_more;) {
    HONDANA_TRY(
        const auto gone,
        write("WITH gone AS (DELETE FROM vectors WHERE digest IN (SELECT digest FROM vectors LIMIT 100000) RETURNING 1) "
              "SELECT count(*) FROM gone"));
    has_more = gone.number(0, 0) > 0;
  }
  // Another model may have other dimensions. Nobody can read the table meanwhile, so that it is left alone without need.
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
    // Others may write while these are embedded.
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
    const auto some = what.first(std::min(what.size(), most_vectors_at_once));
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

// Who hears of a vector puts it into a graph, which takes longer than reading it: no statement waits for that.
result<void> postgres_store::each_vector(const vector_hearer& each) const {
  std::vector<float> numbers;
  for (std::int64_t last = -1;;) {
    HONDANA_TRY(const auto rows, read("SELECT p.id, v.numbers FROM (SELECT id, digest FROM passages WHERE id>$1::bigint ORDER "
                                      "BY id LIMIT $2::bigint) AS p "
                                      "LEFT JOIN vectors v ON v.digest=p.digest",
                                      arguments().number(last).number(most_vectors_at_once)));
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
    const auto some = digests.first(std::min(digests.size(), most_vectors_at_once));
    digests = digests.subspan(some.size());
    const auto which = arguments().blobs(some);
    HONDANA_TRY(const auto made, read("SELECT digest, numbers FROM vectors WHERE digest=ANY($1::bytea[])", which));
    // Of one text there may be very many passages: its numbers come once.
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
