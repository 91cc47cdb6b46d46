/// Helpers that read many keys of a table and collect the first error.
#include "sources/config/table_reader.hpp"

#include <filesystem>
#include <system_error>

#include "base/ascii/ascii.hpp"

namespace hondana::config {

std::uint64_t table_reader::bytes(std::string_view key, std::uint64_t low, std::uint64_t high, std::uint64_t otherwise) {
  const auto said = take(from_.bytes(key)).value_or(otherwise);
  if (said < low || said > high)
    wrong(key, "expected between " + std::to_string(low) + " and " + std::to_string(high) + " bytes");
  return said;
}

std::string table_reader::path(std::string_view key, const std::string& written) {
  std::error_code problem;
  auto whole = std::filesystem::absolute(from_.path_from(written), problem).lexically_normal().string();
  if (problem) {
    wrong(key, "cannot be made absolute: " + problem.message());
    return {};
  }
  if (whole.size() > 1 && whole.ends_with('/')) whole.pop_back();
  return whole;
}

std::optional<std::string> table_reader::slug(std::string_view key) {
  auto name = text(key);
  if (name && !ascii::is_slug(*name)) wrong(key, "expected 1 to 64 of a-z, 0-9 and -");
  return name;
}

result<void> table_reader::finish() {
  if (!why_) {
    if (auto done = from_.finish(); !done) note(std::move(done.error()));
  }
  if (why_) return tl::unexpected(std::move(*why_));
  return {};
}

}  // namespace hondana::config
