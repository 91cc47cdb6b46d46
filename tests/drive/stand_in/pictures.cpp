/// How these are written.
#include "drive/stand_in/pictures.hpp"

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "drive/stand_in/office.hpp"

namespace drive_test {
namespace {

std::string big_endian(std::uint32_t number) {
  std::string out;
  for (int i = 3; i >= 0; --i) out += static_cast<char>((number >> (8 * i)) & 255);
  return out;
}

std::string png_chunk(const std::string& kind, const std::string& content) {
  const auto whole = kind + content;
  const auto sum = ::crc32(0, reinterpret_cast<const Bytef*>(whole.data()), static_cast<uInt>(whole.size()));
  return big_endian(static_cast<std::uint32_t>(content.size())) + whole + big_endian(static_cast<std::uint32_t>(sum));
}

}  // namespace

std::string png_of(std::string_view name) {
  constexpr std::uint32_t side = 16;
  const auto colour = ::crc32(0, reinterpret_cast<const Bytef*>(name.data()), static_cast<uInt>(name.size()));
  std::string rows;
  for (std::uint32_t y = 0; y < side; ++y) {
    rows += '\0';
    for (std::uint32_t x = 0; x < side; ++x) {
      for (int i = 0; i < 3; ++i) rows += static_cast<char>((colour >> (8 * i)) & 255);
    }
  }
  std::string packed(::compressBound(static_cast<uLong>(rows.size())), '\0');
  auto size = static_cast<uLongf>(packed.size());
  ::compress(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(rows.data()),
             static_cast<uLong>(rows.size()));
  packed.resize(size);
  const std::string kind{'\x08', '\x02', '\0', '\0', '\0'};
  return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", big_endian(side) + big_endian(side) + kind) + png_chunk("IDAT", packed) +
         png_chunk("IEND", "");
}

std::string svg_of(std::string_view name) {
  return "<svg version=\"1.1\" viewBox=\"0.0 0.0 16.0 16.0\" xmlns=\"http://www.w3.org/2000/svg\"><title>" + xml_escaped(name) +
         "</title><rect width=\"16\" height=\"16\"/></svg>";
}

std::string pdf_of(std::string_view line) {
  std::string shown;
  for (const char c : line) {
    if (c == '(' || c == ')' || c == '\\') shown += '\\';
    if (c >= ' ' && c <= '~') shown += c;
  }
  const auto text = "BT /F1 12 Tf 72 720 Td (" + shown + ") Tj ET";
  const std::vector<std::string> objects{
      "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
      "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
      "<< /Length " + std::to_string(text.size()) + " >>\nstream\n" + text + "\nendstream",
      "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"};
  std::string out = "%PDF-1.4\n";
  std::string places = "0000000000 65535 f \n";
  for (std::size_t i = 0; i < objects.size(); ++i) {
    auto at = std::to_string(out.size());
    places += std::string(10 - at.size(), '0') + at + " 00000 n \n";
    out += std::to_string(i + 1) + " 0 obj\n" + objects[i] + "\nendobj\n";
  }
  const auto start = std::to_string(out.size());
  return out + "xref\n0 6\n" + places + "trailer << /Size 6 /Root 1 0 R >>\nstartxref\n" + start + "\n%%EOF\n";
}

}  // namespace drive_test
