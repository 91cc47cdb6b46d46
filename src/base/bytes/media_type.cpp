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

constexpr std::string_view any_bytes = "application/octet-stream";
constexpr std::string_view plain_text = "text/plain";
constexpr std::string_view pdf = "application/pdf";

enum class trust : std::uint8_t {
  tells,  ///< These bytes identify the type.
  fits,   ///< These bytes are consistent with the type, but with others too.
};

struct signature {
  std::uint16_t at;
  std::string_view bytes;
  std::string_view type;
  trust how = trust::tells;
};

// A type in this table is accepted only if one of its rows matches. The first matching row with `tells` names the type.
constexpr std::array signatures{
    signature{0, "\x89PNG\r\n\x1a\n"sv, "image/png"},
    signature{0, "\xff\xd8\xff"sv, "image/jpeg"},
    signature{0, "GIF87a"sv, "image/gif"},
    signature{0, "GIF89a"sv, "image/gif"},
    signature{8, "WEBP"sv, "image/webp"},
    signature{0, "BM"sv, "image/bmp", trust::fits},
    signature{0, "\0\0\1\0"sv, "image/vnd.microsoft.icon", trust::fits},
    signature{0, "\0\0\2\0"sv, "image/vnd.microsoft.icon", trust::fits},
    signature{0, "II*\0"sv, "image/tiff"},
    signature{0, "MM\0*"sv, "image/tiff"},
    signature{0, "II+\0"sv, "image/tiff"},
    signature{0, "MM\0+"sv, "image/tiff"},
    signature{0, "8BPS"sv, "image/vnd.adobe.photoshop"},
    signature{4, "ftypavif"sv, "image/avif"},
    signature{4, "ftypavis"sv, "image/avif"},
    signature{4, "ftyphe"sv, "image/heic"},
    signature{4, "ftypmif1"sv, "image/heic", trust::fits},
    signature{4, "ftypmif1"sv, "image/avif", trust::fits},
    signature{4, "ftypmsf1"sv, "image/heic", trust::fits},
    signature{4, "ftypM4A"sv, "audio/mp4"},
    signature{4, "ftypqt  "sv, "video/quicktime"},
    signature{4, "ftyp"sv, "video/mp4"},
    signature{4, "ftyp"sv, "audio/mp4", trust::fits},
    signature{4, "ftyp"sv, "video/quicktime", trust::fits},
    signature{4, "moov"sv, "video/quicktime", trust::fits},
    signature{4, "mdat"sv, "video/quicktime", trust::fits},
    signature{4, "wide"sv, "video/quicktime", trust::fits},
    signature{4, "free"sv, "video/quicktime", trust::fits},
    signature{4, "skip"sv, "video/quicktime", trust::fits},
    signature{0, "\x1a\x45\xdf\xa3"sv, "video/x-matroska"},
    signature{0, "\x1a\x45\xdf\xa3"sv, "video/webm", trust::fits},
    signature{0, "OggS"sv, "audio/ogg"},
    signature{0, "OggS"sv, "video/ogg", trust::fits},
    signature{0, "fLaC"sv, "audio/flac"},
    signature{8, "WAVE"sv, "audio/wav"},
    signature{8, "AVI "sv, "video/x-msvideo"},
    signature{0, "MThd"sv, "audio/midi"},
    signature{0, "wOFF"sv, "font/woff"},
    signature{0, "wOF2"sv, "font/woff2"},
    signature{0, "OTTO"sv, "font/otf"},
    signature{0, "\0\1\0\0"sv, "font/ttf", trust::fits},
    signature{0, "true"sv, "font/ttf", trust::fits},
    signature{0, "ttcf"sv, "font/ttf", trust::fits},
    signature{0, "\0\1\0\0"sv, "font/otf", trust::fits},
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
    signature{1, "\x2a\x4d\x18"sv, "application/zstd", trust::fits},
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
    signature{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "application/msword", trust::fits},
    signature{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "application/vnd.ms-excel", trust::fits},
    signature{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "application/vnd.ms-powerpoint", trust::fits},
    signature{0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "application/x-ole-storage"},
    signature{0, "PAR1"sv, "application/vnd.apache.parquet"},
};

bool fits(const signature& one, std::string_view front) noexcept {
  // "WEBP", "WAVE" and "AVI " name the format inside a RIFF file.
  if (one.at == 8 && !front.starts_with("RIFF")) return false;
  return front.size() >= one.at + one.bytes.size() && front.substr(one.at, one.bytes.size()) == one.bytes;
}

/// Formats that are zip archives.
bool is_zipped(std::string_view type) noexcept {
  constexpr std::array whole{"application/java-archive"sv, "application/epub+zip"sv,
                             "application/vnd.android.package-archive"sv};
  return type.starts_with("application/vnd.openxmlformats-officedocument.") ||
         type.starts_with("application/vnd.oasis.opendocument.") || std::find(whole.begin(), whole.end(), type) != whole.end();
}

