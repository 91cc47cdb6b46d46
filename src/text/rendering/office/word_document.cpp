/// Renders Word documents.
#include "text/rendering/office/word_document.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "text/rendering/office/office.hpp"
#include "text/rendering/office/text_output.hpp"

namespace hondana::rendering {
namespace {

constexpr std::size_t longest_chain = 32;

/// Names of heading styles in several languages, followed by a number. Word itself stores the English name.
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
  // Lower-cases "Ü", for the one language that begins so.
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
    // The first language is that of the document defaults.
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
  // Without styles, only their ids are known.
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

namespace {

/// A paragraph in progress. Text boxes contain further paragraphs.
struct word_paragraph {
  std::string text{};
  std::string style{};
  std::optional<std::size_t> level{};  // from the paragraph's own properties; 0: body text
  std::string numbering{};
  std::size_t depth = 0;
};

/// Whether readers do not see the element: deleted and moved text, previous formatting, field instructions, furigana, and
/// fallbacks for older programs.
bool is_passed_over(const element& what) {
  if (what.is(space::compatibility, "Fallback")) return true;
  if (what.in != space::word) return false;
  constexpr std::array<std::string_view, 6> names{"del", "moveFrom", "instrText", "delText", "delInstrText", "rt"};
  return what.name.ends_with("PrChange") || std::find(names.begin(), names.end(), what.name) != names.end();
}

/// Reads the body of a document, or its notes.
class word_events final : public events {
 public:
  word_events(const word_styles& styles, const word_numberings& numberings, text_output& to)
      : styles_(styles), numberings_(numberings), to_(to) {}

  [[nodiscard]] bool has_body() const noexcept { return has_body_; }
  [[nodiscard]] bool has_enough() const override { return to_.is_full(); }

  void begin(const element& what, const attributes& with) override {
    if (passed_over_ > 0) {
      ++passed_over_;
      return;
    }
    if (in_row_properties_ && what.is(space::word, "del")) is_row_deleted_ = true;
    if (is_passed_over(what)) {
      passed_over_ = 1;
    } else if (what.in == space::word) {
      begin_block(what.name, with);
    } else if (what.name == "t") {
      in_text_ = true;  // in an equation or a drawing
    }
  }

  void end(const element& what) override {
    if (passed_over_ > 0) {
      --passed_over_;
    } else if (what.in == space::word) {
      end_block(what.name);
    } else if (what.name == "t") {
      in_text_ = false;
    }
  }

  void text(std::string_view piece) override {
    if (in_text_ && passed_over_ == 0) add(piece);
  }

 private:
  void begin_block(std::string_view name, const attributes& with) {
    if (name == "p") {
      open_.emplace_back();
    } else if (name == "pPr") {
      in_paragraph_properties_ = true;
    } else if (in_paragraph_properties_) {
      property(name, with);
    } else if (name == "r") {
      is_hidden_ = false;
    } else if (name == "vanish") {
      is_hidden_ = with.is_on(space::word, "val");
    } else if (name == "t") {
      in_text_ = true;
    } else if (name == "tbl") {
      tables_.begin();
    } else if (name == "tr") {
      tables_.begin_row();
      is_row_deleted_ = false;
    } else if (name == "trPr") {
      in_row_properties_ = true;
    } else if (name == "tc") {
      tables_.begin_cell();
      span_ = 1;
    } else if (name == "gridSpan") {
      span_ = with.number(space::word, "val").value_or(1);
    } else if (name == "body") {
      has_body_ = true;
    } else if (name == "footnote" || name == "endnote") {
      begin_note(name, with);
    } else {
      sign(name, with);
    }
  }

  /// Reads a property of a paragraph.
  void property(std::string_view name, const attributes& with) {
    if (open_.empty()) return;
    auto& now = open_.back();
    if (name == "pStyle") {
      now.style = with.text(space::word, "val");
    } else if (name == "outlineLvl") {
      if (const auto level = with.number(space::word, "val")) now.level = *level < 9 ? *level + 1 : 0;
    } else if (name == "numId") {
      now.numbering = with.text(space::word, "val");
    } else if (name == "ilvl") {
      now.depth = with.number(space::word, "val").value_or(0);
    }
  }

