/// Who waits for which token, and what they hear.
#include "transport/http_client/token_worker.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <utility>

namespace hondana::transport::http_client {
namespace {

/// For a source that has been asked to stop; after that its thread is left alone.
constexpr std::chrono::milliseconds time_to_stop{2'000};

}  // namespace

/// A source that does not stop may come back when nobody is there any more.
struct token_worker::way_back {
  std::mutex mutex;
  token_worker* to;  // guarded by mutex
};

token_worker::token_worker(loop& within, std::shared_ptr<token_source> from)
    : loop_(within), from_(std::move(from)), back_(std::make_shared<way_back>()), pool_("the source of tokens", 1) {
  back_->to = this;
}

token_worker::~token_worker() {
  close();
  if (telling_) loop_.cancel(*telling_);
  {
    const std::lock_guard lock(back_->mutex);
    back_->to = nullptr;
  }
  pool_.close(executor::clock::now() + time_to_stop);
}

token_worker::name token_worker::obtain(refused_token why, hook over) {
  const auto as = ++last_;
  if (has_better(why)) {
    news_.push_back({as, std::move(over), {}});
    tell_soon();
    return as;
  }
  const auto same = std::find_if(errands_.begin(), errands_.end(), [&why](const errand& one) {
    return one.why.token == why.token && one.why.status == why.status && one.why.challenges == why.challenges &&
           !one.stop.stop_requested();
  });
  if (same != errands_.end()) {
    same->waiting.emplace(as, std::move(over));
    return as;
  }
  auto& next = errands_.emplace_back();
  next.why = std::move(why);
  next.waiting.emplace(as, std::move(over));
  if (errands_.size() == 1) run_first();
  return as;
}

void token_worker::forget(name which) {
  std::erase_if(news_, [which](const news& one) { return one.to == which; });
  for (auto one = errands_.begin(); one != errands_.end(); ++one) {
    if (one->waiting.erase(which) == 0) continue;
    if (!one->waiting.empty()) return;
    one->stop.request_stop();
    if (one != errands_.begin()) errands_.erase(one);
    return;
  }
}

void token_worker::close() {
  if (std::exchange(is_closed_, true) || errands_.empty()) return;
  for (auto& one : errands_) {
    one.stop.request_stop();
    end(std::exchange(one.waiting, {}), fail(errc::cancelled, "the connection was closed while a token was being obtained"));
  }
  errands_.resize(1);
  tell_soon();
}

/// Another request may have been refused with the same token before, and got a new one since.
bool token_worker::has_better(const refused_token& why) const {
  const auto now = from_->token();
  return now && !now->empty() && *now != why.token;
}

void token_worker::run_first() {
  auto job = [from = from_, why = errands_.front().why, stop = errands_.front().stop.get_token(), back = back_] {
    auto how = from->obtain(why, stop);
    const std::lock_guard lock(back->mutex);
    if (back->to == nullptr) return;
    back->to->loop_.post([it = back->to, how = std::move(how)] { it->done(how); });
  };
  if (auto begun = pool_.submit(std::move(job), executor::clock::time_point::max()); !begun) {
    // Without a thread there is none for the others either.
    for (auto& one : std::exchange(errands_, {})) end(std::move(one.waiting), tl::unexpected(begun.error()));
    tell_soon();
  }
}

void token_worker::done(result<void> how) {
  end(std::move(errands_.front().waiting), how);
  errands_.pop_front();
  while (!errands_.empty() && has_better(errands_.front().why)) {
    end(std::move(errands_.front().waiting), {});
    errands_.pop_front();
  }
  if (!errands_.empty()) run_first();
  tell();
}

void token_worker::end(waiters who, const result<void>& how) {
  for (auto& [as, over] : who) news_.push_back({as, std::move(over), how});
}

void token_worker::tell() {
  // One who is told may make others forget what they wait for.
  while (!news_.empty()) {
    const auto one = std::move(news_.front());
    news_.pop_front();
    one.over(one.how);
  }
}

void token_worker::tell_soon() {
  if (telling_) return;
  telling_ = loop_.after(std::chrono::milliseconds(0), [this] {
    telling_.reset();
    tell();
  });
}

}  // namespace hondana::transport::http_client
