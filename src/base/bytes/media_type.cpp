/// The table of first bytes. A library's database (libmagic) would know more formats, but its handles serve one thread at a
/// time and a look takes it a millisecond, hundreds of times as long as a small read; names that say nothing are its part
/// (providers/files/sniff.cpp).
#include "base/bytes/media_type.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/ascii/characters.hpp"

namespace hondana::bytes {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view any_bytes = "application/octet-stream";
constexpr std::string_view plain_text = "text/plain";
constexpr std::string_view pdf = "application/pdf";

enum class trust : std::uint8_t {
  tells,  ///< These bytes tell the type.
  fits,   ///< These bytes may be of the type, and of others too.
};

struct signature {
  std::uint16_t at;
  std::string_view bytes;
  std::string_view type;
  trust how = trust::tells;
};

// Types that stand here are believed only where one of their rows fits; the first row that fits and tells names the type.
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
  // "WEBP", "WAVE" and "AVI " name what a RIFF file holds.
  if (one.at == 8 && !front.starts_with("RIFF")) return false;
  return front.size() >= one.at + one.bytes.size() && front.substr(one.at, one.bytes.size()) == one.bytes;
}

/// Formats that are zip files inside.
bool is_zipped(std::string_view type) noexcept {
  constexpr std::array whole{"application/java-archive"sv, "application/epub+zip"sv,
                             "application/vnd.android.package-archive"sv};
  return type.starts_with("application/vnd.openxmlformats-officedocument.") ||
         type.starts_with("application/vnd.oasis.opendocument.") || std::find(whole.begin(), whole.end(), type) != whole.end();
}

/// Whether a declared type that is in no table gives way to what the first bytes tell. Sections of WHATWG MIME Sniffing do the
/// same for pictures and sound; `application/octet-stream` says on purpose that nothing is to be guessed.
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
  // Readers of PDF take what stands before the header.
  if (type == pdf && front.substr(0, 1024).find("%PDF-") != std::string_view::npos) return verdict::fits;
  return found;
}

}  // namespace

essence::essence(std::string_view type) noexcept {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  for (const char c : type) {
    if (is_space(c) && size_ == 0) continue;
    if (c == ';' || c == ',' || is_space(c)) break;
    // Of one that is too long the ending stays, which tells XML.
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
    // Of all formats in the table only PDF can be written without a byte that is no text.
    if (judged == verdict::unknown) return agreeing_type_of_part(declared, true);
    return judged == verdict::fits && type == pdf ? declared : plain_text;
  }
  if (judged == verdict::fits || (judged == verdict::unknown && !yields(type))) return declared;
  if (const auto told = type_of_signature(front); !told.empty()) return told;
  return judged == verdict::belied ? any_bytes : agreeing_type_of_part(declared, false);
}

}  // namespace hondana::bytes
