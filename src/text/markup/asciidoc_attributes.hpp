/// Attributes and conditionals of AsciiDoc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace hondana::markup {

/// The attributes of a document: those that it sets, and those that Asciidoctor defines for an article in HTML.
class asciidoc_attributes {
 public:
  asciidoc_attributes();

  [[nodiscard]] bool is_defined(std::string_view name) const { return find(name) != nullptr; }
  /// The value of an attribute; null: it is not defined. The case of the name makes no difference.
  [[nodiscard]] const std::string* find(std::string_view name) const;
  /// Sets an attribute, with the references in its value replaced. `!name` and `name!` remove it. `leveloffset` also takes
  /// differences such as `+1`. At most 1000 attributes with values of at most 1000 bytes; further ones are ignored.
  void set(std::string_view name, std::string_view value);
  /// Replaces references such as `{name}`. Undefined ones stay as they are, or are left out if `drops_undefined`. The backslash
  /// of `\{name}` is removed. The result has at most about 8 KiB more than `text`.
  [[nodiscard]] std::string substitute(std::string_view text, bool drops_undefined = false) const;
  /// The attribute `leveloffset`; 0: none.
  [[nodiscard]] int level_offset() const;

 private:
  std::unordered_map<std::string, std::string> values_{};
  std::size_t set_count_ = 0;
};

/// A line `:name: value`. `continues`: the value goes on in the next line.
struct asciidoc_attribute_entry {
  std::string_view name{};
  std::string_view value{};
  bool continues = false;
};
/// Reads an attribute entry from a line without white space at its end.
[[nodiscard]] std::optional<asciidoc_attribute_entry> read_attribute_entry(std::string_view line) noexcept;
/// Reads a further line of a value, and removes its mark of continuation. Returns whether the value goes on.
[[nodiscard]] bool read_attribute_continuation(std::string_view& line) noexcept;

/// What the preprocessor makes of a line. `hidden`: a conditional or an include, or a line that a conditional leaves out.
enum class asciidoc_line_kind : std::uint8_t { text, hidden, include };

/// Evaluates `ifdef::`, `ifndef::`, `ifeval::` and `endif::`, like Asciidoctor. Includes are not followed.
class asciidoc_conditionals {
 public:
  /// Processes a line without white space at its end. Changes `line` to the text that counts: without the backslash of an
  /// escaped directive, with the text of `ifdef::name[text]`, or with the target of an include.
  asciidoc_line_kind process(std::string_view& line, const asciidoc_attributes& attributes);

 private:
  struct condition {
    std::string target;
    bool is_skipping;
  };
  [[nodiscard]] bool is_skipping() const noexcept { return !open_.empty() && open_.back().is_skipping; }

  std::vector<condition> open_{};
};

}  // namespace hondana::markup
