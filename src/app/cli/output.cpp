/// Standard input, output and error: reading, printing, hiding control characters, and quoting for shells.
#include "app/cli/output.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "app/cli/exit_codes.hpp"

namespace hondana::cli {
namespace {

// errno of the first error of standard output; 0: none.
std::atomic<int> output_error{0};

void record_error() {
  int none = 0;
  output_error.compare_exchange_strong(none, errno == 0 ? EIO : errno);
}

}  // namespace

result<std::string> read_standard_input(std::size_t max_bytes, const failure& too_large) {
  std::string out;
  std::array<char, 4096> chunk{};
  while (out.size() <= max_bytes) {
    const auto count = ::read(STDIN_FILENO, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(errc::source_unavailable, std::string("cannot read standard input: ") + std::strerror(errno));
    if (count == 0) return out;
    out.append(chunk.data(), static_cast<std::size_t>(count));
  }
  return tl::unexpected(too_large);
}

void print(std::string_view text) {
  if (output_error.load() != 0) return;
  // For line-buffered output, only the state of the stream shows a failed write.
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::ferror(stdout) != 0) record_error();
}

void print_json(std::string_view text) { print(escape_json(text) + '\n'); }

void flush_output() {
  if (output_error.load() == 0 && std::fflush(stdout) != 0) record_error();
}

bool is_output_closed() { return output_error.load() == EPIPE; }

int finish_output(int code) {
  flush_output();
  const int error = output_error.load();
  if (error == 0) return code;
  if (error == EPIPE) return exit_broken_pipe;
  print_error({errc::source_unavailable,
               "The output could not be written. Check the disk, or the program that reads the output.", std::strerror(error)});
  return exit_server;
}

void print_error(const failure& error) {
  // Do not print the private text if the public text contains it already.
  const bool adds_detail = !error.private_text.empty() && error.public_text.find(error.private_text) == std::string::npos;
  print_message(error.public_text + (adds_detail ? " (" + error.private_text + ')' : ""));
}

void print_message(std::string_view line) {
  // Many of these texts come from servers.
  auto text = "hondana: " + sanitize_lines(line);
  if (!text.ends_with('\n')) text += '\n';
  std::fputs(text.c_str(), stderr);
}

namespace {

/// Length in bytes of the first character if it must not be printed as it is; 0 otherwise.
std::size_t unprintable_bytes(std::string_view text) {
  const auto byte = [&text](std::size_t index) { return index < text.size() ? static_cast<unsigned char>(text[index]) : 0u; };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return 1;
  if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) <= 0x9F) return 2;  // C1, such as CSI
  if (byte(0) == 0xD8 && byte(1) == 0x9C) return 2;                     // U+061C
  if (byte(0) != 0xE2) return 0;
  // U+200E, U+200F and U+202A to U+202E; U+2028 and U+2029 end lines; U+2066 to U+2069.
  if (byte(1) == 0x80 && (byte(2) == 0x8E || byte(2) == 0x8F || (byte(2) >= 0xA8 && byte(2) <= 0xAE))) return 3;
  if (byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9) return 3;
  return 0;
}

}  // namespace

std::string sanitize(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) {
    const auto unprintable = unprintable_bytes(text.substr(position));
    out += unprintable == 0 ? text[position] : '?';
    position += unprintable == 0 ? 1 : unprintable;
  }
  return out;
}

std::string sanitize_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto length = std::min(text.find_first_of("\n\t"), text.size());
    const bool ends_with_crlf = length > 0 && length < text.size() && text[length] == '\n' && text[length - 1] == '\r';
    out += sanitize(text.substr(0, length - (ends_with_crlf ? 1 : 0)));
    text.remove_prefix(length);
    if (text.empty()) break;
    out += text.front();
    text.remove_prefix(1);
  }
  return out;
}

std::string sanitize_line(std::string_view text) {
  constexpr std::string_view whitespace = " \t\r\n";
  std::string out;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(whitespace), text.size()));
    if (text.empty()) return sanitize(out);
    const auto word = text.substr(0, text.find_first_of(whitespace));
    if (!out.empty()) out += ' ';
    out += word;
    text.remove_prefix(word.size());
  }
}

std::string escape_json(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string out;
  out.reserve(text.size());
  for (std::size_t position = 0; position < text.size();) {
    const auto remaining = text.substr(position);
    const auto unprintable = unprintable_bytes(remaining);
    // Newlines between values stay. Inside strings, JSON cannot contain any.
    if (unprintable == 0 || remaining.front() == '\n') {
      out += text[position++];
      continue;
    }
    const auto byte = [remaining](std::size_t index) {
      return static_cast<unsigned>(static_cast<unsigned char>(remaining[index]));
    };
    const unsigned character = unprintable == 1   ? byte(0)
                               : unprintable == 2 ? (byte(0) & 0x1Fu) << 6 | (byte(1) & 0x3Fu)
                                                  : (byte(0) & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
    out += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) out += digits[character >> shift & 15u];
    position += unprintable;
  }
  return out;
}

std::string shell_quote(std::string_view word) {
  constexpr std::string_view safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:@%,";
  if (!word.empty() && word.find_first_not_of(safe) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace hondana::cli
