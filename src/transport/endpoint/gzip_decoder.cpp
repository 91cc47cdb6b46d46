/// Decompresses bodies.
#include "transport/endpoint/gzip_decoder.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>

namespace hondana::endpoint {
namespace {

constexpr int gzip_window_bits = 15 + 16;  // the largest window, gzip format only
constexpr std::size_t window_bytes = 64u << 10;

}  // namespace

struct gzip_decoder::state {
  z_stream stream{};
  std::array<char, window_bytes> window{};
  bool is_ready = false;
  bool is_between_members = true;  // between two gzip members
};

gzip_decoder::gzip_decoder() : state_(std::make_unique<state>()) {
  state_->is_ready = ::inflateInit2(&state_->stream, gzip_window_bits) == Z_OK;
}

gzip_decoder::~gzip_decoder() {
  if (state_->is_ready) ::inflateEnd(&state_->stream);
}

bool gzip_decoder::is_complete() const noexcept { return state_->is_between_members; }

result<bool> gzip_decoder::decode(std::string_view compressed, const output_callback& on_output) {
  if (!state_->is_ready) return fail(errc::source_unavailable, "not enough memory to decompress its answer");
  auto& stream = state_->stream;
  while (!compressed.empty()) {
    if (state_->is_between_members && ::inflateReset(&stream) != Z_OK)
      return fail(errc::protocol_error, "its answer cannot be decompressed");
    state_->is_between_members = false;
    const auto piece = std::min<std::size_t>(compressed.size(), std::numeric_limits<uInt>::max());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
    stream.avail_in = static_cast<uInt>(piece);
    do {
      stream.next_out = reinterpret_cast<Bytef*>(state_->window.data());
      stream.avail_out = static_cast<uInt>(state_->window.size());
      const int status = ::inflate(&stream, Z_NO_FLUSH);
      if (status == Z_MEM_ERROR) return fail(errc::source_unavailable, "not enough memory to decompress its answer");
      if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        return fail(errc::protocol_error, "its answer is not valid gzip");
      const auto produced = state_->window.size() - stream.avail_out;
      if (produced > 0 && !on_output({state_->window.data(), produced})) return false;
      state_->is_between_members = status == Z_STREAM_END;
      if (status == Z_BUF_ERROR) break;
    } while (!state_->is_between_members && (stream.avail_in > 0 || stream.avail_out == 0));
    compressed.remove_prefix(piece - stream.avail_in);
  }
  return true;
}

}  // namespace hondana::endpoint
