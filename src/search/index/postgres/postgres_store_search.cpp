/// The index in PostgreSQL: searches in one state of it.

#include <algorithm>
#include <utility>

#include "base/json/utf8.hpp"
#include "search/index/bm25.hpp"
#include "search/index/postgres/postgres_store_impl.hpp"

namespace hondana::search {
namespace {

/// Up to this many matching words, only these are selected from each passage, which is faster than reading all its words.
constexpr std::size_t most_lexemes = 500;

/// The SQL of a `document_filter`, to follow `AND`; adds its arguments.
class condition {
 public:
  condition(const document_filter& which, const std::string& stale, arguments& with) : with_(with) {
    if (!which.uri_prefix.empty()) {
      add("(starts_with(d.uri, ", "::text)", which.uri_prefix);
      for (const auto& one : which.more_prefixes) {
        with_.text(proper(one));
        sql_ += " OR starts_with(d.uri, $" + std::to_string(with_.all().size()) + "::text)";
      }
      sql_ += ')';
    }
    if (!which.scheme.empty()) add("starts_with(d.uri, ", "::text||':')", which.scheme);
    if (!which.language.empty() && which.language != "*")
      add("starts_with(lower(d.language COLLATE \"C\")||'-', lower(", "::text COLLATE \"C\")||'-')", which.language);
    if (!which.mime_type.empty())
      which.mime_type.back() == '/' ? add("starts_with(split_part(d.mime_type, ';', 1), ", "::text)", which.mime_type)
                                    : add("split_part(d.mime_type, ';', 1)=", "::text", which.mime_type);
    if (!which.kind.empty()) add("d.kind=", "::text", which.kind);
    if (which.audience) {
      with_.number(bit_of(*which.audience));
      add("(d.audience&", "::bigint)<>0");
    }
    if (which.min_priority) {
      with_.real(*which.min_priority);
      add("d.priority>=", "::float8");
    }
    if (which.modified_since) {
      with_.number(which.modified_since->time_since_epoch().count());
      add("d.modified>=", "::bigint");
    }
    if (!which.owner.empty()) add("strpos(', '||d.owners||', ', ', '||", "::text||', ')>0", which.owner);
    if (!stale.empty()) sql_ += " AND d.way NOT IN (" + stale + ')';
  }
  [[nodiscard]] const std::string& sql() const noexcept { return sql_; }

 private:
  void add(std::string_view before, std::string_view behind, const std::string& text) {
    with_.text(proper(text));
    add(before, behind);
  }
  /// Adds a condition with the last argument.
  void add(std::string_view before, std::string_view behind) {
    sql_ += " AND ";
    sql_ += before;
    sql_ += '$' + std::to_string(with_.all().size());
    sql_ += behind;
  }
  /// PostgreSQL rejects malformed text. Replace it by U+FFFF, which no document has.
  static std::string proper(const std::string& text) {
    return json::is_utf8(text) && !json::has_nul(text) ? text : "\xEF\xBF\xBF";
  }

  arguments& with_;
  std::string sql_;
};

document document_in(const postgres_rows& rows, int row, int first) {
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
  for (const auto one : {role::user, role::assistant}) {
    if ((rows.number(row, first + 10) & bit_of(one)) != 0) out.audience.push_back(one);
  }
  if (!rows.is_null(row, first + 11)) out.modified = milliseconds(std::chrono::milliseconds(rows.number(row, first + 11)));
  if (!rows.is_null(row, first + 12)) out.size = static_cast<std::uint64_t>(rows.number(row, first + 12));
  out.made = text(13);
  out.owners = text(14);
  return out;
}

}  // namespace

/// A transaction of a reader.
class postgres_state_of_index final : public state_of_index {
 public:
  postgres_state_of_index(const postgres_store& from, postgres_connection by) : from_(from), by_(std::move(by)) {}
  ~postgres_state_of_index() override {
    if (by_.is_alive() && by_.is_in_transaction() && !by_.run("ROLLBACK")) by_ = postgres_connection();
    from_.give_back(std::move(by_));
  }

  /// The first read in the transaction fixes the state.
  [[nodiscard]] result<void> begin() {
    static constexpr const char* beginning = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
    auto begun = by_.run(beginning);
    if (begun || by_.is_alive()) return begun;
    from_.drop_idle();
    HONDANA_TRY(auto made, from_.connect_reader());
    by_ = std::move(made);
    return by_.run(beginning);
  }

