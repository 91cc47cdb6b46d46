/// An event loop for one thread: descriptors, timers and jobs.
#include "os/reactor/reactor.hpp"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>

#include <hondana/clock.hpp>

namespace hondana::reactor {
namespace {

// No entry has this mark, because there are never that many.
constexpr std::uint64_t bell_mark = ~std::uint64_t{0};

[[noreturn]] void give_up(const char* at) { throw std::system_error(errno, std::generic_category(), at); }

disk::handle opened(int descriptor, const char* at) {
  if (descriptor < 0) give_up(at);
  return disk::handle(descriptor);
}

/// The user data of a kernel event: the index of the entry, and its use.
std::uint64_t mark_of(std::size_t place, std::uint32_t use) noexcept {
  return static_cast<std::uint64_t>(use) << 32 | static_cast<std::uint32_t>(place);
}

}  // namespace

void waiter::ready(bool, bool) {}
void waiter::due() {}

reactor::reactor()
    : epoll_(opened(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      bell_(opened(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
  // Edge-triggered, so that the counter need not be read.
  epoll_event what{.events = EPOLLIN | EPOLLET, .data = {.u64 = bell_mark}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, bell_.get(), &what) != 0) give_up("epoll_ctl");
}

/// The order of operations matters on both sides: either the thread sees the job before it sleeps, or `post` sees that it
/// sleeps.
void reactor::post(std::function<void()> what) {
  {
    const std::lock_guard lock(posting_);
    if (has_ended_) return;
    posted_.push_back(std::move(what));
    has_posted_.store(true);
  }
  // This fails only if the counter overflows, which cannot happen in practice.
  if (!is_awake_.exchange(true)) (void)::eventfd_write(bell_.get(), 1);
}

void reactor::dispatch(std::function<void()> what) {
  if (thread_.load(std::memory_order_relaxed) == std::this_thread::get_id()) return what();
  post(std::move(what));
}

void reactor::run() {
  thread_ = std::this_thread::get_id();
  for (;;) {
    run_jobs();
    tell_times();
    tell_all();
    if (is_released_ && is_idle()) break;
    wait();
  }
  end();
}

/// Destroys late jobs after the lock is released, because jobs may own this object.
void reactor::end() {
  thread_ = std::thread::id();
  std::vector<std::function<void()>> late;
  const std::lock_guard lock(posting_);
  has_ended_ = true;
  late.swap(posted_);
}

bool reactor::is_idle() const noexcept { return used_places_ == 0 && times_.empty() && !has_posted_.load(); }

void reactor::tell_all() {
  while (next_told_ < all_told_) tell(told_[next_told_++]);
  if (is_telling_ && at_end_of_telling_) at_end_of_telling_();
  is_telling_ = false;
}

void reactor::tell(const epoll_event& of) {
  if (of.data.u64 == bell_mark) return;
  const auto at = static_cast<std::uint32_t>(of.data.u64);
  auto& one = places_[at];
  if (one.who == nullptr || mark_of(at, one.use) != of.data.u64) return;
  auto happened = of.events;
  // Reading or writing then returns the error.
  if ((happened & (EPOLLERR | EPOLLHUP)) != 0) happened |= EPOLLIN | EPOLLOUT;
  const auto told = happened & one.wanted;
  if (told == 0) return arm(at, one.wanted);  // otherwise the event would be reported repeatedly
  one.wanted &= ~told;
  one.who->ready((told & EPOLLIN) != 0, (told & EPOLLOUT) != 0);
}

void reactor::run_jobs() {
  if (next_running_ == running_.size()) {
    running_.clear();
    next_running_ = 0;
    if (!has_posted_.load()) return;
    const std::lock_guard lock(posting_);
    running_.swap(posted_);
    has_posted_.store(false);
  }
  while (next_running_ < running_.size()) {
    const auto job = std::move(running_[next_running_++]);
    job();
  }
}

void reactor::tell_times() {
  if (times_.empty()) return;
  // Timers that are set by callbacks run after others.
  const auto now = clock::now();
  for (auto most = times_.size(); most > 0 && !times_.empty() && times_.begin()->first <= now; --most) {
    auto& next = *times_.begin()->second;
    next.cancel();
    next.who_.due();
  }
}

void reactor::wait() {
  int most = -1;
  if (!times_.empty()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(times_.begin()->first - clock::now()).count();
    most = static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
  }
  is_awake_.store(false);
  if (has_posted_.load()) most = 0;
  const int count =
      ::epoll_wait(epoll_.get(), told_.data(), static_cast<int>(told_.size()), monotonic_clock::poll_timeout(most));
  is_awake_.store(true);
  next_told_ = 0;
  all_told_ = count > 0 ? static_cast<std::size_t>(count) : 0;
  is_telling_ = all_told_ != 0;
  if (count < 0 && errno != EINTR) give_up("epoll_wait");
}

std::size_t reactor::take_place(int descriptor, waiter& who) {
  if (free_places_.empty()) {
    // Reserve now, so that `leave_place` needs no memory.
    if (free_places_.capacity() <= places_.size()) free_places_.reserve(2 * places_.size() + 16);
    places_.emplace_back();
    free_places_.push_back(places_.size() - 1);
  }
  const auto at = free_places_.back();
  free_places_.pop_back();
  ++used_places_;
  places_[at] = {.who = &who, .descriptor = descriptor, .use = places_[at].use + 1};
  return at;
}

void reactor::leave_place(std::size_t at) noexcept {
  auto& one = places_[at];
  // The kernel removes a closed descriptor, but a duplicate may still refer to the same file.
  if (one.armed != 0) (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, one.descriptor, nullptr);
  one = {.use = one.use};
  free_places_.push_back(at);
  --used_places_;
}

void reactor::want(std::size_t at, std::uint32_t what) {
  auto& one = places_[at];
  one.wanted |= what;
  if ((one.armed & what) == 0) arm(at, one.armed | what);
}

/// Registers `what` with the kernel. Nothing means unregistered, because errors would be reported otherwise.
void reactor::arm(std::size_t at, std::uint32_t what) {
  auto& one = places_[at];
  if (one.armed == what) return;
  epoll_event asked{.events = what, .data = {.u64 = mark_of(at, one.use)}};
  const int how = one.armed == 0 ? EPOLL_CTL_ADD : what == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
  one.armed = what;
  if (::epoll_ctl(epoll_.get(), how, one.descriptor, &asked) == 0) return;
  one.armed = 0;
  give_up("epoll_ctl");
}

void readiness::open(int descriptor, waiter& who) { place_ = by_.take_place(descriptor, who); }

void readiness::close() noexcept {
  if (place_ != none) by_.leave_place(std::exchange(place_, none));
}

void timer::set(clock::time_point when) {
  const auto now = by_.times_.emplace(when, this);
  cancel();
  place_ = now;
  is_set_ = true;
}

void timer::cancel() noexcept {
  if (std::exchange(is_set_, false)) by_.times_.erase(place_);
}

}  // namespace hondana::reactor
