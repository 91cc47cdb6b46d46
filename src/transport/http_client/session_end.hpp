/// Tells a server that its session is not needed any more.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "transport/http_client/conversation.hpp"
#include "transport/http_client/transfer.hpp"

namespace hondana::transport::http_client {

/// One DELETE, whatever its outcome: servers need not take it. Threads: the loop's. Spec: basic/transports#session-management.
class session_end final : public answer_hearer {
 public:
  session_end(loop& within, conversation& in, std::function<void()> over)
      : over_(std::move(over)), transfer_(within, in.target, in.tokens, *this) {
    what_.what = verb::remove;
    what_.url = in.target.url;
    what_.header_lines = in.session_lines();
  }
  void begin() { transfer_.begin(std::move(what_)); }

 private:
  bool answered(const response_head&) override { return true; }
  bool body(std::string_view) override { return false; }
  void finished(result<void>) override { over_(); }

  http_request what_;
  std::function<void()> over_;
  transfer transfer_;
};

}  // namespace hondana::transport::http_client
