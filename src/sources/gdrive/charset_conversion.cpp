/// Converts text files of Drive from other encodings to UTF-8.
#include "sources/gdrive/charset_conversion.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/ascii/ascii.hpp"
#include "base/json/utf8.hpp"
#include "text/charsets/charset_decoder.hpp"

namespace hondana::gdrive {
namespace {

/// Reads all bytes, and rewinds the reader.
result<std::string> read_all(byte_reader& reader) {
  std::string bytes(reader.size(), '\0');
  for (std::size_t offset = 0; offset < bytes.size();) {
    HONDANA_TRY(auto count, reader.read(std::span(bytes).subspan(offset)));
    if (count == 0) return fail(errc::content_changed, "The file ended early. Read it again.");
    offset += count;
  }
  HONDANA_TRY(reader.rewind());
  return bytes;
}

bool is_valid_text(std::string_view bytes) { return json::is_utf8(bytes) && !json::has_nul(bytes); }

/// The number of bytes at the end that begin an incomplete UTF-8 character.
std::size_t incomplete_tail_size(std::string_view bytes) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, bytes.size()); ++back) {
    const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
    if ((byte & 0xC0U) == 0x80U) continue;
    const std::size_t length = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return length > back ? back : 0;
  }
  return 0;
}

/// Checks the whole content in chunks of 64 KiB, and rewinds the reader.
result<bool> is_all_valid_text(byte_reader& reader) {
  constexpr std::size_t window = 64U << 10U;
  std::string bytes(window, '\0');
  std::size_t carried = 0;
  bool is_valid = true;
  for (auto left = reader.size(); is_valid && left > 0;) {
    HONDANA_TRY(auto count, reader.read(std::span(bytes).subspan(
                                carried, static_cast<std::size_t>(std::min<std::uint64_t>(left, window - carried)))));
    if (count == 0) return fail(errc::content_changed, "The file ended early. Read it again.");
    left -= count;
    const std::string_view text(bytes.data(), carried + count);
    const auto tail = left > 0 ? incomplete_tail_size(text) : 0;
    is_valid = is_valid_text(text.substr(0, text.size() - tail));
    std::copy(text.end() - static_cast<std::ptrdiff_t>(tail), text.end(), bytes.begin());
    carried = tail;
  }
  HONDANA_TRY(reader.rewind());
  return is_valid;
}

}  // namespace

result<void> convert_to_utf8(part& part, std::uint64_t max_bytes) {
  if (!ascii::to_lower(part.mime_type).starts_with("text/")) return {};
  std::string read;
  std::string_view bytes;
  if (const auto* shared = std::get_if<shared_bytes>(&part.data)) {
    if ((*shared)->size() > max_converted_bytes) return {};
    bytes = **shared;
  } else {
    auto& reader = *std::get<std::shared_ptr<byte_reader>>(part.data);
    if (reader.size() > max_converted_bytes) return {};
    HONDANA_TRY(const auto is_valid, is_all_valid_text(reader));
    if (is_valid) return {};
    HONDANA_TRY(auto loaded, read_all(reader));
    read = std::move(loaded);
    bytes = read;
  }
  if (is_valid_text(bytes)) return {};
  auto decoded = charsets::decode(bytes, part.mime_type);
  // Text that would exceed the read limit stays unconverted.
  if (!decoded || decoded->text.size() > max_bytes) return {};
  part.mime_type.erase(std::min(part.mime_type.find(';'), part.mime_type.size()));
  part.data = std::make_shared<const std::string>(std::move(decoded->text));
  part.kind = content_kind::text;
  part.charset = std::move(decoded->charset);
  part.replaced_count = decoded->replacements;
  return {};
}

}  // namespace hondana::gdrive
