/// What documents say of themselves, rules files and docs:// URIs: whatever the bytes, sound values or errors with a reason.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json/utf8.hpp"
#include "sources/docs/document_reader.hpp"
#include "sources/docs/document_rules.hpp"
#include "sources/docs/document_text.hpp"
#include "sources/docs/document_uri.hpp"

namespace {

using namespace hondana;
using namespace hondana::docs;

void require(bool holds) {
  if (!holds) std::abort();
}

void expect_sound(const front_matter_values& said) {
  require(!said.priority || (*said.priority >= 0.0 && *said.priority <= 1.0));
  require(said.audience.size() <= 2 && said.warnings.size() <= 10);
  require(said.lang.empty() || is_language_tag(said.lang));
  require(said.title.find('\n') == std::string::npos && json::is_utf8(said.title) && json::is_utf8(said.description));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  std::string text;
  json::append_replacing(text, bytes);
  expect_sound(parse_front_matter(text));
  expect_sound(parse_front_matter("---\n" + text + "\n---\n"));
  for (const auto how : {markup::markup_format::plain, markup::markup_format::markdown, markup::markup_format::asciidoc,
                         markup::markup_format::restructured_text}) {
    const auto paragraph = first_paragraph(how, text);
    require(json::is_utf8(paragraph) && paragraph.find('\n') == std::string::npos);
  }
  if (const auto said = rules::parse(bytes, "rules")) {
    const auto of = said->evaluate("a/b.md");
    require(!of.priority || (*of.priority >= 0.0 && *of.priority <= 1.0));
    require(of.lang.empty() || is_language_tag(of.lang));
  } else {
    require(said.error().code == errc::invalid_argument && !said.error().public_text.empty());
  }
  // No entity or tag means much more than it is long.
  require(extract_html_text(bytes).size() <= 8 * size + 64);
  const auto uri = "docs://book/" + std::string(bytes);
  const auto what = parse_address("book", uri);
  if (what) {
    require(!what->is_listed_form || what->path.empty() || uri.starts_with(uri_of("book", what->path)));
    require(what->path.find('\0') == std::string::npos);
    require(!what->pages || (what->pages->first >= 1 && what->pages->first <= what->pages->second));
  }
  return 0;
}
