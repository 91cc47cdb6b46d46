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

/// Detects the compression by the first bytes of a file; `none` for other bytes.
[[nodiscard]] compression detect_compression(std::string_view front) noexcept;

/// A streaming decoder. Threads: one at a time.
class decoder {
 public:
  enum class state : std::uint8_t {
    incomplete,  ///< Needs more input, or more output space.
    complete,    ///< The data so far is complete. More members, frames or streams may follow.
    damaged      ///< Malformed, or needs too much memory.
  };
  struct step {
    std::size_t consumed = 0;  ///< Bytes of the input.
    std::size_t produced = 0;  ///< Bytes of the output.
    state status = state::incomplete;
  };
  decoder() = default;
  decoder(const decoder&) = delete;
  decoder& operator=(const decoder&) = delete;
  virtual ~decoder() = default;
  /// Decodes a part of `input` into `output`. The caller must pass the rest of the input in the next call.
  virtual step run(std::string_view input, std::span<char> output) = 0;
};
/// Creates a decoder; null for `none`. It uses at most 128 MiB of memory, enough for `zstd --long=27` and `xz -9`.
[[nodiscard]] std::unique_ptr<decoder> make_decoder(compression format);

/// Decompresses a file. Consecutive members, frames or streams form one text. Threads: one at a time.
class decompressor {
 public:
  /// `file`: a descriptor, which the caller must keep open. `size`: of the compressed file; later bytes are not read.
  decompressor(compression format, int file, std::uint64_t size);

  /// Fills `output`. Returns fewer bytes only at the end, or after an error.
  [[nodiscard]] std::size_t read(std::span<char> output);
  /// Whether the end was reached, or an error occurred.
  [[nodiscard]] bool is_finished() const noexcept { return is_finished_; }
  /// Says for people why the file could not be decompressed to its end: "it cannot be read". Empty: no error so far.
  [[nodiscard]] const std::string& error() const noexcept { return error_; }
  /// Returns the number of compressed bytes that were decoded so far.
  [[nodiscard]] std::uint64_t consumed() const noexcept { return bytes_read_ - (input_size_ - input_offset_); }

 private:
  bool refill();
  void finish(std::string_view message);

  std::unique_ptr<decoder> decoder_;
  int file_;
  std::uint64_t size_;
  std::uint64_t bytes_read_ = 0;
  std::string input_;
  std::size_t input_offset_ = 0;
  std::size_t input_size_ = 0;
  bool is_complete_ = true;
  bool is_finished_ = false;
  std::string error_;
};

}  // namespace hondana::records
