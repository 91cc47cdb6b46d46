/// Secrets and what looks like some, drawn when a test runs: none of them stands in any file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "text/secrets/scanner.hpp"

namespace hondana::test {

/// Draws the same every time.
class lots {
 public:
  explicit lots(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 1) {}

  [[nodiscard]] std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_;
  }
  [[nodiscard]] std::size_t below(std::size_t limit) { return static_cast<std::size_t>((next() >> 11) % limit); }
  /// So many of some bytes.
  [[nodiscard]] std::string of(std::string_view bytes, std::size_t count) {
    std::string out;
    while (out.size() < count) out += bytes[below(bytes.size())];
    return out;
  }
  [[nodiscard]] std::string alnum(std::size_t count);
  [[nodiscard]] std::string word(std::size_t count);
  [[nodiscard]] std::string hex(std::size_t count);
  [[nodiscard]] std::string capital(std::size_t count);
  [[nodiscard]] std::string digits(std::size_t count);
  /// Base64 without padding.
  [[nodiscard]] std::string base64(std::size_t count);
  /// A password of any printable bytes but some. The first is no quote, since there it would open a quotation, and the last a
  /// digit, since what ends a list of settings may not belong to it.
  [[nodiscard]] std::string password(std::size_t count, std::string_view without = {});
  /// Base64 in lines of `width`, each with `end` behind it.
  [[nodiscard]] std::string lines(std::size_t count, std::size_t width = 64, std::string_view end = "\n");

 private:
  std::uint64_t state_;
};

/// A text with one secret in it.
struct specimen {
  std::string before;
  std::string secret;
  std::string after;

  [[nodiscard]] std::string text() const { return before + secret + after; }
  /// As it must be sent.
  [[nodiscard]] std::string masked() const;
};

struct secret_shape {
  std::string_view name;
  std::function<specimen(lots&)> draw;
  secrets::masking_policy how = secrets::masking_policy::text;
};
[[nodiscard]] const std::vector<secret_shape>& secret_shapes();
/// Those of them that files of programs have, found in configuration only.
[[nodiscard]] std::vector<secret_shape> shapes_of_files();
/// Those of them that are encoded, or that stand in commands and headers.
[[nodiscard]] std::vector<secret_shape> shapes_of_encodings();

/// A private key in DER: what stays of it, and what is masked.
struct der_key {
  std::string front;
  std::string secret;
};
/// PKCS#8, PKCS#1, SEC 1 and encrypted ones.
[[nodiscard]] der_key draw_der_key(lots& from, std::size_t number_of_kind);
inline constexpr std::size_t der_key_count = 7;

/// What looks like a secret and is none.
struct look_alike {
  std::string_view name;
  std::function<std::string(lots&)> draw;
  secrets::masking_policy how = secrets::masking_policy::text;
};
[[nodiscard]] const std::vector<look_alike>& look_alikes();

}  // namespace hondana::test
