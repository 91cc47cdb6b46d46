/// Renders PowerPoint presentations.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/rendering/office/office.hpp"
#include "text/rendering/office/text_output.hpp"

namespace hondana::rendering {
namespace {

constexpr std::size_t most_slides = 5'000;

class presentation_events final : public events {
 public:
  void begin(const element& what, const attributes& with) override {
    if (what.is(space::slide, "presentation")) is_presentation = true;
    if (!what.is(space::slide, "sldId")) return;
    if (slides.size() < most_slides) {
      slides.push_back(with.text(space::relation, "id"));
    } else {
      is_cut = true;
    }
  }
  void end(const element&) override {}
  void text(std::string_view) override {}
  std::vector<std::string> slides{};  ///< ids in order
  bool is_presentation = false;
  bool is_cut = false;
};

/// Reads a slide or its notes page. Of a notes page, only the notes are taken.
class slide_events final : public events {
 public:
  slide_events(bool is_notes, std::size_t most, text_beside& beside) : is_notes_(is_notes), to_(most), beside_(beside) {}

  std::string title{};
  bool is_hidden = false;
  [[nodiscard]] const text_output& output() const noexcept { return to_; }
  [[nodiscard]] bool has_enough() const override { return to_.is_full(); }

  void begin(const element& what, const attributes& with) override {
    if (passed_over_ > 0 || what.is(space::compatibility, "Fallback")) {
      ++passed_over_;
    } else if (what.in == space::slide) {
      begin_shape(what.name, with);
    } else if (what.in == space::drawing) {
      begin_text(what.name, with);
    } else if (what.name == "t") {
      in_text_ = true;  // in an equation
    }
  }

  void end(const element& what) override {
    if (passed_over_ > 0) {
      --passed_over_;
      return;
    }
    if (what.is(space::slide, "sp")) kind_ = shape::plain;
    if (what.name == "t") in_text_ = false;
    if (what.in != space::drawing) return;
    if (what.name == "p") {
      end_paragraph();
    } else if (what.name == "tc") {
      tables_.end_cell();
    } else if (what.name == "tr") {
      tables_.end_row(to_);
    } else if (what.name == "tbl") {
      tables_.end();
    }
  }

  void text(std::string_view piece) override {
    if (!in_text_ || passed_over_ > 0) return;
    if (text_.size() >= (1u << 20)) return to_.leave_out();
    text_ += piece;
  }

 private:
  enum class shape { plain, title, body, left_out };

  void begin_shape(std::string_view name, const attributes& with) {
    if (name == "sld") is_hidden = with.find(space::none, "show").value_or("1") == "0";
    if (name == "sp") kind_ = shape::plain;
    if (name != "ph") return;
    const auto type = with.text(space::none, "type");
    if (type == "title" || type == "ctrTitle") {
      kind_ = shape::title;
    } else if (type == "sldNum" || type == "dt" || type == "ftr" || type == "hdr" || type == "sldImg") {
      kind_ = shape::left_out;
    } else if (type != "subTitle") {
      kind_ = shape::body;
    }
  }

  void begin_text(std::string_view name, const attributes& with) {
    if (name == "p") {
      text_.clear();
      level_ = 0;
    } else if (name == "pPr") {
      level_ = with.number(space::none, "lvl").value_or(0);
    } else if (name == "t") {
      in_text_ = true;
    } else if (name == "br") {
      text_ += '\n';
    } else if (name == "tbl") {
      tables_.begin();
    } else if (name == "tr") {
      tables_.begin_row();
    } else if (name == "tc") {
      tables_.begin_cell();
    }
  }

  void end_paragraph() {
    // Footers and text beside the notes may contain secrets, too.
    if (kind_ == shape::left_out || is_notes_) {
      beside_.add(text_);
      beside_.add("\n");
    }
    if (tables_.are_open()) {
      if (!is_notes_) tables_.add(text_);
    } else if (is_notes_) {
      if (kind_ == shape::body) to_.paragraph(text_);
    } else if (kind_ == shape::title) {
      if (!title.empty()) title += ' ';
      title += on_one_line(text_);
    } else if (kind_ == shape::body) {
      to_.item(level_, false, text_);
    } else if (kind_ == shape::plain) {
      to_.paragraph(text_);
    }
    text_.clear();
  }

  const bool is_notes_;
  text_output to_;
  text_beside& beside_;
  tables tables_;
  shape kind_ = shape::plain;
  std::string text_;
  std::size_t level_ = 0;
  std::size_t passed_over_ = 0;
  bool in_text_ = false;
};

void write_slide(const slide_events& slide, const slide_events* notes, std::size_t number, text_output& to) {
  // A hidden slide leaves an empty page, so that the others keep their numbers.
  if (!slide.is_hidden) {
    to.heading(2, slide.title.empty() ? "Slide " + std::to_string(number) : slide.title);
    to.blocks(slide.output().so_far());
    if (notes != nullptr && !notes->output().so_far().empty()) {
      to.paragraph("Notes:");
      to.blocks(notes->output().so_far());
    }
  }
  to.page_end();
}

}  // namespace

result<void> render_slides(const office_file& from, const std::string& main, text_output& to, findings_of_office& found) {
  presentation_events all;
  auto read = from.parts.read([&](const std::string& name) -> events* { return name == main ? &all : nullptr; });
  if (!read) return read;
  if (!all.is_presentation) return fail(errc::invalid_argument, "the file does not contain a presentation; check its format");
  std::map<std::string, std::unique_ptr<slide_events>> parts;
  for (const auto& id : all.slides) {
    const auto slide = from.by_id(main, id);
    const auto notes = from.one_of(slide, "notesSlide");
    if (!slide.empty()) parts.emplace(slide, std::make_unique<slide_events>(false, to.room(), found.beside));
    if (!notes.empty()) parts.emplace(notes, std::make_unique<slide_events>(true, to.room(), found.beside));
  }
  read = from.parts.read([&](const std::string& name) -> events* {
    const auto one = parts.find(name);
    return one == parts.end() ? nullptr : one->second.get();
  });
  if (!read) return read;
  for (std::size_t i = 0; i < all.slides.size(); ++i) {
    const auto name = from.by_id(main, all.slides[i]);
    const auto slide = parts.find(name);
    const auto notes = parts.find(from.one_of(name, "notesSlide"));
    if (slide == parts.end()) {
      to.page_end();
    } else {
      write_slide(*slide->second, notes == parts.end() ? nullptr : notes->second.get(), i + 1, to);
    }
  }
  found.pages = all.slides.size();
  found.is_cut = found.is_cut || all.is_cut;
  for (const auto& [name, one] : parts) found.is_cut = found.is_cut || one->output().is_cut();
  return {};
}

}  // namespace hondana::rendering
