/// Reading and writing in the clear, and ending both ways.
#include "transport/http_server/byte_stream.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "transport/tls/descriptor_bio.hpp"

namespace hondana::transport::http_server {
namespace {

constexpr std::size_t most_parts = 8;
constexpr std::size_t shortest_apart = 2048;

iovec piece(std::string_view bytes) noexcept { return {const_cast<char*>(bytes.data()), bytes.size()}; }

}  // namespace

byte_stream::attempt byte_stream::read_plainly(std::span<char> into) {
  const auto count = ::recv(socket_.get(), into.data(), into.size(), MSG_DONTWAIT);
  if (count > 0) return {progress::moved, static_cast<std::size_t>(count)};
  return {count < 0 && tls::has_to_wait() ? progress::wants_input : progress::ended, 0};
}

/// What is short is put together: the kernel takes one piece faster than several.
byte_stream::attempt byte_stream::write_plainly(std::span<const std::string_view> parts) {
  std::array<iovec, most_parts> all;
  std::size_t used = 0;
  std::size_t size = 0;
  for (const auto one : parts) {
    if (one.empty()) continue;
    all[used++] = piece(one);
    size += one.size();
  }
  std::array<char, shortest_apart> joined;
  if (used > 1 && size <= joined.size()) {
    auto* end = joined.data();
    for (const auto one : parts) end = std::copy(one.begin(), one.end(), end);
    all[0] = {joined.data(), size};
    used = 1;
  }
  ssize_t count = 0;
  if (used == 1) {
    count = ::send(socket_.get(), all[0].iov_base, all[0].iov_len, MSG_NOSIGNAL | MSG_DONTWAIT);
  } else {
    msghdr what{};
    what.msg_iov = all.data();
    what.msg_iovlen = used;
    count = ::sendmsg(socket_.get(), &what, MSG_NOSIGNAL | MSG_DONTWAIT);
  }
  if (count >= 0) return {progress::moved, static_cast<std::size_t>(count)};
  return {tls::has_to_wait() ? progress::wants_output : progress::failed, 0};
}

/// A record at a time: of the first that is not empty, and of the next where the first is short.
byte_stream::attempt byte_stream::write_secured(std::span<const std::string_view> parts) {
  std::array<std::string_view, 2> both;
  std::size_t used = 0;
  for (std::size_t i = 0; i < parts.size() && used < both.size(); ++i) {
    if (!parts[i].empty()) both[used++] = parts[i];
  }
  return tls_->write(both[0], both[1]);
}

byte_stream::progress byte_stream::finish() {
  if (tls_ && tls_->say_farewell() == progress::wants_output) return progress::wants_output;
  tls_.reset();
  (void)::shutdown(socket_.get(), SHUT_WR);  // if the peer has gone, the next read says so
  return progress::ended;
}

void byte_stream::close(bool is_cut_off) {
  if (is_cut_off) {
    const linger at_once{1, 0};
    (void)::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);  // there is nobody left to tell
  } else if (tls_) {
    (void)tls_->say_farewell();  // to whoever still has room for it
  }
  tls_.reset();
  socket_ = disk::handle();
}

}  // namespace hondana::transport::http_server
