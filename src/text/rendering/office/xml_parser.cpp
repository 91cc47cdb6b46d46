/// A streaming XML parser for parts of Office files.
#include "text/rendering/office/xml_parser.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <new>
#include <utility>

namespace hondana::rendering {
namespace {

constexpr std::size_t max_depth = 256;

struct known_namespace {
  std::string_view uri;
  xml_ns ns;
};
constexpr std::array known_namespaces{
    known_namespace{"http://schemas.openxmlformats.org/wordprocessingml/2006/main", xml_ns::word},
    known_namespace{"http://purl.oclc.org/ooxml/wordprocessingml/main", xml_ns::word},
    known_namespace{"http://schemas.openxmlformats.org/spreadsheetml/2006/main", xml_ns::sheet},
    known_namespace{"http://purl.oclc.org/ooxml/spreadsheetml/main", xml_ns::sheet},
    known_namespace{"http://schemas.openxmlformats.org/presentationml/2006/main", xml_ns::slide},
    known_namespace{"http://purl.oclc.org/ooxml/presentationml/main", xml_ns::slide},
    known_namespace{"http://schemas.openxmlformats.org/drawingml/2006/main", xml_ns::drawing},
    known_namespace{"http://purl.oclc.org/ooxml/drawingml/main", xml_ns::drawing},
    known_namespace{"http://schemas.openxmlformats.org/markup-compatibility/2006", xml_ns::compatibility},
    known_namespace{"http://schemas.openxmlformats.org/officeDocument/2006/relationships", xml_ns::relation},
    known_namespace{"http://purl.oclc.org/ooxml/officeDocument/relationships", xml_ns::relation},
    known_namespace{"http://schemas.openxmlformats.org/package/2006/relationships", xml_ns::relationships},
    known_namespace{"http://schemas.openxmlformats.org/package/2006/metadata/core-properties", xml_ns::core},
    known_namespace{"http://purl.org/dc/elements/1.1/", xml_ns::dublin},
    known_namespace{"urn:oasis:names:tc:opendocument:xmlns:office:1.0", xml_ns::office},
    known_namespace{"urn:oasis:names:tc:opendocument:xmlns:text:1.0", xml_ns::text},
    known_namespace{"urn:oasis:names:tc:opendocument:xmlns:table:1.0", xml_ns::table},
    known_namespace{"urn:oasis:names:tc:opendocument:xmlns:drawing:1.0", xml_ns::draw},
    known_namespace{"urn:oasis:names:tc:opendocument:xmlns:style:1.0", xml_ns::style},
    known_namespace{"urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0", xml_ns::format},
    known_namespace{"urn:oasis:names:tc:opendocument:xmlns:presentation:1.0", xml_ns::presentation},
    known_namespace{"urn:oasis:names:tc:opendocument:xmlns:meta:1.0", xml_ns::meta},
    known_namespace{"urn:oasis:names:tc:opendocument:xmlns:manifest:1.0", xml_ns::manifest},
};

std::string_view to_view(const xmlChar* text) {
  return text == nullptr ? std::string_view() : std::string_view(reinterpret_cast<const char*>(text));
}

xml_ns find_namespace(const xmlChar* uri) {
  if (uri == nullptr) return xml_ns::none;
  const auto text = to_view(uri);
  const auto* const match = std::find_if(known_namespaces.begin(), known_namespaces.end(),
                                         [text](const auto& candidate) { return candidate.uri == text; });
  return match == known_namespaces.end() ? xml_ns::other : match->ns;
}

/// Decodes `&#38;`. Without entity replacement, libxml2 leaves an ampersand in an attribute as this reference.
std::string decode_references(std::string_view text) {
  constexpr std::string_view ampersand = "&#38;";
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto position = std::min(text.find(ampersand), text.size());
    out += text.substr(0, position);
    text.remove_prefix(position);
    if (text.empty()) break;
    out += '&';
    text.remove_prefix(ampersand.size());
  }
  return out;
}

}  // namespace

std::optional<std::string> attributes::find(xml_ns ns, std::string_view name) const {
  // Each attribute has five entries: local name, prefix, namespace, begin and end of its value.
  for (int i = 0; i < count_; ++i) {
    const auto* const* entry = entries_ + static_cast<std::ptrdiff_t>(i) * 5;
    if (to_view(entry[0]) != name || find_namespace(entry[2]) != ns) continue;
    const auto size = static_cast<std::size_t>(entry[4] - entry[3]);
    return decode_references(std::string_view(reinterpret_cast<const char*>(entry[3]), size));
  }
  return {};
}

std::string attributes::text(xml_ns ns, std::string_view name) const { return find(ns, name).value_or(std::string()); }

std::optional<std::size_t> attributes::number(xml_ns ns, std::string_view name) const {
  const auto text = find(ns, name);
  if (!text) return {};
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc() || end != text->data() + text->size()) return {};
  return number;
}

bool attributes::is_on(xml_ns ns, std::string_view name) const {
  const auto text = find(ns, name);
  return !text || (*text != "0" && *text != "false" && *text != "off");
}

