/// Compressed files of any bytes: unpacking ends, stays within its memory, and gives the same however much it is asked for, but
/// that of what is damaged more or less comes out before that is found.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

#include "sources/logs/records/decompression.hpp"

namespace {

using namespace hondana;

constexpr std::size_t most = 1u << 20;

struct outcome {
  std::string text;
  bool is_whole = false;
};

outcome unpacked(int file, std::size_t size, records::compression how, std::size_t piece) {
  records::decompressor from(how, file, size);
  std::string out;
  std::string part(piece, '\0');
  while (!from.is_finished() && out.size() < most) {
    const auto count = from.read(std::span(part));
    if (count < piece && !from.is_finished()) std::abort();
    out.append(part, 0, count);
  }
  out.resize(std::min(out.size(), most));
  return {out, from.error().empty()};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto how = records::detect_compression(text);
  if (how == records::compression::none) return 0;
  const int file = ::memfd_create("fuzz", MFD_CLOEXEC);
  if (file < 0 || ::write(file, data, size) != static_cast<ssize_t>(size)) std::abort();
  const auto much = unpacked(file, size, how, 64u << 10);
  const auto little = unpacked(file, size, how, 1000);
  const auto common = std::min(much.text.size(), little.text.size());
  if (much.text.compare(0, common, little.text, 0, common) != 0) std::abort();
  if (much.is_whole && little.is_whole && much.text.size() != little.text.size()) std::abort();
  ::close(file);
  return 0;
}
