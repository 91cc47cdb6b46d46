/// Reads the XML that charts are written in, strictly, and nothing more of XML than that.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hondana::charts {

struct xml_element {
  std::string name{};
  std::map<std::string, std::string> attributes{};
  std::string text{};  ///< Its own, without that of elements in it.
};

/// All elements in the order of their begins; nothing where it is not well-formed.
class xml_reader {
 public:
  explicit xml_reader(std::string_view from) : from_(from) {}

  std::optional<std::vector<xml_element>> read() {
    std::vector<std::size_t> open;
    do {
      if (!take("<")) return std::nullopt;
      if (take("/")) {
        if (open.empty() || name() != all_[open.back()].name || !take(">")) return std::nullopt;
        open.pop_back();
      } else {
        xml_element next{name(), {}, {}};
        while (take(" ")) {
          const auto attribute = name();
          if (attribute.empty() || !take("=\"")) return std::nullopt;
          const auto value = text_up_to('"');
          if (!value || !take("\"") || !next.attributes.emplace(attribute, *value).second) return std::nullopt;
        }
        if (next.name.empty()) return std::nullopt;
        const bool is_closed = take("/");
        if (!take(">")) return std::nullopt;
        all_.push_back(std::move(next));
        if (!is_closed) open.push_back(all_.size() - 1);
      }
      if (open.empty()) break;
      const auto text = text_up_to('<');
      if (!text) return std::nullopt;
      all_[open.back()].text += *text;
    } while (!from_.empty());
    const bool is_over = open.empty() && from_.find_first_not_of('\n') == std::string_view::npos;
    return is_over ? std::optional(std::move(all_)) : std::nullopt;
  }

 private:
  bool take(std::string_view what) {
    if (!from_.starts_with(what)) return false;
    from_.remove_prefix(what.size());
    return true;
  }
  std::string name() {
    const auto end = std::find_if_not(from_.begin(), from_.end(),
                                      [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-'; });
    std::string out(from_.begin(), end);
    from_.remove_prefix(out.size());
    return out;
  }
  std::optional<std::string> text_up_to(char end) {
    std::string out;
    while (!from_.empty() && from_.front() != end) {
      const char c = from_.front();
      if (c == '<' || (static_cast<unsigned char>(c) < ' ' && c != '\n')) return std::nullopt;
      if (c != '&') {
        out += c;
        from_.remove_prefix(1);
      } else if (take("&amp;")) {
        out += '&';
      } else if (take("&lt;")) {
        out += '<';
      } else if (take("&gt;")) {
        out += '>';
      } else if (take("&quot;")) {
        out += '"';
      } else if (take("&#39;")) {
        out += '\'';
      } else {
        return std::nullopt;
      }
    }
    return out;
  }

  std::string_view from_;
  std::vector<xml_element> all_{};
};

}  // namespace hondana::charts
