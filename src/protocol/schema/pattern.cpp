/// From ECMA 262's dialect to RE2's.
#include "protocol/schema/pattern.hpp"

#include <array>
#include <string_view>
#include <utility>

namespace hondana::schema {
namespace {

constexpr std::size_t longest_pattern = 4096;
constexpr int most_memory = 1 << 20;

/// Unicode categories by their long names, which RE2 lacks.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> categories{{
    {"Letter", "L"},
    {"Lowercase_Letter", "Ll"},
    {"Uppercase_Letter", "Lu"},
    {"Number", "N"},
    {"digit", "Nd"},
    {"Decimal_Number", "Nd"},
    {"Punctuation", "P"},
    {"Symbol", "S"},
}};

/// What stands behind a backslash, at `at`, in RE2's spelling; `at` is moved behind it.
std::string translated_escape(std::string_view text, std::size_t& at) {
  const char c = text[at];
  if ((c == 'p' || c == 'P') && at + 1 < text.size() && text[at + 1] == '{') {
    const auto end = text.find('}', at);
    if (end != std::string_view::npos) {
      const auto name = text.substr(at + 2, end - at - 2);
      for (const auto& [long_name, short_name] : categories) {
        if (name != long_name) continue;
        at = end + 1;
        return std::string("\\") + c + '{' + std::string(short_name) + '}';
      }
    }
  }
  if (c == 'c' && at + 1 < text.size()) {
    constexpr std::string_view digits = "0123456789abcdef";
    const auto control = static_cast<unsigned>(static_cast<unsigned char>(text[at + 1])) & 0x1Fu;
    at += 2;
    return std::string("\\x") + digits[control >> 4] + digits[control & 0xF];
  }
  if (c == 'u' && at + 4 < text.size()) {
    const auto code = text.substr(at + 1, 4);
    if (code.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos) {
      at += 5;
      return "\\x{" + std::string(code) + '}';
    }
  }
  ++at;
  return std::string("\\") + c;
}

std::string translated(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\\' && at + 1 < text.size()) {
      ++at;
      out += translated_escape(text, at);
    } else {
      out.push_back(text[at++]);
    }
  }
  return out;
}

}  // namespace

tl::expected<std::shared_ptr<const RE2>, std::string> compile_pattern(const std::string& text) {
  if (text.size() > longest_pattern) return tl::unexpected(std::string("longer than 4096 bytes"));
  RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(most_memory);
  auto made = std::make_shared<const RE2>(translated(text), options);
  if (!made->ok()) return tl::unexpected(made->error());
  return made;
}

}  // namespace hondana::schema
