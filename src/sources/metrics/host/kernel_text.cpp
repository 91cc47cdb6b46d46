/// Reads small files of /proc and /sys, and splits them into lines, words and numbers.
#include "sources/metrics/host/kernel_text.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>

#include "os/disk/file_descriptor.hpp"

namespace hondana::host {
namespace {

constexpr std::size_t max_text_bytes = 4u << 20;
constexpr std::size_t max_names = 4096;
constexpr std::size_t max_words = 64;

bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }

}  // namespace

std::optional<std::string> read_text(const std::string& path) {
  const disk::handle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat attributes{};
  if (!file.is_open() || ::fstat(file.get(), &attributes) != 0 || !S_ISREG(attributes.st_mode)) return std::nullopt;
  std::string out;
  constexpr std::size_t chunk_bytes = 16u << 10;
  while (out.size() < max_text_bytes) {
    const auto size = out.size();
    out.resize(size + std::min(chunk_bytes, max_text_bytes - size));
    const auto count = ::read(file.get(), out.data() + size, out.size() - size);
    const bool is_interrupted = count < 0 && errno == EINTR;
    out.resize(size + (count > 0 ? static_cast<std::size_t>(count) : 0));
    if (count < 0 && !is_interrupted) return std::nullopt;
    if (count == 0) break;
  }
  return out;
}

std::optional<std::string> read_line(const std::string& path) {
  const auto text = read_text(path);
  if (!text) return std::nullopt;
  std::string_view remaining(*text);
  return std::string(trim(next_line(remaining).value_or(std::string_view())));
}

std::optional<double> read_number(const std::string& path) {
  const auto line = read_line(path);
  if (!line) return std::nullopt;
  return line->starts_with("0x") ? parse_hexadecimal(std::string_view(*line).substr(2)) : parse_number(*line);
}

std::vector<std::string> list_names(const std::string& folder, std::string_view prefix) {
  std::vector<std::string> out;
  disk::dir_stream directory(disk::handle(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)));
  while (const auto* const entry = directory.next()) {
    const std::string_view name(entry->d_name);
    if (name.starts_with('.') || !name.starts_with(prefix)) continue;
    if (out.size() == max_names) break;
    out.emplace_back(name);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::optional<std::string_view> next_line(std::string_view& text) noexcept {
  if (text.empty()) return std::nullopt;
  const auto end = text.find('\n');
  const auto line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return line;
}

std::string_view next_word(std::string_view& line) noexcept {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  std::size_t end = 0;
  while (end < line.size() && !is_blank(line[end])) ++end;
  const auto word = line.substr(0, end);
  line.remove_prefix(end);
  return word;
}

std::vector<std::string_view> split_words(std::string_view line) {
  std::vector<std::string_view> out;
  while (out.size() < max_words) {
    const auto word = next_word(line);
    if (word.empty()) break;
    out.push_back(word);
  }
  return out;
}

std::optional<double> parse_number(std::string_view word) noexcept {
  double out = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out);
  if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(out)) return std::nullopt;
  return out;
}

std::optional<double> parse_hexadecimal(std::string_view word) noexcept {
  std::uint64_t out = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), out, 16);
  if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
  return static_cast<double>(out);
}

std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace hondana::host
