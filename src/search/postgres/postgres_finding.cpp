/// The store in PostgreSQL: candidates by its index of words, weighed here.
#include <algorithm>
#include <utility>

#include "json/utf8.hpp"
#include "search/postgres/postgres_state.hpp"
#include "search/weigher.hpp"

namespace hondana::search {
namespace {

/// Words that fit are asked for by name as long as they are so few, which is quicker than all words of a passage.
constexpr std::size_t most_lexemes = 500;

/// What `document_filter` says, after `AND`; its arguments are added.
class condition {
 public:
  condition(const document_filter& which, arguments& with) : with_(with) {
    if (!which.uri_prefix.empty()) add("starts_with(d.uri, ", "::text)", which.uri_prefix);
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
  }
  [[nodiscard]] const std::string& sql() const noexcept { return sql_; }

 private:
  void add(std::string_view before, std::string_view behind, const std::string& text) {
    with_.text(proper(text));
    add(before, behind);
  }
  /// With the argument that was added last.
  void add(std::string_view before, std::string_view behind) {
    sql_ += " AND ";
    sql_ += before;
    sql_ += '$' + std::to_string(with_.all().size());
    sql_ += behind;
  }
  /// PostgreSQL refuses what is no text; no document has U+FFFF.
  static std::string proper(const std::string& text) {
    return json::is_utf8(text) && !json::has_nul(text) ? text : "\xEF\xBF\xBF";
  }

  arguments& with_;
  std::string sql_;
};

}  // namespace

result<postgres_store::frequencies> postgres_store::frequencies_of(postgres_connection& by,
                                                                   std::span<const wanted_word> words) const {
  frequencies out;
  out.having.assign(words.size(), 0);
  std::vector<std::string> exact;
  for (const auto& one : words) {
    auto lexeme = lexeme_of(one.text);
    if (!one.is_prefix && !lexeme.empty() && std::find(exact.begin(), exact.end(), lexeme) == exact.end())
      exact.push_back(std::move(lexeme));
  }
  const auto rows =
      by.ask("SELECT '', passages, length FROM totals UNION ALL SELECT word, passages, 0 FROM terms WHERE word=ANY($1::text[])",
             arguments().texts(exact));
  if (!rows) return tl::unexpected(rows.error());
  for (int i = 0; i < rows->count(); ++i) {
    const auto lexeme = rows->bytes(i, 0);
    const auto count = static_cast<std::uint64_t>(rows->number(i, 1));
    if (lexeme.empty()) {
      out.passages = count;
      out.mean_length = count > 0 ? static_cast<double>(rows->number(i, 2)) / static_cast<double>(count) : 0;
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
    const auto more = by.ask(
        "SELECT word, passages FROM terms WHERE word>=$1::text AND word<$1::text||chr(1114111) ORDER BY word LIMIT $2::bigint",
        arguments().text(begin).number(most_beginning_so));
    if (!more) return tl::unexpected(more.error());
    for (int i = 0; i < more->count(); ++i) {
      out.having[word] += static_cast<std::uint64_t>(more->number(i, 1));
      if (out.lexemes.size() < most_lexemes) {
        out.lexemes.push_back(more->text(i, 0));
      } else {
        out.are_all = false;
      }
    }
  }
  return out;
}

result<matches> postgres_store::find(std::span<const wanted_word> words, const document_filter& which, std::size_t most) const {
  if (words.size() > most_words) return fail(errc::invalid_argument, "a search has at most 64 words");
  matches out;
  std::vector<std::string> lexemes;
  lexemes.reserve(words.size());
  for (const auto& one : words) lexemes.push_back(lexeme_of(one.text));
  auto done = reading([&](postgres_connection& by) -> result<void> {
    out = {};
    const auto known = frequencies_of(by, words);
    if (!known) return tl::unexpected(known.error());
    const auto decides = deciding(known->having, most);
    if (std::find(decides.begin(), decides.end(), true) == decides.end()) return {};
    std::vector<double> idfs;
    idfs.reserve(words.size());
    for (const auto one : known->having) idfs.push_back(idf(known->passages, one));
    arguments with;
    with.text(query_of(words, decides)).number(static_cast<std::int64_t>(most) + 1);
    if (known->are_all) with.texts(known->lexemes);
    const condition filter(which, with);
    // The few words that are wanted get weight A, and are picked by it: small rows to sort, which are never kept aside.
    std::string sql = "SELECT p.id, p.length::bigint, ";
    sql += known->are_all ? "ts_filter(setweight(p.words, 'A', $3::text[]), '{a}')" : "p.words";
    sql += " FROM passages p";
    if (!filter.sql().empty()) sql += " JOIN documents d ON d.id=(p.id>>16)";
    sql += " WHERE p.words@@($1::text)::tsquery" + filter.sql() + " ORDER BY p.id DESC LIMIT $2::bigint";
    const auto rows = by.ask(sql.c_str(), with);
    if (!rows) return tl::unexpected(rows.error());
    weigher weights(words, std::move(idfs));
    out.all.reserve(static_cast<std::size_t>(rows->count()));
    for (int i = 0; i < rows->count(); ++i) {
      if (out.all.size() == most) {
        out.is_complete = false;
        break;
      }
      weights.begin();
      auto read = each_standing(rows->bytes(i, 2), [&](std::string_view lexeme, std::span<const standing> places) {
        for (std::size_t word = 0; word < words.size(); ++word) {
          const bool fits =
              words[word].is_prefix ? !lexemes[word].empty() && lexeme.starts_with(lexemes[word]) : lexeme == lexemes[word];
          if (!fits) continue;
          for (const auto& one : places) weights.stands(word, one.where, one.offset);
        }
      });
      if (!read) return read;
      out.all.push_back(weights.weighed({rows->number(i, 0)}, static_cast<double>(rows->number(i, 1)), known->mean_length));
    }
    return {};
  });
  if (!done) return tl::unexpected(std::move(done.error()));
  return out;
}

}  // namespace hondana::search