struct xml_parser::state {
  const xml_library& xml;
  xml_handler& handler;
  xmlSAXHandler sax{};
  xmlParserCtxtPtr parser = nullptr;
  std::size_t depth = 0;
  bool has_enough = false;
  std::string error{};  // content that Office files do not have, or the parser's first error
  bool is_out_of_memory = false;

  state(const xml_library& library, xml_handler& receiver) : xml(library), handler(receiver) {}

  void stop() { xml.stop_parser(parser); }
  [[nodiscard]] bool is_stopped() const { return has_enough || is_out_of_memory || !error.empty(); }

  /// Records an error of the parser, which then stops by itself. Do not stop it from within this callback.
  void report_error(int line, const char* message) noexcept {
    try {
      error = "line " + std::to_string(line) + ": " + (message == nullptr ? "not XML" : message);
      while (error.ends_with('\n')) error.pop_back();
    } catch (const std::bad_alloc&) {
      is_out_of_memory = true;
    }
  }

  /// Catches exceptions, because none may pass through the library.
  template <class Callback>
  void run_guarded(const Callback& callback) noexcept {
    if (is_stopped()) return;
    try {
      callback();
      if (handler.has_enough()) has_enough = true;
    } catch (const std::bad_alloc&) {
      is_out_of_memory = true;
    }
    if (is_stopped()) stop();
  }
};

namespace {

constexpr const char* out_of_memory_text = "reading an Office file takes more memory than allowed";

}  // namespace

xml_parser::xml_parser(const xml_library& library, xml_handler& handler) : state_(std::make_unique<state>(library, handler)) {
  auto& sax = state_->sax;
  sax.initialized = XML_SAX2_MAGIC;
  sax.startElementNs = [](void* data, const xmlChar* name, const xmlChar*, const xmlChar* uri, int, const xmlChar**, int count,
                          int, const xmlChar** entries) {
    auto& parser_state = *static_cast<state*>(data);
    parser_state.run_guarded([&] {
      if (++parser_state.depth > max_depth) {
        parser_state.error = "its elements are nested deeper than " + std::to_string(max_depth) + " levels";
      } else {
        parser_state.handler.begin({find_namespace(uri), to_view(name)}, attributes(entries, count));
      }
    });
  };
  sax.endElementNs = [](void* data, const xmlChar* name, const xmlChar*, const xmlChar* uri) {
    auto& parser_state = *static_cast<state*>(data);
    parser_state.run_guarded([&] {
      --parser_state.depth;
      parser_state.handler.end({find_namespace(uri), to_view(name)});
    });
  };
  sax.characters = [](void* data, const xmlChar* text, int size) {
    auto& parser_state = *static_cast<state*>(data);
    parser_state.run_guarded(
        [&] { parser_state.handler.text({reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)}); });
  };
  sax.cdataBlock = sax.characters;
  sax.ignorableWhitespace = sax.characters;
  sax.internalSubset = [](void* data, const xmlChar*, const xmlChar*, const xmlChar*) {
    auto& parser_state = *static_cast<state*>(data);
    parser_state.run_guarded(
        [&] { parser_state.error = "it has a document type declaration, which Office files do not have"; });
  };
  sax.serror = [](void* data, auto* error) {
    auto& parser_state = *static_cast<state*>(data);
    if (parser_state.is_stopped() || error->level != XML_ERR_FATAL) return;
    parser_state.report_error(error->line, error->message);
  };
  state_->parser = library.create_push_parser(&sax, state_.get(), nullptr, 0, nullptr);
  if (state_->parser == nullptr) {
    state_->is_out_of_memory = true;
    return;
  }
  library.use_options(state_->parser, XML_PARSE_NONET | XML_PARSE_COMPACT);
}

xml_parser::~xml_parser() {
  if (state_->parser == nullptr) return;
  // Without a handler for the start of the document, libxml2 creates no document, but a later version might.
  if (state_->parser->myDoc != nullptr) state_->xml.free_doc(state_->parser->myDoc);
  state_->parser->myDoc = nullptr;
  state_->xml.free_parser(state_->parser);
}

result<bool> xml_parser::feed(std::string_view piece) {
  constexpr std::size_t chunk_bytes = 64u << 10;
  while (!state_->is_stopped() && !piece.empty()) {
    const auto chunk = piece.substr(0, chunk_bytes);
    piece.remove_prefix(chunk.size());
    const int error = state_->xml.parse_chunk(state_->parser, chunk.data(), static_cast<int>(chunk.size()), 0);
    if (error == XML_ERR_NO_MEMORY) state_->is_out_of_memory = true;
  }
  if (state_->is_out_of_memory) return fail(errc::response_too_large, out_of_memory_text);
  if (!state_->error.empty()) return fail(errc::invalid_argument, state_->error);
  return !state_->has_enough;
}

result<void> xml_parser::finish() {
  if (state_->has_enough) return {};
  if (!state_->is_stopped()) {
    const int error = state_->xml.parse_chunk(state_->parser, nullptr, 0, 1);
    if (state_->error.empty() && !state_->has_enough && (error != 0 || state_->parser->wellFormed == 0))
      state_->error = "it ends too early";
  }
  if (state_->is_out_of_memory) return fail(errc::response_too_large, out_of_memory_text);
  if (!state_->error.empty()) return fail(errc::invalid_argument, state_->error);
  return {};
}

}  // namespace hondana::rendering
