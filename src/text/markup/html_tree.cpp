/// Parses HTML into a tree by the algorithm of the HTML standard, with the library gumbo.
#include "text/markup/html_tree.hpp"

#include <malloc.h>

#include <algorithm>
#include <array>
#include <csetjmp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/ascii/ascii.hpp"
#include "text/markup/characters.hpp"
#include "text/markup/html.hpp"

namespace hondana::markup {

/// The memory of one tree. Gumbo has no limits, so this class ends its parsing when it takes too much memory or time. The time
/// is estimated from the calls of the allocator: each step of the parser may search the stack of open elements, which is as
/// deep as the last node, and the attributes of the current tag.
class tree_memory {
 public:
  enum class outcome { complete, too_large, too_complex };

  /// `source_bytes`: the size of the HTML.
  explicit tree_memory(std::size_t source_bytes)
      : max_nodes_(std::min(min_nodes + nodes_per_byte * source_bytes, max_tree_bytes / sizeof(slot))),
        max_work_(min_work + work_per_byte * source_bytes),
        nodes_(static_cast<slot*>(std::malloc(max_nodes_ * sizeof(slot)))) {}
  ~tree_memory() {
    while (last_ != nullptr) std::free(std::exchange(last_, last_->previous));
    std::free(nodes_);
  }
  tree_memory(const tree_memory&) = delete;
  tree_memory& operator=(const tree_memory&) = delete;

  /// Parses. Returns null if it gave up; then `result` says why. Call once. `options`: without an allocator.
  const GumboOutput* parse(GumboOptions& options, std::string_view html) {
    options.allocator = [](void* memory, std::size_t bytes) { return static_cast<tree_memory*>(memory)->allocate(bytes); };
    options.deallocator = [](void* memory, void* block) { static_cast<tree_memory*>(memory)->deallocate(block); };
    options.userdata = this;
    options.max_errors = 0;
    if (nodes_ == nullptr) {
      result_ = outcome::too_large;
      return nullptr;
    }
    // The jump leaves functions of C and `allocate`, none of which has an object with a destructor. Gumbo cannot report that
    // there is no memory, and has no other way to stop.
    if (setjmp(exit_) != 0) return nullptr;
    return gumbo_parse_with_options(&options, html.data(), html.size());
  }
  [[nodiscard]] outcome result() const noexcept { return result_; }

 private:
  static constexpr std::size_t max_tree_bytes = std::size_t{256} << 20;
  static constexpr std::size_t min_nodes = 256;
  static constexpr std::size_t nodes_per_byte = 8;
  static constexpr std::size_t min_work = 1'000'000;
  static constexpr std::size_t work_per_byte = 100;  // usually less than ten
  static constexpr std::uint32_t max_depth = 1000;
  static constexpr std::size_t max_attributes = 500;

  struct slot {
    GumboNode node;
    std::uint32_t depth;  ///< 0: unknown. The document and nodes without a parent have none.
  };
  struct allocation {
    allocation* previous;
    allocation* next;
  };

  [[noreturn]] void give_up(outcome reason) {
    result_ = reason;
    std::longjmp(exit_, 1);
  }

  void* allocate(std::size_t bytes) {
    if (bytes == sizeof(GumboNode)) return allocate_node();
    work_ += 1 + depth_;
    // Gumbo compares each attribute with all attributes before it in its tag.
    if (bytes == sizeof(GumboAttribute)) work_ += ++attribute_count_ * (1 + depth_);
    if (work_ > max_work_ || attribute_count_ > max_attributes) give_up(outcome::too_complex);
    auto* added = static_cast<allocation*>(std::malloc(sizeof(allocation) + bytes));
    if (added == nullptr) give_up(outcome::too_large);
    bytes_ += ::malloc_usable_size(added);
    added->previous = last_;
    added->next = nullptr;
    if (last_ != nullptr) last_->next = added;
    last_ = added;
    if (bytes_ + node_count_ * sizeof(slot) > max_tree_bytes) give_up(outcome::too_large);
    return added + 1;
  }

