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

/// By its first bytes; a few suffice.
[[nodiscard]] compression compression_of(std::string_view front) noexcept;

/// One library's decoder. Threads: one at a time.
class decoder {
 public:
  enum class state : std::uint8_t {
    more,     ///< It wants input, or room.
    between,  ///< Everything so far is whole; more members, frames or streams may follow.
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
/// Takes at most 128 MiB of memory (what `zstd --long=27` and `xz -9` need); files that want more are damaged for it. Null for
/// `none`, and without memory.
[[nodiscard]] std::unique_ptr<decoder> make_decoder(compression how);

/// Goes through one file, of which it keeps the descriptor that somebody else owns. Members, frames and streams that follow
/// one another are one text. Threads: one at a time.
class unpacking {
 public:
  unpacking(compression how, int file, std::uint64_t size);

  /// Fills `into`; fewer bytes only at the end.
  [[nodiscard]] std::size_t read(std::span<char> into);
  [[nodiscard]] bool is_over() const noexcept { return is_over_; }
  /// What is wrong with it, for people; empty: nothing (so far).
  [[nodiscard]] const std::string& trouble() const noexcept { return trouble_; }
  /// Of the file.
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
