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
result<std::string> all_of(byte_reader& from) {
  std::string bytes(from.size(), '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    HONDANA_TRY(auto count, from.read(std::span(bytes).subspan(done)));
    if (count == 0) return fail(errc::content_changed, "The file ended early. Read it again.");
    done += count;
  }
  HONDANA_TRY(from.rewind());
  return bytes;
}

bool is_plain(std::string_view bytes) { return json::is_utf8(bytes) && !json::has_nul(bytes); }

/// The number of bytes at the end that begin an incomplete UTF-8 character.
std::size_t begun_at_end(std::string_view bytes) {
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, bytes.size()); ++back) {
    const auto byte = static_cast<unsigned char>(bytes[bytes.size() - back]);
    if ((byte & 0xC0U) == 0x80U) continue;
    const std::size_t whole = byte >= 0xF0 ? 4 : byte >= 0xE0 ? 3 : byte >= 0xC0 ? 2 : 1;
    return whole > back ? back : 0;
  }
  return 0;
}

/// Checks the whole content in chunks of 64 KiB, and rewinds the reader.
result<bool> is_plain_throughout(byte_reader& from) {
  constexpr std::size_t window = 64U << 10U;
  std::string bytes(window, '\0');
  std::size_t kept = 0;
  bool is_so = true;
  for (auto left = from.size(); is_so && left > 0;) {
    HONDANA_TRY(auto count, from.read(std::span(bytes).subspan(
                                kept, static_cast<std::size_t>(std::min<std::uint64_t>(left, window - kept)))));
    if (count == 0) return fail(errc::content_changed, "The file ended early. Read it again.");
    left -= count;
    const std::string_view there(bytes.data(), kept + count);
    const auto begun = left > 0 ? begun_at_end(there) : 0;
    is_so = is_plain(there.substr(0, there.size() - begun));
    std::copy(there.end() - static_cast<std::ptrdiff_t>(begun), there.end(), bytes.begin());
    kept = begun;
  }
  HONDANA_TRY(from.rewind());
  return is_so;
}

}  // namespace

result<void> convert_to_utf8(part& of, std::uint64_t most) {
  if (!ascii::in_lower_case(of.mime_type).starts_with("text/")) return {};
  std::string read;
  std::string_view bytes;
  if (const auto* whole = std::get_if<shared_bytes>(&of.data)) {
    if ((*whole)->size() > longest_converted) return {};
    bytes = **whole;
  } else {
    auto& reader = *std::get<std::shared_ptr<byte_reader>>(of.data);
    if (reader.size() > longest_converted) return {};
    HONDANA_TRY(const auto is_so, is_plain_throughout(reader));
    if (is_so) return {};
    HONDANA_TRY(auto all, all_of(reader));
    read = std::move(all);
    bytes = read;
  }
  if (is_plain(bytes)) return {};
  auto decoded = charsets::decode(bytes, of.mime_type);
  // Text that would exceed the read limit stays unconverted.
  if (!decoded || decoded->text.size() > most) return {};
  of.mime_type.erase(std::min(of.mime_type.find(';'), of.mime_type.size()));
  of.data = std::make_shared<const std::string>(std::move(decoded->text));
  of.form = content_form::text;
  of.charset = std::move(decoded->charset);
  of.replaced = decoded->replaced;
  return {};
}

}  // namespace hondana::gdrive
