/// Which parts those are, and their lines.
#include "text/rendering/office/beside.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <utility>

#include "base/ascii/characters.hpp"

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
/// Files within the file, which nothing here looks into, but for workbooks.
constexpr std::array files_within{std::string_view("package"), std::string_view("oleObject"), std::string_view("aFChunk"),
                                  std::string_view("vbaProject")};

/// Of a workbook within, such as that behind a chart. Larger ones, and more of them, are not looked into.
constexpr std::size_t largest_within = 16u << 20;
constexpr std::size_t most_within = 64;
/// What in it is no text and no file; of anything else nothing is known.
constexpr std::array pictures{std::string_view(".png"), std::string_view(".jpg"), std::string_view(".jpeg"),
                              std::string_view(".gif"), std::string_view(".emf"), std::string_view(".wmf")};

template <class Names>
bool is_one_of(const Names& names, std::string_view one) {
  return std::find(names.begin(), names.end(), one) != names.end();
}

/// In OpenDocument: what is on every page, on sheets, and at the foot of slides.
bool is_left_out_of_pages(const element& what) {
  return what.is(space::office, "master-styles") || what.is(space::table, "shapes") ||
         (what.in == space::presentation && what.name.ends_with("-decl"));
}

/// All that people wrote in it, hidden sheets among it. What cannot be read makes the file one of which not all is known.
void collect_workbook(const office_file& around, std::string_view bytes, findings_of_office& found) {
  bytes_in_hand inner(bytes);
  beside_events all(beside_events::where::everywhere, found.beside);
  const auto read = around.parts.read_within(inner, [&](const std::string& name) -> events* {
    if (name.ends_with(".xml")) return &all;
    const bool is_known = name.ends_with(".rels") || std::any_of(pictures.begin(), pictures.end(), [&name](auto ending) {
                            return ascii::ends_with(name, ending);
                          });
    found.is_cut = found.is_cut || !is_known;
    return nullptr;
  });
  found.is_cut = found.is_cut || !read;
}

result<void> collect_within(const office_file& from, const std::set<std::string, std::less<>>& workbooks,
                            findings_of_office& found) {
  std::size_t count = 0;
  const auto is_wanted = [&workbooks](const std::string& name) { return workbooks.contains(name); };
  auto done = from.parts.unpack(is_wanted, largest_within, [&](std::optional<std::string> bytes) -> result<void> {
    ++count;
    if (bytes && !found.is_cut) collect_workbook(from, *bytes, found);
    found.is_cut = found.is_cut || !bytes;
    return {};
  });
  // One that is named and not there is not known either.
  found.is_cut = found.is_cut || count < workbooks.size();
  return done;
}

}  // namespace

void beside_events::begin(const element& what, const attributes&) {
  if (depth_ > 0 || is_left_out_of_pages(what)) ++depth_;
  in_run_ = what.name == "t" || what.name == "p" || what.name == "span";
  has_text_ = false;
}

void beside_events::end(const element& what) {
  const bool is_heard = from_ == where::everywhere || depth_ > 0;
  constexpr std::array ends_line{std::string_view("p"), std::string_view("text"), std::string_view("si"),
                                 std::string_view("is")};
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
  std::set<std::string, std::less<>> workbooks;
  for (const auto& [part, all] : from.related) {
    for (const auto& [id, one] : all) {
      if (one.type == "package" && ascii::ends_with(one.part, ".xlsx") && workbooks.size() < most_within) {
        workbooks.insert(one.part);
      } else if (is_one_of(files_within, one.type)) {
        found.is_cut = true;
      } else if (one.part.ends_with(".xml") && !is_one_of(no_text_beside, one.type)) {
        wanted.insert(one.part);
      }
    }
  }
  if (!workbooks.empty() && !found.is_cut) {
    HONDANA_TRY(collect_within(from, workbooks, found));
  }
  if (wanted.empty()) return {};
  return from.parts.read([&](const std::string& name) -> events* { return wanted.contains(name) ? &whole : nullptr; });
}

}  // namespace hondana::rendering
