/// Content on its way through: small in memory, big in a nameless file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

#include <hondana/error.hpp>
#include <hondana/resource.hpp>

namespace hondana::mcp {

/// An open file that has no name. Closed with the last reference.
class nameless_file {
 public:
  /// In `TMPDIR`, or /tmp. Errors: source_unavailable.
  [[nodiscard]] static result<std::shared_ptr<nameless_file>> make();
  /// The folder it is made in.
  [[nodiscard]] static std::string folder();
  explicit nameless_file(int descriptor) noexcept : descriptor_(descriptor) {}
  ~nameless_file();
  nameless_file(const nameless_file&) = delete;
  nameless_file& operator=(const nameless_file&) = delete;
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }

 private:
  int descriptor_;
};

/// Takes one content piece by piece. Threads: one at a time.
class spool {
 public:
  static constexpr std::size_t most_in_memory = 1u << 20;

  /// Errors: source_unavailable when there is no room on the disk.
  result<void> append(std::string_view bytes);
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// What was appended; then it is over. Errors: source_unavailable.
  [[nodiscard]] result<std::variant<shared_bytes, std::shared_ptr<byte_reader>>> take();

 private:
  result<void> flush();

  std::string memory_;
  std::shared_ptr<nameless_file> file_;
  std::uint64_t written_ = 0;
  std::uint64_t size_ = 0;
};

}  // namespace hondana::mcp
