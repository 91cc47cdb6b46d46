/// Renders an Office file of any kind: its parts, its properties, and text that is hidden or beside the main text.
#include "text/rendering/office/office.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/error.hpp>

#include "base/ascii/ascii.hpp"
#include "base/json/utf8.hpp"
#include "text/rendering/render_protocol.hpp"

namespace hondana::rendering {

/// Collects all text of parts, in lines. Runs of one paragraph stay together. The text is only searched for secrets and never
/// shown. For a part that is also rendered: collects only elements that the rendering leaves out.
class beside_events final : public events {
 public:
  enum class where { everywhere, in_what_is_left_out };
  beside_events(where from, text_beside& into) noexcept : from_(from), into_(into) {}

  void begin(const element& what, const attributes& with) override;
  void end(const element& what) override;
  void text(std::string_view piece) override;
  [[nodiscard]] bool has_enough() const override { return into_.is_cut(); }

 private:
  const where from_;
  text_beside& into_;
  std::size_t depth_ = 0;  // depth inside elements that are left out
  bool in_run_ = false;
  bool has_text_ = false;  // since an element began or ended
};

/// Collects the text beside the main text, also of workbooks within the file. Errors: as `package::read`.
[[nodiscard]] result<void> collect_beside(format what, const office_file& from, findings_of_office& found);

namespace {

/// Types of parts that are rendered, or contain no text by people.
constexpr std::array no_text_beside{
    std::string_view("officeDocument"), std::string_view("worksheet"),        std::string_view("sharedStrings"),
    std::string_view("slide"),          std::string_view("notesSlide"),       std::string_view("footnotes"),
    std::string_view("endnotes"),       std::string_view("styles"),           std::string_view("numbering"),
    std::string_view("theme"),          std::string_view("settings"),         std::string_view("webSettings"),
    std::string_view("fontTable"),      std::string_view("tableStyles"),      std::string_view("presProps"),
    std::string_view("viewProps"),      std::string_view("calcChain"),        std::string_view("pivotCacheRecords"),
    std::string_view("hyperlink"),      std::string_view("stylesWithEffects")};
/// Types of files within the file. Only workbooks among them are read.
constexpr std::array files_within{std::string_view("package"), std::string_view("oleObject"), std::string_view("aFChunk"),
                                  std::string_view("vbaProject")};

/// Limits for workbooks within the file, such as that of a chart. Larger ones and further ones are not read.
constexpr std::size_t largest_within = 16u << 20;
constexpr std::size_t most_within = 64;
/// Extensions of parts without text. Parts with other extensions are unknown content.
constexpr std::array pictures{std::string_view(".png"), std::string_view(".jpg"), std::string_view(".jpeg"),
                              std::string_view(".gif"), std::string_view(".emf"), std::string_view(".wmf")};

template <class Names>
bool is_one_of(const Names& names, std::string_view one) {
  return std::find(names.begin(), names.end(), one) != names.end();
}

/// OpenDocument elements for content on every page, on sheets, and in footers of slides.
bool is_left_out_of_pages(const element& what) {
  return what.is(space::office, "master-styles") || what.is(space::table, "shapes") ||
         (what.in == space::presentation && what.name.ends_with("-decl"));
}

/// Collects all text of a workbook, including hidden sheets. If a part cannot be read, sets `found.is_cut`.
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
  // A workbook that is named but missing counts as unread.
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
  // White space between elements is not text.
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

namespace {

constexpr std::size_t longest_fact = 1000;

/// Reads the relations of one part.
class relations_events final : public events {
 public:
  relations_events(relations& into, std::string folder) : into_(into), folder_(std::move(folder)) {}
  void begin(const element& what, const attributes& with) override {
    if (!what.is(space::relationships, "Relationship") || with.text(space::none, "TargetMode") == "External") return;
    auto type = with.text(space::none, "Type");
    type.erase(0, type.rfind('/') + 1);
    into_.emplace(with.text(space::none, "Id"), relation{type, part_at(folder_, with.text(space::none, "Target"))});
  }
  void end(const element&) override {}
  void text(std::string_view) override {}
  [[nodiscard]] bool has_enough() const override {
    constexpr std::size_t most_relations = 65'536;
    return into_.size() >= most_relations;
  }

