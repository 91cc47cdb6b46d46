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

constexpr std::size_t max_style_depth = 32;

/// Names of heading styles in several languages, followed by a number. Word itself stores the English name.
constexpr std::array<std::string_view, 16> heading_words{"heading",   "見出し", "überschrift", "titre",    "título", "titolo",
                                                         "kop",       "rubrik", "overskrift",  "nagłówek", "标题",   "標題",
                                                         "заголовок", "제목",   "otsikko",     "nadpis"};
constexpr std::array<std::string_view, 4> title_words{"title", "表題", "标题", "titel"};

}  // namespace

std::optional<std::size_t> parse_heading_level(std::string_view style_name) {
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
    const auto number = trim(std::string_view(name).substr(word.size()));
    if (number.size() == 1 && number.front() >= '1' && number.front() <= '9')
      return static_cast<std::size_t>(number.front() - '0');
  }
  return {};
}

void word_styles::begin(const element& element, const attributes& attributes) {
  if (element.ns != xml_ns::word) return;
  if (element.name == "style") {
    current_ = &styles_[attributes.text(xml_ns::word, "styleId")];
  } else if (element.name == "lang") {
    // The first language is that of the document defaults.
    if (findings_.western_language.empty()) findings_.western_language = attributes.text(xml_ns::word, "val");
    if (findings_.eastern_language.empty()) findings_.eastern_language = attributes.text(xml_ns::word, "eastAsia");
  } else if (current_ == nullptr) {
    return;
  } else if (element.name == "name") {
    if (!current_->level) current_->level = parse_heading_level(attributes.text(xml_ns::word, "val"));
  } else if (element.name == "basedOn") {
    current_->base = attributes.text(xml_ns::word, "val");
  } else if (element.name == "numId") {
    current_->numbering = attributes.text(xml_ns::word, "val");
  } else if (element.name == "outlineLvl") {
    if (const auto level = attributes.number(xml_ns::word, "val")) current_->level = *level < 9 ? *level + 1 : 0;
  }
}

void word_styles::end(const element& element) {
  if (element.matches(xml_ns::word, "style")) current_ = nullptr;
}

std::optional<std::size_t> word_styles::level_of(std::string_view style) const {
  auto entry = styles_.find(style);
  for (std::size_t i = 0; i < max_style_depth && entry != styles_.end(); ++i) {
    const auto& level = entry->second.level;
    if (level) return *level == 0 ? std::nullopt : level;
    entry = styles_.find(entry->second.base);
  }
  // Without styles, only their ids are known.
  return styles_.empty() ? parse_heading_level(style) : std::nullopt;
}

std::string word_styles::numbering_of(std::string_view style) const {
  auto entry = styles_.find(style);
  for (std::size_t i = 0; i < max_style_depth && entry != styles_.end(); ++i) {
    if (!entry->second.numbering.empty()) return entry->second.numbering;
    entry = styles_.find(entry->second.base);
  }
  return {};
}

void word_numberings::begin(const element& element, const attributes& attributes) {
  if (element.ns != xml_ns::word) return;
  if (element.name == "abstractNum") {
    abstract_ = attributes.text(xml_ns::word, "abstractNumId");
  } else if (element.name == "num") {
    number_ = attributes.text(xml_ns::word, "numId");
  } else if (element.name == "abstractNumId") {
    abstract_ids_.insert_or_assign(number_, attributes.text(xml_ns::word, "val"));
  } else if (element.name == "lvl") {
    level_ = attributes.number(xml_ns::word, "ilvl").value_or(0);
  } else if (element.name == "numFmt" && number_.empty()) {
    const auto kind = attributes.text(xml_ns::word, "val");
    numbered_levels_.insert_or_assign({abstract_, level_}, kind != "bullet" && kind != "none");
  }
}

void word_numberings::end(const element&) {}

