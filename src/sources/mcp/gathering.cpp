/// How much lists weigh.
#include "sources/mcp/gathering.hpp"

#include <string>
#include <variant>

namespace hondana::mcp {
namespace {

std::size_t weight_of(const std::vector<icon>& icons) {
  std::size_t sum = 0;
  for (const auto& one : icons) {
    sum += sizeof one + one.src.size() + one.mimeType.size() + one.theme.size();
    for (const auto& size : one.sizes) sum += sizeof(std::string) + size.size();
  }
  return sum;
}

std::size_t weight_of(const metadata& facts) {
  std::size_t sum = 0;
  for (const auto& [key, what] : facts) {
    const auto* text = std::get_if<std::string>(&what);
    sum += sizeof(metadata::value_type) + key.size() + (text == nullptr ? 0 : text->size());
  }
  return sum;
}

}  // namespace

std::size_t weight_of(const resource& entry) {
  return sizeof entry + entry.uri.size() + entry.name.size() + entry.title.size() + entry.description.size() +
         entry.mimeType.size() + entry.kind.size() + entry.version.size() + weight_of(entry.icons) + weight_of(entry.metadata);
}

std::size_t weight_of(const resource_template& entry) {
  return sizeof entry + entry.uriTemplate.size() + entry.name.size() + entry.title.size() + entry.description.size() +
         entry.mimeType.size() + weight_of(entry.icons);
}

std::size_t weight_of(const skill& entry) {
  // A value takes several times its text.
  constexpr std::size_t spread = 4;
  std::size_t sum = sizeof entry + entry.uri.size() + spread * entry.frontmatter.to_text().size();
  if (!entry.files) return sum;
  for (const auto& one : *entry.files) sum += sizeof one + one.uri.size() + one.digest.size();
  return sum;
}

}  // namespace hondana::mcp
