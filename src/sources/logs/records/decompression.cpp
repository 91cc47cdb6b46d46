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
constexpr std::uint64_t most_memory = 128u << 20;
constexpr int most_window_log = 27;

class gzip_decoder final : public decoder {
 public:
  gzip_decoder() : is_ready_(::inflateInit2(&stream_, 15 + 16) == Z_OK) {}
  ~gzip_decoder() override {
    if (is_ready_) ::inflateEnd(&stream_);
  }
  step run(std::string_view in, std::span<char> out) override {
    if (!is_ready_) return {0, 0, state::damaged};
    std::size_t skipped = 0;
    if (is_between_) {
      // Tapes and some tools pad files with NULs.
      skipped = std::min(in.find_first_not_of('\0'), in.size());
      if (skipped == in.size()) return {skipped, 0, state::between};
      if (::inflateReset(&stream_) != Z_OK) return {skipped, 0, state::damaged};
      is_between_ = false;
    }
    in.remove_prefix(skipped);
    // the library's type is not const, but it does not write
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
    stream_.avail_in = static_cast<uInt>(in.size());
    stream_.next_out = reinterpret_cast<Bytef*>(out.data());
    stream_.avail_out = static_cast<uInt>(out.size());
    const int said = ::inflate(&stream_, Z_NO_FLUSH);
    const step done{skipped + in.size() - stream_.avail_in, out.size() - stream_.avail_out, state::more};
    if (said == Z_STREAM_END) {
      is_between_ = true;
      return {done.taken, done.given, state::between};
    }
    if (said != Z_OK && said != Z_BUF_ERROR) return {done.taken, done.given, state::damaged};
    return done;
  }

 private:
  z_stream stream_{};
  bool is_ready_;
  bool is_between_ = true;
};

class zstd_decoder final : public decoder {
 public:
  zstd_decoder() : context_(::ZSTD_createDCtx()) {
    if (context_ != nullptr) ::ZSTD_DCtx_setParameter(context_, ZSTD_d_windowLogMax, most_window_log);
  }
  ~zstd_decoder() override { ::ZSTD_freeDCtx(context_); }
  step run(std::string_view in, std::span<char> out) override {
    if (context_ == nullptr) return {0, 0, state::damaged};
    ZSTD_inBuffer from{in.data(), in.size(), 0};
    ZSTD_outBuffer to{out.data(), out.size(), 0};
    const auto said = ::ZSTD_decompressStream(context_, &to, &from);
    if (::ZSTD_isError(said) != 0) return {from.pos, to.pos, state::damaged};
    return {from.pos, to.pos, said == 0 ? state::between : state::more};
  }

 private:
  ZSTD_DCtx* context_;
};

class xz_decoder final : public decoder {
 public:
  xz_decoder() { begin(); }
  ~xz_decoder() override { ::lzma_end(&stream_); }
  step run(std::string_view in, std::span<char> out) override {
    std::size_t skipped = 0;
    if (is_between_) {
      skipped = std::min(in.find_first_not_of('\0'), in.size());  // padding between streams
      if (skipped == in.size()) return {skipped, 0, state::between};
      begin();
    }
    if (!is_ready_) return {skipped, 0, state::damaged};
    in.remove_prefix(skipped);
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    stream_.avail_in = in.size();
    stream_.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    stream_.avail_out = out.size();
    const auto said = ::lzma_code(&stream_, LZMA_RUN);
    const step done{skipped + in.size() - stream_.avail_in, out.size() - stream_.avail_out, state::more};
    if (said == LZMA_STREAM_END) {
      is_between_ = true;
      return {done.taken, done.given, state::between};
    }
    if (said != LZMA_OK && said != LZMA_BUF_ERROR) return {done.taken, done.given, state::damaged};
    return done;
  }

 private:
  void begin() {
    is_ready_ = ::lzma_stream_decoder(&stream_, most_memory, 0) == LZMA_OK;
    is_between_ = false;
  }
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool is_ready_ = false;
  bool is_between_ = false;
};

}  // namespace

compression compression_of(std::string_view front) noexcept {
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

std::unique_ptr<decoder> make_decoder(compression how) {
  switch (how) {
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

unpacking::unpacking(compression how, int file, std::uint64_t size) : decoder_(make_decoder(how)), file_(file), size_(size) {
  if (!decoder_) end("it is not compressed");
}

void unpacking::end(std::string_view trouble) {
  is_over_ = true;
  trouble_ = trouble;
}

bool unpacking::refill() {
  at_ = filled_ = 0;
  if (read_ >= size_) return false;
  input_.resize(input_bytes);
  const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(input_bytes, size_ - read_));
  const auto got = disk::read_at(file_, input_.data(), wanted, read_);
  if (!got) {
    end("it cannot be read");
    return false;
  }
  filled_ = *got;
  read_ += *got;
  return filled_ > 0;
}

std::size_t unpacking::read(std::span<char> into) {
  std::size_t given = 0;
  while (given < into.size() && !is_over_) {
    if (at_ == filled_ && !refill()) {
      if (is_over_) break;
      // The decoder may still have output without new input.
      const auto last = decoder_->run({}, into.subspan(given));
      given += last.given;
      if (last.given > 0) continue;
      end(is_between_ ? "" : "its compressed data is truncated");
      break;
    }
    const auto done = decoder_->run(std::string_view(input_).substr(at_, filled_ - at_), into.subspan(given));
    at_ += done.taken;
    given += done.given;
    if (done.now == decoder::state::damaged) {
      end("its compressed data is damaged");
    } else if (done.now == decoder::state::more && done.taken == 0 && done.given == 0) {
      end("its compressed data is damaged");  // otherwise the loop would not end
    }
    is_between_ = done.now == decoder::state::between;
  }
  return given;
}

}  // namespace hondana::records