  result<matches> find(std::span<const wanted_word> words, const document_filter& which, std::size_t most) override {
    if (words.size() > most_words) return fail(errc::invalid_argument, "a search can have at most 64 words");
    matches out;
    std::vector<std::string> lexemes;
    lexemes.reserve(words.size());
    for (const auto& one : words) lexemes.push_back(lexeme_of(one.text));
    HONDANA_TRY(const auto stale, which.made ? made_otherwise(*which.made) : result<std::string>());
    const auto known = frequencies_of(words);
    if (!known) return tl::unexpected(known.error());
    const auto decides = deciding(known->having, most);
    if (std::find(decides.begin(), decides.end(), true) == decides.end()) return out;
    std::vector<double> idfs;
    idfs.reserve(words.size());
    for (const auto one : known->having) idfs.push_back(idf(known->passages, one));
    arguments with;
    with.text(query_of(words, decides)).number(static_cast<std::int64_t>(most) + 1);
    if (known->are_all) with.texts(known->lexemes);
    const condition filter(which, stale, with);
    // Give the wanted words weight A and select them by it. The rows to sort stay small, so PostgreSQL need not store them out
    // of line.
    std::string sql = "SELECT p.id, p.length::bigint, ";
    sql += known->are_all ? "ts_filter(setweight(p.words, 'A', $3::text[]), '{a}')" : "p.words";
    sql += " FROM passages p";
    if (!filter.sql().empty()) sql += " JOIN documents d ON d.id=(p.id>>16)";
    sql += " WHERE p.words@@($1::text)::tsquery" + filter.sql() + " ORDER BY p.id DESC LIMIT $2::bigint";
    HONDANA_TRY(const auto rows, by_.ask(sql.c_str(), with));
    weigher weights(words, std::move(idfs));
    out.all.reserve(static_cast<std::size_t>(rows.count()));
    for (int i = 0; i < rows.count(); ++i) {
      if (out.all.size() == most) {
        out.is_complete = false;
        break;
      }
      weights.begin();
      auto read = each_standing(rows.bytes(i, 2), [&](std::string_view lexeme, std::span<const standing> places) {
        for (std::size_t word = 0; word < words.size(); ++word) {
          const bool fits =
              words[word].is_prefix ? !lexemes[word].empty() && lexeme.starts_with(lexemes[word]) : lexeme == lexemes[word];
          if (!fits) continue;
          for (const auto& one : places) weights.stands(word, one.where, one.offset);
        }
      });
      if (!read) return tl::unexpected(read.error());
      out.all.push_back(weights.weighed({rows.number(i, 0)}, static_cast<double>(rows.number(i, 1)), known->mean_length));
    }
    return out;
  }

  result<std::vector<shown_passage>> show(std::span<const passage_id> which) override {
    std::vector<std::int64_t> ids;
    ids.reserve(which.size());
    for (const auto& one : which) ids.push_back(one.number);
    std::vector<shown_passage> out;
    HONDANA_TRY(
        const auto rows,
        by_.ask("SELECT p.id, p.heading, p.text, p.first_line, p.last_line, p.page, d.uri, d.version, d.name, d.title, "
                "d.description, "
                "d.mime_type, d.kind, d.language, d.problem, d.priority, d.audience, d.modified, d.size, (SELECT way FROM ways "
                "WHERE "
                "id=d.way), d.owners "
                "FROM unnest($1::bigint[]) WITH ORDINALITY AS w(id, place) JOIN passages p ON p.id=w.id JOIN documents d ON "
                "d.id=(p.id>>16) ORDER BY w.place",
                arguments().numbers(ids)));
    out.reserve(static_cast<std::size_t>(rows.count()));
    for (int i = 0; i < rows.count(); ++i) {
      shown_passage one{{rows.number(i, 0)}, {}, document_in(rows, i, 6)};
      one.passage.heading = rows.text(i, 1);
      one.passage.text = rows.text(i, 2);
      one.passage.first_line = static_cast<std::uint64_t>(rows.number(i, 3));
      one.passage.last_line = static_cast<std::uint64_t>(rows.number(i, 4));
      one.passage.page = static_cast<std::uint64_t>(rows.number(i, 5));
      out.push_back(std::move(one));
    }
    return out;
  }

