/// Office files: the first byte says of which format; the rest is the file, or with its upper bit set the main part's XML
/// alone, which a stored zip file is made around. Whatever it is, the text is UTF-8 and within its limit, and the sheets are a
/// list of sheets.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/json/utf8.hpp"
#include "text/rendering/office/office.hpp"
#include "text/rendering/render_protocol.hpp"

namespace {

using namespace hondana;

class fuzzed_source final : public rendering::byte_source {
 public:
  explicit fuzzed_source(std::string_view all) : all_(all) {}
  [[nodiscard]] std::int64_t read_at(std::uint64_t offset, char* into, std::size_t size) override {
    if (offset >= all_.size()) return 0;
    const auto count = std::min(size, all_.size() - static_cast<std::size_t>(offset));
    std::memcpy(into, all_.data() + offset, count);
    return static_cast<std::int64_t>(count);
  }
  [[nodiscard]] std::uint64_t size() const override { return all_.size(); }

 private:
  std::string_view all_;
};

void put(std::string& to, std::size_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) to += i < 8 ? static_cast<char>(number >> (8 * i)) : '\0';
}

std::uint32_t crc_of(std::string_view text) {
  std::uint32_t crc = ~0u;
  for (const char c : text) {
    crc ^= static_cast<unsigned char>(c);
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

/// One member, stored.
std::string archive_of(std::string_view name, std::string_view content) {
  std::string facts;
  put(facts, 20, 2);
  put(facts, 0, 8);
  put(facts, crc_of(content), 4);
  put(facts, content.size(), 4);
  put(facts, content.size(), 4);
  put(facts, name.size(), 2);
  put(facts, 0, 2);
  auto out = "PK\x03\x04" + facts + std::string(name) + std::string(content);
  const auto directory = out.size();
  out += "PK\x01\x02";
  put(out, 20, 2);
  out += facts;
  put(out, 0, 14);
  out += name;
  const auto size = out.size() - directory;
  out += "PK\x05\x06";
  put(out, 0, 4);
  put(out, 1, 2);
  put(out, 1, 2);
  put(out, size, 4);
  put(out, directory, 4);
  put(out, 0, 2);
  return out;
}

constexpr std::array<std::string_view, 7> main_parts{
    "", "word/document.xml", "xl/workbook.xml", "ppt/presentation.xml", "content.xml", "content.xml", "content.xml"};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 1) return 0;
  const auto libraries = rendering::load_office_libraries();
  if (!libraries) std::abort();
  const auto number = 1u + (data[0] & 0x7fu) % 6u;
  const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const auto file = (data[0] & 0x80u) == 0 ? std::string(text) : archive_of(main_parts[number], text);
  fuzzed_source from(file);
  rendering::limits most;
  most.max_output_bytes = 64u << 10;
  most.max_unpacked_bytes = 16u << 20;
  const auto made = rendering::render_office(static_cast<rendering::format>(number), from, most, **libraries);
  if (const auto sheets = rendering::render_office_sheets(from, most, **libraries)) {
    const auto read = rendering::parse_sheets(sheets->text);
    if (!read) std::abort();
    for (const auto& one : *read) {
      if (!one.csv.empty() && !one.csv.ends_with('\n')) std::abort();
    }
  }
  if (!made) return 0;
  if (made->text.size() > most.max_output_bytes || !json::is_utf8(made->text) || !json::is_utf8(made->title)) std::abort();
  return 0;
}
