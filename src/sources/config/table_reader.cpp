/// Helpers that read many keys of a table and collect the first error.
#include "sources/config/table_reader.hpp"

#include <filesystem>
#include <system_error>

#include "base/ascii/ascii.hpp"

namespace hondana::config {

std::uint64_t table_reader::bytes(std::string_view key, std::uint64_t low, std::uint64_t high, std::uint64_t default_value) {
  const auto size = unwrap(table_.bytes(key)).value_or(default_value);
  if (size < low || size > high)
    add_error_at(key, "expected between " + std::to_string(low) + " and " + std::to_string(high) + " bytes");
  return size;
}

std::string table_reader::path(std::string_view key, const std::string& value) {
  std::error_code error;
  auto absolute = std::filesystem::absolute(table_.resolve_path(value), error).lexically_normal().string();
  if (error) {
    add_error_at(key, "cannot be made absolute: " + error.message());
    return {};
  }
  if (absolute.size() > 1 && absolute.ends_with('/')) absolute.pop_back();
  return absolute;
}

std::optional<std::string> table_reader::slug(std::string_view key) {
  auto name = string(key);
  if (name && !ascii::is_slug(*name)) add_error_at(key, "expected 1 to 64 of a-z, 0-9 and -");
  return name;
}

result<void> table_reader::finish() {
  if (!error_) {
    if (auto status = table_.finish(); !status) add_error(std::move(status.error()));
  }
  if (error_) return tl::unexpected(std::move(*error_));
  return {};
}

}  // namespace hondana::config
