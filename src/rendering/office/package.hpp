/// The zip file that an Office file is.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <hondana/error.hpp>

#include "rendering/office/libraries.hpp"
#include "rendering/office/markup.hpp"

namespace hondana::rendering {

/// Bytes that can be read at any place. Threads: one at a time.
class byte_source {
 public:
  virtual ~byte_source() = default;
  /// Fills `into` from `offset`: how many bytes there were, 0 at the end, -1 for an error.
  [[nodiscard]] virtual std::int64_t read_at(std::uint64_t offset, char* into, std::size_t size) = 0;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
};

/// What a package may be.
struct package_limits {
  std::uint64_t unpacked = 512ull << 20;  ///< Of all that is read of it, together.
  std::size_t members = 65'536;
  std::uint64_t ratio = 200;  ///< Unpacked bytes to each of the file, as soon as `unchecked` are unpacked.
  std::uint64_t unchecked = 32ull << 20;
};

/// A package. Only what is asked for is unpacked, into the hearer's hands and nowhere else, so that names of members mean
/// nothing but themselves.
class package {
 public:
  package(const office_libraries& by, byte_source& from, const package_limits& most) noexcept
      : by_(by), from_(from), most_(most) {}

  /// Reads parts in the order they lie in: `choose` says who hears one, by its name without a leading slash; null: it is passed
  /// over. Of parts with the same name the first counts.
  ///
  /// Errors: invalid_argument: it is no zip file, or a part is damaged or no XML; access_denied: a part is encrypted;
  /// response_too_large: a bomb.
  [[nodiscard]] result<void> read(const std::function<events*(const std::string& name)>& choose);

 private:
  result<void> read_part(archive* from, events& into, const std::string& name);
  result<void> count(std::size_t bytes);

  const office_libraries& by_;
  byte_source& from_;
  const package_limits most_;
  std::uint64_t unpacked_ = 0;
};

/// `name` as packages have it, without a leading slash, "." and "..": "a/../b" and "/b" are "b".
[[nodiscard]] std::string part_name(std::string_view name);
/// What `target` means in a part of the folder `folder` ("word"); a leading slash leads from the root.
[[nodiscard]] std::string part_at(std::string_view folder, std::string_view target);
/// "word/document.xml": "word"; empty at the root.
[[nodiscard]] std::string_view folder_of(std::string_view part) noexcept;

}  // namespace hondana::rendering
