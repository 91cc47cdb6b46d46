/// How ZIP archives are written.
#include "drive/stand_in/zip.hpp"

#include <zlib.h>

#include <cstdint>

namespace drive_test {
namespace {

void put(std::string& into, std::uint32_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) into += static_cast<char>((number >> (8 * i)) & 255);
}

void put_entry(std::string& into, const std::string& name, const std::string& content) {
  const auto sum = ::crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size()));
  put(into, 20, 2);
  put(into, 0x0800, 2);  // names are UTF-8
  put(into, 0, 2);       // stored
  put(into, 0, 2);
  put(into, 0x5a21, 2);  // 2025-01-01
  put(into, static_cast<std::uint32_t>(sum), 4);
  put(into, static_cast<std::uint32_t>(content.size()), 4);
  put(into, static_cast<std::uint32_t>(content.size()), 4);
  put(into, static_cast<std::uint32_t>(name.size()), 2);
  put(into, 0, 2);
}

}  // namespace

std::string zip_of(const std::vector<std::pair<std::string, std::string>>& members) {
  std::string out;
  std::string directory;
  for (const auto& [name, content] : members) {
    const auto offset = static_cast<std::uint32_t>(out.size());
    put(out, 0x04034b50, 4);
    put_entry(out, name, content);
    out += name + content;
    put(directory, 0x02014b50, 4);
    put(directory, 20, 2);
    put_entry(directory, name, content);
    put(directory, 0, 2);
    put(directory, 0, 2);
    put(directory, 0, 2);
    put(directory, 0, 4);
    put(directory, offset, 4);
    directory += name;
  }
  const auto offset = static_cast<std::uint32_t>(out.size());
  out += directory;
  put(out, 0x06054b50, 4);
  put(out, 0, 4);
  put(out, static_cast<std::uint32_t>(members.size()), 2);
  put(out, static_cast<std::uint32_t>(members.size()), 2);
  put(out, static_cast<std::uint32_t>(directory.size()), 4);
  put(out, offset, 4);
  put(out, 0, 2);
  return out;
}

}  // namespace drive_test
