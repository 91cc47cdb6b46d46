/// Getting better tokens for the transfers of one channel.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <hondana/error.hpp>
#include <hondana/token_source.hpp>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "base/executor/pool.hpp"
#include "transport/http_client/loop.hpp"

namespace hondana::transport::http_client {

/// Calls `token_source::obtain` on a thread of its own, once at a time. Those that were refused alike wait for one call, which
/// is asked to stop when none of them waits any more. Threads: the loop's, or any after its end.
class token_worker {
 public:
  using name = std::uint64_t;
  using hook = std::function<void(const result<void>&)>;

  /// `within` outlives it. `from` may be null: there are no tokens.
  token_worker(loop& within, std::shared_ptr<token_source> from);
  /// Tells nothing more. Waits for a source that stops, but not long.
  ~token_worker();
  token_worker(const token_worker&) = delete;
  token_worker& operator=(const token_worker&) = delete;

  /// Whether refused requests can be helped.
  [[nodiscard]] bool is_open() const noexcept { return from_ && !is_closed_; }
  /// What to send now: empty for nothing; nothing when one must be obtained first.
  [[nodiscard]] std::optional<std::string> token() const { return from_ ? from_->token() : std::string(); }
  /// Gets one that is better than `why.token`, and tells when there is one; never from inside the call.
  name obtain(refused_token why, hook over);
  /// Tells nothing more of it.
  void forget(name which);
  /// Stops what is under way; those that wait hear so, soon.
  void close();

 private:
  using waiters = std::map<name, hook>;
  struct errand {
    refused_token why;
    waiters waiting{};
    std::stop_source stop{};
  };
  struct news {
    name to;
    hook over;
    result<void> how;
  };
  struct way_back;

  [[nodiscard]] bool has_better(const refused_token& why) const;
  void run_first();
  void done(result<void> how);
  void end(waiters who, const result<void>& how);
  void tell();
  void tell_soon();

  loop& loop_;
  const std::shared_ptr<token_source> from_;
  std::deque<errand> errands_;  // the first is under way
  std::deque<news> news_;
  std::optional<loop::timer> telling_;
  name last_ = 0;
  bool is_closed_ = false;
  std::shared_ptr<way_back> back_;  // shared with the thread
  executor::pool pool_;
};

}  // namespace hondana::transport::http_client
