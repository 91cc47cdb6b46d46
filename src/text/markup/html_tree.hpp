/// Parses HTML into a tree by the algorithm of the HTML standard, with the library gumbo.
#pragma once

#include <gumbo.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace hondana::markup {

class tree_memory;

/// The tree of an HTML document.
///
/// Parsing takes linear time, and at most 256 MiB of memory. A document that needs more is cut: the tree is that of its
/// beginning. Some documents would take quadratic time, such as those with 1000 nested elements. Of these, the tree has
/// headings and paragraphs only, without attributes. Threads: one.
class html_tree {
 public:
  /// Parses `html` (UTF-8), which must outlive the tree. Never fails.
  explicit html_tree(std::string_view html);
  ~html_tree();
  html_tree(const html_tree&) = delete;
  html_tree& operator=(const html_tree&) = delete;

  /// The document node.
  [[nodiscard]] const GumboNode& document() const noexcept { return *output_->document; }
  /// Whether the document was cut.
  [[nodiscard]] bool is_truncated() const noexcept { return is_truncated_; }
  /// The position of a part of the source in `html`. No value for the empty part, which elements without a tag have.
  [[nodiscard]] std::optional<std::size_t> offset_of(const GumboStringPiece& part) const noexcept;

 private:
  std::string_view source_;  ///< The text that was parsed; it has the positions of the HTML.
  std::string replaced_{};
  std::unique_ptr<tree_memory> memory_;
  const GumboOutput* output_ = nullptr;
  bool is_truncated_ = false;
};

/// The nodes directly below a document or an element, in order; none for other nodes.
[[nodiscard]] const GumboVector& children_of(const GumboNode& node) noexcept;

/// What to do after a node: visit the nodes below it and then leave it; visit the node after it; or visit no further node.
enum class next_node : std::uint8_t { inside, after, none };
/// Visits a node and everything below it in document order: calls `enter(node)`, which returns a `next_node`, and `leave(node)`
/// after the nodes below. Needs no memory, however deep the tree is.
template <class Enter, class Leave>
void visit_nodes(const GumboNode& top, Enter&& enter, Leave&& leave);

[[nodiscard]] bool is_text(const GumboNode& node) noexcept;
/// Whether a node is an element of HTML with this tag; not one of SVG or MathML.
[[nodiscard]] bool is_element(const GumboNode& node, GumboTag tag) noexcept;
/// The name of an element in lower case, also of an element that HTML does not have.
[[nodiscard]] std::string name_of(const GumboElement& element);
/// The value of an attribute, by its name in lower case; null if there is none.
[[nodiscard]] const char* find_attribute(const GumboElement& element, const char* name) noexcept;
/// Parses an integer as HTML does: leading white space, a sign and digits; further text is ignored. Limited to nine digits.
[[nodiscard]] std::optional<int> parse_html_integer(std::string_view text) noexcept;
/// All text below a node, at most `max_bytes` bytes, and of as many nodes.
[[nodiscard]] std::string text_below(const GumboNode& node, std::size_t max_bytes);

/// Returns the text with its character references decoded (`&amp;`, `&copy`, `&#128;`) as in an element `textarea`, where tags
/// are text. CR LF and CR become LF.
[[nodiscard]] std::string decode_character_references(std::string_view text);

template <class Enter, class Leave>
void visit_nodes(const GumboNode& top, Enter&& enter, Leave&& leave) {
  const auto* node = &top;
  while (true) {
    const auto next = enter(*node);
    if (next == next_node::none) return;
    if (next == next_node::inside) {
      if (const auto& children = children_of(*node); children.length > 0) {
        node = static_cast<const GumboNode*>(children.data[0]);
        continue;
      }
      leave(*node);
    }
    while (true) {
      if (node == &top) return;
      const auto& siblings = children_of(*node->parent);
      if (node->index_within_parent + 1 < siblings.length) {
        node = static_cast<const GumboNode*>(siblings.data[node->index_within_parent + 1]);
        break;
      }
      node = node->parent;
      leave(*node);
    }
  }
}

}  // namespace hondana::markup
