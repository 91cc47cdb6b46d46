/// Words in SQLite's FTS5 table: writing, matching and scoring them.
#include "search/index/embedded/fts_words.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

namespace hondana::search {
namespace {

constexpr auto no_word = static_cast<std::size_t>(-1);

bool is_word_character(unsigned char c) noexcept {
  return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void append_quoted(std::string& target, const query_word& word) {
  target += '"';
  target += encode_word(word.text);
  target += '"';
  if (word.is_prefix) target += '*';
}

}  // namespace

std::string encode_word(std::string_view word) {
  std::string out;
  out.reserve(word.size());
  for (std::size_t i = 0; i < word.size(); ++i) {
    const auto c = static_cast<unsigned char>(word[i]);
    if (is_word_character(c)) {
      // Escape characters that the encoding below uses itself: put U+E080 before each.
      if (word.substr(i).starts_with("\xEE\x80") || word.substr(i).starts_with("\xEE\x81") ||
          word.substr(i).starts_with("\xEE\x82\x80"))
        out += "\xEE\x82\x80";
      out += word[i];
      continue;
    }
    // Encode as U+E000 plus the byte.
    out += '\xEE';
    out += static_cast<char>(0x80 | (c >> 6));
    out += static_cast<char>(0x80 | (c & 0x3F));
  }
  return out;
}

std::string encode_words(const tokenizer::tokenizer& tokenizer, std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const auto& token : tokenizer.tokenize(text, tokenizer::tokenize_mode::index)) {
    if (!out.empty()) out += ' ';
    out += encode_word(token.text);
  }
  return out;
}

std::string match_expression(std::span<const query_word> words, const std::vector<bool>& required) {
  std::string required_words;
  std::string all_words;
  bool has_optional = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!all_words.empty()) all_words += " OR ";
    append_quoted(all_words, words[i]);
    if (!required[i]) {
      has_optional = true;
      continue;
    }
    if (!required_words.empty()) required_words += " OR ";
    append_quoted(required_words, words[i]);
  }
  // A row must have one of the required words. Adding all words makes FTS5 return positions for the others, too.
  return has_optional ? '(' + required_words + ") AND (" + all_words + ')' : all_words;
}

row_scorer::row_scorer(std::span<const query_word> words, const std::vector<bool>& required, std::vector<double> idfs,
                       text_lengths& lengths)
    : scorer_(words, std::move(idfs)), lengths_(&lengths) {
  const bool has_optional = std::find(required.begin(), required.end(), false) != required.end();
  word_of_phrase_.reserve(2 * words.size());
  if (has_optional) {
    word_of_phrase_.assign(static_cast<std::size_t>(std::count(required.begin(), required.end(), true)), no_word);
  }
  for (std::size_t i = 0; i < words.size(); ++i) word_of_phrase_.push_back(i);
}

/// The callback for SQLite.
struct weigh_function {
  static void call(const Fts5ExtensionApi* api, Fts5Context* row, sqlite3_context* context, int count,
                   sqlite3_value** arguments) {
    auto* const scorer =
        count == 1 ? static_cast<row_scorer*>(sqlite3_value_pointer(arguments[0], row_scorer::type_name)) : nullptr;
    if (scorer == nullptr) return sqlite3_result_error(context, "weigh: the weights are missing", -1);
    const int code = weigh(*scorer, *api, row);
    if (code != SQLITE_OK) return sqlite3_result_error_code(context, code);
    sqlite3_result_double(context, scorer->last_.score);
  }

  static int weigh(row_scorer& scorer, const Fts5ExtensionApi& api, Fts5Context* row) {
    if (scorer.mean_length_ < 0) {
      sqlite3_int64 rows = 0;
      sqlite3_int64 tokens = 0;
      if (const int code = api.xRowCount(row, &rows); code != SQLITE_OK) return code;
      if (const int code = api.xColumnTotalSize(row, static_cast<int>(document_field::text), &tokens); code != SQLITE_OK)
        return code;
      scorer.mean_length_ = rows > 0 ? static_cast<double>(tokens) / static_cast<double>(rows) : 0;
    }
    if (const int code = collect(scorer, api, row); code != SQLITE_OK) return code;
    const passage_id id{api.xRowid(row)};
    auto length = scorer.lengths_->find(id);
    if (!length) {
      int size = 0;
      if (const int code = api.xColumnSize(row, static_cast<int>(document_field::text), &size); code != SQLITE_OK) return code;
      length = static_cast<std::uint32_t>(std::max(size, 0));
      scorer.lengths_->put(id, *length);
    }
    scorer.last_ = scorer.scorer_.score(id, *length, scorer.mean_length_);
    return SQLITE_OK;
  }

 private:
  static int collect(row_scorer& scorer, const Fts5ExtensionApi& api, Fts5Context* row) {
    scorer.scorer_.begin();
    for (std::size_t phrase = 0; phrase < scorer.word_of_phrase_.size(); ++phrase) {
      const auto word = scorer.word_of_phrase_[phrase];
      if (word == no_word) continue;
      Fts5PhraseIter iterator{};
      int column = 0;
      int offset = 0;
      const int code = api.xPhraseFirst(row, static_cast<int>(phrase), &iterator, &column, &offset);
      if (code != SQLITE_OK) return code;
      for (; column >= 0; api.xPhraseNext(row, &iterator, &column, &offset)) {
        if (static_cast<std::size_t>(column) < field_count)
          scorer.scorer_.add_occurrence(word, static_cast<document_field>(column), static_cast<std::uint32_t>(offset));
      }
    }
    return SQLITE_OK;
  }
};

result<void> row_scorer::register_function(sqlite::connection& connection) {
  fts5_api* api = nullptr;
  sqlite3_stmt* statement = nullptr;
  int code = sqlite3_prepare_v2(connection.raw(), "SELECT fts5(?1)", -1, &statement, nullptr);
  if (code == SQLITE_OK) {
    sqlite3_bind_pointer(statement, 1, static_cast<void*>(&api), "fts5_api_ptr", nullptr);
    sqlite3_step(statement);
    code = sqlite3_finalize(statement);
  }
  if (code == SQLITE_OK && api == nullptr) code = SQLITE_ERROR;
  if (code == SQLITE_OK) code = api->xCreateFunction(api, "weigh", nullptr, &weigh_function::call, nullptr);
  if (code != SQLITE_OK) return connection.error(code);
  return {};
}

}  // namespace hondana::search
