/// Words in SQLite's FTS5 table: writing, matching and scoring them.
#include "search/index/embedded/fts_words.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

namespace hondana::search {
namespace {

constexpr auto no_word = static_cast<std::size_t>(-1);

bool is_kept(unsigned char c) noexcept {
  return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void append_quoted(std::string& to, const wanted_word& word) {
  to += '"';
  to += as_indexed(word.text);
  to += '"';
  if (word.is_prefix) to += '*';
}

}  // namespace

std::string as_indexed(std::string_view word) {
  std::string out;
  out.reserve(word.size());
  for (std::size_t i = 0; i < word.size(); ++i) {
    const auto c = static_cast<unsigned char>(word[i]);
    if (is_kept(c)) {
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

std::string indexed_words(const tokenizer::tokenizer& by, std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (const auto& one : by.tokens_of(text, tokenizer::purpose::index)) {
    if (!out.empty()) out += ' ';
    out += as_indexed(one.text);
  }
  return out;
}

std::string expression_of(std::span<const wanted_word> words, const std::vector<bool>& decides) {
  std::string deciding;
  std::string all;
  bool has_others = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!all.empty()) all += " OR ";
    append_quoted(all, words[i]);
    if (!decides[i]) {
      has_others = true;
      continue;
    }
    if (!deciding.empty()) deciding += " OR ";
    append_quoted(deciding, words[i]);
  }
  // A row must have one of the deciding words. Adding all words makes FTS5 return positions for the others, too.
  return has_others ? '(' + deciding + ") AND (" + all + ')' : all;
}

weighing::weighing(std::span<const wanted_word> words, const std::vector<bool>& decides, std::vector<double> idfs,
                   text_lengths& known)
    : weigher_(words, std::move(idfs)), known_(&known) {
  const bool has_others = std::find(decides.begin(), decides.end(), false) != decides.end();
  word_of_phrase_.reserve(2 * words.size());
  if (has_others) {
    word_of_phrase_.assign(static_cast<std::size_t>(std::count(decides.begin(), decides.end(), true)), no_word);
  }
  for (std::size_t i = 0; i < words.size(); ++i) word_of_phrase_.push_back(i);
}

/// The callback for SQLite.
struct weigh_function {
  static void call(const Fts5ExtensionApi* api, Fts5Context* row, sqlite3_context* answer, int count,
                   sqlite3_value** arguments) {
    auto* const by = count == 1 ? static_cast<weighing*>(sqlite3_value_pointer(arguments[0], weighing::type_name)) : nullptr;
    if (by == nullptr) return sqlite3_result_error(answer, "weigh: the weights are missing", -1);
    const int code = weigh(*by, *api, row);
    if (code != SQLITE_OK) return sqlite3_result_error_code(answer, code);
    sqlite3_result_double(answer, by->last_.score);
  }

  static int weigh(weighing& by, const Fts5ExtensionApi& api, Fts5Context* row) {
    if (by.mean_length_ < 0) {
      sqlite3_int64 rows = 0;
      sqlite3_int64 tokens = 0;
      if (const int code = api.xRowCount(row, &rows); code != SQLITE_OK) return code;
      if (const int code = api.xColumnTotalSize(row, static_cast<int>(place::text), &tokens); code != SQLITE_OK) return code;
      by.mean_length_ = rows > 0 ? static_cast<double>(tokens) / static_cast<double>(rows) : 0;
    }
    if (const int code = gather(by, api, row); code != SQLITE_OK) return code;
    const passage_id which{api.xRowid(row)};
    auto length = by.known_->of(which);
    if (!length) {
      int asked = 0;
      if (const int code = api.xColumnSize(row, static_cast<int>(place::text), &asked); code != SQLITE_OK) return code;
      length = static_cast<std::uint32_t>(std::max(asked, 0));
      by.known_->remember(which, *length);
    }
    by.last_ = by.weigher_.weighed(which, *length, by.mean_length_);
    return SQLITE_OK;
  }

 private:
  static int gather(weighing& by, const Fts5ExtensionApi& api, Fts5Context* row) {
    by.weigher_.begin();
    for (std::size_t phrase = 0; phrase < by.word_of_phrase_.size(); ++phrase) {
      const auto word = by.word_of_phrase_[phrase];
      if (word == no_word) continue;
      Fts5PhraseIter at{};
      int column = 0;
      int offset = 0;
      const int code = api.xPhraseFirst(row, static_cast<int>(phrase), &at, &column, &offset);
      if (code != SQLITE_OK) return code;
      for (; column >= 0; api.xPhraseNext(row, &at, &column, &offset)) {
        if (static_cast<std::size_t>(column) < place_count)
          by.weigher_.stands(word, static_cast<place>(column), static_cast<std::uint32_t>(offset));
      }
    }
    return SQLITE_OK;
  }
};

result<void> weighing::install(sqlite::connection& on) {
  fts5_api* api = nullptr;
  sqlite3_stmt* asked = nullptr;
  int code = sqlite3_prepare_v2(on.raw(), "SELECT fts5(?1)", -1, &asked, nullptr);
  if (code == SQLITE_OK) {
    sqlite3_bind_pointer(asked, 1, static_cast<void*>(&api), "fts5_api_ptr", nullptr);
    sqlite3_step(asked);
    code = sqlite3_finalize(asked);
  }
  if (code == SQLITE_OK && api == nullptr) code = SQLITE_ERROR;
  if (code == SQLITE_OK) code = api->xCreateFunction(api, "weigh", nullptr, &weigh_function::call, nullptr);
  if (code != SQLITE_OK) return on.error(code);
  return {};
}

}  // namespace hondana::search
