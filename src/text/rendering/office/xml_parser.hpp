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
enum class space : std::uint8_t {
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

struct element {
  space in = space::other;
  std::string_view name{};
  [[nodiscard]] bool is(space of, std::string_view called) const noexcept { return in == of && name == called; }
};

/// The attributes of one element; valid only in `events::begin`.
class attributes {
 public:
  attributes(const xmlChar** all, int count) noexcept : all_(all), count_(count) {}
  /// The value of an attribute; no value if there is none. `of`: its namespace; `space::none` without a prefix.
  [[nodiscard]] std::optional<std::string> find(space of, std::string_view name) const;
  /// The value; "" if there is none.
  [[nodiscard]] std::string text(space of, std::string_view name) const;
  /// The value as an unsigned number; no value if it is not one.
  [[nodiscard]] std::optional<std::size_t> number(space of, std::string_view name) const;
  /// An OOXML switch: true unless the attribute is "0", "false" or "off". A missing attribute means true.
  [[nodiscard]] bool is_on(space of, std::string_view name) const;

 private:
  const xmlChar** all_;
  int count_;
};

/// Receives the content of a part. Text arrives in pieces.
class events {
 public:
  virtual ~events() = default;
  virtual void begin(const element& what, const attributes& with) = 0;
  virtual void end(const element& what) = 0;
  virtual void text(std::string_view piece) = 0;
  /// Called after each event; true skips the rest of the part.
  [[nodiscard]] virtual bool has_enough() const { return false; }
};

/// Parses one part, in pieces. Does not expand entities, and rejects document types, because Office files have none. Also
/// rejects elements nested more than 256 deep.
class markup_parser {
 public:
  markup_parser(const xml_library& by, events& into);
  ~markup_parser();
  markup_parser(const markup_parser&) = delete;
  markup_parser& operator=(const markup_parser&) = delete;

  /// Returns false if the receiver has enough. Errors: invalid_argument if the text is not XML or has content that Office files
  /// do not have; response_too_large if memory is exhausted.
  [[nodiscard]] result<bool> feed(std::string_view piece);
  /// Ends the part. Errors: as `feed`.
  [[nodiscard]] result<void> finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::rendering
