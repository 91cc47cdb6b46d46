/// The ZIP package of an Office file, unpacked within limits.
#include "text/rendering/office/zip_package.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace hondana::rendering {
namespace {

constexpr std::size_t archive_block = 64u << 10;

/// The data of libarchive's callbacks.
struct read_cursor {
  byte_source& source;
  std::uint64_t offset = 0;
  std::vector<char> block = std::vector<char>(archive_block);
};

la_ssize_t read_block(archive*, void* data, const void** block) {
  auto& cursor = *static_cast<read_cursor*>(data);
  const auto count = cursor.source.read_at(cursor.offset, cursor.block.data(), cursor.block.size());
  if (count < 0) return ARCHIVE_FATAL;
  cursor.offset += static_cast<std::uint64_t>(count);
  *block = cursor.block.data();
  return static_cast<la_ssize_t>(count);
}

la_int64_t skip_bytes(archive*, void* data, la_int64_t count) {
  auto& cursor = *static_cast<read_cursor*>(data);
  if (count < 0 || cursor.offset >= cursor.source.size()) return 0;
  const auto skipped = std::min(static_cast<std::uint64_t>(count), cursor.source.size() - cursor.offset);
  cursor.offset += skipped;
  return static_cast<la_int64_t>(skipped);
}

la_int64_t seek_to(archive*, void* data, la_int64_t offset, int whence) {
  auto& cursor = *static_cast<read_cursor*>(data);
  const auto size = static_cast<la_int64_t>(cursor.source.size());
  const auto base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? static_cast<la_int64_t>(cursor.offset) : size;
  la_int64_t target = 0;
  if (__builtin_add_overflow(base, offset, &target)) return ARCHIVE_FATAL;
  target = std::clamp(target, la_int64_t{0}, size);
  cursor.offset = static_cast<std::uint64_t>(target);
  return target;
}

tl::unexpected<failure> unreadable_package(const std::string& private_text) {
  return fail(errc::invalid_argument, "the file is damaged or is not an Office file: its zip archive cannot be read",
              private_text);
}

tl::unexpected<failure> unpack_failure(const std::string& name, const char* message) {
  return fail(errc::invalid_argument, "the file is damaged: its part " + name + " cannot be unpacked",
              message == nullptr ? "" : message);
}

tl::unexpected<failure> encrypted_failure() {
  return fail(errc::access_denied, "the file is encrypted; store it without a password");
}

}  // namespace

std::string normalize_part_name(std::string_view name) {
  std::vector<std::string_view> segments;
  while (!name.empty()) {
    const auto segment = name.substr(0, name.find_first_of("/\\"));
    name.remove_prefix(std::min(segment.size() + 1, name.size()));
    if (segment == "..") {
      if (!segments.empty()) segments.pop_back();
    } else if (!segment.empty() && segment != ".") {
      segments.push_back(segment);
    }
  }
  std::string out;
  for (const auto& segment : segments) {
    if (!out.empty()) out += '/';
    out += segment;
  }
  return out;
}

std::string resolve_part(std::string_view folder, std::string_view target) {
  if (target.starts_with('/')) return normalize_part_name(target);
  return normalize_part_name(std::string(folder) + '/' + std::string(target));
}

std::string_view parent_folder(std::string_view part) noexcept {
  const auto slash = part.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : part.substr(0, slash);
}

result<void> package::count_unpacked(std::size_t bytes) {
  unpacked_ += bytes;
  const bool is_bomb =
      unpacked_ > limits_.unchecked_bytes && unpacked_ / std::max<std::uint64_t>(source_.size(), 1) > limits_.max_ratio;
  if (unpacked_ <= limits_.max_unpacked_bytes && !is_bomb) return {};
  return fail(errc::response_too_large, "the file of " + std::to_string(source_.size()) + " bytes unpacks to more than " +
                                            std::to_string(unpacked_ - bytes) + " bytes, so it is rejected as a zip bomb");
}

