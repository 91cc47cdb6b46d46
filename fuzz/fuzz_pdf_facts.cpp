/// What pdfinfo writes, and the line that a child begins with: printable facts, and a head that is written as it was read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json/utf8.hpp"
#include "text/rendering/poppler.hpp"
#include "text/rendering/render_protocol.hpp"

namespace {

using namespace hondana;

void check_fact(const std::string& fact) {
  if (!json::is_utf8(fact) || fact.find('\n') != std::string::npos || fact.size() > 4000) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto facts = rendering::parse_pdf_info(text);
  check_fact(facts.title);
  check_fact(facts.author);
  std::string lacks;
  const auto head = rendering::parse_head(text, lacks);
  if (!head) return 0;
  auto line = rendering::to_line(*head);
  line.pop_back();
  const auto again = rendering::parse_head(line, lacks);
  if (!again || again->properties.title != head->properties.title || again->properties.pages != head->properties.pages ||
      lacks != head->missing_confinement)
    std::abort();
  return 0;
}
