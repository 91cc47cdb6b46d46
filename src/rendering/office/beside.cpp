/// Which parts those are, and their lines.
#include "rendering/office/beside.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace hondana::rendering {
namespace {

/// Types of parts that are read as text, or hold none that people wrote.
constexpr std::array no_text_beside{
    std::string_view("officeDocument"), std::string_view("worksheet"),        std::string_view("sharedStrings"),
    std::string_view("slide"),          std::string_view("notesSlide"),       std::string_view("footnotes"),
    std::string_view("endnotes"),       std::string_view("styles"),           std::string_view("numbering"),
    std::string_view("theme"),          std::string_view("settings"),         std::string_view("webSettings"),
    std::string_view("fontTable"),      std::string_view("tableStyles"),      std::string_view("presProps"),
    std::string_view("viewProps"),      std::string_view("calcChain"),        std::string_view("pivotCacheRecords"),
    std::string_view("hyperlink"),      std::string_view("stylesWithEffects")};
/// Files within the file, which nothing here looks into.
constexpr std::array files_within{std::string_view("package"), std::string_view("oleObject"), std::string_view("aFChunk"),
                                  std::string_view("vbaProject")};

template <class Names>
bool is_one_of(const Names& names, std::string_view one) {
  return std::find(names.begin(), names.end(), one) != names.end();
}

/// In OpenDocument: what is on every page, on sheets, and at the foot of slides.
bool is_left_out_of_pages(const element& what) {
  return what.is(space::office, "master-styles") || what.is(space::table, "shapes") ||
         (what.in == space::presentation && what.name.ends_with("-decl"));
}

}  // namespace

void beside_events::begin(const element& what, const attributes&) {
  if (depth_ > 0 || is_left_out_of_pages(what)) ++depth_;
  in_run_ = what.name == "t" || what.name == "p" || what.name == "span";
  has_text_ = false;
}

void beside_events::end(const element& what) {
  const bool is_heard = from_ == where::everywhere || depth_ > 0;
  constexpr std::array ends_line{std::string_view("p"), std::string_view("text"), std::string_view("si")};
  const bool ends_here = is_one_of(ends_line, what.name) || (has_text_ && what.name != "t" && what.name != "span");
  if (is_heard && ends_here) into_.add("\n");
  in_run_ = what.name == "span";
  has_text_ = false;
  if (depth_ > 0) --depth_;
}

void beside_events::text(std::string_view piece) {
  if (from_ == where::in_what_is_left_out && depth_ == 0) return;
  // White space between elements is no text.
  if (!in_run_ && trimmed(piece).empty()) return;
  into_.add(piece);
  has_text_ = true;
}

result<void> collect_beside(format what, const office_file& from, findings_of_office& found) {
  beside_events whole(beside_events::where::everywhere, found.beside);
  beside_events left_out(beside_events::where::in_what_is_left_out, found.beside);
  if (what == format::odt || what == format::ods || what == format::odp) {
    return from.parts.read([&](const std::string& name) -> events* {
      if (name == "content.xml" || name == "styles.xml") return &left_out;
      return name == "meta.xml" || name.ends_with("/content.xml") ? &whole : nullptr;
    });
  }
  std::set<std::string, std::less<>> wanted;
  for (const auto& [part, all] : from.related) {
    for (const auto& [id, one] : all) {
      if (is_one_of(files_within, one.type)) {
        found.is_cut = true;
      } else if (one.part.ends_with(".xml") && !is_one_of(no_text_beside, one.type)) {
        wanted.insert(one.part);
      }
    }
  }
  if (wanted.empty()) return {};
  return from.parts.read([&](const std::string& name) -> events* { return wanted.contains(name) ? &whole : nullptr; });
}

}  // namespace hondana::rendering