bool word_numberings::is_numbered(std::string_view numbering, std::size_t level) const {
  const auto abstract_id = abstract_ids_.find(numbering);
  if (abstract_id == abstract_ids_.end()) return false;
  const auto match = numbered_levels_.find({abstract_id->second, level});
  return match != numbered_levels_.end() && match->second;
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
bool is_invisible(const element& element) {
  if (element.matches(xml_ns::compatibility, "Fallback")) return true;
  if (element.ns != xml_ns::word) return false;
  constexpr std::array<std::string_view, 6> names{"del", "moveFrom", "instrText", "delText", "delInstrText", "rt"};
  return element.name.ends_with("PrChange") || std::find(names.begin(), names.end(), element.name) != names.end();
}

/// Reads the body of a document, or its notes.
class word_handler final : public xml_handler {
 public:
  word_handler(const word_styles& styles, const word_numberings& numberings, text_output& out)
      : styles_(styles), numberings_(numberings), out_(out) {}

  [[nodiscard]] bool has_body() const noexcept { return has_body_; }
  [[nodiscard]] bool has_enough() const override { return out_.is_full(); }

  void begin(const element& element, const attributes& attributes) override {
    if (skip_depth_ > 0) {
      ++skip_depth_;
      return;
    }
    if (in_row_properties_ && element.matches(xml_ns::word, "del")) is_row_deleted_ = true;
    if (is_invisible(element)) {
      skip_depth_ = 1;
    } else if (element.ns == xml_ns::word) {
      begin_block(element.name, attributes);
    } else if (element.name == "t") {
      in_text_ = true;  // in an equation or a drawing
    }
  }

  void end(const element& element) override {
    if (skip_depth_ > 0) {
      --skip_depth_;
    } else if (element.ns == xml_ns::word) {
      end_block(element.name);
    } else if (element.name == "t") {
      in_text_ = false;
    }
  }

  void text(std::string_view piece) override {
    if (in_text_ && skip_depth_ == 0) add(piece);
  }

 private:
  void begin_block(std::string_view name, const attributes& attributes) {
    if (name == "p") {
      open_.emplace_back();
    } else if (name == "pPr") {
      in_paragraph_properties_ = true;
    } else if (in_paragraph_properties_) {
      read_property(name, attributes);
    } else if (name == "r") {
      is_hidden_ = false;
    } else if (name == "vanish") {
      is_hidden_ = attributes.is_on(xml_ns::word, "val");
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
      span_ = attributes.number(xml_ns::word, "val").value_or(1);
    } else if (name == "body") {
      has_body_ = true;
    } else if (name == "footnote" || name == "endnote") {
      begin_note(name, attributes);
    } else {
      add_symbol(name, attributes);
    }
  }

  /// Reads a property of a paragraph.
  void read_property(std::string_view name, const attributes& attributes) {
    if (open_.empty()) return;
    auto& current = open_.back();
    if (name == "pStyle") {
      current.style = attributes.text(xml_ns::word, "val");
    } else if (name == "outlineLvl") {
      if (const auto level = attributes.number(xml_ns::word, "val")) current.level = *level < 9 ? *level + 1 : 0;
    } else if (name == "numId") {
      current.numbering = attributes.text(xml_ns::word, "val");
    } else if (name == "ilvl") {
      current.depth = attributes.number(xml_ns::word, "val").value_or(0);
    }
  }

  /// Adds the text for an element that stands for a character.
  void add_symbol(std::string_view name, const attributes& attributes) {
    if (name == "tab" || name == "ptab") {
      add("\t");
    } else if (name == "br" || name == "cr") {
      add("\n");
    } else if (name == "noBreakHyphen") {
      add("-");
    } else if (name == "footnoteReference") {
      add("[^" + attributes.text(xml_ns::word, "id") + ']');
    } else if (name == "endnoteReference") {
      add("[^e" + attributes.text(xml_ns::word, "id") + ']');
    }
  }

  void begin_note(std::string_view name, const attributes& attributes) {
    // Separators between text and notes are stored as notes of other types.
    const auto type = attributes.text(xml_ns::word, "type");
    const bool is_note = type.empty() || type == "normal";
    note_ =
        is_note ? "[^" + std::string(name == "endnote" ? "e" : "") + attributes.text(xml_ns::word, "id") + "]:" : std::string();
    if (!is_note) skip_depth_ = 1;
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
      tables_.end_row(out_, !is_row_deleted_);
    } else if (name == "tbl") {
      tables_.end();
    } else if (name == "footnote" || name == "endnote") {
      out_.paragraph(note_);
      note_.clear();
    }
  }

  void add(std::string_view text) {
    constexpr std::size_t max_paragraph_bytes = 16u << 20;
    if (open_.empty() || is_hidden_) return;
    if (open_.back().text.size() > max_paragraph_bytes) return out_.mark_incomplete();
    open_.back().text += text;
  }

  void end_paragraph() {
    if (open_.empty()) return;
    const auto finished = std::move(open_.back());
    open_.pop_back();
    if (tables_.is_open()) return tables_.add(finished.text);
    if (!note_.empty()) {
      if (const auto text = trim(finished.text); !text.empty()) note_.append(" ").append(text);
      return;
    }
    const auto level = finished.level ? finished.level : styles_.level_of(finished.style);
    if (level && *level > 0) return out_.heading(*level, finished.text);
    const auto numbering = finished.numbering.empty() ? styles_.numbering_of(finished.style) : finished.numbering;
    if (numbering.empty() || numbering == "0") return out_.paragraph(finished.text);
    out_.item(finished.depth, numberings_.is_numbered(numbering, finished.depth), finished.text);
  }

  const word_styles& styles_;
  const word_numberings& numberings_;
  text_output& out_;
  std::vector<word_paragraph> open_;
  tables tables_;
  std::string note_;
  std::size_t span_ = 1;
  std::size_t skip_depth_ = 0;  // depth inside skipped elements
  bool in_text_ = false;
  bool in_paragraph_properties_ = false;
  bool in_row_properties_ = false;
  bool is_row_deleted_ = false;
  bool is_hidden_ = false;
  bool has_body_ = false;
};

}  // namespace

result<void> render_word(const office_file& file, const std::string& main, text_output& out, office_findings& findings) {
  word_styles styles(findings);
  word_numberings numberings;
  const auto styles_part = file.find_related(main, "styles");
  const auto numbering_part = file.find_related(main, "numbering");
  auto status = file.parts.read([&](const std::string& name) -> xml_handler* {
    return name == styles_part ? static_cast<xml_handler*>(&styles) : name == numbering_part ? &numberings : nullptr;
  });
  if (!status) return status;
  const auto max_bytes = out.max_bytes();
  text_output footnotes(max_bytes);
  text_output endnotes(max_bytes);
  word_handler body(styles, numberings, out);
  word_handler footnote_handler(styles, numberings, footnotes);
  word_handler endnote_handler(styles, numberings, endnotes);
  const std::map<std::string, xml_handler*> handlers{{file.find_related(main, "endnotes"), &endnote_handler},
                                                     {file.find_related(main, "footnotes"), &footnote_handler},
                                                     {main, &body}};
  status = file.parts.read([&](const std::string& name) -> xml_handler* {
    const auto match = handlers.find(name);
    return match == handlers.end() ? nullptr : match->second;
  });
  if (!status) return status;
  if (!body.has_body()) return fail(errc::invalid_argument, "the file does not contain a Word document; check its format");
  for (const auto* notes : {&footnotes, &endnotes}) {
    out.blocks(notes->text());
    findings.is_truncated = findings.is_truncated || notes->is_truncated();
  }
  return {};
}

}  // namespace hondana::rendering