  /// Nodes are in one array, so that a pointer to one can be checked: other objects may have the size of a node.
  void* allocate_node() {
    if (node_count_ == max_nodes_)
      give_up(max_nodes_ < max_tree_bytes / sizeof(slot) ? outcome::too_complex : outcome::too_large);
    // Only now the node before has its parent.
    if (node_count_ > 0) depth_ = depth_of(&nodes_[node_count_ - 1].node);
    work_ += 1 + depth_;
    attribute_count_ = 0;
    if (depth_ > max_depth || work_ > max_work_) give_up(outcome::too_complex);
    auto& added = nodes_[node_count_++];
    std::memset(&added, 0, sizeof(added));
    return &added.node;
  }

  [[nodiscard]] slot* slot_of(const GumboNode* node) const noexcept {
    const auto offset = reinterpret_cast<std::uintptr_t>(node) - reinterpret_cast<std::uintptr_t>(nodes_);
    return offset < node_count_ * sizeof(slot) && offset % sizeof(slot) == 0 ? nodes_ + offset / sizeof(slot) : nullptr;
  }

  std::uint32_t depth_of(const GumboNode* node) const noexcept {
    std::uint32_t distance = 0;
    auto* known = slot_of(node);
    while (known->depth == 0 && distance <= max_depth) {
      auto* parent = slot_of(known->node.parent);
      if (parent == nullptr) break;
      known = parent;
      ++distance;
    }
    const auto depth = known->depth + distance;
    slot_of(node)->depth = depth;
    return depth;
  }

  void deallocate(void* memory) noexcept {
    if (memory == nullptr || slot_of(static_cast<const GumboNode*>(memory)) != nullptr) return;
    auto* removed = static_cast<allocation*>(memory) - 1;
    bytes_ -= ::malloc_usable_size(removed);
    if (removed->previous != nullptr) removed->previous->next = removed->next;
    (removed->next != nullptr ? removed->next->previous : last_) = removed->previous;
    std::free(removed);
  }