/// Whether a declared type without a known signature yields to a signature that the content has.
/// WHATWG MIME Sniffing does the same for images, audio and video. `application/octet-stream` explicitly forbids guessing.
bool yields(std::string_view type) noexcept {
  constexpr std::array families{"text/"sv, "image/"sv, "audio/"sv, "video/"sv, "font/"sv};
  return std::any_of(families.begin(), families.end(), [&](std::string_view one) { return type.starts_with(one); });
}

enum class verdict : std::uint8_t { unknown, fits, belied };

verdict judge(std::string_view type, std::string_view front) noexcept {
  if (type.starts_with("text/")) return verdict::unknown;
  if (is_zipped(type)) type = "application/zip";
  auto found = verdict::unknown;
  for (const auto& one : signatures) {
    if (one.type != type) continue;
    if (fits(one, front)) return verdict::fits;
    found = verdict::belied;
  }
  // PDF readers accept other bytes before the header.
  if (type == pdf && front.substr(0, 1024).find("%PDF-") != std::string_view::npos) return verdict::fits;
  return found;
}

}  // namespace

essence::essence(std::string_view type) noexcept {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  for (const char c : type) {
    if (is_space(c) && size_ == 0) continue;
    if (c == ';' || c == ',' || is_space(c)) break;
    // A type that is too long keeps its last characters, which identify XML (`+xml`).
    if (size_ == text_.size()) {
      std::copy(text_.end() - ending + 1, text_.end(), text_.end() - ending);
      --size_;
    }
    text_[size_++] = ascii::lower(c);
  }
}

std::string_view type_of_signature(std::string_view front) noexcept {
  const auto found = std::find_if(signatures.begin(), signatures.end(),
                                  [&](const signature& one) { return one.how == trust::tells && fits(one, front); });
  return found == signatures.end() ? std::string_view() : found->type;
}

std::string_view agreeing_type_of_part(std::string_view declared, bool is_text) noexcept {
  const essence folded(declared);
  if (is_text) return folded.text() == any_bytes ? plain_text : declared;
  return folded.text().starts_with("text/") ? any_bytes : declared;
}

std::string_view agreeing_type(std::string_view declared, std::string_view front, bool is_text) noexcept {
  if (declared.empty()) return declared;
  const essence folded(declared);
  const auto type = folded.text();
  const auto judged = judge(type, front);
  if (is_text) {
    // PDF is the only format in the table that can be written as valid text.
    if (judged == verdict::unknown) return agreeing_type_of_part(declared, true);
    return judged == verdict::fits && type == pdf ? declared : plain_text;
  }
  if (judged == verdict::fits || (judged == verdict::unknown && !yields(type))) return declared;
  if (const auto told = type_of_signature(front); !told.empty()) return told;
  return judged == verdict::belied ? any_bytes : agreeing_type_of_part(declared, false);
}

