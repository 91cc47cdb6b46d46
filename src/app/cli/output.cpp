/// Standard output and standard error: printing, hiding control characters, and quoting for shells.
#include "app/cli/output.hpp"

#include <algorithm>
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

void note_error() {
  int none = 0;
  output_error.compare_exchange_strong(none, errno == 0 ? EIO : errno);
}

}  // namespace

void print(std::string_view text) {
  if (output_error.load() != 0) return;
  // For line-buffered output, only the state of the stream shows a failed write.
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::ferror(stdout) != 0) note_error();
}

void print_json(std::string_view text) { print(visible_json(text) + '\n'); }

void flush_output() {
  if (output_error.load() == 0 && std::fflush(stdout) != 0) note_error();
}

bool output_is_gone() { return output_error.load() == EPIPE; }

int finish_output(int code) {
  flush_output();
  const int error = output_error.load();
  if (error == 0) return code;
  if (error == EPIPE) return exit_broken_pipe;
  complain({errc::source_unavailable, "The output could not be written. Check the disk, or the program that reads the output.",
            std::strerror(error)});
  return exit_server;
}

void complain(const failure& why) {
  // Do not print the private text if the public text contains it already.
  const bool is_news = !why.private_text.empty() && why.public_text.find(why.private_text) == std::string::npos;
  say(why.public_text + (is_news ? " (" + why.private_text + ')' : ""));
}

void say(std::string_view line) {
  // Many of these texts come from servers.
  auto text = "hondana: " + visible_lines(line);
  if (!text.ends_with('\n')) text += '\n';
  std::fputs(text.c_str(), stderr);
}

namespace {

/// Length in bytes of the first character if it must not be printed as it is; 0 otherwise.
std::size_t hidden_bytes(std::string_view text) {
  const auto byte = [&text](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u; };
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

std::string visible(std::string_view text) {
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto hidden = hidden_bytes(text.substr(at));
    shown += hidden == 0 ? text[at] : '?';
    at += hidden == 0 ? 1 : hidden;
  }
  return shown;
}

std::string visible_lines(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto plain = std::min(text.find_first_of("\n\t"), text.size());
    const bool ends_as_in_dos = plain > 0 && plain < text.size() && text[plain] == '\n' && text[plain - 1] == '\r';
    out += visible(text.substr(0, plain - (ends_as_in_dos ? 1 : 0)));
    text.remove_prefix(plain);
    if (text.empty()) break;
    out += text.front();
    text.remove_prefix(1);
  }
  return out;
}

std::string visible_in_line(std::string_view text) {
  constexpr std::string_view white = " \t\r\n";
  std::string out;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(white), text.size()));
    if (text.empty()) return visible(out);
    const auto word = text.substr(0, text.find_first_of(white));
    if (!out.empty()) out += ' ';
    out += word;
    text.remove_prefix(word.size());
  }
}

std::string visible_json(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string shown;
  shown.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto rest = text.substr(at);
    const auto hidden = hidden_bytes(rest);
    // Newlines between values stay. Inside strings, JSON cannot contain any.
    if (hidden == 0 || rest.front() == '\n') {
      shown += text[at++];
      continue;
    }
    const auto byte = [rest](std::size_t which) { return static_cast<unsigned>(static_cast<unsigned char>(rest[which])); };
    const unsigned character = hidden == 1   ? byte(0)
                               : hidden == 2 ? (byte(0) & 0x1Fu) << 6 | (byte(1) & 0x3Fu)
                                             : (byte(0) & 0x0Fu) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
    shown += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) shown += digits[character >> shift & 15u];
    at += hidden;
  }
  return shown;
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view safe = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:@%,";
  if (!word.empty() && word.find_first_not_of(safe) == std::string_view::npos) return std::string(word);
  std::string quoted = "'";
  for (const char c : word) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace hondana::cli
