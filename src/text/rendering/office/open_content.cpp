/// Running text of OpenDocument: paragraphs, headings, lists, notes.
#include "text/rendering/office/open_content.hpp"

#include <algorithm>
#include <utility>

namespace hondana::rendering {
namespace {

constexpr std::size_t longest_text = 16u << 20;
constexpr std::size_t most_repeated_spaces = 1000;

/// What a reader does not see: what was deleted, comments, furigana, and numbers that notes and lists have anyway.
bool is_left_out(const element& what) {
  return what.is(space::text, "tracked-changes") || what.is(space::office, "annotation") || what.is(space::text, "ruby-text") ||
         what.is(space::text, "note-citation") || what.is(space::office, "forms") || what.is(space::table, "tracked-changes") ||
         what.is(space::table, "shapes") || what.is(space::text, "page-number") || what.is(space::office, "event-listeners");
}

std::string_view body_of(format what) {
  return what == format::ods ? "spreadsheet" : what == format::odp ? "presentation" : "text";
}

}  // namespace

void open_content::begin(const element& what, const attributes& with) {
  if (passed_over_ > 0 || is_left_out(what)) {
    ++passed_over_;
  } else if (!in_body_) {
    styles_.begin(what, with);
    in_body_ = what.is(space::office, "body");
  } else if (what.in == space::office) {
    has_body_ = has_body_ || what.name == body_of(what_);
  } else if (what.in == space::text) {
    begin_text(what.name, with);
  } else if (what.in == space::table) {
    begin_table(what.name, with);
  } else if (what.is(space::draw, "page")) {
    begin_slide(with);
  } else if (what.is(space::draw, "frame")) {
    const auto kind = with.text(space::presentation, "class");
    in_title_ = kind == "title";
  } else if (what.is(space::presentation, "notes")) {
    in_slide_notes_ = true;
  }
}

void open_content::end(const element& what) {
  if (passed_over_ > 0) {
    --passed_over_;
  } else if (!in_body_) {
    return;
  } else if (what.is(space::office, "body")) {
    in_body_ = false;
  } else if (what.in == space::text) {
    end_text(what.name);
  } else if (what.in == space::table) {
    end_table(what.name);
  } else if (what.is(space::draw, "page")) {
    end_slide();
  } else if (what.is(space::draw, "frame")) {
    in_title_ = false;
  } else if (what.is(space::presentation, "notes")) {
    in_slide_notes_ = false;
  }
}

void open_content::text(std::string_view piece) {
  if (passed_over_ > 0 || open_.empty()) return;
  // White space counts once, as in HTML; what is kept stands in elements of its own.
  auto& into = open_.back().text;
  if (into.size() > longest_text) {
    found_.is_cut = true;
    return;
  }
  for (const char c : piece) {
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') {
      into += c;
    } else if (!into.empty() && !into.ends_with(' ') && !into.ends_with('\n')) {
      into += ' ';
    }
  }
}

void open_content::add(std::string_view text) {
  if (open_.empty()) return;
  if (open_.back().text.size() < longest_text) {
    open_.back().text += text;
  } else {
    found_.is_cut = true;
  }
}

void open_content::begin_text(std::string_view name, const attributes& with) {
  if (name == "p") {
    open_.emplace_back();
  } else if (name == "h") {
    open_.push_back({{}, with.number(space::text, "outline-level").value_or(1)});
  } else if (name == "s") {
    add(std::string(std::clamp<std::size_t>(with.number(space::text, "c").value_or(1), 1, most_repeated_spaces), ' '));
  } else if (name == "tab") {
    add("\t");
  } else if (name == "line-break") {
    add("\n");
  } else if (name == "list") {
    const auto style = with.find(space::text, "style-name");
    const bool counts = style ? styles_.counts(*style) : !lists_.empty() && lists_.back().counts;
    lists_.push_back({counts, false});
  } else if (name == "list-item") {
    if (!lists_.empty()) lists_.back().begins_item = true;
  } else if (name == "note") {
    const auto id = with.text(space::text, "id");
    add("[^" + id + ']');
    note_ = "[^" + id + "]:";
  } else if (name == "note-body") {
    in_note_ = true;
  }
}

void open_content::end_text(std::string_view name) {
  if (name == "p" || name == "h") {
    end_paragraph();
  } else if (name == "list") {
    if (!lists_.empty()) lists_.pop_back();
  } else if (name == "note-body") {
    in_note_ = false;
    notes_.paragraph(note_);
  }
}

void open_content::end_paragraph() {
  if (open_.empty()) return;
  const auto done = std::move(open_.back());
  open_.pop_back();
  const auto shown = trimmed(done.text);
  if (shown.empty()) return;
  if (in_note_) {
    note_.append(" ").append(shown);
  } else if (in_slide_notes_) {
    slide_notes_.append(slide_notes_.empty() ? "" : "\n\n").append(shown);
  } else if (in_title_) {
    slide_title_.append(slide_title_.empty() ? "" : " ").append(on_one_line(shown));
  } else if (is_of_sheets()) {
    cell_.append(cell_.empty() ? "" : " ").append(shown);
  } else if (tables_.are_open()) {
    tables_.add(shown);
  } else {
    auto& to = what_ == format::odp ? slide_ : to_;
    if (done.heading > 0) return to.heading(done.heading, shown);
    if (lists_.empty() || !lists_.back().begins_item) return to.paragraph(shown);
    lists_.back().begins_item = false;
    to.item(lists_.size() - 1, lists_.back().counts, shown);
  }
}

}  // namespace hondana::rendering