namespace {

using namespace std::string_view_literals;

// Sorted by type. XML types are recognized by the suffix `+xml` instead.
struct named {
  std::string_view type;
  active what;
};
constexpr std::array active_types{
    named{"application/ecmascript", active::script},
    named{"application/javascript", active::script},
    named{"application/pdf", active::pdf},
    named{"application/x-ecmascript", active::script},
    named{"application/x-javascript", active::script},
    named{"application/xml", active::xml},
    named{"message/rfc822", active::archive},
    named{"multipart/related", active::archive},
    named{"multipart/x-mixed-replace", active::archive},
    named{"text/ecmascript", active::script},
    named{"text/html", active::html},
    named{"text/javascript", active::script},
    named{"text/javascript1.0", active::script},
    named{"text/javascript1.1", active::script},
    named{"text/javascript1.2", active::script},
    named{"text/javascript1.3", active::script},
    named{"text/javascript1.4", active::script},
    named{"text/javascript1.5", active::script},
    named{"text/jscript", active::script},
    named{"text/livescript", active::script},
    named{"text/x-ecmascript", active::script},
    named{"text/x-javascript", active::script},
    named{"text/xml", active::xml},
    named{"text/xsl", active::xml},
};
static_assert(std::is_sorted(active_types.begin(), active_types.end(),
                             [](const named& a, const named& b) { return a.type < b.type; }));

/// A text at the start of a page, in lower case.
struct word {
  std::string_view text;
  active what;
  bool is_tag = true;  ///< A space, `>` or `/` must follow the name.
};
constexpr std::array first_words{
    word{"!doctype html", active::html},
    word{"html", active::html},
    word{"head", active::html},
    word{"script", active::html},
    word{"iframe", active::html},
    word{"h1", active::html},
    word{"div", active::html},
    word{"font", active::html},
    word{"table", active::html},
    word{"a", active::html},
    word{"style", active::html},
    word{"title", active::html},
    word{"b", active::html},
    word{"body", active::html},
    word{"br", active::html},
    word{"p", active::html},
    word{"!--", active::html, false},
    word{"!doctype svg", active::svg},
    word{"svg", active::svg},
    word{"?xml", active::xml, false},
};

constexpr std::string_view white_space = "\t\n\f\r ";

/// Whether `text` begins with the headers of a page saved as one message (MHTML), which some browsers open as a page.
/// Source: RFC 2557.
bool is_saved_page(std::string_view text) noexcept {
  constexpr std::string_view names[] = {"from:", "mime-version:", "content-type:", "subject:", "date:"};
  if (std::none_of(std::begin(names), std::end(names), [text](auto one) { return ascii::begins_with(text, one); }))
    return false;
  constexpr std::string_view field = "content-type:";
  constexpr std::string_view type = "multipart/related";
  while (!text.empty() && text.front() != '\r' && text.front() != '\n') {
    const auto line = text.substr(0, text.find('\n'));
    if (ascii::begins_with(line, field)) {
      const auto value = line.substr(field.size());
      return ascii::begins_with(value.substr(std::min(value.size(), value.find_first_not_of(" \t"))), type);
    }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return false;
}

active by_first_word(std::string_view text) noexcept {
  const auto begin = text.find_first_not_of(white_space);
  if (begin == std::string_view::npos) return active::no;
  text.remove_prefix(begin);
  if (text.starts_with("%PDF-")) return active::pdf;
  if (is_saved_page(text)) return active::archive;
  if (!text.starts_with('<')) return active::no;
  text.remove_prefix(1);
  for (const auto& one : first_words) {
    if (!ascii::begins_with(text, one.text)) continue;
    const auto next = text.substr(one.text.size());
    if (!one.is_tag ||
        (!next.empty() && (white_space.find(next[0]) != std::string_view::npos || next[0] == '>' || next[0] == '/')))
      return one.what;
  }
  return active::no;
}

/// Classifies UTF-16 text. `low_byte`: the index (0 or 1) of the low byte in each unit. Non-ASCII characters become `?`.
active by_first_word_of_utf_16(std::string_view front, std::size_t low_byte) noexcept {
  std::array<char, front_bytes / 2> text{};
  const auto count = std::min(front.size() / 2, text.size());
  for (std::size_t i = 0; i < count; ++i) {
    const char low = front[2 * i + low_byte];
    text[i] = front[2 * i + 1 - low_byte] == '\0' && static_cast<unsigned char>(low) < 0x80 ? low : '?';
  }
  return by_first_word({text.data(), count});
}

}  // namespace

std::string_view type_of(active what) noexcept {
  switch (what) {
    case active::no:
      break;
    case active::html:
      return "text/html";
    case active::xhtml:
      return "application/xhtml+xml";
    case active::svg:
      return "image/svg+xml";
    case active::xml:
      return "text/xml";
    case active::script:
      return "text/javascript";
    case active::pdf:
      return "application/pdf";
    case active::archive:
      return "multipart/related";
  }
  return {};
}

active active_by_type(std::string_view type) noexcept {
  const essence folded(type);
  const auto plain = folded.text();
  if (plain.ends_with("+xml")) {
    if (plain == "image/svg+xml") return active::svg;
    return plain == "application/xhtml+xml" ? active::xhtml : active::xml;
  }
  const auto found = std::lower_bound(active_types.begin(), active_types.end(), plain,
                                      [](const named& one, std::string_view wanted) { return one.type < wanted; });
  return found != active_types.end() && found->type == plain ? found->what : active::no;
}

active active_by_front(std::string_view front) noexcept {
  front = front.substr(0, front_bytes);
  if (front.starts_with("\xEF\xBB\xBF")) return by_first_word(front.substr(3));
  if (front.starts_with("\xFF\xFE")) return by_first_word_of_utf_16(front.substr(2), 0);
  if (front.starts_with("\xFE\xFF")) return by_first_word_of_utf_16(front.substr(2), 1);
  // Without a byte order mark, detect UTF-16 as XML processors do. Source: XML 1.0 appendix F.1.
  if (front.starts_with("<\0"sv)) return by_first_word_of_utf_16(front, 0);
  if (front.starts_with("\0<"sv)) return by_first_word_of_utf_16(front, 1);
  return by_first_word(front);
}

active active_as(std::string_view type, std::string_view front) noexcept {
  const auto by_type = active_by_type(type);
  return by_type == active::no ? active_by_front(front) : by_type;
}

}  // namespace hondana::bytes