  result<std::vector<passage_id>> made_so(std::span<const passage_id> which, std::span<const std::string> ways) override {
    HONDANA_TRY(const auto stale, made_otherwise(ways));
    if (stale.empty()) return std::vector<passage_id>(which.begin(), which.end());
    std::vector<std::int64_t> ids;
    ids.reserve(which.size());
    for (const auto& one : which) ids.push_back(one.number);
    HONDANA_TRY(const auto rows,
                by_.ask(("SELECT w.id FROM unnest($1::bigint[]) WITH ORDINALITY AS w(id, place) WHERE NOT EXISTS(SELECT 1 "
                         "FROM documents d WHERE d.id=(w.id>>16) AND d.way IN (" +
                         stale + ")) ORDER BY w.place")
                            .c_str(),
                        arguments().numbers(ids)));
    std::vector<passage_id> out;
    out.reserve(static_cast<std::size_t>(rows.count()));
    for (int i = 0; i < rows.count(); ++i) out.push_back({rows.number(i, 0)});
    return out;
  }

  /// Uses the connection of this object. Waiting for a second one could deadlock with other searches.
  std::optional<result<std::vector<match>>> nearest(std::span<const float> to, std::size_t count) override {
    if (!from_.has_pgvector_) return std::nullopt;
    // The savepoint keeps the rest of the search usable after a failure.
    HONDANA_TRY(by_.run("SAVEPOINT before_nearest"));
    auto found = from_.nearest_by(by_, to, count);
    if (found && !*found && by_.is_alive()) {
      HONDANA_TRY(by_.run("ROLLBACK TO SAVEPOINT before_nearest"));
    }
    return found;
  }

 private:
  /// How many passages have the words of a query.
  struct frequencies {
    std::vector<std::uint64_t> having{};  ///< By word of the query.
    std::vector<std::string> lexemes{};   ///< All indexed words that match, if they are few.
    bool are_all = true;                  ///< False: a prefix matches more words than `lexemes` has.
    std::uint64_t passages = 0;
    double mean_length = 0;
  };

  /// The ids of `ways` that documents have but that are not in the argument: "3,5".
  [[nodiscard]] result<std::string> made_otherwise(std::span<const std::string> ways) {
    HONDANA_TRY(const auto rows,
                by_.ask("SELECT id, way FROM ways w WHERE EXISTS(SELECT 1 FROM documents d WHERE d.way=w.id)"));
    std::string out;
    for (int i = 0; i < rows.count(); ++i) {
      if (std::find(ways.begin(), ways.end(), rows.bytes(i, 1)) != ways.end()) continue;
      if (!out.empty()) out += ',';
      out += std::to_string(rows.number(i, 0));
    }
    return out;
  }

  [[nodiscard]] result<frequencies> frequencies_of(std::span<const wanted_word> words) {
    frequencies out;
    out.having.assign(words.size(), 0);
    std::vector<std::string> exact;
    for (const auto& one : words) {
      auto lexeme = lexeme_of(one.text);
      if (!one.is_prefix && !lexeme.empty() && std::find(exact.begin(), exact.end(), lexeme) == exact.end())
        exact.push_back(std::move(lexeme));
    }
    HONDANA_TRY(
        const auto rows,
        by_.ask(
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
        if (!words[word].is_prefix && lexeme_of(words[word].text) == lexeme) out.having[word] = count;
      }
    }
    out.lexemes = std::move(exact);
    for (std::size_t word = 0; word < words.size(); ++word) {
      const auto begin = lexeme_of(words[word].text);
      if (!words[word].is_prefix || begin.empty()) continue;
      HONDANA_TRY(
          const auto more,
          by_.ask("SELECT word, passages FROM terms WHERE word>=$1::text AND word<$1::text||chr(1114111) ORDER BY word LIMIT "
                  "$2::bigint",
                  arguments().text(begin).number(most_beginning_so)));
      for (int i = 0; i < more.count(); ++i) {
        out.having[word] += static_cast<std::uint64_t>(more.number(i, 1));
        if (out.lexemes.size() < most_lexemes) {
          out.lexemes.push_back(more.text(i, 0));
        } else {
          out.are_all = false;
        }
      }
    }
    return out;
  }

  const postgres_store& from_;
  postgres_connection by_;
};

result<std::unique_ptr<state_of_index>> postgres_store::at_once() const {
  HONDANA_TRY(auto taken, take_reader());
  auto made = std::make_unique<postgres_state_of_index>(*this, std::move(taken));
  HONDANA_TRY(made->begin());
  return std::unique_ptr<state_of_index>(std::move(made));
}

}  // namespace hondana::search
