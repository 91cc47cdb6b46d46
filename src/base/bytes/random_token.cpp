/// Random bytes for identifiers and tokens, hexadecimal encoding, and the token68 syntax.
#include "base/bytes/random_token.hpp"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace hondana::bytes {

std::string to_hex(std::string_view raw) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out(2 * raw.size(), '0');
  auto* cursor = out.data();
  for (const char c : raw) {
    const auto byte = static_cast<unsigned char>(c);
    *cursor++ = digits[byte >> 4];
    *cursor++ = digits[byte & 15];
  }
  return out;
}

result<std::string> random_bytes(std::size_t count) {
  std::string out(count, '\0');
  // Requests of up to 256 bytes return all bytes or fail. Source: getrandom(2).
  ssize_t byte_count = 0;
  do {
    byte_count = ::getrandom(out.data(), out.size(), 0);
  } while (byte_count < 0 && errno == EINTR);
  if (byte_count == static_cast<ssize_t>(count)) return out;
  return fail(errc::internal, "the system provides no random bytes",
              byte_count < 0 ? std::string("getrandom: ") + std::strerror(errno) : "getrandom: too many bytes were requested");
}

bool is_token68(std::string_view text) noexcept {
  static constexpr auto allowed = [] {
    std::array<bool, 256> out{};
    for (const char c : std::string_view("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~+/"))
      out[static_cast<unsigned char>(c)] = true;
    return out;
  }();
  while (text.ends_with('=')) text.remove_suffix(1);
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return allowed[static_cast<unsigned char>(c)]; });
}

}  // namespace hondana::bytes