  const std::size_t max_nodes_;
  const std::size_t max_work_;
  slot* const nodes_;
  std::size_t node_count_ = 0;
  allocation* last_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t work_ = 0;
  std::size_t attribute_count_ = 0;  ///< Of the current tag.
  std::uint32_t depth_ = 0;          ///< Of the last node but one.
  outcome result_ = outcome::complete;
  std::jmp_buf exit_{};
};

namespace {

constexpr std::array<std::string_view, 11> unchanged_elements{"br", "h1",     "h2",    "h3",       "h4",   "h5",
                                                              "h6", "script", "style", "textarea", "title"};
constexpr std::array<std::string_view, 27> paragraph_elements{
    "address", "article",  "aside",  "blockquote", "caption", "dd",     "details", "div", "dl",
    "dt",      "fieldset", "figure", "footer",     "form",    "header", "hr",      "li",  "main",
    "nav",     "ol",       "p",      "pre",        "section", "table",  "td",      "tr",  "ul"};

/// Writes another name in a tag, and blanks over its attributes.
void overwrite_tag(std::string& html, std::size_t begin, std::size_t end, std::string_view name) {
  std::fill(html.begin() + static_cast<std::ptrdiff_t>(begin) + 1, html.begin() + static_cast<std::ptrdiff_t>(end) - 1, ' ');
  html.replace(begin + 1, name.size(), name);
}

/// Replaces tags, so that no element contains another one, and keeps all positions: tags of headings stay, without attributes;
/// others begin a paragraph, or become comments, which do not separate words.
std::string flatten(std::string_view html) {
  std::string out(html);
  const auto contains = [](const auto& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  html_tag tag;
  for (auto position = out.find('<'); position != std::string::npos; position = out.find('<', position)) {
    if (html.substr(position).starts_with("<!--")) {
      position = std::min(html.find("-->", position + 2), html.size());
      continue;
    }
    if (!read_tag(html, position, tag)) {
      ++position;
      continue;
    }
    const auto name = (tag.is_end ? "/" : "") + (contains(unchanged_elements, tag.name)   ? tag.name
                                                 : contains(paragraph_elements, tag.name) ? "p"
                                                                                          : "!");
    overwrite_tag(out, position, tag.end, name);
    position = tag.end;
  }
  return out;
}

/// Replaces the empty elements `<script/>` and `<title/>` of XHTML by comments of the same length. In HTML, the text after them
/// would be their content.
std::string without_empty_elements(std::string_view xhtml) {
  std::string out(xhtml);
  html_tag tag;
  for (auto position = xhtml.find('<'); position != std::string_view::npos; position = xhtml.find('<', position)) {
    if (!read_tag(xhtml, position, tag)) {
      ++position;
      continue;
    }
    if (tag.is_self_closed && (tag.name == "script" || tag.name == "style" || tag.name == "title" || tag.name == "textarea"))
      overwrite_tag(out, position, tag.end, "!");
    position = tag.end;
  }
  return out;
}

constexpr GumboVector no_nodes{nullptr, 0, 0};

}  // namespace

html_tree::html_tree(std::string_view html) : source_(html) {
  if (html.starts_with("<?xml")) source_ = replaced_ = without_empty_elements(html);
  bool is_flat = false;
  while (true) {
    memory_ = std::make_unique<tree_memory>(source_.size());
    auto options = kGumboDefaultOptions;
    output_ = memory_->parse(options, source_);
    if (output_ != nullptr) return;
    if (memory_->result() == tree_memory::outcome::too_complex && !is_flat) {
      source_ = replaced_ = flatten(source_);
      is_flat = true;
    } else {
      source_ = source_.substr(0, source_.size() / 2);
      is_truncated_ = true;
    }
  }
}

html_tree::~html_tree() = default;

std::optional<std::size_t> html_tree::offset_of(const GumboStringPiece& part) const noexcept {
  if (part.data == nullptr) return std::nullopt;
  const auto offset = reinterpret_cast<std::uintptr_t>(part.data) - reinterpret_cast<std::uintptr_t>(source_.data());
  return offset <= source_.size() ? std::optional<std::size_t>(offset) : std::nullopt;
}

const GumboVector& children_of(const GumboNode& node) noexcept {
  switch (node.type) {
    case GUMBO_NODE_DOCUMENT:
      return node.v.document.children;
    case GUMBO_NODE_ELEMENT:
    case GUMBO_NODE_TEMPLATE:
      return node.v.element.children;
    default:
      return no_nodes;
  }
}

bool is_text(const GumboNode& node) noexcept {
  return node.type == GUMBO_NODE_TEXT || node.type == GUMBO_NODE_WHITESPACE || node.type == GUMBO_NODE_CDATA;
}

bool is_element(const GumboNode& node, GumboTag tag) noexcept {
  return node.type == GUMBO_NODE_ELEMENT && node.v.element.tag == tag && node.v.element.tag_namespace == GUMBO_NAMESPACE_HTML;
}

std::string name_of(const GumboElement& element) {
  if (element.tag != GUMBO_TAG_UNKNOWN) return ascii::to_lower(gumbo_normalized_tagname(element.tag));
  auto name = element.original_tag;
  gumbo_tag_from_original_text(&name);
  return name.data == nullptr ? std::string() : ascii::to_lower({name.data, name.length});
}

const char* find_attribute(const GumboElement& element, const char* name) noexcept {
  const auto* attribute = gumbo_get_attribute(&element.attributes, name);
  return attribute == nullptr ? nullptr : attribute->value;
}

std::optional<int> parse_html_integer(std::string_view text) noexcept {
  while (!text.empty() && ascii::is_space(text.front())) text.remove_prefix(1);
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  constexpr int limit = 999'999'999;
  int number = 0;
  std::size_t digits = 0;
  for (; digits < text.size() && ascii::is_digit(text[digits]); ++digits)
    number = number > limit / 10 ? limit : number * 10 + (text[digits] - '0');
  if (digits == 0) return std::nullopt;
  return is_negative ? -number : number;
}

std::string text_below(const GumboNode& node, std::size_t max_bytes) {
  std::string text;
  std::size_t visited = 0;
  visit_nodes(
      node,
      [&](const GumboNode& inner) {
        if (is_text(inner)) text += inner.v.text.text;
        return text.size() < max_bytes && ++visited < max_bytes ? next_node::inside : next_node::none;
      },
      [](const GumboNode&) {});
  if (text.size() > max_bytes) text.resize(boundary_before(text, max_bytes));
  return text;
}

std::string decode_character_references(std::string_view text) {
  if (text.find('&') == std::string_view::npos) return std::string(text);
  tree_memory memory(text.size());
  auto options = kGumboDefaultOptions;
  options.fragment_context = GUMBO_TAG_TEXTAREA;
  const auto* output = memory.parse(options, text);
  return output == nullptr ? std::string(text) : text_below(*output->document, std::string::npos);
}

}  // namespace hondana::markup
