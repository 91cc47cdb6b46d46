/// A streaming XML parser for parts of Office files.
#include "text/rendering/office/xml_parser.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <new>
#include <utility>

namespace hondana::rendering {
namespace {

constexpr std::size_t deepest = 256;

struct known_space {
  std::string_view uri;
  space is;
};
constexpr std::array known_spaces{
    known_space{"http://schemas.openxmlformats.org/wordprocessingml/2006/main", space::word},
    known_space{"http://purl.oclc.org/ooxml/wordprocessingml/main", space::word},
    known_space{"http://schemas.openxmlformats.org/spreadsheetml/2006/main", space::sheet},
    known_space{"http://purl.oclc.org/ooxml/spreadsheetml/main", space::sheet},
    known_space{"http://schemas.openxmlformats.org/presentationml/2006/main", space::slide},
    known_space{"http://purl.oclc.org/ooxml/presentationml/main", space::slide},
    known_space{"http://schemas.openxmlformats.org/drawingml/2006/main", space::drawing},
    known_space{"http://purl.oclc.org/ooxml/drawingml/main", space::drawing},
    known_space{"http://schemas.openxmlformats.org/markup-compatibility/2006", space::compatibility},
    known_space{"http://schemas.openxmlformats.org/officeDocument/2006/relationships", space::relation},
    known_space{"http://purl.oclc.org/ooxml/officeDocument/relationships", space::relation},
    known_space{"http://schemas.openxmlformats.org/package/2006/relationships", space::relationships},
    known_space{"http://schemas.openxmlformats.org/package/2006/metadata/core-properties", space::core},
    known_space{"http://purl.org/dc/elements/1.1/", space::dublin},
    known_space{"urn:oasis:names:tc:opendocument:xmlns:office:1.0", space::office},
    known_space{"urn:oasis:names:tc:opendocument:xmlns:text:1.0", space::text},
    known_space{"urn:oasis:names:tc:opendocument:xmlns:table:1.0", space::table},
    known_space{"urn:oasis:names:tc:opendocument:xmlns:drawing:1.0", space::draw},
    known_space{"urn:oasis:names:tc:opendocument:xmlns:style:1.0", space::style},
    known_space{"urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0", space::format},
    known_space{"urn:oasis:names:tc:opendocument:xmlns:presentation:1.0", space::presentation},
    known_space{"urn:oasis:names:tc:opendocument:xmlns:meta:1.0", space::meta},
    known_space{"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0", space::manifest},
};

std::string_view view_of(const xmlChar* text) {
  return text == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(text));
}

space space_of(const xmlChar* uri) {
  if (uri == nullptr) return space::none;
  const auto text = view_of(uri);
  const auto* const found =
      std::find_if(known_spaces.begin(), known_spaces.end(), [text](const auto& one) { return one.uri == text; });
  return found == known_spaces.end() ? space::other : found->is;
}

/// Decodes `&#38;`. Without entity replacement, libxml2 leaves an ampersand in an attribute as this reference.
std::string without_references(std::string_view text) {
  constexpr std::string_view ampersand = "&#38;";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto at = std::min(text.find(ampersand), text.size());
    out += text.substr(0, at);
    text.remove_prefix(at);
    if (text.empty()) break;
    out += '&';
    text.remove_prefix(ampersand.size());
  }
  return out;
}

}  // namespace

std::optional<std::string> attributes::find(space of, std::string_view name) const {
  // Each attribute has five entries: local name, prefix, namespace, begin and end of its value.
  for (int i = 0; i < count_; ++i) {
    const auto* const* one = all_ + static_cast<std::ptrdiff_t>(i) * 5;
    if (view_of(one[0]) != name || space_of(one[2]) != of) continue;
    const auto size = static_cast<std::size_t>(one[4] - one[3]);
    return without_references(std::string_view(reinterpret_cast<const char*>(one[3]), size));
  }
  return {};
}

std::string attributes::text(space of, std::string_view name) const { return find(of, name).value_or(std::string()); }

std::optional<std::size_t> attributes::number(space of, std::string_view name) const {
  const auto text = find(of, name);
  if (!text) return {};
  std::uint32_t read = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), read);
  if (error != std::errc() || end != text->data() + text->size()) return {};
  return read;
}

bool attributes::is_on(space of, std::string_view name) const {
  const auto text = find(of, name);
  return !text || (*text != "0" && *text != "false" && *text != "off");
}

struct markup_parser::state {
  const xml_library& by;
  events& into;
  xmlSAXHandler handler{};
  xmlParserCtxtPtr parser = nullptr;
  std::size_t depth = 0;
  bool has_enough = false;
  std::string wrong{};  // content that Office files do not have, or the parser's first error
  bool has_no_memory = false;

