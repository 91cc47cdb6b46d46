/// Fuzzes the escape, base64 and UTF-8 kernels, and what tells text from blobs, against references that go one byte at a time.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/prepared_content.hpp"
#include "base/json/base64.hpp"
#include "base/json/buffer.hpp"
#include "base/json/escape.hpp"
#include "base/json/utf8.hpp"

namespace {

namespace json = hondana::json;

void check(bool holds) {
  if (!holds) std::abort();
}

unsigned octet(char c) { return static_cast<unsigned char>(c); }

std::string naive_escape(std::string_view text) {
  constexpr std::string_view from = "\"\\\b\f\n\r\t";
  constexpr std::string_view to = "\"\\bfnrt";
  std::string out;
  for (const char c : text) {
    const auto letter = from.find(c);
    if (letter != std::string_view::npos) {
      out += {'\\', to[letter]};
    } else if (octet(c) < 0x20) {
      out += {'\\', 'u', '0', '0', octet(c) < 16 ? '0' : '1', "0123456789abcdef"[octet(c) % 16]};
    } else {
      out += c;
    }
  }
  return out;
}

bool naive_is_plain(std::string_view text) {
  for (const char c : text) {
    if (octet(c) < 0x20 || octet(c) > 0x7F || c == '"' || c == '\\') return false;
  }
  return true;
}

std::string naive_base64(std::string_view bytes) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0;
  int held = 0;
  for (const char c : bytes) {
    bits = (bits << 8 | octet(c)) & 0xFFFF;
    for (held += 8; held >= 6; held -= 6) out += alphabet[bits >> (held - 6) & 63];
  }
  if (held > 0) out += alphabet[bits << (6 - held) & 63];
  while (out.size() % 4 != 0) out += '=';
  return out;
}

/// Whether the state machine of RFC 3629's grammar accepts `bytes`.
bool naive_is_utf8(std::string_view bytes) {
  unsigned low = 0x80;
  unsigned high = 0xBF;
  int left = 0;
  for (const char c : bytes) {
    const unsigned byte = octet(c);
    if (left > 0) {
      if (byte < low || byte > high) return false;
      --left;
      low = 0x80;
      high = 0xBF;
    } else if (byte >= 0xC2 && byte <= 0xDF) {
      left = 1;
    } else if (byte >= 0xE0 && byte <= 0xEF) {
      left = 2;
      if (byte == 0xE0) low = 0xA0;
      if (byte == 0xED) high = 0x9F;
    } else if (byte >= 0xF0 && byte <= 0xF4) {
      left = 3;
      if (byte == 0xF0) low = 0x90;
      if (byte == 0xF4) high = 0x8F;
    } else if (byte >= 0x80) {
      return false;
    }
  }
  return left == 0;
}

using appends = void(std::string&, std::string_view);
using buffers = void(json::buffer&, std::string_view);

std::string appended(appends* append, std::string_view text) {
  std::string out("<");
  append(out, text);
  check(out.front() == '<');
  return out.substr(1);
}

/// Into a buffer with no more room than it has to have.
std::string buffered(buffers* append, std::string_view text) {
  json::buffer out;
  out.append("<");
  append(out, text);
  check(out.view().front() == '<');
  return std::string(out.view().substr(1));
}

void check_escape(std::string_view text, std::size_t cut) {
  const std::string expected = naive_escape(text);
  check(appended(json::append_escaped, text) == expected);
  check(appended(json::append_escaped_portable, text) == expected);
  check(buffered(json::append_escaped, text) == expected);
  check(buffered(json::append_escaped_portable, text) == expected);
  std::string pieces;
  json::append_escaped(pieces, text.substr(0, cut));
  json::append_escaped(pieces, text.substr(cut));
  check(pieces == expected);
  check(json::is_plain_ascii(text) == naive_is_plain(text));
}

void check_base64(std::string_view bytes) {
  const std::string expected = naive_base64(bytes);
  check(appended(json::append_base64, bytes) == expected);
  check(appended(json::append_base64_portable, bytes) == expected);
  check(buffered(json::append_base64, bytes) == expected);
  check(buffered(json::append_base64_portable, bytes) == expected);
  check(json::decode_base64(expected) == bytes);
  check(json::decode_base64url(json::encode_base64url(bytes)) == bytes);
  // Strictness: a text that decodes is the only one for its bytes.
  if (const auto decoded = json::decode_base64(bytes)) check(naive_base64(*decoded) == bytes);
  if (const auto decoded = json::decode_base64url(bytes)) check(json::encode_base64url(*decoded) == bytes);
}

void check_utf8(std::string_view bytes, std::size_t cut) {
  const bool good = naive_is_utf8(bytes);
  check(json::is_utf8(bytes) == good);
  check(json::has_nul(bytes) == (bytes.find('\0') != std::string_view::npos));
  for (const auto run : {json::ascii_run(bytes), json::ascii_run_portable(bytes)}) {
    check(run <= bytes.size());
    for (const char c : bytes.substr(0, run)) check(c != '\0' && octet(c) < 0x80);
  }
  hondana::bytes::content_kind_detector form;
  form.feed(bytes.substr(0, cut));
  form.feed(bytes.substr(cut));
  const bool is_text = good && bytes.find('\0') == std::string_view::npos;
  check((form.value() == hondana::content_kind::text) == is_text);
  const std::string repaired = appended(json::append_replacing, bytes);
  check(naive_is_utf8(repaired));
  check(!good || repaired == bytes);
  const std::size_t tail = json::incomplete_tail(bytes);
  check(tail <= 3 && tail <= bytes.size() && (!good || tail == 0));

  json::utf8_stream two;
  two.feed(bytes.substr(0, cut));
  two.feed(bytes.substr(cut));
  check(two.finish() == good);
  json::utf8_stream many;
  for (const char& one : bytes) many.feed({&one, 1});
  check(many.finish() == good);
}

}  // namespace

/// The first byte says where to cut; the rest is copied to an allocation of its size, so that a load too far is seen.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::vector<char> copy(data + 1, data + size);
  const std::string_view bytes(copy.data(), copy.size());
  const std::size_t cut = bytes.empty() ? 0 : data[0] * bytes.size() / 255;
  check_escape(bytes, cut);
  check_base64(bytes);
  check_utf8(bytes, cut);
  return 0;
}
