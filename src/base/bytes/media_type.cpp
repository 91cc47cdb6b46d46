/// Checks declared media types against the first bytes of content, and recognizes what a browser would execute.
#include "base/bytes/media_type.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/ascii/ascii.hpp"

// Known signatures. libmagic has more formats, but a lookup takes a millisecond, hundreds of times as long as a small read.
// Its handles also serve only one thread at a time. sources/files uses it for files whose names do not reveal the type.

namespace hondana::bytes {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view octet_stream = "application/octet-stream";
constexpr std::string_view plain_text = "text/plain";
constexpr std::string_view pdf = "application/pdf";

enum class match_strength : std::uint8_t {
  conclusive,  ///< These bytes identify the type.
  consistent,  ///< These bytes are consistent with the type, but with others too.
};

struct signature {
  std::uint16_t offset;
  std::string_view bytes;
  std::string_view type;
  match_strength strength = match_strength::conclusive;
};

// A type in this table is accepted only if one of its rows matches. The first matching row with `conclusive` names the type.
constexpr std::array signatures{
    signature{0, "\x89PNG\r\n\x1a\n"sv, "image/png"},
    signature{0, "\xff\xd8\xff"sv, "image/jpeg"},
    signature{0, "GIF87a"sv, "image/gif"},
    signature{0, "GIF89a"sv, "image/gif"},
    signature{8, "WEBP"sv, "image/webp"},
    signature{0, "BM"sv, "image/bmp", match_strength::consistent},
    signature{0, "\0\0\1\0"sv, "image/vnd.microsoft.icon", match_strength::consistent},
    signature{0, "\0\0\2\0"sv, "image/vnd.microsoft.icon", match_strength::consistent},
    signature{0, "II*\0"sv, "image/tiff"},
    signature{0, "MM\0*"sv, "image/tiff"},
    signature{0, "II+\0"sv, "image/tiff"},
    signature{0, "MM\0+"sv, "image/tiff"},
    signature{0, "8BPS"sv, "image/vnd.adobe.photoshop"},
    signature{4, "ftypavif"sv, "image/avif"},
    signature{4, "ftypavis"sv, "image/avif"},
    signature{4, "ftyphe"sv, "image/heic"},
    signature{4, "ftypmif1"sv, "image/heic", match_strength::consistent},
    signature{4, "ftypmif1"sv, "image/avif", match_strength::consistent},
    signature{4, "ftypmsf1"sv, "image/heic", match_strength::consistent},
    signature{4, "ftypM4A"sv, "audio/mp4"},
    signature{4, "ftypqt  "sv, "video/quicktime"},
    signature{4, "ftyp"sv, "video/mp4"},
    signature{4, "ftyp"sv, "audio/mp4", match_strength::consistent},
    signature{4, "ftyp"sv, "video/quicktime", match_strength::consistent},
    signature{4, "moov"sv, "video/quicktime", match_strength::consistent},
    signature{4, "mdat"sv, "video/quicktime", match_strength::consistent},
    signature{4, "wide"sv, "video/quicktime", match_strength::consistent},
    signature{4, "free"sv, "video/quicktime", match_strength::consistent},
    signature{4, "skip"sv, "video/quicktime", match_strength::consistent},
    signature{0, "\x1a\x45\xdf\xa3"sv, "video/x-matroska"},
    signature{0, "\x1a\x45\xdf\xa3"sv, "video/webm", match_strength::consistent},
    signature{0, "OggS"sv, "audio/ogg"},
    signature{0, "OggS"sv, "video/ogg", match_strength::consistent},
    signature{0, "fLaC"sv, "audio/flac"},
    signature{8, "WAVE"sv, "audio/wav"},
    signature{8, "AVI "sv, "video/x-msvideo"},
    signature{0, "MThd"sv, "audio/midi"},
    signature{0, "wOFF"sv, "font/woff"},
    signature{0, "wOF2"sv, "font/woff2"},
    signature{0, "OTTO"sv, "font/otf"},
    signature{0, "\0\1\0\0"sv, "font/ttf", match_strength::consistent},
    signature{0, "true"sv, "font/ttf", match_strength::consistent},
    signature{0, "ttcf"sv, "font/ttf", match_strength::consistent},
    signature{0, "\0\1\0\0"sv, "font/otf", match_strength::consistent},
    signature{0, "%PDF-"sv, pdf},
    signature{0, "PK\3\4"sv, "application/zip"},
    signature{0, "PK\5\6"sv, "application/zip"},
    signature{0, "PK\7\x08"sv, "application/zip"},
    signature{0, "\x1f\x8b"sv, "application/gzip"},
    signature{0, "BZh"sv, "application/x-bzip2"},
    signature{0,
              "\xfd"
              "7zXZ\0"sv,
              "application/x-xz"},
    signature{0, "\x28\xb5\x2f\xfd"sv, "application/zstd"},
    signature{1, "\x2a\x4d\x18"sv, "application/zstd", match_strength::consistent},
    signature{0, "7z\xbc\xaf\x27\x1c"sv, "application/x-7z-compressed"},
    signature{0, "Rar!\x1a\7"sv, "application/vnd.rar"},
    signature{0, "SQLite format 3\0"sv, "application/vnd.sqlite3"},
    signature{0, "\0asm"sv, "application/wasm"},
    signature{0,
              "\x7f"
              "ELF"sv,
              "application/x-executable"},
    signature{0, "!<arch>\n"sv, "application/x-archive"},
    signature{0, "\xca\xfe\xba\xbe"sv, "application/java-vm"},
    signature{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "application/msword", match_strength::consistent},
    signature{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "application/vnd.ms-excel", match_strength::consistent},
    signature{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "application/vnd.ms-powerpoint", match_strength::consistent},
    signature{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "application/x-ole-storage"},
    signature{0, "PAR1"sv, "application/vnd.apache.parquet"},
};

/// Whether content is an MPEG transport stream: packets of 188 bytes that begin with 0x47. A single packet is not enough,
/// unless it is the whole content. Source: ISO/IEC 13818-1, section 2.4.3.2.
bool is_transport_stream(std::string_view front) noexcept {
  constexpr std::size_t packet_bytes = 188;
  constexpr char sync_byte = '\x47';
  if (front.size() < packet_bytes) return false;
  for (std::size_t packet = 0; packet < front.size(); packet += packet_bytes)
    if (front[packet] != sync_byte) return false;
  return true;
}

bool matches(const signature& entry, std::string_view front) noexcept {
  // "WEBP", "WAVE" and "AVI " name the format inside a RIFF file.
  if (entry.offset == 8 && !front.starts_with("RIFF")) return false;
  return front.size() >= entry.offset + entry.bytes.size() && front.substr(entry.offset, entry.bytes.size()) == entry.bytes;
}

/// Formats that are zip archives.
bool is_zipped(std::string_view type) noexcept {
  constexpr std::array other_types{"application/java-archive"sv, "application/epub+zip"sv,
                                   "application/vnd.android.package-archive"sv};
  return type.starts_with("application/vnd.openxmlformats-officedocument.") ||
         type.starts_with("application/vnd.oasis.opendocument.") ||
         std::find(other_types.begin(), other_types.end(), type) != other_types.end();
}

/// Whether a declared type without a known signature yields to a signature that the content has.
/// WHATWG MIME Sniffing does the same for images, audio and video. `application/octet-stream` explicitly forbids guessing.
bool yields_to_signature(std::string_view type) noexcept {
  constexpr std::array families{"text/"sv, "image/"sv, "audio/"sv, "video/"sv, "font/"sv};
  return std::any_of(families.begin(), families.end(), [&](std::string_view family) { return type.starts_with(family); });
}

enum class signature_check : std::uint8_t { unknown, consistent, contradicted };

signature_check check_signature(std::string_view type, std::string_view front) noexcept {
  if (type.starts_with("text/")) return signature_check::unknown;
  if (is_zipped(type)) type = "application/zip";
  auto outcome = signature_check::unknown;
  for (const auto& entry : signatures) {
    if (entry.type != type) continue;
    if (matches(entry, front)) return signature_check::consistent;
    outcome = signature_check::contradicted;
  }
  // PDF readers accept other bytes before the header.
  if (type == pdf && front.substr(0, 1024).find("%PDF-") != std::string_view::npos) return signature_check::consistent;
  return outcome;
}

}  // namespace

