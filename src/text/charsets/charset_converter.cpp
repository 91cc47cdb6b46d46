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

class iconv_converter {
 public:
  iconv_converter(const char* target_charset, const char* source_charset)
      : handle_(::iconv_open(target_charset, source_charset)) {}
  iconv_converter(const iconv_converter&) = delete;
  iconv_converter& operator=(const iconv_converter&) = delete;
  ~iconv_converter() {
    if (is_open()) ::iconv_close(handle_);
  }

  [[nodiscard]] bool is_open() const noexcept {
    // iconv_open returns (iconv_t)-1 on failure.
    return reinterpret_cast<std::intptr_t>(handle_) != -1;
  }
  /// Like iconv. Returns false if the conversion stopped; errno has the reason.
  bool convert(char** input, std::size_t* input_left, char** output, std::size_t* output_left) noexcept {
    return ::iconv(handle_, input, input_left, output, output_left) != static_cast<std::size_t>(-1);
  }

 private:
  iconv_t handle_;
};

/// The character for a code; all zero if there is none.
mapped_character map_code(iconv_converter& converter, std::string_view code) {
  std::array<char, 4> input{};
  std::copy(code.begin(), code.end(), input.begin());
  std::array<char32_t, 4> out{};
  char* source = input.data();
  auto* target = reinterpret_cast<char*>(out.data());
  std::size_t input_left = code.size(), output_left = sizeof out;
  converter.convert(nullptr, nullptr, nullptr, nullptr);
  const bool is_good = converter.convert(&source, &input_left, &target, &output_left) &&
                       converter.convert(nullptr, nullptr, &target, &output_left);
  const auto count = (sizeof out - output_left) / sizeof(char32_t);
  if (!is_good || count == 0 || count > 2) return {};
  return {out[0], count == 2 ? out[1] : 0};
}

void fill(japanese_tables::charset_table& table, iconv_converter& converter, std::string_view prefix) {
  std::string code(prefix);
  code.append(2, ' ');
  for (std::size_t row = 0; row < japanese_tables::rows; ++row)
    for (std::size_t cell = 0; cell < japanese_tables::rows; ++cell) {
      code[prefix.size()] = static_cast<char>(0xA1 + row);
      code[prefix.size() + 1] = static_cast<char>(0xA1 + cell);
      table[row * japanese_tables::rows + cell] = map_code(converter, code);
    }
}

std::unique_ptr<const japanese_tables> make_tables() {
  iconv_converter euc("UTF-32LE", "EUC-JP-MS"), euc_0213("UTF-32LE", "EUC-JISX0213"), shift("UTF-32LE", "CP932");
  if (!euc.is_open() || !euc_0213.is_open() || !shift.is_open()) return nullptr;
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
    out->cp932[i] = map_code(shift, code).first;
  }
  return out;
}

}  // namespace

const japanese_tables* load_japanese_tables() {
  static const std::unique_ptr<const japanese_tables> tables = make_tables();
  return tables.get();
}

std::optional<converted_text> convert(std::string_view bytes, const char* charset) {
  iconv_converter converter("UTF-8", charset);
  if (!converter.is_open()) return std::nullopt;
  converted_text out;
  out.text.reserve(bytes.size() + bytes.size() / 2);
  std::array<char, std::size_t{16} * 1024> buffer{};
  // iconv does not change its input.
  char* input = const_cast<char*>(bytes.data());
  std::size_t input_left = bytes.size();
  const auto replace = [&out] {
    ascii::append_utf8(out.text, ascii::replacement_character);
    ++out.replacements;
  };
  for (bool is_end = false; !is_end;) {
    char* output = buffer.data();
    std::size_t output_left = buffer.size();
    // At the end, flush characters that iconv holds back.
    is_end = input_left == 0;
    const bool is_good = is_end ? converter.convert(nullptr, nullptr, &output, &output_left)
                                : converter.convert(&input, &input_left, &output, &output_left);
    const int error = errno;
    out.text.append(buffer.data(), buffer.size() - output_left);
    if (is_good || is_end || error == E2BIG) continue;
    replace();
    if (error == EINVAL) break;
    ++input;
    --input_left;
  }
  if (out.text.find('\0') == std::string::npos) return out;
  converted_text clean;
  clean.replacements = out.replacements;
  clean.text.reserve(out.text.size());
  for (const char c : out.text) {
    if (c != '\0') {
      clean.text += c;
      continue;
    }
    ascii::append_utf8(clean.text, ascii::replacement_character);
    ++clean.replacements;
  }
  return clean;
}

void preload_converter(const char* charset) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<iconv_converter>> converters;
  const std::lock_guard lock(mutex);
  auto& converter = converters[charset];
  if (converter == nullptr) converter = std::make_unique<iconv_converter>("UTF-8", charset);
}

}  // namespace hondana::charsets
