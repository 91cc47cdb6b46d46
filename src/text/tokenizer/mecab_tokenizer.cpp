/// The tokenizer for Japanese by MeCab: its library, dictionary and words.
#include "text/tokenizer/mecab_tokenizer.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "base/ascii/code_points.hpp"
#include "text/tokenizer/tokenizer.hpp"
#include "text/tokenizer/word_splitter.hpp"

namespace hondana::tokenizer {

result<const mecab_library*> loaded_mecab_library() {
  return libraries::load_once<mecab_library>({"libmecab.so.2", "splitting Japanese text into words requires",
                                              "libmecab2 mecab-ipadic-utf8", "search by trigrams, which require no library"});
}

namespace {

std::string describe_folder(const std::string& folder) {
  return folder.empty() ? "of its own configuration" : "`" + folder + "`";
}

constexpr const char* advice = "; install mecab-ipadic-utf8 (Debian) and name its folder, /var/lib/mecab/dic/ipadic-utf8";

}  // namespace

std::string_view feature_column(std::string_view feature, std::size_t index) noexcept {
  for (; index > 0; --index) {
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
  std::array<std::string, 5> arguments{"mecab", "-r", "/dev/null", "-d", folder};
  std::array<char*, 5> argv{};
  for (std::size_t i = 0; i < arguments.size(); ++i) argv[i] = arguments[i].data();
  model_ = library_.model_new(folder.empty() ? 1 : static_cast<int>(argv.size()), argv.data());
  if (model_ != nullptr) tagger_ = library_.model_new_tagger(model_);
  if (tagger_ != nullptr) return {};
  const char* const error = library_.strerror(nullptr);
  return fail(errc::source_unavailable, "MeCab cannot load the dictionary " + describe_folder(folder) + advice,
              error != nullptr ? error : std::string());
}

result<void> dictionary::check(const std::string& folder) {
  for (const auto* info = library_.model_dictionary_info(model_); info != nullptr; info = info->next) {
    const std::string_view charset = info->charset != nullptr ? info->charset : "";
    if (!ascii::equals_ignore_case(charset, "utf-8") && !ascii::equals_ignore_case(charset, "utf8"))
      return fail(errc::source_unavailable, "MeCab's dictionary " + describe_folder(folder) + " is in " + std::string(charset) +
                                                ", but must be in UTF-8" + advice);
    if (!id_.empty()) id_ += '+';
    id_.append("UTF-8-").append(std::to_string(info->size)).append(1, '-').append(std::to_string(info->version));
    if (folder_.empty() && info->filename != nullptr) {
      const std::string_view path = info->filename;
      folder_ = path.substr(0, path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/'));
    }
  }
  if (!folder.empty()) folder_ = folder;
  analyzer probe(*this);
  const auto* const first = probe.parse("書いた");
  const bool is_ipadic =
      first != nullptr && feature_column(first->feature, 0) == "動詞" && feature_column(first->feature, 6) == "書く";
  if (is_ipadic) return {};
  return fail(errc::source_unavailable, "MeCab's dictionary " + describe_folder(folder) +
                                            " does not have the format of ipadic, with base forms in column 7" + advice);
}

dictionary::analyzer::analyzer(const dictionary& owner)
    : dictionary_(owner), lattice_(owner.library_.model_new_lattice(owner.model_)) {
  if (lattice_ == nullptr) throw std::bad_alloc();
}

dictionary::analyzer::~analyzer() { dictionary_.library_.lattice_destroy(lattice_); }

const mecab_node_t* dictionary::analyzer::parse(std::string_view sentence) {
  dictionary_.library_.lattice_set_sentence(lattice_, sentence.data(), sentence.size());
  if (dictionary_.library_.parse_lattice(dictionary_.tagger_, lattice_) == 0) return nullptr;
  const auto* const begin = dictionary_.library_.lattice_get_bos_node(lattice_);
  return begin != nullptr ? begin->next : nullptr;
}

namespace {

/// The weight of a word by its part of speech. Endings, auxiliaries and conjunctions are not indexed. Pronouns and dependent
/// nouns are indexed with a low weight.
term_weight term_weight_of(std::string_view feature, std::string_view base) noexcept {
  const auto part_of_speech = feature_column(feature, 0);
  const auto subtype = feature_column(feature, 1);
  if (part_of_speech == "名詞")
    return subtype == "非自立" || subtype == "代名詞" || is_japanese_stop_word(base) ? term_weight::low : term_weight::full;
  if (part_of_speech == "動詞" || part_of_speech == "形容詞") {
    if (subtype != "自立") return term_weight::none;
    return is_japanese_stop_word(base) ? term_weight::low : term_weight::full;
  }
  if (part_of_speech == "副詞") return is_japanese_stop_word(base) ? term_weight::low : term_weight::full;
  return part_of_speech == "接頭詞" ? term_weight::full : term_weight::none;
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
std::string_view strip_trailing_long_vowel(std::string_view word) noexcept {
  constexpr std::string_view mark = "ー";
  if (word.size() < 4 * mark.size() || word.substr(word.size() - mark.size()) != mark) return word;
  for (auto remaining = word; !remaining.empty();) {
    const auto c = ascii::first_character(remaining);
    if (c.code < 0x30A1 || c.code > 0x30FE) return word;
    remaining.remove_prefix(c.bytes);
  }
  return word.substr(0, word.size() - mark.size());
}

/// The state that one thread needs.
struct tokenizer_state {
  explicit tokenizer_state(const dictionary& dictionary) : japanese(dictionary) {}
  dictionary::analyzer japanese;
  stemmer latin{};
};

class mecab_splitter final : public japanese_splitter {
 public:
  explicit mecab_splitter(dictionary::analyzer& analyzer) noexcept : analyzer_(analyzer) {}

  void split(token_collector& collector, std::size_t begin, std::size_t end) override {
    const auto run = collector.folded().substr(begin, end - begin);
    const auto* node = analyzer_.parse(run);
    if (node == nullptr) {
      add_trigrams(collector, begin, end);
      return;
    }
    for (; node != nullptr && node->stat != MECAB_EOS_NODE; node = node->next) {
      const std::string_view surface(node->surface, node->length);
      if (surface.empty()) continue;
      const auto position = begin + static_cast<std::size_t>(node->surface - run.data());
      const std::string_view feature = node->feature;
      const auto base = feature_column(feature, 6);
      const auto word = base.empty() || base == "*" ? surface : base;
      const auto weight = has_letters(surface) ? term_weight_of(feature, word) : term_weight::none;
      if (weight != term_weight::none || collector.is_query())
        collector.add(std::string(strip_trailing_long_vowel(word)), position, position + surface.size(), weight);
    }
  }

 private:
  dictionary::analyzer& analyzer_;
};

class mecab_tokenizer final : public tokenizer {
 public:
  explicit mecab_tokenizer(std::shared_ptr<const dictionary> dictionary)
      : dictionary_(std::move(dictionary)),
        id_("words-1 ipadic-" + dictionary_->id()),
        description_("MeCab with " + dictionary_->folder() + " (ipadic)") {}

  [[nodiscard]] std::vector<token> tokenize(std::string_view text, tokenize_mode mode) const override {
    const auto state = states_.acquire([this] { return std::make_unique<tokenizer_state>(*dictionary_); });
    mecab_splitter japanese(state->japanese);
    return split_text(text, mode, japanese, state->latin);
  }
  [[nodiscard]] const std::string& id() const noexcept override { return id_; }
  [[nodiscard]] const std::string& description() const noexcept override { return description_; }

 private:
  std::shared_ptr<const dictionary> dictionary_;
  mutable pool<tokenizer_state> states_{};
  std::string id_;
  std::string description_;
};

/// Debian's dictionary folders: the selected one, and ipadic.
constexpr std::array<const char*, 2> default_folders = {"/var/lib/mecab/dic/debian", "/var/lib/mecab/dic/ipadic-utf8"};

}  // namespace

result<std::shared_ptr<const tokenizer>> make_mecab_tokenizer(const std::string& folder) {
  HONDANA_TRY(const auto library, loaded_mecab_library());
  auto opened = dictionary::open(*library, folder);
  for (std::size_t i = 0; !opened && folder.empty() && i < default_folders.size(); ++i)
    if (auto fallback = dictionary::open(*library, default_folders[i])) opened = std::move(fallback);
  if (!opened) return tl::unexpected(std::move(opened.error()));
  return std::make_shared<mecab_tokenizer>(std::move(*opened));
}

}  // namespace hondana::tokenizer
