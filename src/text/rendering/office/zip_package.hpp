/// The ZIP package of an Office file, unpacked within limits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "text/rendering/office/office_libraries.hpp"
#include "text/rendering/office/xml_parser.hpp"

namespace hondana::rendering {

/// Bytes with random access. Threads: one at a time.
class byte_source {
 public:
  virtual ~byte_source() = default;
  /// Reads into `buffer` from `offset`. Returns the number of bytes, 0 at the end, -1 for an error.
  [[nodiscard]] virtual std::int64_t read_at(std::uint64_t offset, char* buffer, std::size_t size) = 0;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
};

/// Bytes in memory, such as a package within another one. They must outlive this object.
class memory_source final : public byte_source {
 public:
  explicit memory_source(std::string_view bytes) noexcept : bytes_(bytes) {}
  [[nodiscard]] std::int64_t read_at(std::uint64_t offset, char* buffer, std::size_t size) override {
    return offset < bytes_.size() ? static_cast<std::int64_t>(bytes_.copy(buffer, size, static_cast<std::size_t>(offset))) : 0;
  }
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }

 private:
  const std::string_view bytes_;
};

/// Limits against decompression bombs.
struct package_limits {
  std::uint64_t max_unpacked_bytes = 512ull << 20;  ///< Total bytes that may be unpacked.
  std::size_t max_members = 65'536;
  /// Limit of unpacked bytes per byte of the file. Not checked for the first `unchecked_bytes` unpacked bytes.
  std::uint64_t max_ratio = 200;
  std::uint64_t unchecked_bytes = 32ull << 20;
};

/// A package. Unpacks only requested parts, and only into memory, so names of members cannot do harm. The libraries and the
/// source must outlive it.
class package {
 public:
  package(const office_libraries& libraries, byte_source& source, const package_limits& limits) noexcept
      : libraries_(libraries), source_(source), limits_(limits) {}

  /// Parses parts in file order. `choose` returns the handler for a part, by its name without a leading slash; null skips the
  /// part. Of parts with the same name, only the first is used.
  ///
  /// Errors: invalid_argument (not a ZIP file, a damaged part, or not XML), access_denied (a part is encrypted),
  /// response_too_large (decompression bomb, or too much memory).
  [[nodiscard]] result<void> read(const std::function<xml_handler*(const std::string& name)>& choose);
  /// Unpacks the parts for which `filter` returns true, one after the other, in file order. `consume` receives the bytes of a
  /// part; no value if there are more than `max_bytes`. Errors: as `read`, and those of `consume`.
  [[nodiscard]] result<void> unpack(const std::function<bool(const std::string& name)>& filter, std::size_t max_bytes,
                                    const std::function<result<void>(std::optional<std::string> bytes)>& consume);
  /// Reads a package within this one, like `read`. Its unpacked bytes count here, too.
  [[nodiscard]] result<void> read_nested(byte_source& inner,
                                         const std::function<xml_handler*(const std::string& name)>& choose);

 private:
  /// Calls `visit` for each member, with its name. If it returns true, later members with the same name are skipped.
  result<void> walk(const std::function<result<bool>(archive* reader, const std::string& name, bool is_encrypted)>& visit);
  /// Parses the current member.
  result<void> read_part(archive* reader, xml_handler& handler, const std::string& name);
  /// Counts unpacked bytes. Errors: response_too_large.
  result<void> count_unpacked(std::size_t bytes);

  const office_libraries& libraries_;
  byte_source& source_;
  const package_limits limits_;
  std::uint64_t unpacked_ = 0;
};

/// Returns the name of a part without a leading slash, "." and "..": "a/../b" and "/b" → "b".
[[nodiscard]] std::string normalize_part_name(std::string_view name);
/// Returns the name of the part to which a part in `folder` ("word") refers by `target`. A leading slash means the root.
[[nodiscard]] std::string resolve_part(std::string_view folder, std::string_view target);
/// Returns the folder of a part: "word/document.xml" → "word"; empty at the root.
[[nodiscard]] std::string_view parent_folder(std::string_view part) noexcept;

}  // namespace hondana::rendering
