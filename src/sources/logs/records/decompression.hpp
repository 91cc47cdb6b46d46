/// Streaming decompression of gzip, zstd and xz files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace hondana::records {

enum class compression : std::uint8_t { none, gzip, zstd, xz };

/// Detects the compression by the first bytes of a file.
[[nodiscard]] compression compression_of(std::string_view front) noexcept;

/// A streaming decoder. Threads: one at a time.
class decoder {
 public:
  enum class state : std::uint8_t {
    more,     ///< Needs more input, or more output space.
    between,  ///< The data so far is complete. More members, frames or streams may follow.
    damaged
  };
  struct step {
    std::size_t taken = 0;
    std::size_t given = 0;
    state now = state::more;
  };
  decoder() = default;
  decoder(const decoder&) = delete;
  decoder& operator=(const decoder&) = delete;
  virtual ~decoder() = default;
  virtual step run(std::string_view in, std::span<char> out) = 0;
};
/// Creates a decoder. It uses at most 128 MiB of memory, enough for `zstd --long=27` and `xz -9`. Files that need more count as
/// damaged. Returns null for `none`, and if there is no memory.
[[nodiscard]] std::unique_ptr<decoder> make_decoder(compression how);

/// Decompresses a file. The caller owns the descriptor and keeps it open. Consecutive members, frames or streams form one text.
/// Threads: one at a time.
class unpacking {
 public:
  unpacking(compression how, int file, std::uint64_t size);

  /// Fills `into`. Returns fewer bytes only at the end.
  [[nodiscard]] std::size_t read(std::span<char> into);
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  /// What is wrong with the file, for people. Empty: nothing so far.
  [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }
  /// Bytes of the compressed file read so far.
  [[nodiscard]] std::uint64_t taken() const noexcept { return read_ - (filled_ - at_); }

 private:
  bool refill();
  void end(std::string_view trouble);

  std::unique_ptr<decoder> decoder_;
  int file_;
  std::uint64_t size_;
  std::uint64_t read_ = 0;
  std::string input_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
  bool is_between_ = true;
  bool is_over_ = false;
  std::string trouble_;
};

}  // namespace hondana::records
