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

/// Bytes that can be read at any place. Threads: one at a time.
class byte_source {
 public:
  virtual ~byte_source() = default;
  /// Fills `into` from `offset`: how many bytes there were, 0 at the end, -1 for an error.
  [[nodiscard]] virtual std::int64_t read_at(std::uint64_t offset, char* into, std::size_t size) = 0;
  [[nodiscard]] virtual std::uint64_t size() const = 0;
};

/// Those of a package within another.
class bytes_in_hand final : public byte_source {
 public:
  explicit bytes_in_hand(std::string_view bytes) noexcept : bytes_(bytes) {}
  [[nodiscard]] std::int64_t read_at(std::uint64_t offset, char* into, std::size_t size) override {
    return offset < bytes_.size() ? static_cast<std::int64_t>(bytes_.copy(into, size, static_cast<std::size_t>(offset))) : 0;
  }
  [[nodiscard]] std::uint64_t size() const override { return bytes_.size(); }

 private:
  const std::string_view bytes_;
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
  /// Unpacks parts as they are, one after the other, in the order they lie in. `take`: one with its bytes; nothing: there are
  /// more than `most`. Errors: as `read`, and those of `take`.
  [[nodiscard]] result<void> unpack(const std::function<bool(const std::string& name)>& is_wanted, std::size_t most,
                                    const std::function<result<void>(std::optional<std::string> bytes)>& take);
  /// Reads a package that lies in this one as `read` does; what it unpacks counts here, too.
  [[nodiscard]] result<void> read_within(byte_source& inner, const std::function<events*(const std::string& name)>& choose);

 private:
  /// Has `each` read what members have, by their names. Of those it says true of, the next of that name is passed over.
  result<void> walk(const std::function<result<bool>(archive* from, const std::string& name, bool is_encrypted)>& each);
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
