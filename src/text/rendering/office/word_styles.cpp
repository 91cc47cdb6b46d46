/// Following styles to those that they are based on.
#include "text/rendering/office/word_styles.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace hondana::rendering {
namespace {

constexpr std::size_t longest_chain = 32;

/// How programs of several languages name the styles of headings; a number follows. Word itself stores the English name.
constexpr std::array<std::string_view, 16> heading_words{"heading",   "見出し", "überschrift", "titre",    "título", "titolo",
                                                         "kop",       "rubrik", "overskrift",  "nagłówek", "标题",   "標題",
                                                         "заголовок", "제목",   "otsikko",     "nadpis"};
constexpr std::array<std::string_view, 4> title_words{"title", "表題", "标题", "titel"};

}  // namespace

std::optional<std::size_t> heading_level_in(std::string_view style_name) {
  std::string name(style_name);
  std::transform(name.begin(), name.end(), name.begin(), [](char c) {
    const bool is_upper = c >= 'A' && c <= 'Z';
    return is_upper ? static_cast<char>(c | 0x20) : c;
  });
  // "Ü" of the one language that begins so.
  if (name.starts_with("\xc3\x9c")) name.replace(0, 2, "\xc3\xbc");
  if (std::find(title_words.begin(), title_words.end(), name) != title_words.end()) return 1;
  for (const auto word : heading_words) {
    if (!name.starts_with(word)) continue;
    const auto rest = trimmed(std::string_view(name).substr(word.size()));
    if (rest.size() == 1 && rest.front() >= '1' && rest.front() <= '9') return static_cast<std::size_t>(rest.front() - '0');
  }
  return {};
}

void word_styles::begin(const element& what, const attributes& with) {
  if (what.in != space::word) return;
  if (what.name == "style") {
    now_ = &all_[with.text(space::word, "styleId")];
  } else if (what.name == "lang") {
    // The first are those of the document's defaults.
    if (found_.western_language.empty()) found_.western_language = with.text(space::word, "val");
    if (found_.eastern_language.empty()) found_.eastern_language = with.text(space::word, "eastAsia");
  } else if (now_ == nullptr) {
    return;
  } else if (what.name == "name") {
    if (!now_->level) now_->level = heading_level_in(with.text(space::word, "val"));
  } else if (what.name == "basedOn") {
    now_->base = with.text(space::word, "val");
  } else if (what.name == "numId") {
    now_->numbering = with.text(space::word, "val");
  } else if (what.name == "outlineLvl") {
    if (const auto level = with.number(space::word, "val")) now_->level = *level < 9 ? *level + 1 : 0;
  }
}

void word_styles::end(const element& what) {
  if (what.is(space::word, "style")) now_ = nullptr;
}

std::optional<std::size_t> word_styles::level_of(std::string_view style) const {
  auto found = all_.find(style);
  for (std::size_t i = 0; i < longest_chain && found != all_.end(); ++i) {
    const auto& level = found->second.level;
    if (level) return *level == 0 ? std::nullopt : level;
    found = all_.find(found->second.base);
  }
  // Without styles their ids are all that is known.
  return all_.empty() ? heading_level_in(style) : std::nullopt;
}

std::string word_styles::numbering_of(std::string_view style) const {
  auto found = all_.find(style);
  for (std::size_t i = 0; i < longest_chain && found != all_.end(); ++i) {
    if (!found->second.numbering.empty()) return found->second.numbering;
    found = all_.find(found->second.base);
  }
  return {};
}

void word_numberings::begin(const element& what, const attributes& with) {
  if (what.in != space::word) return;
  if (what.name == "abstractNum") {
    abstract_ = with.text(space::word, "abstractNumId");
  } else if (what.name == "num") {
    number_ = with.text(space::word, "numId");
  } else if (what.name == "abstractNumId") {
    abstract_of_.insert_or_assign(number_, with.text(space::word, "val"));
  } else if (what.name == "lvl") {
    level_ = with.number(space::word, "ilvl").value_or(0);
  } else if (what.name == "numFmt" && number_.empty()) {
    const auto kind = with.text(space::word, "val");
    counting_.insert_or_assign({abstract_, level_}, kind != "bullet" && kind != "none");
  }
}

void word_numberings::end(const element&) {}

bool word_numberings::counts(std::string_view numbering, std::size_t level) const {
  const auto abstract = abstract_of_.find(numbering);
  if (abstract == abstract_of_.end()) return false;
  const auto found = counting_.find({abstract->second, level});
  return found != counting_.end() && found->second;
}

}  // namespace hondana::rendering
