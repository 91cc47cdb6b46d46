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

/// Namespaces of OOXML (transitional and strict) and OpenDocument; all others are `other`, and none is `none`.
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

/// Of one element, while it begins.
class attributes {
 public:
  attributes(const xmlChar** all, int count) noexcept : all_(all), count_(count) {}
  /// Its text; nothing when there is none. `of`: that of the attribute, `space::none` for one without a prefix.
  [[nodiscard]] std::optional<std::string> find(space of, std::string_view name) const;
  /// "" when there is none.
  [[nodiscard]] std::string text(space of, std::string_view name) const;
  /// A number without a sign; nothing when it is none.
  [[nodiscard]] std::optional<std::size_t> number(space of, std::string_view name) const;
  /// As OOXML has switches: there and not "0", "false" or "off". `name` may be missing, then it is on.
  [[nodiscard]] bool is_on(space of, std::string_view name) const;

 private:
  const xmlChar** all_;
  int count_;
};

/// Takes what a part says. Text comes in pieces.
class events {
 public:
  virtual ~events() = default;
  virtual void begin(const element& what, const attributes& with) = 0;
  virtual void end(const element& what) = 0;
  virtual void text(std::string_view piece) = 0;
  /// Asked after each of these; the rest of the part is then passed over.
  [[nodiscard]] virtual bool has_enough() const { return false; }
};

/// Reads one part, in pieces. No entity is expanded and no document type taken: Office files have none. Elements more than 256
/// deep are an error.
class markup_parser {
 public:
  markup_parser(const xml_library& by, events& into);
  ~markup_parser();
  markup_parser(const markup_parser&) = delete;
  markup_parser& operator=(const markup_parser&) = delete;

  /// False: it has enough. Errors: invalid_argument: it is no XML or has what Office files have not; response_too_large: there
  /// is no memory for it.
  [[nodiscard]] result<bool> feed(std::string_view piece);
  /// The end of the part. Errors: as above.
  [[nodiscard]] result<void> finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace hondana::rendering
