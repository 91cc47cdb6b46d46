/// Japanese words by MeCab and ipadic.
#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii/utf8.hpp"
#include "text/tokenizer/dictionary.hpp"
#include "text/tokenizer/grams.hpp"
#include "text/tokenizer/pool.hpp"
#include "text/tokenizer/runs.hpp"
#include "text/tokenizer/stop_words.hpp"
#include "text/tokenizer/tokens.hpp"

namespace hondana::tokenizer {
namespace {

/// By the part of speech. Endings, helpers and what joins words are not indexed; pronouns and nouns that stand for others are.
worth worth_of(std::string_view feature, std::string_view base) noexcept {
  const auto kind = column_of(feature, 0);
  const auto finer = column_of(feature, 1);
  if (kind == "名詞")
    return finer == "非自立" || finer == "代名詞" || is_japanese_stop_word(base) ? worth::little : worth::full;
  if (kind == "動詞" || kind == "形容詞") {
    if (finer != "自立") return worth::none;
    return is_japanese_stop_word(base) ? worth::little : worth::full;
  }
  if (kind == "副詞") return is_japanese_stop_word(base) ? worth::little : worth::full;
  return kind == "接頭詞" ? worth::full : worth::none;
}

/// Whether there is more than marks of repetition and length.
bool has_letters(std::string_view word) noexcept {
  while (!word.empty()) {
    const auto c = ascii::first_character(word);
    const bool is_mark = c.code == 0x30FC || (c.code >= 0x3005 && c.code <= 0x3007) || (c.code >= 0x3099 && c.code <= 0x309E) ||
                         c.code == 0x30FD || c.code == 0x30FE;
    if (!is_mark) return true;
    word.remove_prefix(c.bytes);
  }
  return false;
}

/// サーバー and サーバ are one word: a long vowel at the end of four katakana or more is dropped.
std::string_view without_last_length(std::string_view word) noexcept {
  constexpr std::string_view length = "ー";
  if (word.size() < 4 * length.size() || word.substr(word.size() - length.size()) != length) return word;
  for (auto rest = word; !rest.empty();) {
    const auto c = ascii::first_character(rest);
    if (c.code < 0x30A1 || c.code > 0x30FE) return word;
    rest.remove_prefix(c.bytes);
  }
  return word.substr(0, word.size() - length.size());
}

/// What one thread cuts with.
struct cutting_bench {
  explicit cutting_bench(const dictionary& by) : japanese(by) {}
  dictionary::bench japanese;
  stemmer latin{};
};

class mecab_cutter final : public japanese_cutter {
 public:
  explicit mecab_cutter(dictionary::bench& by) noexcept : by_(by) {}

  void cut(found& into, std::size_t begin, std::size_t end) override {
    const auto run = into.folded().substr(begin, end - begin);
    const auto* node = by_.words_of(run);
    if (node == nullptr) {
      add_trigrams(into, begin, end);
      return;
    }
    for (; node != nullptr && node->stat != MECAB_EOS_NODE; node = node->next) {
      const std::string_view surface(node->surface, node->length);
      if (surface.empty()) continue;
      const auto at = begin + static_cast<std::size_t>(node->surface - run.data());
      const std::string_view feature = node->feature;
      const auto base = column_of(feature, 6);
      const auto word = base.empty() || base == "*" ? surface : base;
      const auto is = has_letters(surface) ? worth_of(feature, word) : worth::none;
      if (is != worth::none || into.is_query()) into.add(std::string(without_last_length(word)), at, at + surface.size(), is);
    }
  }

 private:
  dictionary::bench& by_;
};

class by_mecab final : public tokenizer {
 public:
  explicit by_mecab(std::shared_ptr<const dictionary> words)
      : words_(std::move(words)),
        id_("words-1 ipadic-" + words_->id()),
        description_("MeCab with " + words_->folder() + " (ipadic)") {}

  [[nodiscard]] std::vector<token> tokens_of(std::string_view text, purpose what_for) const override {
    const auto bench = benches_.take([this] { return std::make_unique<cutting_bench>(*words_); });
    mecab_cutter japanese(bench->japanese);
    return cut_text(text, what_for, japanese, bench->latin);
  }
  [[nodiscard]] const std::string& id() const noexcept override { return id_; }
  [[nodiscard]] const std::string& description() const noexcept override { return description_; }

 private:
  std::shared_ptr<const dictionary> words_;
  mutable pool<cutting_bench> benches_{};
  std::string id_;
  std::string description_;
};

/// Where Debian has dictionaries: the one that is chosen there, and ipadic.
constexpr std::array<const char*, 2> usual_folders = {"/var/lib/mecab/dic/debian", "/var/lib/mecab/dic/ipadic-utf8"};

}  // namespace

result<std::shared_ptr<const tokenizer>> words_by_mecab(const std::string& folder) {
  HONDANA_TRY(const auto library, load_mecab_library());
  auto words = dictionary::open(library, folder);
  for (std::size_t i = 0; !words && folder.empty() && i < usual_folders.size(); ++i)
    if (auto other = dictionary::open(library, usual_folders[i])) words = std::move(other);
  if (!words) return tl::unexpected(std::move(words.error()));
  return std::make_shared<by_mecab>(std::move(*words));
}

}  // namespace hondana::tokenizer