essence::essence(std::string_view type) noexcept {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  for (const char c : type) {
    if (is_space(c) && size_ == 0) continue;
    if (c == ';' || c == ',' || is_space(c)) break;
    // A type that is too long keeps its last characters, which identify XML (`+xml`).
    if (size_ == text_.size()) {
      std::copy(text_.end() - suffix_bytes + 1, text_.end(), text_.end() - suffix_bytes);
      --size_;
    }
    text_[size_++] = ascii::to_lower(c);
  }
}

std::string_view sniff_media_type(std::string_view front) noexcept {
  const auto match = std::find_if(signatures.begin(), signatures.end(), [&](const signature& entry) {
    return entry.strength == match_strength::conclusive && matches(entry, front);
  });
  if (match != signatures.end()) return match->type;
  return is_transport_stream(front.substr(0, sniffed_bytes)) ? "video/mp2t" : std::string_view();
}

std::string_view effective_media_type_of_part(std::string_view declared, bool is_text) noexcept {
  const essence normalized(declared);
  if (is_text) return normalized.text() == octet_stream ? plain_text : declared;
  return normalized.text().starts_with("text/") ? octet_stream : declared;
}

std::string_view effective_media_type(std::string_view declared, std::string_view front, bool is_text) noexcept {
  if (declared.empty()) return declared;
  const essence normalized(declared);
  const auto type = normalized.text();
  const auto outcome = check_signature(type, front);
  if (is_text) {
    // PDF is the only format in the table that can be written as valid text.
    if (outcome == signature_check::unknown) return effective_media_type_of_part(declared, true);
    return outcome == signature_check::consistent && type == pdf ? declared : plain_text;
  }
  if (outcome == signature_check::consistent || (outcome == signature_check::unknown && !yields_to_signature(type)))
    return declared;
  if (const auto sniffed = sniff_media_type(front); !sniffed.empty()) return sniffed;
  return outcome == signature_check::contradicted ? octet_stream : effective_media_type_of_part(declared, false);
}

