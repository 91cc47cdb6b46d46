/// Whole messages that leave together.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "base/bytes/spare_text.hpp"
#include "protocol/rpc/body.hpp"
#include "protocol/rpc/receipt.hpp"

namespace hondana::transport::stdio {

/// Lines that are ready to be written, in order, and whoever wants to know how they leave. Threads: one at a time.
class parcel {
 public:
  [[nodiscard]] bool empty() const noexcept { return text_.empty(); }
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  /// A message that is whole, as one line.
  void add(rpc::body message) {
    receipts_.add(message.sent_for());
    auto line = message.take_text();
    text_ += line;
    text_ += '\n';
    bytes::keep_spare_text(std::move(line));  // the next answer of this thread needs none of its own
  }
  /// Puts all of it behind what is there; this one is empty then.
  void take(std::string& text, rpc::receipts& of) {
    text += text_;
    of.add(std::move(receipts_));
    clear();
  }
  void take(parcel& into) { take(into.text_, into.receipts_); }
  /// The first `bytes` have been written.
  void has_left(std::size_t bytes) { text_.erase(0, bytes); }
  void settle(rpc::departure how) { receipts_.settle(how); }
  /// Empty again; whoever still waited is told that it is gone. Keeps its memory for the next, within reason.
  void clear() {
    receipts_ = {};
    text_.clear();
    if (text_.capacity() > kept_bytes) text_ = std::string();
  }

 private:
  static constexpr std::size_t kept_bytes = 128 * 1024;

  std::string text_;
  rpc::receipts receipts_;
};

}  // namespace hondana::transport::stdio
