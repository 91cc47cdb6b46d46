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

constexpr std::size_t max_slides = 5'000;

class presentation_handler final : public xml_handler {
 public:
  void begin(const element& element, const attributes& attributes) override {
    if (element.matches(xml_ns::slide, "presentation")) is_presentation = true;
    if (!element.matches(xml_ns::slide, "sldId")) return;
    if (slides.size() < max_slides) {
      slides.push_back(attributes.text(xml_ns::relation, "id"));
    } else {
      is_truncated = true;
    }
  }
  void end(const element&) override {}
  void text(std::string_view) override {}
  std::vector<std::string> slides{};  ///< ids in order
  bool is_presentation = false;
  bool is_truncated = false;
};

/// Reads a slide or its notes page. Of a notes page, only the notes are taken.
class slide_handler final : public xml_handler {
 public:
  slide_handler(bool is_notes, std::size_t max_bytes, extra_text_buffer& extra_text)
      : is_notes_(is_notes), out_(max_bytes), extra_text_(extra_text) {}

  std::string title{};
  bool is_hidden = false;
  [[nodiscard]] const text_output& output() const noexcept { return out_; }
  [[nodiscard]] bool has_enough() const override { return out_.is_full(); }

  void begin(const element& element, const attributes& attributes) override {
    if (skip_depth_ > 0 || element.matches(xml_ns::compatibility, "Fallback")) {
      ++skip_depth_;
    } else if (element.ns == xml_ns::slide) {
      begin_shape(element.name, attributes);
    } else if (element.ns == xml_ns::drawing) {
      begin_text(element.name, attributes);
    } else if (element.name == "t") {
      in_text_ = true;  // in an equation
    }
  }

  void end(const element& element) override {
    if (skip_depth_ > 0) {
      --skip_depth_;
      return;
    }
    if (element.matches(xml_ns::slide, "sp")) kind_ = shape::plain;
    if (element.name == "t") in_text_ = false;
    if (element.ns != xml_ns::drawing) return;
    if (element.name == "p") {
      end_paragraph();
    } else if (element.name == "tc") {
      tables_.end_cell();
    } else if (element.name == "tr") {
      tables_.end_row(out_);
    } else if (element.name == "tbl") {
      tables_.end();
    }
  }

  void text(std::string_view piece) override {
    if (!in_text_ || skip_depth_ > 0) return;
    if (text_.size() >= (1u << 20)) return out_.mark_incomplete();
    text_ += piece;
  }

 private:
  enum class shape { plain, title, body, skipped };

  void begin_shape(std::string_view name, const attributes& attributes) {
    if (name == "sld") is_hidden = attributes.find(xml_ns::none, "show").value_or("1") == "0";
    if (name == "sp") kind_ = shape::plain;
    if (name != "ph") return;
    const auto type = attributes.text(xml_ns::none, "type");
    if (type == "title" || type == "ctrTitle") {
      kind_ = shape::title;
    } else if (type == "sldNum" || type == "dt" || type == "ftr" || type == "hdr" || type == "sldImg") {
      kind_ = shape::skipped;
    } else if (type != "subTitle") {
      kind_ = shape::body;
    }
  }

  void begin_text(std::string_view name, const attributes& attributes) {
    if (name == "p") {
      text_.clear();
      level_ = 0;
    } else if (name == "pPr") {
      level_ = attributes.number(xml_ns::none, "lvl").value_or(0);
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
    // Footers and text outside the notes may contain secrets, too.
    if (kind_ == shape::skipped || is_notes_) {
      extra_text_.add(text_);
      extra_text_.add("\n");
    }
    if (tables_.is_open()) {
      if (!is_notes_) tables_.add(text_);
    } else if (is_notes_) {
      if (kind_ == shape::body) out_.paragraph(text_);
    } else if (kind_ == shape::title) {
      if (!title.empty()) title += ' ';
      title += to_single_line(text_);
    } else if (kind_ == shape::body) {
      out_.item(level_, false, text_);
    } else if (kind_ == shape::plain) {
      out_.paragraph(text_);
    }
    text_.clear();
  }

  const bool is_notes_;
  text_output out_;
  extra_text_buffer& extra_text_;
  tables tables_;
  shape kind_ = shape::plain;
  std::string text_;
  std::size_t level_ = 0;
  std::size_t skip_depth_ = 0;
  bool in_text_ = false;
};

void write_slide(const slide_handler& slide, const slide_handler* notes, std::size_t number, text_output& out) {
  // A hidden slide leaves an empty page, so that the others keep their numbers.
  if (!slide.is_hidden) {
    out.heading(2, slide.title.empty() ? "Slide " + std::to_string(number) : slide.title);
    out.blocks(slide.output().text());
    if (notes != nullptr && !notes->output().text().empty()) {
      out.paragraph("Notes:");
      out.blocks(notes->output().text());
    }
  }
  out.end_page();
}

}  // namespace

result<void> render_slides(const office_file& file, const std::string& main, text_output& out, office_findings& findings) {
  presentation_handler presentation;
  auto status =
      file.parts.read([&](const std::string& name) -> xml_handler* { return name == main ? &presentation : nullptr; });
  if (!status) return status;
  if (!presentation.is_presentation)
    return fail(errc::invalid_argument, "the file does not contain a presentation; check its format");
  std::map<std::string, std::unique_ptr<slide_handler>> parts;
  for (const auto& id : presentation.slides) {
    const auto slide = file.find_by_id(main, id);
    const auto notes = file.find_related(slide, "notesSlide");
    if (!slide.empty()) parts.emplace(slide, std::make_unique<slide_handler>(false, out.max_bytes(), findings.extra_text));
    if (!notes.empty()) parts.emplace(notes, std::make_unique<slide_handler>(true, out.max_bytes(), findings.extra_text));
  }
  status = file.parts.read([&](const std::string& name) -> xml_handler* {
    const auto match = parts.find(name);
    return match == parts.end() ? nullptr : match->second.get();
  });
  if (!status) return status;
  for (std::size_t i = 0; i < presentation.slides.size(); ++i) {
    const auto name = file.find_by_id(main, presentation.slides[i]);
    const auto slide = parts.find(name);
    const auto notes = parts.find(file.find_related(name, "notesSlide"));
    if (slide == parts.end()) {
      out.end_page();
    } else {
      write_slide(*slide->second, notes == parts.end() ? nullptr : notes->second.get(), i + 1, out);
    }
  }
  findings.pages = presentation.slides.size();
  findings.is_truncated = findings.is_truncated || presentation.is_truncated;
  for (const auto& [name, part] : parts) findings.is_truncated = findings.is_truncated || part->output().is_truncated();
  return {};
}

}  // namespace hondana::rendering
