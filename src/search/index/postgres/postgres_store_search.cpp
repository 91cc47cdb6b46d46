/// The index in PostgreSQL: searches in one state of it.

#include <algorithm>
#include <utility>

#include "base/json/utf8.hpp"
#include "search/index/bm25.hpp"
#include "search/index/postgres/postgres_store_impl.hpp"

namespace hondana::search {
namespace {

/// Up to this many matching words, only these are selected from each passage, which is faster than reading all its words.
constexpr std::size_t max_lexemes = 500;

/// The SQL of a `document_filter`, to follow `AND`; adds its arguments.
class filter_condition {
 public:
  filter_condition(const document_filter& filter, const std::string& stale, arguments& parameters) : parameters_(parameters) {
    if (!filter.uri_prefix.empty()) {
      add("(starts_with(d.uri, ", "::text)", filter.uri_prefix);
      for (const auto& prefix : filter.alternative_prefixes) {
        parameters_.text(storable_text(prefix));
        sql_ += " OR starts_with(d.uri, $" + std::to_string(parameters_.values().size()) + "::text)";
      }
      sql_ += ')';
    }
    if (!filter.scheme.empty()) add("starts_with(d.uri, ", "::text||':')", filter.scheme);
    if (!filter.language.empty() && filter.language != "*")
      add("starts_with(lower(d.language COLLATE \"C\")||'-', lower(", "::text COLLATE \"C\")||'-')", filter.language);
    if (!filter.mime_type.empty())
      filter.mime_type.back() == '/' ? add("starts_with(split_part(d.mime_type, ';', 1), ", "::text)", filter.mime_type)
                                     : add("split_part(d.mime_type, ';', 1)=", "::text", filter.mime_type);
    if (!filter.kind.empty()) add("d.kind=", "::text", filter.kind);
    if (filter.audience) {
      parameters_.number(bit_of(*filter.audience));
      add("(d.audience&", "::bigint)<>0");
    }
    if (filter.min_priority) {
      parameters_.real(*filter.min_priority);
      add("d.priority>=", "::float8");
    }
    if (filter.modified_since) {
      parameters_.number(filter.modified_since->time_since_epoch().count());
      add("d.modified>=", "::bigint");
    }
    if (!filter.owner.empty()) add("strpos(', '||d.owners||', ', ', '||", "::text||', ')>0", filter.owner);
    if (!stale.empty()) sql_ += " AND d.way NOT IN (" + stale + ')';
  }
  [[nodiscard]] const std::string& sql() const noexcept { return sql_; }

 private:
  void add(std::string_view prefix, std::string_view suffix, const std::string& text) {
    parameters_.text(storable_text(text));
    add(prefix, suffix);
  }
  /// Adds a condition with the last argument.
  void add(std::string_view prefix, std::string_view suffix) {
    sql_ += " AND ";
    sql_ += prefix;
    sql_ += '$' + std::to_string(parameters_.values().size());
    sql_ += suffix;
  }
  /// PostgreSQL rejects malformed text. Replace it by U+FFFF, which no document has.
  static std::string storable_text(const std::string& text) {
    return json::is_utf8(text) && !json::has_nul(text) ? text : "\xEF\xBF\xBF";
  }

  arguments& parameters_;
  std::string sql_;
};

document document_from_row(const postgres_rows& rows, int row, int first) {
  const auto text = [&](int column) { return rows.text(row, first + column); };
  document out;
  out.uri = text(0);
  out.version = text(1);
  out.name = text(2);
  out.title = text(3);
  out.description = text(4);
  out.mime_type = text(5);
  out.kind = text(6);
  out.language = text(7);
  out.problem = text(8);
  if (!rows.is_null(row, first + 9)) out.priority = rows.real(row, first + 9);
  for (const auto recipient : {chat_role::user, chat_role::assistant}) {
    if ((rows.number(row, first + 10) & bit_of(recipient)) != 0) out.audience.push_back(recipient);
  }
  if (!rows.is_null(row, first + 11)) out.modified = milliseconds(std::chrono::milliseconds(rows.number(row, first + 11)));
  if (!rows.is_null(row, first + 12)) out.size = static_cast<std::uint64_t>(rows.number(row, first + 12));
  out.processing = text(13);
  out.owners = text(14);
  return out;
}

}  // namespace

/// A transaction of a reader.
class postgres_snapshot final : public index_snapshot {
 public:
  postgres_snapshot(const postgres_store& store, postgres_connection connection)
      : store_(store), connection_(std::move(connection)) {}
  ~postgres_snapshot() override {
    if (connection_.is_alive() && connection_.is_in_transaction() && !connection_.run("ROLLBACK"))
      connection_ = postgres_connection();
    store_.release_reader(std::move(connection_));
  }

  /// The first read in the transaction fixes the state.
  [[nodiscard]] result<void> begin() {
    static constexpr const char* begin_sql = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    auto status = connection_.run(begin_sql);
    if (status || connection_.is_alive()) return status;
    store_.drop_idle();
    HONDANA_TRY(auto reopened, store_.connect_reader());
    connection_ = std::move(reopened);
    return connection_.run(begin_sql);
  }

