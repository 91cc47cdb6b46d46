/// zlib, found when it is first wanted, as libcurl is, which has it with it.
#include "transport/endpoint/unpacking.hpp"

#include <dlfcn.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <type_traits>

namespace hondana::endpoint {
namespace {

struct zlib_library {
  decltype(&::inflateInit2_) init = nullptr;
  decltype(&::inflate) go_on = nullptr;
  decltype(&::inflateReset) reset = nullptr;
  decltype(&::inflateEnd) end = nullptr;
};

/// Null: there is none. Never unloaded. Threads: any.
const zlib_library* loaded_zlib() {
  static const zlib_library known = [] {
    zlib_library out{};
    void* const handle = ::dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) return out;
    const auto find = [handle](auto& into, const char* function) {
      into = reinterpret_cast<std::remove_reference_t<decltype(into)>>(::dlsym(handle, function));
    };
    find(out.init, "inflateInit2_");
    find(out.go_on, "inflate");
    find(out.reset, "inflateReset");
    find(out.end, "inflateEnd");
    return out;
  }();
  return known.init != nullptr && known.go_on != nullptr && known.reset != nullptr && known.end != nullptr ? &known : nullptr;
}

constexpr int gzip_only = 15 + 16;  // the largest window, and no other container
constexpr std::size_t unpacked_window = 64u << 10;

}  // namespace

struct unpacker::state {
  z_stream stream{};
  std::array<char, unpacked_window> window{};
  bool is_ready = false;
  bool is_between = true;  // members
};

unpacker::unpacker() : state_(std::make_unique<state>()) {
  const auto* const zlib = loaded_zlib();
  state_->is_ready =
      zlib != nullptr && zlib->init(&state_->stream, gzip_only, ZLIB_VERSION, static_cast<int>(sizeof(z_stream))) == Z_OK;
}

unpacker::~unpacker() {
  if (state_->is_ready) loaded_zlib()->end(&state_->stream);
}

bool unpacker::is_whole() const noexcept { return state_->is_between; }

result<bool> unpacker::take(std::string_view packed, const taker& to) {
  if (!state_->is_ready)
    return fail(errc::source_unavailable, "its answer is compressed, but memory is short or zlib (libz.so.1) is missing");
  const auto& zlib = *loaded_zlib();
  auto& stream = state_->stream;
  while (!packed.empty()) {
    if (state_->is_between && zlib.reset(&stream) != Z_OK)
      return fail(errc::broken_protocol, "its answer cannot be decompressed");
    state_->is_between = false;
    const auto piece = std::min<std::size_t>(packed.size(), std::numeric_limits<uInt>::max());
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream.avail_in = static_cast<uInt>(piece);
    do {
      stream.next_out = reinterpret_cast<Bytef*>(state_->window.data());
      stream.avail_out = static_cast<uInt>(state_->window.size());
      const int how = zlib.go_on(&stream, Z_NO_FLUSH);
      if (how == Z_MEM_ERROR) return fail(errc::source_unavailable, "not enough memory to decompress its answer");
      if (how != Z_OK && how != Z_STREAM_END && how != Z_BUF_ERROR)
        return fail(errc::broken_protocol, "its answer is not valid gzip");
      const auto made = state_->window.size() - stream.avail_out;
      if (made > 0 && !to({state_->window.data(), made})) return false;
      state_->is_between = how == Z_STREAM_END;
      if (how == Z_BUF_ERROR) break;
    } while (!state_->is_between && (stream.avail_in > 0 || stream.avail_out == 0));
    packed.remove_prefix(piece - stream.avail_in);
  }
  return true;
}

}  // namespace hondana::endpoint
