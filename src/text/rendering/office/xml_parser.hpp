/// A streaming XML parser for parts of Office files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "text/rendering/office/office_libraries.hpp"

namespace hondana::rendering {

/// Namespaces of OOXML (transitional and strict) and OpenDocument. `other`: any other namespace; `none`: no namespace.
enum class xml_ns : std::uint8_t {
  none,
  other,
  word,
  sheet,
  slide,
  drawing,
  compatibility,  // mc:
  relation,       // r:id
  relationships,  // of packages
  core,           // cp:
  dublin,         // dc:
  office,
  text,
  table,
  draw,
  style,
  format,  // fo:
  presentation,
  meta,
  manifest
};

/// The name of an element; valid only during the call of the handler.
struct element {
  xml_ns ns = xml_ns::other;
  std::string_view name{};
  [[nodiscard]] bool matches(xml_ns expected_ns, std::string_view expected_name) const noexcept {
    return ns == expected_ns && name == expected_name;
  }
};

/// The attributes of one element; valid only in `xml_handler::begin`.
class attributes {
 public:
  attributes(const xmlChar** entries, int count) noexcept : entries_(entries), count_(count) {}
  /// Returns the value of an attribute; no value if there is none. `ns`: its namespace; `xml_ns::none` without a prefix.
  [[nodiscard]] std::optional<std::string> find(xml_ns ns, std::string_view name) const;
  /// Returns the value of an attribute; "" if there is none.
  [[nodiscard]] std::string text(xml_ns ns, std::string_view name) const;
  /// Returns the value of an attribute as an unsigned 32-bit number; no value if it is not one.
  [[nodiscard]] std::optional<std::size_t> number(xml_ns ns, std::string_view name) const;
  /// Whether an OOXML switch is on: true unless the attribute is "0", "false" or "off", also if it is missing.
  [[nodiscard]] bool is_on(xml_ns ns, std::string_view name) const;

 private:
  const xmlChar** entries_;
  int count_;
};

/// Receives the content of a part. The text of an element arrives in pieces.
class xml_handler {
 public:
  virtual ~xml_handler() = default;
  virtual void begin(const element& element, const attributes& attributes) = 0;
  virtual void end(const element& element) = 0;
  virtual void text(std::string_view piece) = 0;
  /// Called after each event; true skips the rest of the part.
  [[nodiscard]] virtual bool has_enough() const { return false; }
};

/// Parses one part, in pieces. Does not expand entities, and rejects document types, because Office files have none. Also
/// rejects elements nested more than 256 deep. The library and the handler must outlive it.
class xml_parser {
 public:
  xml_parser(const xml_library& library, xml_handler& handler);
  ~xml_parser();
  xml_parser(const xml_parser&) = delete;
  xml_parser& operator=(const xml_parser&) = delete;

  /// Parses the next piece. Returns false if the handler has enough. Errors: invalid_argument if the text is not XML or has
  /// content that Office files do not have; response_too_large if memory is exhausted.
  [[nodiscard]] result<bool> feed(std::string_view piece);
  /// Ends the part. Errors: as `feed`.
  [[nodiscard]] result<void> finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::rendering
