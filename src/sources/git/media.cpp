/// A few endings that clients do something with; all other text is plain.
#include "sources/git/media.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/ascii/characters.hpp"
#include "base/bytes/media_type.hpp"

namespace hondana::git {
namespace {

constexpr std::array endings{
    std::pair<std::string_view, std::string_view>{".md", "text/markdown"},
    std::pair<std::string_view, std::string_view>{".markdown", "text/markdown"},
    std::pair<std::string_view, std::string_view>{".json", "application/json"},
    std::pair<std::string_view, std::string_view>{".toml", "application/toml"},
    std::pair<std::string_view, std::string_view>{".yaml", "application/yaml"},
    std::pair<std::string_view, std::string_view>{".yml", "application/yaml"},
    std::pair<std::string_view, std::string_view>{".xml", "application/xml"},
    std::pair<std::string_view, std::string_view>{".html", "text/html"},
    std::pair<std::string_view, std::string_view>{".htm", "text/html"},
    std::pair<std::string_view, std::string_view>{".css", "text/css"},
    std::pair<std::string_view, std::string_view>{".csv", "text/csv"},
    std::pair<std::string_view, std::string_view>{".js", "text/javascript"},
    std::pair<std::string_view, std::string_view>{".svg", "image/svg+xml"},
    std::pair<std::string_view, std::string_view>{".py", "text/x-python"},
    std::pair<std::string_view, std::string_view>{".c", "text/x-csrc"},
    std::pair<std::string_view, std::string_view>{".h", "text/x-chdr"},
    std::pair<std::string_view, std::string_view>{".cpp", "text/x-c++src"},
    std::pair<std::string_view, std::string_view>{".hpp", "text/x-c++hdr"},
    std::pair<std::string_view, std::string_view>{".rs", "text/x-rust"},
    std::pair<std::string_view, std::string_view>{".go", "text/x-go"},
    std::pair<std::string_view, std::string_view>{".java", "text/x-java"},
    std::pair<std::string_view, std::string_view>{".ts", "text/typescript"},
    std::pair<std::string_view, std::string_view>{".sh", "text/x-sh"},
    std::pair<std::string_view, std::string_view>{".tex", "text/x-tex"},
    std::pair<std::string_view, std::string_view>{".rst", "text/x-rst"},
};

}  // namespace

std::string_view media_type_of(std::string_view path, std::string_view bytes, bool is_text) noexcept {
  if (!is_text) {
    const auto told = bytes::type_of_signature(bytes.substr(0, bytes::front_bytes));
    return told.empty() ? "application/octet-stream" : told;
  }
  const auto known =
      std::find_if(endings.begin(), endings.end(), [&](const auto& one) { return ascii::ends_with(path, one.first); });
  return known == endings.end() ? "text/plain" : known->second;
}

}  // namespace hondana::git