 private:
  relations& into_;
  std::string folder_;
};

/// Reads title, author and language from docProps/core.xml and meta.xml.
class facts_events final : public events {
 public:
  explicit facts_events(document& into) noexcept : into_(into) {}
  void begin(const element& what, const attributes&) override {
    taken_.clear();
    into_what_ = what.is(space::dublin, "title")           ? &into_.title
                 : what.is(space::dublin, "creator")       ? &into_.author
                 : what.is(space::dublin, "language")      ? &into_.language
                 : what.is(space::meta, "initial-creator") ? &first_author_
                                                           : nullptr;
  }
  void end(const element&) override {
    if (into_what_ != nullptr) {
      taken_.resize(taken_.size() - json::incomplete_tail(taken_));  // remove a cut-off character
      *into_what_ = on_one_line(taken_);
    }
    into_what_ = nullptr;
    // The author is the creator, not the person who last saved the file.
    if (!first_author_.empty()) into_.author = first_author_;
  }
  void text(std::string_view piece) override {
    if (into_what_ != nullptr && taken_.size() < longest_fact) taken_ += piece.substr(0, longest_fact);
  }

 private:
  document& into_;
  std::string* into_what_ = nullptr;
  std::string first_author_;
  std::string taken_;
};

class encryption_events final : public events {
 public:
  void begin(const element& what, const attributes&) override {
    is_encrypted = is_encrypted || what.is(space::manifest, "encryption-data");
  }
  void end(const element&) override {}
  void text(std::string_view) override {}
  bool is_encrypted = false;
};

/// The part that a relations file belongs to: "word/_rels/document.xml.rels" → "word/document.xml".
std::string part_of_relations(std::string_view name) {
  constexpr std::string_view ending = ".rels";
  constexpr std::string_view folder = "_rels";
  const auto at = folder_of(name);
  if (!name.ends_with(ending) || !(at == folder || at.ends_with("/_rels"))) return "?";
  const auto before = at.substr(0, at.size() - folder.size());  // with its slash
  auto file = name.substr(at.size() + 1);
  file.remove_suffix(ending.size());
  return std::string(before) + std::string(file);
}

struct ooxml_kind {
  format what;
  std::string_view usual_part;
  result<void> (*render)(const office_file&, const std::string&, text_output&, findings_of_office&);
};
constexpr std::array ooxml_kinds{ooxml_kind{format::docx, "word/document.xml", render_word},
                                 ooxml_kind{format::xlsx, "xl/workbook.xml", render_sheets},
                                 ooxml_kind{format::pptx, "ppt/presentation.xml", render_slides}};

/// Checks the first bytes before looking for a ZIP file.
result<void> check_start(byte_source& from) {
  std::string start(64u << 10, '\0');
  const auto count = from.read_at(0, start.data(), start.size());
  if (count < 0) return fail(errc::source_unavailable, "the file cannot be read");
  start.resize(static_cast<std::size_t>(count));
  using namespace std::string_view_literals;
  if (start.empty()) return fail(errc::invalid_argument, "the file is empty");
  if (start.starts_with("%PDF-")) return fail(errc::invalid_argument, "the file is PDF, not an Office file");
  if (!start.starts_with("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv)) return {};
  // The compound file format of older Office versions. Newer encrypted files use it, too, with a stream of this name.
  constexpr auto name = "E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0"sv;
  bool is_encrypted = start.find(name) != std::string::npos;
  for (std::uint64_t at = start.size(), step = start.size(); !is_encrypted && at < from.size() && step > 0; at += step) {
    const auto more = from.read_at(at - name.size(), start.data(), start.size());
    if (more <= static_cast<std::int64_t>(name.size())) break;
    is_encrypted = std::string_view(start.data(), static_cast<std::size_t>(more)).find(name) != std::string_view::npos;
    step = static_cast<std::uint64_t>(more) - name.size();
  }
  if (is_encrypted) return fail(errc::access_denied, "the file is encrypted; store it without a password");
  return fail(
      errc::unsupported,
      "the file has an older Office format (.doc, .xls, .ppt), which is not supported; store it as .docx, .xlsx or .pptx");
}

bool is_mostly_east_asian(std::string_view text) {
  std::size_t eastern = 0;
  std::size_t western = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    // The first UTF-8 bytes of kana, han and hangul.
    if (byte >= 0xe3 && byte <= 0xed) ++eastern;
    if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'z') ++western;
  }
  return eastern * 3 > western;
}

std::string main_part_of(const ooxml_kind& kind, const office_file& from) {
  auto main = from.one_of("", "officeDocument");
  return main.empty() ? std::string(kind.usual_part) : main;
}

/// Reads the relations and properties of the file. Errors: as `render_office`.
result<document> opened(byte_source& from, office_file& into) {
  HONDANA_TRY(check_start(from));
  document made;
  std::vector<std::unique_ptr<relations_events>> hearers;
  facts_events facts(made);
  encryption_events encryption;
  const auto choose = [&](const std::string& name) -> events* {
    if (name == "docProps/core.xml" || name == "meta.xml") return &facts;
    if (name == "META-INF/manifest.xml") return &encryption;
    const auto part = part_of_relations(name);
    if (part == "?") return nullptr;
    hearers.push_back(std::make_unique<relations_events>(into.related[part], std::string(folder_of(part))));
    return hearers.back().get();
  };
  if (auto read = into.parts.read(choose); !read) return tl::unexpected(std::move(read.error()));
  if (encryption.is_encrypted) return fail(errc::access_denied, "the file is encrypted; store it without a password");
  return made;
}

package_limits caps_of(const limits& most) {
  package_limits caps;
  caps.unpacked = most.unpacked;
  return caps;
}

}  // namespace

std::string office_file::one_of(std::string_view of, std::string_view type) const {
  const auto all = related.find(of);
  if (all == related.end()) return {};
  for (const auto& [id, one] : all->second) {
    if (one.type == type) return one.part;
  }
  return {};
}

std::string office_file::by_id(std::string_view of, std::string_view id) const {
  const auto all = related.find(of);
  if (all == related.end()) return {};
  const auto found = all->second.find(id);
  return found == all->second.end() ? std::string() : found->second.part;
}

result<document> render_office(format what, byte_source& from, const limits& most, const office_libraries& by) {
  package parts(by, from, caps_of(most));
  office_file file{parts};
  auto made = opened(from, file);
  if (!made) return made;
  text_output out(static_cast<std::size_t>(most.output));
  findings_of_office found;
  const auto* const kind =
      std::find_if(ooxml_kinds.begin(), ooxml_kinds.end(), [what](const auto& one) { return one.what == what; });
  HONDANA_TRY(kind != ooxml_kinds.end() ? kind->render(file, main_part_of(*kind, file), out, found)
                                        : render_open_document(what, parts, out, found));
  // The main text is complete without it.
  if (!collect_beside(what, file, found)) found.is_cut = true;
  made->pages = found.pages;
  made->is_cut = found.is_cut || out.is_cut() || found.beside.is_cut();
  made->text = std::move(out).take();
  if (!made->text.empty() && !made->text.ends_with('\n') && !made->text.ends_with('\f')) made->text += '\n';
  made->beside = std::move(found.beside).take();
  if (made->language.empty()) {
    const bool is_eastern = !found.eastern_language.empty() && is_mostly_east_asian(made->text);
    made->language = is_eastern ? found.eastern_language : found.western_language;
  }
  return made;
}

result<document> render_office_sheets(byte_source& from, const limits& most, const office_libraries& by) {
  package parts(by, from, caps_of(most));
  office_file file{parts};
  auto made = opened(from, file);
  if (!made) return made;
  findings_of_office found;
  std::vector<sheet> sheets;
  const auto main = main_part_of(ooxml_kinds[1], file);
  HONDANA_TRY(cut_sheets(file, main, static_cast<std::size_t>(most.output), sheets, found));
  for (const auto& one : sheets) made->text += line_of(one);
  made->is_cut = found.is_cut;
  return made;
}

}  // namespace hondana::rendering
