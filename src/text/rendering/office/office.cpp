/// Renders an Office file of any kind: its parts, its properties, and text that is hidden or outside the main text.
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
class extra_text_handler final : public xml_handler {
 public:
  enum class extent { everything, skipped_only };
  extra_text_handler(extent collected, extra_text_buffer& target) noexcept : extent_(collected), target_(target) {}

  void begin(const element& element, const attributes& attributes) override;
  void end(const element& element) override;
  void text(std::string_view piece) override;
  [[nodiscard]] bool has_enough() const override { return target_.is_truncated(); }

 private:
  const extent extent_;
  extra_text_buffer& target_;
  std::size_t depth_ = 0;  // depth inside elements that are left out
  bool in_run_ = false;
  bool has_text_ = false;  // since an element began or ended
};

/// Collects the text outside the main text, also of workbooks within the file. Errors: as `package::read`.
[[nodiscard]] result<void> collect_extra_text(format document_format, const office_file& file, office_findings& findings);

namespace {

/// Types of parts that are rendered, or contain no text by people.
constexpr std::array types_without_text{
    std::string_view("officeDocument"), std::string_view("worksheet"),        std::string_view("sharedStrings"),
    std::string_view("slide"),          std::string_view("notesSlide"),       std::string_view("footnotes"),
    std::string_view("endnotes"),       std::string_view("styles"),           std::string_view("numbering"),
    std::string_view("theme"),          std::string_view("settings"),         std::string_view("webSettings"),
    std::string_view("fontTable"),      std::string_view("tableStyles"),      std::string_view("presProps"),
    std::string_view("viewProps"),      std::string_view("calcChain"),        std::string_view("pivotCacheRecords"),
    std::string_view("hyperlink"),      std::string_view("stylesWithEffects")};
/// Types of files within the file. Only workbooks among them are read.
constexpr std::array embedded_types{std::string_view("package"), std::string_view("oleObject"), std::string_view("aFChunk"),
                                    std::string_view("vbaProject")};

/// Limits for workbooks within the file, such as that of a chart. Larger ones and further ones are not read.
constexpr std::size_t max_embedded_bytes = 16u << 20;
constexpr std::size_t max_embedded_files = 64;
/// Extensions of parts without text. Parts with other extensions are unknown content.
constexpr std::array picture_extensions{std::string_view(".png"), std::string_view(".jpg"), std::string_view(".jpeg"),
                                        std::string_view(".gif"), std::string_view(".emf"), std::string_view(".wmf")};

template <class Names>
bool is_one_of(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// OpenDocument elements for content on every page, on sheets, and in footers of slides.
bool is_template_element(const element& element) {
  return element.matches(xml_ns::office, "master-styles") || element.matches(xml_ns::table, "shapes") ||
         (element.ns == xml_ns::presentation && element.name.ends_with("-decl"));
}

/// Collects all text of a workbook, including hidden sheets. If a part cannot be read, sets `findings.is_truncated`.
void collect_workbook(const office_file& outer, std::string_view bytes, office_findings& findings) {
  memory_source nested(bytes);
  extra_text_handler collector(extra_text_handler::extent::everything, findings.extra_text);
  const auto status = outer.parts.read_nested(nested, [&](const std::string& name) -> xml_handler* {
    if (name.ends_with(".xml")) return &collector;
    const bool is_known = name.ends_with(".rels") ||
                          std::any_of(picture_extensions.begin(), picture_extensions.end(),
                                      [&name](auto extension) { return ascii::ends_with_ignore_case(name, extension); });
    findings.is_truncated = findings.is_truncated || !is_known;
    return nullptr;
  });
  findings.is_truncated = findings.is_truncated || !status;
}

result<void> collect_embedded(const office_file& file, const std::set<std::string, std::less<>>& workbooks,
                              office_findings& findings) {
  std::size_t count = 0;
  const auto is_workbook = [&workbooks](const std::string& name) { return workbooks.contains(name); };
  auto status = file.parts.unpack(is_workbook, max_embedded_bytes, [&](std::optional<std::string> bytes) -> result<void> {
    ++count;
    if (bytes && !findings.is_truncated) collect_workbook(file, *bytes, findings);
    findings.is_truncated = findings.is_truncated || !bytes;
    return {};
  });
  // A workbook that is named but missing counts as unread.
  findings.is_truncated = findings.is_truncated || count < workbooks.size();
  return status;
}

}  // namespace

void extra_text_handler::begin(const element& element, const attributes&) {
  if (depth_ > 0 || is_template_element(element)) ++depth_;
  in_run_ = element.name == "t" || element.name == "p" || element.name == "span";
  has_text_ = false;
}

void extra_text_handler::end(const element& element) {
  const bool is_collected = extent_ == extent::everything || depth_ > 0;
  constexpr std::array line_end_elements{std::string_view("p"), std::string_view("text"), std::string_view("si"),
                                         std::string_view("is")};
  const bool is_line_end =
      is_one_of(line_end_elements, element.name) || (has_text_ && element.name != "t" && element.name != "span");
  if (is_collected && is_line_end) target_.add("\n");
  in_run_ = element.name == "span";
  has_text_ = false;
  if (depth_ > 0) --depth_;
}

void extra_text_handler::text(std::string_view piece) {
  if (extent_ == extent::skipped_only && depth_ == 0) return;
  // White space between elements is not text.
  if (!in_run_ && trim(piece).empty()) return;
  target_.add(piece);
  has_text_ = true;
}

result<void> collect_extra_text(format document_format, const office_file& file, office_findings& findings) {
  extra_text_handler everything(extra_text_handler::extent::everything, findings.extra_text);
  extra_text_handler skipped(extra_text_handler::extent::skipped_only, findings.extra_text);
  if (document_format == format::odt || document_format == format::ods || document_format == format::odp) {
    return file.parts.read([&](const std::string& name) -> xml_handler* {
      if (name == "content.xml" || name == "styles.xml") return &skipped;
      return name == "meta.xml" || name.ends_with("/content.xml") ? &everything : nullptr;
    });
  }
  std::set<std::string, std::less<>> part_names;
  std::set<std::string, std::less<>> workbooks;
  for (const auto& [part, part_relations] : file.related) {
    for (const auto& [id, entry] : part_relations) {
      if (entry.type == "package" && ascii::ends_with_ignore_case(entry.part, ".xlsx") &&
          workbooks.size() < max_embedded_files) {
        workbooks.insert(entry.part);
      } else if (is_one_of(embedded_types, entry.type)) {
        findings.is_truncated = true;
      } else if (entry.part.ends_with(".xml") && !is_one_of(types_without_text, entry.type)) {
        part_names.insert(entry.part);
      }
    }
  }
  if (!workbooks.empty() && !findings.is_truncated) {
    HONDANA_TRY(collect_embedded(file, workbooks, findings));
  }
  if (part_names.empty()) return {};
  return file.parts.read(
      [&](const std::string& name) -> xml_handler* { return part_names.contains(name) ? &everything : nullptr; });
}

namespace {

constexpr std::size_t max_property_bytes = 1000;

/// Reads the relations of one part.
class relations_handler final : public xml_handler {
 public:
  relations_handler(relations& target, std::string folder) : target_(target), folder_(std::move(folder)) {}
  void begin(const element& element, const attributes& attributes) override {
    if (!element.matches(xml_ns::relationships, "Relationship") || attributes.text(xml_ns::none, "TargetMode") == "External")
      return;
    auto type = attributes.text(xml_ns::none, "Type");
    type.erase(0, type.rfind('/') + 1);
    target_.emplace(attributes.text(xml_ns::none, "Id"),
                    relation{type, resolve_part(folder_, attributes.text(xml_ns::none, "Target"))});
  }
  void end(const element&) override {}
  void text(std::string_view) override {}
  [[nodiscard]] bool has_enough() const override {
    constexpr std::size_t max_relations = 65'536;
    return target_.size() >= max_relations;
  }

