/// Streaming decompression of gzip, zstd and xz files.
#include "sources/logs/records/decompression.hpp"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <new>

#include "os/disk/file_descriptor.hpp"

namespace hondana::records {
namespace {

constexpr std::size_t input_bytes = 128u << 10;
constexpr std::uint64_t max_memory_bytes = 128u << 20;
constexpr int max_window_log = 27;

class gzip_decoder final : public decoder {
 public:
  gzip_decoder() : is_ready_(::inflateInit2(&stream_, 15 + 16) == Z_OK) {}
  ~gzip_decoder() override {
    if (is_ready_) ::inflateEnd(&stream_);
  }
  step run(std::string_view input, std::span<char> output) override {
    if (!is_ready_) return {0, 0, state::damaged};
    std::size_t skipped = 0;
    if (is_at_boundary_) {
      // Tapes and some tools pad files with NULs.
      skipped = std::min(input.find_first_not_of('\0'), input.size());
      if (skipped == input.size()) return {skipped, 0, state::complete};
      if (::inflateReset(&stream_) != Z_OK) return {skipped, 0, state::damaged};
      is_at_boundary_ = false;
    }
    input.remove_prefix(skipped);
    // the library's type is not const, but it does not write
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = static_cast<uInt>(input.size());
    stream_.next_out = reinterpret_cast<Bytef*>(output.data());
    stream_.avail_out = static_cast<uInt>(output.size());
    const int code = ::inflate(&stream_, Z_NO_FLUSH);
    const step result_step{skipped + input.size() - stream_.avail_in, output.size() - stream_.avail_out, state::incomplete};
    if (code == Z_STREAM_END) {
      is_at_boundary_ = true;
      return {result_step.consumed, result_step.produced, state::complete};
    }
    if (code != Z_OK && code != Z_BUF_ERROR) return {result_step.consumed, result_step.produced, state::damaged};
    return result_step;
  }

 private:
  z_stream stream_{};
  bool is_ready_;
  bool is_at_boundary_ = true;
};

class zstd_decoder final : public decoder {
 public:
  zstd_decoder() : context_(::ZSTD_createDCtx()) {
    if (context_ != nullptr) ::ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, max_window_log);
  }
  ~zstd_decoder() override { ::ZSTD_freeDCtx(context_); }
  step run(std::string_view input, std::span<char> output) override {
    if (context_ == nullptr) return {0, 0, state::damaged};
    ZSTD_inBuffer source{input.data(), input.size(), 0};
    ZSTD_outBuffer destination{output.data(), output.size(), 0};
    const auto code = ::ZSTD_decompressStream(context_, &destination, &source);
    if (::ZSTD_isError(code) != 0) return {source.pos, destination.pos, state::damaged};
    return {source.pos, destination.pos, code == 0 ? state::complete : state::incomplete};
  }

 private:
  ZSTD_DCtx* context_;
};

class xz_decoder final : public decoder {
 public:
  xz_decoder() { start(); }
  ~xz_decoder() override { ::lzma_end(&stream_); }
  step run(std::string_view input, std::span<char> output) override {
    std::size_t skipped = 0;
    if (is_at_boundary_) {
      skipped = std::min(input.find_first_not_of('\0'), input.size());  // padding between streams
      if (skipped == input.size()) return {skipped, 0, state::complete};
      start();
    }
    if (!is_ready_) return {skipped, 0, state::damaged};
    input.remove_prefix(skipped);
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(input.data());
    stream_.avail_in = input.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(output.data());
    stream_.avail_out = output.size();
    const auto code = ::lzma_code(&stream_, LZMA_RUN);
    const step result_step{skipped + input.size() - stream_.avail_in, output.size() - stream_.avail_out, state::incomplete};
    if (code == LZMA_STREAM_END) {
      is_at_boundary_ = true;
      return {result_step.consumed, result_step.produced, state::complete};
    }
    if (code != LZMA_OK && code != LZMA_BUF_ERROR) return {result_step.consumed, result_step.produced, state::damaged};
    return result_step;
  }

 private:
  void start() {
    is_ready_ = ::lzma_stream_decoder(&stream_, max_memory_bytes, 0) == LZMA_OK;
    is_at_boundary_ = false;
  }
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool is_ready_ = false;
  bool is_at_boundary_ = false;
};

}  // namespace

compression detect_compression(std::string_view front) noexcept {
  using namespace std::string_view_literals;
  if (front.starts_with("\x1F\x8B"sv)) return compression::gzip;
  if (front.starts_with("\x28\xB5\x2F\xFD"sv)) return compression::zstd;
  // A skippable frame, which files of `pzstd` and seekable files begin with.
  if (front.size() >= 4 && (static_cast<unsigned char>(front[0]) & 0xF0) == 0x50 &&
      front.substr(1).starts_with("\x2A\x4D\x18"sv)) {
    return compression::zstd;
  }
  if (front.starts_with("\xFD"
                        "7zXZ\0"sv)) {
    return compression::xz;
  }
  return compression::none;
}

std::unique_ptr<decoder> make_decoder(compression format) {
  switch (format) {
    case compression::gzip:
      return std::make_unique<gzip_decoder>();
    case compression::zstd:
      return std::make_unique<zstd_decoder>();
    case compression::xz:
      return std::make_unique<xz_decoder>();
    case compression::none:
      break;
  }
  return nullptr;
}

decompressor::decompressor(compression format, int file, std::uint64_t size)
    : decoder_(make_decoder(format)), file_(file), size_(size) {
  if (!decoder_) finish("it is not compressed");
}

void decompressor::finish(std::string_view message) {
  is_finished_ = true;
  error_ = message;
}

bool decompressor::refill() {
  input_offset_ = input_size_ = 0;
  if (bytes_read_ >= size_) return false;
  input_.resize(input_bytes);
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(input_bytes, size_ - bytes_read_));
  const auto count = disk::read_at(file_, input_.data(), size, bytes_read_);
  if (!count) {
    finish("it cannot be read");
    return false;
  }
  input_size_ = *count;
  bytes_read_ += *count;
  return input_size_ > 0;
}

std::size_t decompressor::read(std::span<char> output) {
  std::size_t produced = 0;
  while (produced < output.size() && !is_finished_) {
    if (input_offset_ == input_size_ && !refill()) {
      if (is_finished_) break;
      // The decoder may still have output without new input.
      const auto last_step = decoder_->run({}, output.subspan(produced));
      produced += last_step.produced;
      if (last_step.produced > 0) continue;
      finish(is_complete_ ? "" : "its compressed data is truncated");
      break;
    }
    const auto step =
        decoder_->run(std::string_view(input_).substr(input_offset_, input_size_ - input_offset_), output.subspan(produced));
    input_offset_ += step.consumed;
    produced += step.produced;
    if (step.status == decoder::state::damaged) {
      finish("its compressed data is damaged");
    } else if (step.status == decoder::state::incomplete && step.consumed == 0 && step.produced == 0) {
      finish("its compressed data is damaged");  // otherwise the loop would not end
    }
    is_complete_ = step.status == decoder::state::complete;
  }
  return produced;
}

}  // namespace hondana::records
