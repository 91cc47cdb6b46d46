/// The tokenizer for Japanese by MeCab: its library, dictionary and words.
#include "text/tokenizer/mecab_tokenizer.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/ascii/code_points.hpp"
#include "text/tokenizer/tokenizer.hpp"
#include "text/tokenizer/word_splitter.hpp"

namespace hondana::tokenizer {

result<mecab_library> load_mecab_library(const char* name) {
  const auto why_not = [name](std::string_view what) {
    const char* const said = ::dlerror();
    return fail(errc::source_unavailable,
                "MeCab cannot split Japanese text into words: its library " + std::string(name) + " " + std::string(what) +
                    "; install libmecab2 and mecab-ipadic-utf8 (Debian), or search by trigrams, which require neither",
                said != nullptr ? said : std::string());
  };
  void* const handle = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return why_not("cannot be loaded");
  mecab_library out{};
  bool is_whole = true;
  const auto find = [&](auto& into, const char* function) {
    into = reinterpret_cast<std::remove_reference_t<decltype(into)>>(::dlsym(handle, function));
    is_whole = is_whole && into != nullptr;
  };
  find(out.strerror, "mecab_strerror");
  find(out.destroy, "mecab_destroy");
  find(out.model_new, "mecab_model_new");
  find(out.model_destroy, "mecab_model_destroy");
  find(out.model_new_tagger, "mecab_model_new_tagger");
  find(out.model_new_lattice, "mecab_model_new_lattice");
  find(out.model_dictionary_info, "mecab_model_dictionary_info");
  find(out.lattice_destroy, "mecab_lattice_destroy");
  find(out.lattice_set_sentence, "mecab_lattice_set_sentence2");
  find(out.lattice_get_bos_node, "mecab_lattice_get_bos_node");
  find(out.parse_lattice, "mecab_parse_lattice");
  if (!is_whole) return why_not("lacks functions");
  return out;
}

namespace {

std::string named(const std::string& folder) { return folder.empty() ? "of its own configuration" : "`" + folder + "`"; }

constexpr const char* advice = "; install mecab-ipadic-utf8 (Debian) and name its folder, /var/lib/mecab/dic/ipadic-utf8";

}  // namespace

std::string_view column_of(std::string_view feature, std::size_t which) noexcept {
  for (; which > 0; --which) {
    const auto comma = feature.find(',');
    if (comma == std::string_view::npos) return {};
    feature.remove_prefix(comma + 1);
  }
  return feature.substr(0, feature.find(','));
}

result<std::shared_ptr<const dictionary>> dictionary::open(const mecab_library& library, const std::string& folder) {
  std::shared_ptr<dictionary> out(new dictionary(library));
  HONDANA_TRY(out->load(folder));
  HONDANA_TRY(out->check(folder));
  return out;
}

dictionary::~dictionary() {
  if (tagger_ != nullptr) library_.destroy(tagger_);
  if (model_ != nullptr) library_.model_destroy(model_);
}

result<void> dictionary::load(const std::string& folder) {
  // With an explicit folder, ignore MeCab's configuration files.
  std::array<std::string, 5> words{"mecab", "-r", "/dev/null", "-d", folder};
  std::array<char*, 5> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  model_ = library_.model_new(folder.empty() ? 1 : static_cast<int>(arguments.size()), arguments.data());
  if (model_ != nullptr) tagger_ = library_.model_new_tagger(model_);
  if (tagger_ != nullptr) return {};
  const char* const said = library_.strerror(nullptr);
  return fail(errc::source_unavailable, "MeCab cannot load the dictionary " + named(folder) + advice,
              said != nullptr ? said : std::string());
}

result<void> dictionary::check(const std::string& folder) {
  for (const auto* one = library_.model_dictionary_info(model_); one != nullptr; one = one->next) {
    const std::string_view charset = one->charset != nullptr ? one->charset : "";
    if (!ascii::is_same(charset, "utf-8") && !ascii::is_same(charset, "utf8"))
      return fail(errc::source_unavailable,
                  "MeCab's dictionary " + named(folder) + " is in " + std::string(charset) + ", but must be in UTF-8" + advice);
    if (!id_.empty()) id_ += '+';
    id_.append("UTF-8-").append(std::to_string(one->size)).append(1, '-').append(std::to_string(one->version));
    if (folder_.empty() && one->filename != nullptr) {
      const std::string_view file = one->filename;
      folder_ = file.substr(0, file.rfind('/') == std::string_view::npos ? 0 : file.rfind('/'));
    }
  }
  if (!folder.empty()) folder_ = folder;
  bench by(*this);
  const auto* const first = by.words_of("書いた");
  const bool is_ipadic = first != nullptr && column_of(first->feature, 0) == "動詞" && column_of(first->feature, 6) == "書く";
  if (is_ipadic) return {};
  return fail(errc::source_unavailable, "MeCab's dictionary " + named(folder) +
                                            " does not have the format of ipadic, with base forms in column 7" + advice);
}

dictionary::bench::bench(const dictionary& by) : by_(by), lattice_(by.library_.model_new_lattice(by.model_)) {
  if (lattice_ == nullptr) throw std::bad_alloc();
}

dictionary::bench::~bench() { by_.library_.lattice_destroy(lattice_); }

const mecab_node_t* dictionary::bench::words_of(std::string_view sentence) {
  by_.library_.lattice_set_sentence(lattice_, sentence.data(), sentence.size());
  if (by_.library_.parse_lattice(by_.tagger_, lattice_) == 0) return nullptr;
  const auto* const begin = by_.library_.lattice_get_bos_node(lattice_);
  return begin != nullptr ? begin->next : nullptr;
}

namespace {

/// The index value of a word by its part of speech. Endings, auxiliaries and conjunctions are not indexed. Pronouns and
/// dependent nouns are indexed, but have little value in queries.
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

/// Whether the word has more than iteration and length marks.
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

/// Treats サーバー and サーバ as one word: drops a long vowel mark at the end of four or more katakana.
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

/// The state that one thread needs.
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

/// Debian's dictionary folders: the selected one, and ipadic.
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
