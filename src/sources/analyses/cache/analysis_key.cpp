/// Ids of analyses, and the digests under which analyses are cached.
#include "sources/analyses/cache/analysis_key.hpp"

#include <nettle/memops.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/ascii/ascii.hpp"
#include "base/ascii/code_points.hpp"
#include "base/bytes/random_token.hpp"
#include "base/bytes/sha256.hpp"
#include "base/json/writer.hpp"
#include "text/language/normalization.hpp"

namespace hondana::analyses {
namespace {

constexpr std::int64_t max_time = (std::int64_t{1} << 48) - 1;
constexpr std::size_t random_id_bytes = (id_digits - time_digits) / 2;

result<std::string> random_hex(std::size_t byte_count) {
  auto random = bytes::random_bytes(byte_count);
  if (!random) return random;
  return bytes::to_hex(*random);
}

}  // namespace

bool is_id(std::string_view text) noexcept {
  return text.size() == id_digits && std::all_of(text.begin(), text.end(), ascii::is_lower_hex_digit);
}

bool is_secret(std::string_view text) noexcept {
  return text.size() == secret_digits && std::all_of(text.begin(), text.end(), ascii::is_lower_hex_digit);
}

result<std::string> make_random_digits() { return random_hex(random_id_bytes); }

result<std::string> make_secret() { return random_hex(secret_digits / 2); }

bool is_same_secret(std::string_view a, std::string_view b) noexcept {
  return a.size() == secret_digits && b.size() == secret_digits && memeql_sec(a.data(), b.data(), secret_digits) != 0;
}

std::string encode_time(std::int64_t time) {
  auto remaining = max_time - std::clamp<std::int64_t>(time, 0, max_time);
  std::string out(time_digits, '0');
  for (auto digit = out.rbegin(); digit != out.rend(); ++digit) {
    *digit = "0123456789abcdef"[remaining & 0xf];
    remaining >>= 4;
  }
  return out;
}

std::string id_to_bytes(std::string_view id) {
  if (!is_id(id)) return {};
  std::string out;
  for (std::size_t i = 0; i < id.size(); i += 2) {
    unsigned byte = 0;
    std::from_chars(id.data() + i, id.data() + i + 2, byte, 16);
    out += static_cast<char>(static_cast<unsigned char>(byte));
  }
  return out;
}

std::string id_from_bytes(std::string_view bytes) { return bytes::to_hex(bytes); }

namespace {

constexpr std::size_t digest_bytes = 32;

/// The characters of Unicode's White_Space that NFKC does not replace.
bool is_space(char32_t c) noexcept {
  return c == ' ' || (c >= 0x09 && c <= 0x0D) || c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
         c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

/// Writes JSON that is equal for equal values.
void write_canonical(json::writer& writer, const value& input) {
  if (const auto integer = input.as_integer()) {
    writer.integer(*integer);
  } else if (const auto number = input.as_number()) {
    writer.number(*number);
  } else if (const auto* const elements = input.as_array()) {
    writer.begin_array();
    for (const auto& element : *elements) write_canonical(writer, element);
    writer.end_array();
  } else if (const auto* const members = input.as_object()) {
    std::vector<const value::member*> order;
    order.reserve(members->size());
    for (const auto& member : *members) order.push_back(&member);
    std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
    writer.begin_object();
    for (const auto* entry : order) write_canonical(writer.key(entry->first), entry->second);
    writer.end_object();
  } else {
    writer.raw(input.to_text());
  }
}

/// Digests each part after its length, so that parts cannot be confused.
class part_digester {
 public:
  part_digester& add_part(std::string_view bytes) {
    add_number(bytes.size());
    sha256_.update(bytes);
    return *this;
  }
  part_digester& add_number(std::uint64_t number) {
    std::array<char, 8> bytes{};
    for (auto& byte : bytes) {
      byte = static_cast<char>(number & 0xff);
      number >>= 8;
    }
    sha256_.update({bytes.data(), bytes.size()});
    return *this;
  }
  [[nodiscard]] std::string finish() {
    const auto raw = sha256_.finish_raw();
    return {raw.begin(), raw.end()};
  }

 private:
  bytes::sha256 sha256_{};
};

}  // namespace

std::string normalize_prompt(std::string_view prompt) {
  const auto nfkc = language::to_nfkc(prompt);
  std::string out;
  out.reserve(nfkc.size());
  bool is_pending = false;
  for (std::string_view remaining = nfkc; !remaining.empty();) {
    const auto c = ascii::first_character(remaining);
    if (is_space(c.code)) {
      is_pending = !out.empty();
    } else {
      if (is_pending) out += ' ';
      is_pending = false;
      out.append(remaining.substr(0, c.bytes));
    }
    remaining.remove_prefix(c.bytes);
  }
  return out;
}

question_key make_key(const model_question& question) {
  const auto prompt = normalize_prompt(question.prompt);
  std::string options;
  json::writer writer(options);
  write_canonical(writer, question.options);
  auto models = question.models;
  std::sort(models.begin(), models.end());
  models.erase(std::unique(models.begin(), models.end()), models.end());
  auto context = question.context;
  std::sort(context.begin(), context.end());

  part_digester digester;
  digester.add_part("analysis 1").add_part(prompt).add_part(options).add_number(models.size());
  for (const auto& model : models) digester.add_part(model);
  digester.add_number(context.size());
  for (const auto& resource : context) digester.add_part(resource.uri).add_part(resource.version);
  part_digester prompt_digester;
  return {digester.finish(), prompt_digester.add_part("prompt 1").add_part(prompt).finish()};
}

std::string digest_to_hex(std::string_view digest) { return bytes::to_hex(digest); }

std::optional<std::string> digest_from_hex(std::string_view hex) {
  if (hex.size() != 2 * digest_bytes) return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    unsigned byte = 0;
    const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
    if (!is_digit(hex[i]) || !is_digit(hex[i + 1])) return std::nullopt;
    std::from_chars(hex.data() + i, hex.data() + i + 2, byte, 16);
    out += static_cast<char>(static_cast<unsigned char>(byte));
  }
  return out;
}

}  // namespace hondana::analyses
