/// Fuzzes index files and mailmaps of foreign repositories: no crash, and only as many entries and positions as the bytes can
/// hold.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sources/git/index_reader.hpp"
#include "sources/git/mailmap.hpp"

namespace {

using namespace hondana::git;

void require(bool holds) {
  if (!holds) std::abort();
}

void read_index_file(std::string_view bytes) {
  // The first byte says where the shared index begins.
  const auto split_bytes =
      bytes.empty() ? 0 : std::min<std::size_t>(static_cast<unsigned char>(bytes.front()) * 8U, bytes.size());
  const auto index = parse_index(bytes.substr(bytes.empty() ? 0 : 1));
  const auto shared = parse_index(bytes.substr(split_bytes));
  for (const auto* parsed : {&index, &shared}) {
    if (!*parsed) continue;
    require((*parsed)->entries.size() <= bytes.size() / 62);
    for (const auto* positions : {&(*parsed)->deleted, &(*parsed)->replaced})
      require(std::is_sorted(positions->begin(), positions->end()) && (positions->empty() || positions->back() < 2'000'000));
  }
  if (!index || !shared) return;
  if (const auto joined = join_split_index(*index, *shared))
    require(joined->size() <= index->entries.size() + shared->entries.size());
}

void read_mailmap(std::string_view bytes) {
  const auto people = mailmap::parse(bytes);
  std::string name = "Ada", email = "ada@example.com";
  people.apply(name, email);
  require(!name.empty() && !email.empty());
  require(!people.stamp().empty() || name == "Ada");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_index_file(bytes);
  read_mailmap(bytes);
  return 0;
}
