/// The C library's iconv converters, and tables of Japanese character sets.
#include "text/charsets/charset_converter.hpp"

#include <iconv.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "base/ascii/code_points.hpp"

namespace hondana::charsets {
namespace {

class converter {
 public:
  converter(const char* to, const char* from) : handle_(::iconv_open(to, from)) {}
  converter(const converter&) = delete;
  converter& operator=(const converter&) = delete;
  ~converter() {
    if (is_there()) ::iconv_close(handle_);
  }

  [[nodiscard]] bool is_there() const noexcept {
    // iconv_open returns (iconv_t)-1 on failure.
    return reinterpret_cast<std::intptr_t>(handle_) != -1;
  }
  /// Like iconv. Returns false if the conversion stopped; errno has the reason.
  bool take(char** in, std::size_t* in_left, char** out, std::size_t* out_left) noexcept {
    return ::iconv(handle_, in, in_left, out, out_left) != static_cast<std::size_t>(-1);
  }

 private:
  iconv_t handle_;
};

/// The character for a code; all zero if there is none.
coded one_of(converter& by, std::string_view code) {
  std::array<char, 4> in{};
  std::copy(code.begin(), code.end(), in.begin());
  std::array<char32_t, 4> out{};
  char* from = in.data();
  auto* to = reinterpret_cast<char*>(out.data());
  std::size_t left = code.size(), room = sizeof out;
  by.take(nullptr, nullptr, nullptr, nullptr);
  const bool is_good = by.take(&from, &left, &to, &room) && by.take(nullptr, nullptr, &to, &room);
  const auto count = (sizeof out - room) / sizeof(char32_t);
  if (!is_good || count == 0 || count > 2) return {};
  return {out[0], count == 2 ? out[1] : 0};
}

void fill(japanese_tables::set& into, converter& by, std::string_view before) {
  std::string code(before);
  code.append(2, ' ');
  for (std::size_t row = 0; row < japanese_tables::rows; ++row)
    for (std::size_t cell = 0; cell < japanese_tables::rows; ++cell) {
      code[before.size()] = static_cast<char>(0xA1 + row);
      code[before.size() + 1] = static_cast<char>(0xA1 + cell);
      into[row * japanese_tables::rows + cell] = one_of(by, code);
    }
}

std::unique_ptr<const japanese_tables> make_tables() {
  converter euc("UTF-32LE", "EUC-JP-MS"), euc_0213("UTF-32LE", "EUC-JISX0213"), shift("UTF-32LE", "CP932");
  if (!euc.is_there() || !euc_0213.is_there() || !shift.is_there()) return nullptr;
  auto out = std::make_unique<japanese_tables>();
  fill(out->jis_x_0208, euc, "");
  fill(out->jis_x_0212, euc, "\x8f");
  fill(out->jis_x_0213_1, euc_0213, "");
  fill(out->jis_x_0213_2, euc_0213, "\x8f");
  std::string code(2, ' ');
  for (std::size_t i = 0; i < out->cp932.size(); ++i) {
    const auto lead = i / 188, trail = i % 188;
    code[0] = static_cast<char>(lead < 31 ? 0x81 + lead : 0xE0 + lead - 31);
    code[1] = static_cast<char>(trail < 63 ? 0x40 + trail : 0x80 + trail - 63);
    out->cp932[i] = one_of(shift, code).first;
  }
  return out;
}

}  // namespace

const japanese_tables* loaded_tables() {
  static const std::unique_ptr<const japanese_tables> all = make_tables();
  return all.get();
}

std::optional<converted> convert(std::string_view bytes, const char* from) {
  converter by("UTF-8", from);
  if (!by.is_there()) return std::nullopt;
  converted out;
  out.text.reserve(bytes.size() + bytes.size() / 2);
  std::array<char, std::size_t{16} * 1024> piece{};
  // iconv does not change its input.
  char* in = const_cast<char*>(bytes.data());
  std::size_t left = bytes.size();
  const auto replace = [&out] {
    ascii::append(out.text, ascii::replacement);
    ++out.replaced;
  };
  for (bool is_end = false; !is_end;) {
    char* to = piece.data();
    std::size_t room = piece.size();
    // At the end, flush characters that iconv holds back.
    is_end = left == 0;
    const bool is_good = is_end ? by.take(nullptr, nullptr, &to, &room) : by.take(&in, &left, &to, &room);
    const int why = errno;
    out.text.append(piece.data(), piece.size() - room);
    if (is_good || is_end || why == E2BIG) continue;
    replace();
    if (why == EINVAL) break;
    ++in;
    --left;
  }
  if (out.text.find('\0') == std::string::npos) return out;
  converted clean;
  clean.replaced = out.replaced;
  clean.text.reserve(out.text.size());
  for (const char c : out.text) {
    if (c != '\0') {
      clean.text += c;
      continue;
    }
    ascii::append(clean.text, ascii::replacement);
    ++clean.replaced;
  }
  return clean;
}

void keep_converter(const char* from) {
  static std::mutex one_at_a_time;
  static std::map<std::string, std::unique_ptr<converter>> kept;
  const std::lock_guard lock(one_at_a_time);
  auto& one = kept[from];
  if (one == nullptr) one = std::make_unique<converter>("UTF-8", from);
}

}  // namespace hondana::charsets