  result<word_matches> find(std::span<const query_word> words, const document_filter& filter,
                            std::size_t max_passages) override {
    if (words.size() > max_words) return fail(errc::invalid_argument, "a search can have at most 64 words");
    word_matches out;
    std::vector<std::string> lexemes;
    lexemes.reserve(words.size());
    for (const auto& term : words) lexemes.push_back(lexeme_of(term.text));
    HONDANA_TRY(const auto stale, filter.processing ? stale_processings(*filter.processing) : result<std::string>());
    const auto counts = read_frequencies(words);
    if (!counts) return tl::unexpected(counts.error());
    const auto required = select_required(counts->passage_counts, max_passages);
    if (std::find(required.begin(), required.end(), true) == required.end()) return out;
    std::vector<double> idfs;
    idfs.reserve(words.size());
    for (const auto frequency : counts->passage_counts) idfs.push_back(idf(counts->passages, frequency));
    arguments parameters;
    parameters.text(make_tsquery(words, required)).number(static_cast<std::int64_t>(max_passages) + 1);
    if (counts->is_complete) parameters.texts(counts->lexemes);
    const filter_condition sql_filter(filter, stale, parameters);
    // Give the wanted words weight A and select them by it. The rows to sort stay small, so PostgreSQL need not store them out
    // of line.
    std::string sql = "SELECT p.id, p.length::bigint, ";
    sql += counts->is_complete ? "ts_filter(setweight(p.words, 'A', $3::text[]), '{a}')" : "p.words";
    sql += " FROM passages p";
    if (!sql_filter.sql().empty()) sql += " JOIN documents d ON d.id=(p.id>>16)";
    sql += " WHERE p.words@@($1::text)::tsquery" + sql_filter.sql() + " ORDER BY p.id DESC LIMIT $2::bigint";
    HONDANA_TRY(const auto rows, connection_.query(sql.c_str(), parameters));
    bm25_scorer scorer(words, std::move(idfs));
    out.passages.reserve(static_cast<std::size_t>(rows.count()));
    for (int i = 0; i < rows.count(); ++i) {
      if (out.passages.size() == max_passages) {
        out.is_complete = false;
        break;
      }
      scorer.begin();
      auto status =
          for_each_occurrence(rows.bytes(i, 2), [&](std::string_view lexeme, std::span<const occurrence> occurrences) {
            for (std::size_t word = 0; word < words.size(); ++word) {
              const bool is_match =
                  words[word].is_prefix ? !lexemes[word].empty() && lexeme.starts_with(lexemes[word]) : lexeme == lexemes[word];
              if (!is_match) continue;
              for (const auto& occurrence : occurrences) scorer.add_occurrence(word, occurrence.field, occurrence.offset);
            }
          });
      if (!status) return tl::unexpected(status.error());
      out.passages.push_back(scorer.score({rows.number(i, 0)}, static_cast<double>(rows.number(i, 1)), counts->mean_length));
    }
    return out;
  }

  result<std::vector<document_passage>> load(std::span<const passage_id> ids) override {
    std::vector<std::int64_t> numbers;
    numbers.reserve(ids.size());
    for (const auto& id : ids) numbers.push_back(id.number);
    std::vector<document_passage> out;
    HONDANA_TRY(
        const auto rows,
        connection_.query(
            "SELECT p.id, p.heading, p.text, p.first_line, p.last_line, p.page, d.uri, d.version, d.name, d.title, "
            "d.description, "
            "d.mime_type, d.kind, d.language, d.problem, d.priority, d.audience, d.modified, d.size, (SELECT way FROM ways "
            "WHERE "
            "id=d.way), d.owners "
            "FROM unnest($1::bigint[]) WITH ORDINALITY AS w(id, place) JOIN passages p ON p.id=w.id JOIN documents d ON "
            "d.id=(p.id>>16) ORDER BY w.place",
            arguments().numbers(numbers)));
    out.reserve(static_cast<std::size_t>(rows.count()));
    for (int i = 0; i < rows.count(); ++i) {
      document_passage loaded{{rows.number(i, 0)}, {}, document_from_row(rows, i, 6)};
      loaded.passage.heading = rows.text(i, 1);
      loaded.passage.text = rows.text(i, 2);
      loaded.passage.first_line = static_cast<std::uint64_t>(rows.number(i, 3));
      loaded.passage.last_line = static_cast<std::uint64_t>(rows.number(i, 4));
      loaded.passage.page = static_cast<std::uint64_t>(rows.number(i, 5));
      out.push_back(std::move(loaded));
    }
    return out;
  }