 private:
  relations& target_;
  std::string folder_;
};

/// Reads title, author and language from docProps/core.xml and meta.xml.
class properties_handler final : public xml_handler {
 public:
  explicit properties_handler(document& target) noexcept : target_(target) {}
  void begin(const element& element, const attributes&) override {
    text_.clear();
    current_property_ = element.matches(xml_ns::dublin, "title")           ? &target_.title
                        : element.matches(xml_ns::dublin, "creator")       ? &target_.author
                        : element.matches(xml_ns::dublin, "language")      ? &target_.language
                        : element.matches(xml_ns::meta, "initial-creator") ? &first_author_
                                                                           : nullptr;
  }
  void end(const element&) override {
    if (current_property_ != nullptr) {
      text_.resize(text_.size() - json::incomplete_tail(text_));  // remove a cut-off character
      *current_property_ = to_single_line(text_);
    }
    current_property_ = nullptr;
    // The author is the creator, not the person who last saved the file.
    if (!first_author_.empty()) target_.author = first_author_;
  }
  void text(std::string_view piece) override {
    if (current_property_ != nullptr && text_.size() < max_property_bytes) text_ += piece.substr(0, max_property_bytes);
  }

 private:
  document& target_;
  std::string* current_property_ = nullptr;
  std::string first_author_;
  std::string text_;
};

class encryption_handler final : public xml_handler {
 public:
  void begin(const element& element, const attributes&) override {
    is_encrypted = is_encrypted || element.matches(xml_ns::manifest, "encryption-data");
  }
  void end(const element&) override {}
  void text(std::string_view) override {}
  bool is_encrypted = false;
};

/// The part that a relations file belongs to: "word/_rels/document.xml.rels" → "word/document.xml".
std::string relations_owner(std::string_view name) {
  constexpr std::string_view extension = ".rels";
  constexpr std::string_view folder = "_rels";
  const auto part_folder = parent_folder(name);
  if (!name.ends_with(extension) || !(part_folder == folder || part_folder.ends_with("/_rels"))) return "?";
  const auto parent = part_folder.substr(0, part_folder.size() - folder.size());  // with its slash
  auto file = name.substr(part_folder.size() + 1);
  file.remove_suffix(extension.size());
  return std::string(parent) + std::string(file);
}

struct ooxml_kind {
  format value;
  std::string_view default_part;
  result<void> (*render)(const office_file&, const std::string&, text_output&, office_findings&);
};
constexpr std::array ooxml_kinds{ooxml_kind{format::docx, "word/document.xml", render_word},
                                 ooxml_kind{format::xlsx, "xl/workbook.xml", render_sheets},
                                 ooxml_kind{format::pptx, "ppt/presentation.xml", render_slides}};

/// Checks the first bytes before looking for a ZIP file.
result<void> check_start(byte_source& source) {
  std::string start(64u << 10, '\0');
  const auto count = source.read_at(0, start.data(), start.size());
  if (count < 0) return fail(errc::source_unavailable, "the file cannot be read");
  start.resize(static_cast<std::size_t>(count));
  using namespace std::string_view_literals;
  if (start.empty()) return fail(errc::invalid_argument, "the file is empty");
  if (start.starts_with("%PDF-")) return fail(errc::invalid_argument, "the file is PDF, not an Office file");
  if (!start.starts_with("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv)) return {};
  // The compound file format of older Office versions. Newer encrypted files use it, too, with a stream of this name.
  constexpr auto name = "E\0n\0c\0r\0y\0p\0t\0e\0d\0P\0a\0c\0k\0a\0g\0e\0"sv;
  bool is_encrypted = start.find(name) != std::string::npos;
  for (std::uint64_t offset = start.size(), step = start.size(); !is_encrypted && offset < source.size() && step > 0;
       offset += step) {
    const auto bytes_read = source.read_at(offset - name.size(), start.data(), start.size());
    if (bytes_read <= static_cast<std::int64_t>(name.size())) break;
    is_encrypted = std::string_view(start.data(), static_cast<std::size_t>(bytes_read)).find(name) != std::string_view::npos;
    step = static_cast<std::uint64_t>(bytes_read) - name.size();
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

std::string main_part_of(const ooxml_kind& kind, const office_file& file) {
  auto main = file.find_related("", "officeDocument");
  return main.empty() ? std::string(kind.default_part) : main;
}

/// Reads the relations and properties of the file. Errors: as `render_office`.
result<document> open_office_file(byte_source& source, office_file& file) {
  HONDANA_TRY(check_start(source));
  document properties;
  std::vector<std::unique_ptr<relations_handler>> relation_handlers;
  properties_handler properties_reader(properties);
  encryption_handler encryption;
  const auto choose = [&](const std::string& name) -> xml_handler* {
    if (name == "docProps/core.xml" || name == "meta.xml") return &properties_reader;
    if (name == "META-INF/manifest.xml") return &encryption;
    const auto part = relations_owner(name);
    if (part == "?") return nullptr;
    relation_handlers.push_back(std::make_unique<relations_handler>(file.related[part], std::string(parent_folder(part))));
    return relation_handlers.back().get();
  };
  if (auto read = file.parts.read(choose); !read) return tl::unexpected(std::move(read.error()));
  if (encryption.is_encrypted) return fail(errc::access_denied, "the file is encrypted; store it without a password");
  return properties;
}

package_limits package_limits_for(const limits& limits) {
  package_limits caps;
  caps.max_unpacked_bytes = limits.max_unpacked_bytes;
  return caps;
}

}  // namespace

std::string office_file::find_related(std::string_view part, std::string_view type) const {
  const auto part_relations = related.find(part);
  if (part_relations == related.end()) return {};
  for (const auto& [id, entry] : part_relations->second) {
    if (entry.type == type) return entry.part;
  }
  return {};
}

std::string office_file::find_by_id(std::string_view part, std::string_view id) const {
  const auto part_relations = related.find(part);
  if (part_relations == related.end()) return {};
  const auto match = part_relations->second.find(id);
  return match == part_relations->second.end() ? std::string() : match->second.part;
}

result<document> render_office(format document_format, byte_source& source, const limits& limits,
                               const office_libraries& libraries) {
  package parts(libraries, source, package_limits_for(limits));
  office_file file{parts};
  auto rendered = open_office_file(source, file);
  if (!rendered) return rendered;
  text_output out(static_cast<std::size_t>(limits.max_output_bytes));
  office_findings findings;
  const auto* const kind = std::find_if(ooxml_kinds.begin(), ooxml_kinds.end(), [document_format](const auto& candidate) {
    return candidate.value == document_format;
  });
  HONDANA_TRY(kind != ooxml_kinds.end() ? kind->render(file, main_part_of(*kind, file), out, findings)
                                        : render_open_document(document_format, parts, out, findings));
  // The main text is complete without it.
  if (!collect_extra_text(document_format, file, findings)) findings.is_truncated = true;
  rendered->pages = findings.pages;
  rendered->is_truncated = findings.is_truncated || out.is_truncated() || findings.extra_text.is_truncated();
  rendered->text = std::move(out).extract();
  if (!rendered->text.empty() && !rendered->text.ends_with('\n') && !rendered->text.ends_with('\f')) rendered->text += '\n';
  rendered->extra_text = std::move(findings.extra_text).extract();
  if (rendered->language.empty()) {
    const bool is_eastern = !findings.eastern_language.empty() && is_mostly_east_asian(rendered->text);
    rendered->language = is_eastern ? findings.eastern_language : findings.western_language;
  }
  return rendered;
}

result<document> render_office_sheets(byte_source& source, const limits& limits, const office_libraries& libraries) {
  package parts(libraries, source, package_limits_for(limits));
  office_file file{parts};
  auto rendered = open_office_file(source, file);
  if (!rendered) return rendered;
  office_findings findings;
  std::vector<sheet> sheets;
  const auto main = main_part_of(ooxml_kinds[1], file);
  HONDANA_TRY(render_each_sheet(file, main, static_cast<std::size_t>(limits.max_output_bytes), sheets, findings));
  for (const auto& entry : sheets) rendered->text += to_line(entry);
  rendered->is_truncated = findings.is_truncated;
  return rendered;
}

}  // namespace hondana::rendering
