/// Reads many keys of a table and collects the first error.
#include "sources/config/table_reader.hpp"

#include <filesystem>
#include <system_error>

#include "base/ascii/ascii.hpp"

namespace hondana::config {

std::optional<std::string> table_reader::string(std::string_view key) {
  std::optional<std::string> text;
  string(key, text);
  return text;
}

std::vector<std::string> table_reader::string_or_strings(std::string_view key) {
  std::vector<std::string> values;
  assign(table_.string_or_strings(key), values);
  return values;
}

std::vector<std::pair<std::string, std::string>> table_reader::strings_by_name(std::string_view key) {
  std::vector<std::pair<std::string, std::string>> entries;
  assign(table_.strings_by_name(key), entries);
  return entries;
}

std::optional<std::string> table_reader::file_path(std::string_view key, std::string_view kind) {
  const auto path = string(key);
  if (!path) return {};
  if (!path->empty() && path->find('\0') == std::string::npos) return table_.resolve_path(*path);
  add_error_at(key, "expected the path of a " + std::string(kind));
  return {};
}

std::string table_reader::absolute_path(std::string_view key, const std::string& value) {
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

std::vector<section> table_reader::subtables(std::string_view key) {
  std::vector<section> entries;
  assign(table_.sections(key), entries);
  return entries;
}

result<void> table_reader::first_error() const {
  if (error_) return tl::unexpected(*error_);
  return {};
}

result<void> table_reader::finish() {
  HONDANA_TRY(table_.finish());
  return first_error();
}

result<std::optional<std::uint64_t>> table_reader::check_range(std::string_view key, result<std::optional<std::uint64_t>> size,
                                                               std::uint64_t low, std::uint64_t high) const {
  if (size && *size && (**size < low || **size > high))
    return tl::unexpected(table_.error_at(key, "expected " + std::to_string(low) + " to " + std::to_string(high) + " bytes"));
  return size;
}

}  // namespace hondana::config
