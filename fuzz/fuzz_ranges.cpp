/// Parts of files: the query is the first line of the input, the file is the rest; compared with a naive way.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "base/bytes/prepared_content.hpp"
#include "base/json/utf8.hpp"
#include "os/disk/file_stamp.hpp"
#include "sources/files/file_range.hpp"

namespace {

using namespace hondana;

class file_in_memory final : public files::open_file {
 public:
  explicit file_in_memory(std::string_view bytes) : bytes_(bytes) {}
  [[nodiscard]] result<disk::stamp> state() const override { return disk::stamp{1, 1, bytes_.size(), 0, 0}; }
  [[nodiscard]] result<std::size_t> read(char* into, std::size_t size, std::uint64_t offset) const override {
    if (offset > bytes_.size()) std::abort();
    const auto count = std::min<std::size_t>(size, bytes_.size() - offset);
    std::memcpy(into, bytes_.data() + offset, count);
    return count;
  }

 private:
  std::string_view bytes_;
};

/// The lines asked for, by splitting the whole file; nothing when there are fewer.
std::string_view naive_lines(std::string_view bytes, std::uint64_t first, std::uint64_t last) {
  std::uint64_t line = 1;
  std::size_t begin = bytes.size();
  std::size_t end = bytes.size();
  for (std::size_t at = 0; at < bytes.size(); ++line) {
    const auto next = std::min(bytes.find('\n', at), bytes.size() - 1) + 1;
    if (line == first) begin = at;
    if (line == last) end = next;
    at = next;
  }
  return bytes.substr(begin, end - begin);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto line = std::min(input.find('\n'), input.size());
  const auto bytes = input.substr(std::min(line + 1, input.size()));
  const auto wanted = files::parse_range(input.substr(0, line));
  if (!wanted) {
    if (wanted.error().public_text.empty()) std::abort();
    return 0;
  }
  if (!*wanted) return 0;
  const auto& part = **wanted;
  const file_in_memory file(bytes);
  const bool is_text = bytes::content_kind_of(bytes) == content_kind::text;
  const auto found = files::locate_range(file, bytes.size(), part, is_text, {});
  if (part.unit == files::range_unit::lines && !is_text) {
    if (found) std::abort();
    return 0;
  }
  if (part.unit == files::range_unit::lines) {
    const auto expected = naive_lines(bytes, part.first, part.last.value_or(UINT64_MAX));
    if (found.has_value() != !expected.empty()) std::abort();
    if (found && bytes.substr(found->begin, found->end - found->begin) != expected) std::abort();
    return 0;
  }
  if (found.has_value() != (part.first < bytes.size())) std::abort();
  if (!found) return 0;
  if (found->begin > found->end || found->end > bytes.size()) std::abort();
  const auto taken = bytes.substr(found->begin, found->end - found->begin);
  if (is_text && !json::is_utf8(taken)) std::abort();
  const auto last = std::min<std::uint64_t>(part.last.value_or(UINT64_MAX), bytes.size() - 1);
  if (!is_text && (found->begin != part.first || found->end != last + 1)) std::abort();
  // Narrowed by less than a code point at either end, and only inwards.
  if (found->begin < part.first || (found->begin != found->end && found->end > last + 1)) std::abort();
  if (found->begin != found->end && (found->begin - part.first > 3 || last + 1 - found->end > 3)) std::abort();
  return 0;
}