  /// Adds the text for an element that stands for a character.
  void sign(std::string_view name, const attributes& with) {
    if (name == "tab" || name == "ptab") {
      add("\t");
    } else if (name == "br" || name == "cr") {
      add("\n");
    } else if (name == "noBreakHyphen") {
      add("-");
    } else if (name == "footnoteReference") {
      add("[^" + with.text(space::word, "id") + ']');
    } else if (name == "endnoteReference") {
      add("[^e" + with.text(space::word, "id") + ']');
    }
  }

  void begin_note(std::string_view name, const attributes& with) {
    // Separators between text and notes are stored as notes of other types.
    const auto type = with.text(space::word, "type");
    const bool is_note = type.empty() || type == "normal";
    note_ = is_note ? "[^" + std::string(name == "endnote" ? "e" : "") + with.text(space::word, "id") + "]:" : std::string();
    if (!is_note) passed_over_ = 1;
  }

  void end_block(std::string_view name) {
    if (name == "p") {
      end_paragraph();
    } else if (name == "pPr") {
      in_paragraph_properties_ = false;
    } else if (name == "t") {
      in_text_ = false;
    } else if (name == "r") {
      is_hidden_ = false;
    } else if (name == "tc") {
      tables_.end_cell(span_);
      span_ = 1;
    } else if (name == "trPr") {
      in_row_properties_ = false;
    } else if (name == "tr") {
      tables_.end_row(to_, !is_row_deleted_);
    } else if (name == "tbl") {
      tables_.end();
    } else if (name == "footnote" || name == "endnote") {
      to_.paragraph(note_);
      note_.clear();
    }
  }

  void add(std::string_view text) {
    constexpr std::size_t longest_paragraph = 16u << 20;
    if (open_.empty() || is_hidden_) return;
    if (open_.back().text.size() > longest_paragraph) return to_.leave_out();
    open_.back().text += text;
  }

  void end_paragraph() {
    if (open_.empty()) return;
    const auto done = std::move(open_.back());
    open_.pop_back();
    if (tables_.are_open()) return tables_.add(done.text);
    if (!note_.empty()) {
      if (const auto text = trimmed(done.text); !text.empty()) note_.append(" ").append(text);
      return;
    }
    const auto level = done.level ? done.level : styles_.level_of(done.style);
    if (level && *level > 0) return to_.heading(*level, done.text);
    const auto numbering = done.numbering.empty() ? styles_.numbering_of(done.style) : done.numbering;
    if (numbering.empty() || numbering == "0") return to_.paragraph(done.text);
    to_.item(done.depth, numberings_.counts(numbering, done.depth), done.text);
  }

  const word_styles& styles_;
  const word_numberings& numberings_;
  text_output& to_;
  std::vector<word_paragraph> open_;
  tables tables_;
  std::string note_;
  std::size_t span_ = 1;
  std::size_t passed_over_ = 0;  // depth inside skipped elements
  bool in_text_ = false;
  bool in_paragraph_properties_ = false;
  bool in_row_properties_ = false;
  bool is_row_deleted_ = false;
  bool is_hidden_ = false;
  bool has_body_ = false;
};

}  // namespace

result<void> render_word(const office_file& from, const std::string& main, text_output& to, findings_of_office& found) {
  word_styles styles(found);
  word_numberings numberings;
  const auto styles_part = from.one_of(main, "styles");
  const auto numbering_part = from.one_of(main, "numbering");
  auto read = from.parts.read([&](const std::string& name) -> events* {
    return name == styles_part ? static_cast<events*>(&styles) : name == numbering_part ? &numberings : nullptr;
  });
  if (!read) return read;
  const auto most = to.room();
  text_output footnotes(most);
  text_output endnotes(most);
  word_events body(styles, numberings, to);
  word_events foot(styles, numberings, footnotes);
  word_events at_end(styles, numberings, endnotes);
  const std::map<std::string, events*> hearers{
      {from.one_of(main, "endnotes"), &at_end}, {from.one_of(main, "footnotes"), &foot}, {main, &body}};
  read = from.parts.read([&](const std::string& name) -> events* {
    const auto one = hearers.find(name);
    return one == hearers.end() ? nullptr : one->second;
  });
  if (!read) return read;
  if (!body.has_body()) return fail(errc::invalid_argument, "the file does not contain a Word document; check its format");
  for (const auto* notes : {&footnotes, &endnotes}) {
    to.blocks(notes->so_far());
    found.is_cut = found.is_cut || notes->is_cut();
  }
  return {};
}

}  // namespace hondana::rendering