  result<std::vector<passage_id>> filter_by_processing(std::span<const passage_id> ids,
                                                       std::span<const std::string> allowed) override {
    HONDANA_TRY(const auto stale, stale_processings(allowed));
    if (stale.empty()) return std::vector<passage_id>(ids.begin(), ids.end());
    std::vector<std::int64_t> numbers;
    numbers.reserve(ids.size());
    for (const auto& id : ids) numbers.push_back(id.number);
    HONDANA_TRY(
        const auto rows,
        connection_.query(("SELECT w.id FROM unnest($1::bigint[]) WITH ORDINALITY AS w(id, place) WHERE NOT EXISTS(SELECT 1 "
                           "FROM documents d WHERE d.id=(w.id>>16) AND d.way IN (" +
                           stale + ")) ORDER BY w.place")
                              .c_str(),
                          arguments().numbers(numbers)));
    std::vector<passage_id> out;
    out.reserve(static_cast<std::size_t>(rows.count()));
    for (int i = 0; i < rows.count(); ++i) out.push_back({rows.number(i, 0)});
    return out;
  }

  /// Uses the connection of this object. Waiting for a second one could deadlock with other searches.
  std::optional<result<std::vector<match>>> nearest(std::span<const float> query, std::size_t count) override {
    if (!store_.has_pgvector_) return std::nullopt;
    // The savepoint keeps the rest of the search usable after a failure.
    HONDANA_TRY(connection_.run("SAVEPOINT before_nearest"));
    auto response = store_.query_nearest(connection_, query, count);
    if (response && !*response && connection_.is_alive()) {
      HONDANA_TRY(connection_.run("ROLLBACK TO SAVEPOINT before_nearest"));
    }
    return response;
  }

 private:
  /// How many passages have the words of a query.
  struct frequencies {
    std::vector<std::uint64_t> passage_counts{};  ///< By word of the query.
    std::vector<std::string> lexemes{};           ///< All indexed words that match, if they are few.
    bool is_complete = true;                      ///< False: a prefix matches more words than `lexemes` has.
    std::uint64_t passages = 0;
    double mean_length = 0;
  };

  /// The ids in `ways` of values that documents have but that are not in `allowed`: "3,5".
  [[nodiscard]] result<std::string> stale_processings(std::span<const std::string> allowed) {
    HONDANA_TRY(const auto rows,
                connection_.query("SELECT id, way FROM ways w WHERE EXISTS(SELECT 1 FROM documents d WHERE d.way=w.id)"));
    std::string out;
    for (int i = 0; i < rows.count(); ++i) {
      if (std::find(allowed.begin(), allowed.end(), rows.bytes(i, 1)) != allowed.end()) continue;
      if (!out.empty()) out += ',';
      out += std::to_string(rows.number(i, 0));
    }
    return out;
  }

  [[nodiscard]] result<frequencies> read_frequencies(std::span<const query_word> words) {
    frequencies out;
    out.passage_counts.assign(words.size(), 0);
    std::vector<std::string> exact;
    for (const auto& term : words) {
      auto lexeme = lexeme_of(term.text);
      if (!term.is_prefix && !lexeme.empty() && std::find(exact.begin(), exact.end(), lexeme) == exact.end())
        exact.push_back(std::move(lexeme));
    }
    HONDANA_TRY(
        const auto rows,
        connection_.query(
            "SELECT '', passages, length FROM totals UNION ALL SELECT word, passages, 0 FROM terms WHERE word=ANY($1::text[])",
            arguments().texts(exact)));
    for (int i = 0; i < rows.count(); ++i) {
      const auto lexeme = rows.bytes(i, 0);
      const auto count = static_cast<std::uint64_t>(rows.number(i, 1));
      if (lexeme.empty()) {
        out.passages = count;
        out.mean_length = count > 0 ? static_cast<double>(rows.number(i, 2)) / static_cast<double>(count) : 0;
        continue;
      }
      for (std::size_t word = 0; word < words.size(); ++word) {
        if (!words[word].is_prefix && lexeme_of(words[word].text) == lexeme) out.passage_counts[word] = count;
      }
    }
    out.lexemes = std::move(exact);
    for (std::size_t word = 0; word < words.size(); ++word) {
      const auto prefix = lexeme_of(words[word].text);
      if (!words[word].is_prefix || prefix.empty()) continue;
      HONDANA_TRY(
          const auto expansions,
          connection_.query(
              "SELECT word, passages FROM terms WHERE word>=$1::text AND word<$1::text||chr(1114111) ORDER BY word LIMIT "
              "$2::bigint",
              arguments().text(prefix).number(max_prefix_words)));
      for (int i = 0; i < expansions.count(); ++i) {
        out.passage_counts[word] += static_cast<std::uint64_t>(expansions.number(i, 1));
        if (out.lexemes.size() < max_lexemes) {
          out.lexemes.push_back(expansions.text(i, 0));
        } else {
          out.is_complete = false;
        }
      }
    }
    return out;
  }

  const postgres_store& store_;
  postgres_connection connection_;
};

result<std::unique_ptr<index_snapshot>> postgres_store::snapshot() const {
  HONDANA_TRY(auto acquired, acquire_reader());
  auto opened = std::make_unique<postgres_snapshot>(*this, std::move(acquired));
  HONDANA_TRY(opened->begin());
  return std::unique_ptr<index_snapshot>(std::move(opened));
}

}  // namespace hondana::search