result<void> package::read_part(archive* reader, xml_handler& handler, const std::string& name) {
  xml_parser parser(libraries_.xml, handler);
  std::vector<char> piece(archive_block);
  const auto part_error = [&name](failure error) {
    if (error.code == errc::invalid_argument)
      error.public_text = "the file is damaged: its part " + name + ": " + error.public_text;
    return tl::unexpected(std::move(error));
  };
  for (;;) {
    const auto bytes_read = libraries_.archive.read_data(reader, piece.data(), piece.size());
    if (bytes_read == 0) break;
    if (bytes_read < 0) return unpack_failure(name, libraries_.archive.error_string(reader));
    const auto size = static_cast<std::size_t>(bytes_read);
    HONDANA_TRY(count_unpacked(size));
    auto continues = parser.feed({piece.data(), size});
    if (!continues) return part_error(std::move(continues.error()));
    if (!*continues) return {};
  }
  if (auto finished = parser.finish(); !finished) return part_error(std::move(finished.error()));
  return {};
}

result<void> package::walk(
    const std::function<result<bool>(archive* reader, const std::string& name, bool is_encrypted)>& visit) {
  const auto& functions = libraries_.archive;
  const std::unique_ptr<archive, decltype(functions.read_free)> archive_reader(functions.read_new(), functions.read_free);
  if (!archive_reader) return fail(errc::response_too_large, "out of memory while reading an Office file");
  read_cursor cursor{source_};
  functions.read_support_zip(archive_reader.get());
  functions.read_set_callback_data(archive_reader.get(), &cursor);
  functions.read_set_read_callback(archive_reader.get(), read_block);
  functions.read_set_skip_callback(archive_reader.get(), skip_bytes);
  functions.read_set_seek_callback(archive_reader.get(), seek_to);
  const auto last_error = [&] {
    const auto* text = functions.error_string(archive_reader.get());
    return std::string(text == nullptr ? "" : text);
  };
  if (functions.read_open1(archive_reader.get()) < ARCHIVE_WARN) return unreadable_package(last_error());
  std::set<std::string> read_names;
  for (std::size_t members = 0;; ++members) {
    archive_entry* entry = nullptr;
    const int outcome = functions.read_next_header(archive_reader.get(), &entry);
    if (outcome == ARCHIVE_EOF) return {};
    if (outcome < ARCHIVE_WARN) return unreadable_package(last_error());
    if (members == limits_.max_members)
      return fail(errc::response_too_large, "the file has more than " + std::to_string(limits_.max_members) + " members");
    const auto* raw = functions.entry_pathname(entry);
    if (raw == nullptr) continue;
    auto name = normalize_part_name(raw);
    if (read_names.contains(name)) continue;
    HONDANA_TRY(const auto was_read, visit(archive_reader.get(), name, functions.entry_is_data_encrypted(entry) != 0));
    if (was_read) read_names.insert(std::move(name));
  }
}

result<void> package::read(const std::function<xml_handler*(const std::string& name)>& choose) {
  return walk([&](archive* reader, const std::string& name, bool is_encrypted) -> result<bool> {
    auto* handler = choose(name);
    if (handler == nullptr) return false;
    if (is_encrypted) return encrypted_failure();
    return read_part(reader, *handler, name).map([] { return true; });
  });
}

result<void> package::unpack(const std::function<bool(const std::string& name)>& filter, std::size_t max_bytes,
                             const std::function<result<void>(std::optional<std::string> bytes)>& consume) {
  std::vector<char> piece(archive_block);
  return walk([&](archive* reader, const std::string& name, bool is_encrypted) -> result<bool> {
    if (!filter(name)) return false;
    if (is_encrypted) return encrypted_failure();
    std::string bytes;
    for (;;) {
      const auto bytes_read = libraries_.archive.read_data(reader, piece.data(), piece.size());
      if (bytes_read == 0) break;
      if (bytes_read < 0) return unpack_failure(name, libraries_.archive.error_string(reader));
      HONDANA_TRY(count_unpacked(static_cast<std::size_t>(bytes_read)));
      if (bytes.size() + static_cast<std::size_t>(bytes_read) > max_bytes)
        return consume(std::nullopt).map([] { return true; });
      bytes.append(piece.data(), static_cast<std::size_t>(bytes_read));
    }
    return consume(std::move(bytes)).map([] { return true; });
  });
}

result<void> package::read_nested(byte_source& inner, const std::function<xml_handler*(const std::string& name)>& choose) {
  auto nested_limits = limits_;
  nested_limits.max_unpacked_bytes -= std::min(unpacked_, nested_limits.max_unpacked_bytes);
  package nested(libraries_, inner, nested_limits);
  auto status = nested.read(choose);
  unpacked_ += nested.unpacked_;
  return status;
}

}  // namespace hondana::rendering
