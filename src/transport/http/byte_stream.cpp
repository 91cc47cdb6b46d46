/// Reading and writing in the clear, and ending both ways.
#include "transport/http/byte_stream.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <boost/asio/socket_base.hpp>
#include <cstddef>

#include "tls/descriptor_bio.hpp"

namespace hondana::transport::http {
namespace {

using boost::system::error_code;

constexpr std::size_t most_parts = 8;

iovec piece(std::string_view bytes) noexcept { return {const_cast<char*>(bytes.data()), bytes.size()}; }

}  // namespace

byte_stream::attempt byte_stream::read_plainly(std::span<char> into) {
  const auto count = ::recv(socket_.native_handle(), into.data(), into.size(), MSG_DONTWAIT);
  if (count > 0) return {progress::moved, static_cast<std::size_t>(count)};
  return {count < 0 && tls::has_to_wait() ? progress::wants_input : progress::ended, 0};
}

byte_stream::attempt byte_stream::write_plainly(std::span<const std::string_view> parts) {
  std::array<iovec, most_parts> all;
  std::size_t used = 0;
  for (const auto one : parts) {
    if (!one.empty()) all[used++] = piece(one);
  }
  ssize_t count = 0;
  if (used == 1) {
    count = ::send(socket_.native_handle(), all[0].iov_base, all[0].iov_len, MSG_NOSIGNAL | MSG_DONTWAIT);
  } else {
    msghdr what{};
    what.msg_iov = all.data();
    what.msg_iovlen = used;
    count = ::sendmsg(socket_.native_handle(), &what, MSG_NOSIGNAL | MSG_DONTWAIT);
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
  error_code gone;  // then the next read says so
  (void)socket_.shutdown(boost::asio::socket_base::shutdown_send, gone);
  return progress::ended;
}

void byte_stream::close(bool is_cut_off) {
  error_code ignored;  // there is nobody left to tell
  if (is_cut_off) {
    (void)socket_.set_option(boost::asio::socket_base::linger(true, 0), ignored);
  } else if (tls_) {
    (void)tls_->say_farewell();  // to whoever still has room for it
  }
  tls_.reset();
  (void)socket_.close(ignored);
}

}  // namespace hondana::transport::http