namespace {

using namespace std::string_view_literals;

// Sorted by type. XML types are recognized by the suffix `+xml` instead.
struct active_type {
  std::string_view type;
  active_content content;
};
constexpr std::array active_types{
    active_type{"application/ecmascript", active_content::script},
    active_type{"application/javascript", active_content::script},
    active_type{"application/pdf", active_content::pdf},
    active_type{"application/x-ecmascript", active_content::script},
    active_type{"application/x-javascript", active_content::script},
    active_type{"application/xml", active_content::xml},
    active_type{"message/rfc822", active_content::archive},
    active_type{"multipart/related", active_content::archive},
    active_type{"multipart/x-mixed-replace", active_content::archive},
    active_type{"text/ecmascript", active_content::script},
    active_type{"text/html", active_content::html},
    active_type{"text/javascript", active_content::script},
    active_type{"text/javascript1.0", active_content::script},
    active_type{"text/javascript1.1", active_content::script},
    active_type{"text/javascript1.2", active_content::script},
    active_type{"text/javascript1.3", active_content::script},
    active_type{"text/javascript1.4", active_content::script},
    active_type{"text/javascript1.5", active_content::script},
    active_type{"text/jscript", active_content::script},
    active_type{"text/livescript", active_content::script},
    active_type{"text/x-ecmascript", active_content::script},
    active_type{"text/x-javascript", active_content::script},
    active_type{"text/xml", active_content::xml},
    active_type{"text/xsl", active_content::xml},
};
static_assert(std::is_sorted(active_types.begin(), active_types.end(),
                             [](const active_type& a, const active_type& b) { return a.type < b.type; }));

/// A text at the start of a page, in lower case.
struct page_start {
  std::string_view text;
  active_content content;
  bool is_tag = true;  ///< A space, `>` or `/` must follow the name.
};
constexpr std::array page_starts{
    page_start{"!doctype html", active_content::html},
    page_start{"html", active_content::html},
    page_start{"head", active_content::html},
    page_start{"script", active_content::html},
    page_start{"iframe", active_content::html},
    page_start{"h1", active_content::html},
    page_start{"div", active_content::html},
    page_start{"font", active_content::html},
    page_start{"table", active_content::html},
    page_start{"a", active_content::html},
    page_start{"style", active_content::html},
    page_start{"title", active_content::html},
    page_start{"b", active_content::html},
    page_start{"body", active_content::html},
    page_start{"br", active_content::html},
    page_start{"p", active_content::html},
    page_start{"!--", active_content::html, false},
    page_start{"!doctype svg", active_content::svg},
    page_start{"svg", active_content::svg},
    page_start{"?xml", active_content::xml, false},
};

constexpr std::string_view white_space = "\t\n\f\r ";

/// Whether `text` begins with the headers of a page saved as one message (MHTML), which some browsers open as a page.
/// Source: RFC 2557.
bool is_saved_page(std::string_view text) noexcept {
  constexpr std::string_view names[] = {"from:", "mime-version:", "content-type:", "subject:", "date:"};
  if (std::none_of(std::begin(names), std::end(names),
                   [text](auto name) { return ascii::starts_with_ignore_case(text, name); }))
    return false;
  constexpr std::string_view field = "content-type:";
  constexpr std::string_view type = "multipart/related";
  while (!text.empty() && text.front() != '\r' && text.front() != '\n') {
    const auto line = text.substr(0, text.find('\n'));
    if (ascii::starts_with_ignore_case(line, field)) {
      const auto value = line.substr(field.size());
      return ascii::starts_with_ignore_case(value.substr(std::min(value.size(), value.find_first_not_of(" \t"))), type);
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return false;
}

active_content classify_page_start(std::string_view text) noexcept {
  const auto begin = text.find_first_not_of(white_space);
  if (begin == std::string_view::npos) return active_content::none;
  text.remove_prefix(begin);
  if (text.starts_with("%PDF-")) return active_content::pdf;
  if (is_saved_page(text)) return active_content::archive;
  if (!text.starts_with('<')) return active_content::none;
  text.remove_prefix(1);
  for (const auto& start : page_starts) {
    if (!ascii::starts_with_ignore_case(text, start.text)) continue;
    const auto next = text.substr(start.text.size());
    if (!start.is_tag ||
        (!next.empty() && (white_space.find(next[0]) != std::string_view::npos || next[0] == '>' || next[0] == '/')))
      return start.content;
  }
  return active_content::none;
}

/// Classifies UTF-16 text. `low_byte`: the index (0 or 1) of the low byte in each unit. Non-ASCII characters become `?`.
active_content classify_utf16_page_start(std::string_view front, std::size_t low_byte) noexcept {
  std::array<char, sniffed_bytes / 2> text{};
  const auto count = std::min(front.size() / 2, text.size());
  for (std::size_t i = 0; i < count; ++i) {
    const char low = front[2 * i + low_byte];
    text[i] = front[2 * i + 1 - low_byte] == '\0' && static_cast<unsigned char>(low) < 0x80 ? low : '?';
  }
  return classify_page_start({text.data(), count});
}

}  // namespace

std::string_view media_type_of(active_content content) noexcept {
  switch (content) {
    case active_content::none:
      break;
    case active_content::html:
      return "text/html";
    case active_content::xhtml:
      return "application/xhtml+xml";
    case active_content::svg:
      return "image/svg+xml";
    case active_content::xml:
      return "text/xml";
    case active_content::script:
      return "text/javascript";
    case active_content::pdf:
      return "application/pdf";
    case active_content::archive:
      return "multipart/related";
  }
  return {};
}

active_content active_content_by_type(std::string_view type) noexcept {
  const essence normalized(type);
  const auto essence_text = normalized.text();
  if (essence_text.ends_with("+xml")) {
    if (essence_text == "image/svg+xml") return active_content::svg;
    return essence_text == "application/xhtml+xml" ? active_content::xhtml : active_content::xml;
  }
  const auto match = std::lower_bound(active_types.begin(), active_types.end(), essence_text,
                                      [](const active_type& entry, std::string_view key) { return entry.type < key; });
  return match != active_types.end() && match->type == essence_text ? match->content : active_content::none;
}

active_content active_content_by_front(std::string_view front) noexcept {
  front = front.substr(0, sniffed_bytes);
  if (front.starts_with("\xEF\xBB\xBF")) return classify_page_start(front.substr(3));
  if (front.starts_with("\xFF\xFE")) return classify_utf16_page_start(front.substr(2), 0);
  if (front.starts_with("\xFE\xFF")) return classify_utf16_page_start(front.substr(2), 1);
  // Without a byte order mark, detect UTF-16 as XML processors do. Source: XML 1.0 appendix F.1.
  if (front.starts_with("<\0"sv)) return classify_utf16_page_start(front, 0);
  if (front.starts_with("\0<"sv)) return classify_utf16_page_start(front, 1);
  return classify_page_start(front);
}

active_content detect_active_content(std::string_view type, std::string_view front) noexcept {
  const auto declared = active_content_by_type(type);
  return declared == active_content::none ? active_content_by_front(front) : declared;
}

}  // namespace hondana::bytes