  state(const xml_library& library, events& hearer) : by(library), into(hearer) {}

  void stop() { by.stop_parser(parser); }
  [[nodiscard]] bool is_stopped() const { return has_enough || has_no_memory || !wrong.empty(); }

  /// Records an error of the parser, which then stops by itself. Do not stop it from within this callback.
  void complain(int line, const char* what) noexcept {
    try {
      wrong = "line " + std::to_string(line) + ": " + (what == nullptr ? "not XML" : what);
      while (wrong.ends_with('\n')) wrong.pop_back();
    } catch (const std::bad_alloc&) {
      has_no_memory = true;
    }
  }

  /// Catches exceptions, because none may pass through the library.
  template <class doing>
  void guarded(const doing& what) noexcept {
    if (is_stopped()) return;
    try {
      what();
      if (into.has_enough()) has_enough = true;
    } catch (const std::bad_alloc&) {
      has_no_memory = true;
    }
    if (is_stopped()) stop();
  }
};

namespace {

constexpr const char* no_memory = "reading an Office file takes more memory than allowed";

}  // namespace

markup_parser::markup_parser(const xml_library& by, events& into) : state_(std::make_unique<state>(by, into)) {
  auto& handler = state_->handler;
  handler.initialized = XML_SAX2_MAGIC;
  handler.startElementNs = [](void* self, const xmlChar* name, const xmlChar*, const xmlChar* uri, int, const xmlChar**,
                              int count, int, const xmlChar** all) {
    auto& of = *static_cast<state*>(self);
    of.guarded([&] {
      if (++of.depth > deepest) {
        of.wrong = "its elements are nested deeper than " + std::to_string(deepest) + " levels";
      } else {
        of.into.begin({space_of(uri), view_of(name)}, attributes(all, count));
      }
    });
  };
  handler.endElementNs = [](void* self, const xmlChar* name, const xmlChar*, const xmlChar* uri) {
    auto& of = *static_cast<state*>(self);
    of.guarded([&] {
      --of.depth;
      of.into.end({space_of(uri), view_of(name)});
    });
  };
  handler.characters = [](void* self, const xmlChar* text, int size) {
    auto& of = *static_cast<state*>(self);
    of.guarded([&] { of.into.text({reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)}); });
  };
  handler.cdataBlock = handler.characters;
  handler.ignorableWhitespace = handler.characters;
  handler.internalSubset = [](void* self, const xmlChar*, const xmlChar*, const xmlChar*) {
    auto& of = *static_cast<state*>(self);
    of.guarded([&] { of.wrong = "it has a document type declaration, which Office files do not have"; });
  };
  handler.serror = [](void* self, auto* problem) {
    auto& of = *static_cast<state*>(self);
    if (of.is_stopped() || problem->level != XML_ERR_FATAL) return;
    of.complain(problem->line, problem->message);
  };
  state_->parser = by.create_push_parser(&handler, state_.get(), nullptr, 0, nullptr);
  if (state_->parser == nullptr) {
    state_->has_no_memory = true;
    return;
  }
  by.use_options(state_->parser, XML_PARSE_NONET | XML_PARSE_COMPACT);
}

markup_parser::~markup_parser() {
  if (state_->parser == nullptr) return;
  // Without a handler for the start of the document, libxml2 creates no document, but a later version might.
  if (state_->parser->myDoc != nullptr) state_->by.free_doc(state_->parser->myDoc);
  state_->parser->myDoc = nullptr;
  state_->by.free_parser(state_->parser);
}

result<bool> markup_parser::feed(std::string_view piece) {
  constexpr std::size_t step = 64u << 10;
  while (!state_->is_stopped() && !piece.empty()) {
    const auto part = piece.substr(0, step);
    piece.remove_prefix(part.size());
    const int error = state_->by.parse_chunk(state_->parser, part.data(), static_cast<int>(part.size()), 0);
    if (error == XML_ERR_NO_MEMORY) state_->has_no_memory = true;
  }
  if (state_->has_no_memory) return fail(errc::response_too_large, no_memory);
  if (!state_->wrong.empty()) return fail(errc::invalid_argument, state_->wrong);
  return !state_->has_enough;
}

result<void> markup_parser::finish() {
  if (state_->has_enough) return {};
  if (!state_->is_stopped()) {
    const int error = state_->by.parse_chunk(state_->parser, nullptr, 0, 1);
    if (state_->wrong.empty() && !state_->has_enough && (error != 0 || state_->parser->wellFormed == 0))
      state_->wrong = "it ends too early";
  }
  if (state_->has_no_memory) return fail(errc::response_too_large, no_memory);
  if (!state_->wrong.empty()) return fail(errc::invalid_argument, state_->wrong);
  return {};
}

}  // namespace hondana::rendering
