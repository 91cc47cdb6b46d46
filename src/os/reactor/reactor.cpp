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
constexpr std::uint64_t wakeup_mark = ~std::uint64_t{0};

[[noreturn]] void throw_errno(const char* operation) { throw std::system_error(errno, std::generic_category(), operation); }

disk::handle checked_handle(int descriptor, const char* operation) {
  if (descriptor < 0) throw_errno(operation);
  return disk::handle(descriptor);
}

/// The user data of a kernel event: the index of the entry, and its generation.
std::uint64_t make_mark(std::size_t index, std::uint32_t generation) noexcept {
  return static_cast<std::uint64_t>(generation) << 32 | static_cast<std::uint32_t>(index);
}

}  // namespace

void event_handler::on_ready(bool, bool) {}
void event_handler::on_timer() {}

reactor::reactor()
    : epoll_(checked_handle(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      wakeup_(checked_handle(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")) {
  // Edge-triggered, so that the counter need not be read.
  epoll_event event{.events = EPOLLIN | EPOLLET, .data = {.u64 = wakeup_mark}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wakeup_.get(), &event) != 0) throw_errno("epoll_ctl");
}

/// The order of operations matters on both sides: either the thread sees the job before it sleeps, or `post` sees that it
/// sleeps.
void reactor::post(std::function<void()> job) {
  {
    const std::lock_guard lock(posted_mutex_);
    if (is_finished_) return;
    posted_.push_back(std::move(job));
    has_posted_.store(true);
  }
  // This fails only if the counter overflows, which cannot happen in practice.
  if (!is_awake_.exchange(true)) (void)::eventfd_write(wakeup_.get(), 1);
}

void reactor::dispatch(std::function<void()> job) {
  if (thread_.load(std::memory_order_relaxed) == std::this_thread::get_id()) return job();
  post(std::move(job));
}

void reactor::run() {
  thread_ = std::this_thread::get_id();
  for (;;) {
    run_jobs();
    run_timers();
    dispatch_events();
    if (is_released_ && is_idle()) break;
    wait();
  }
  finish();
}

/// Destroys late jobs after the lock is released, because jobs may own this object.
void reactor::finish() {
  thread_ = std::thread::id();
  std::vector<std::function<void()>> late_jobs;
  const std::lock_guard lock(posted_mutex_);
  is_finished_ = true;
  late_jobs.swap(posted_);
}

bool reactor::is_idle() const noexcept { return registered_count_ == 0 && timers_.empty() && !has_posted_.load(); }

void reactor::dispatch_events() {
  while (next_event_ < event_count_) dispatch_event(events_[next_event_++]);
  if (has_events_ && on_iteration_end_) on_iteration_end_();
  has_events_ = false;
}

void reactor::dispatch_event(const epoll_event& event) {
  if (event.data.u64 == wakeup_mark) return;
  const auto index = static_cast<std::uint32_t>(event.data.u64);
  auto& entry = registrations_[index];
  if (entry.handler == nullptr || make_mark(index, entry.generation) != event.data.u64) return;
  auto events = event.events;
  // Reading or writing then returns the error.
  if ((events & (EPOLLERR | EPOLLHUP)) != 0) events |= EPOLLIN | EPOLLOUT;
  const auto reported = events & entry.interest;
  if (reported == 0) return arm(index, entry.interest);  // otherwise the event would be reported repeatedly
  entry.interest &= ~reported;
  entry.handler->on_ready((reported & EPOLLIN) != 0, (reported & EPOLLOUT) != 0);
}

void reactor::run_jobs() {
  if (next_job_ == jobs_.size()) {
    jobs_.clear();
    next_job_ = 0;
    if (!has_posted_.load()) return;
    const std::lock_guard lock(posted_mutex_);
    jobs_.swap(posted_);
    has_posted_.store(false);
  }
  while (next_job_ < jobs_.size()) {
    const auto job = std::move(jobs_[next_job_++]);
    job();
  }
}

void reactor::run_timers() {
  if (timers_.empty()) return;
  // Timers that are set by callbacks run after others.
  const auto now = clock::now();
  for (auto max_runs = timers_.size(); max_runs > 0 && !timers_.empty() && timers_.begin()->first <= now; --max_runs) {
    auto& next = *timers_.begin()->second;
    next.cancel();
    next.handler_.on_timer();
  }
}

void reactor::wait() {
  int timeout = -1;
  if (!timers_.empty()) {
    const auto remaining = std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first - clock::now()).count();
    timeout = static_cast<int>(std::clamp<std::int64_t>(remaining, 0, std::numeric_limits<int>::max()));
  }
  is_awake_.store(false);
  if (has_posted_.load()) timeout = 0;
  const int count =
      ::epoll_wait(epoll_.get(), events_.data(), static_cast<int>(events_.size()), monotonic_clock::poll_timeout(timeout));
  is_awake_.store(true);
  next_event_ = 0;
  event_count_ = count > 0 ? static_cast<std::size_t>(count) : 0;
  has_events_ = event_count_ != 0;
  if (count < 0 && errno != EINTR) throw_errno("epoll_wait");
}

std::size_t reactor::register_descriptor(int descriptor, event_handler& handler) {
  if (free_indices_.empty()) {
    // Reserve now, so that `unregister` needs no memory.
    if (free_indices_.capacity() <= registrations_.size()) free_indices_.reserve(2 * registrations_.size() + 16);
    registrations_.emplace_back();
    free_indices_.push_back(registrations_.size() - 1);
  }
  const auto index = free_indices_.back();
  free_indices_.pop_back();
  ++registered_count_;
  registrations_[index] = {.handler = &handler, .descriptor = descriptor, .generation = registrations_[index].generation + 1};
  return index;
}

void reactor::unregister(std::size_t index) noexcept {
  auto& entry = registrations_[index];
  // The kernel removes a closed descriptor, but a duplicate may still refer to the same file.
  if (entry.armed != 0) (void)::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, entry.descriptor, nullptr);
  entry = {.generation = entry.generation};
  free_indices_.push_back(index);
  --registered_count_;
}

void reactor::request_events(std::size_t index, std::uint32_t events) {
  auto& entry = registrations_[index];
  entry.interest |= events;
  if ((entry.armed & events) == 0) arm(index, entry.armed | events);
}

/// Registers `events` with the kernel. Nothing means unregistered, because errors would be reported otherwise.
void reactor::arm(std::size_t index, std::uint32_t events) {
  auto& entry = registrations_[index];
  if (entry.armed == events) return;
  epoll_event event{.events = events, .data = {.u64 = make_mark(index, entry.generation)}};
  const int operation = entry.armed == 0 ? EPOLL_CTL_ADD : events == 0 ? EPOLL_CTL_DEL : EPOLL_CTL_MOD;
  entry.armed = events;
  if (::epoll_ctl(epoll_.get(), operation, entry.descriptor, &event) == 0) return;
  entry.armed = 0;
  throw_errno("epoll_ctl");
}

void readiness::open(int descriptor, event_handler& handler) { index_ = event_loop_.register_descriptor(descriptor, handler); }

void readiness::close() noexcept {
  if (index_ != unregistered) event_loop_.unregister(std::exchange(index_, unregistered));
}

void timer::set(clock::time_point due_at) {
  const auto inserted = event_loop_.timers_.emplace(due_at, this);
  cancel();
  position_ = inserted;
  is_set_ = true;
}

void timer::cancel() noexcept {
  if (std::exchange(is_set_, false)) event_loop_.timers_.erase(position_);
}

}  // namespace hondana::reactor
