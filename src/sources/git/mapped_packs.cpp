/// Pack files that libgit2 has mapped into memory: detects changes, and turns truncation (SIGBUS) into an error.
#include "sources/git/mapped_packs.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <system_error>
#include <utility>

namespace hondana::git {
namespace {

constexpr std::size_t most_stamps = 1000;

void add_stamp(pack_stamps& to, const std::string& objects, const std::string& name) {
  struct stat facts{};
  if (::lstat((objects + '/' + name).c_str(), &facts) == 0) to.emplace(name, disk::stamp_of(facts));
}

}  // namespace

std::optional<pack_stamps> stamps_of_packs(const std::string& objects) {
  pack_stamps all;
  add_stamp(all, objects, "info/commit-graph");
  std::error_code problem;
  std::filesystem::directory_iterator list(objects + "/pack", problem);
  while (!problem && list != std::filesystem::directory_iterator() && all.size() < most_stamps) {
    add_stamp(all, objects, "pack/" + list->path().filename().string());
    list.increment(problem);
  }
  if (problem && problem != std::errc::no_such_file_or_directory) return std::nullopt;
  return all;
}

bool have_changed(const pack_stamps& before, const pack_stamps& now) {
  return std::any_of(now.begin(), now.end(), [&before](const auto& one) {
    const auto known = before.find(one.first);
    return known == before.end() || known->second != one.second;
  });
}

namespace {

/// The innermost guard of this thread.
constinit thread_local torn_page_guard* innermost_guard = nullptr;

// Set before our handler is installed, and then constant.
struct sigaction handler_before{};
std::uintptr_t size_of_page = 0;

/// Async-signal-safe: mmap is only a system call.
bool put_zeros_at(void* address) noexcept {
  const auto behind = reinterpret_cast<std::uintptr_t>(address) & (size_of_page - 1);
  auto* const there = static_cast<char*>(address) - behind;
  return ::mmap(there, size_of_page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == there;
}

void hand_on(int signal, siginfo_t* about, void* context) noexcept {
  if ((handler_before.sa_flags & SA_SIGINFO) != 0) return handler_before.sa_sigaction(signal, about, context);
  if (handler_before.sa_handler != SIG_DFL && handler_before.sa_handler != SIG_IGN) return handler_before.sa_handler(signal);
  // A fault is repeated when this returns, and then ends the process. A signal that was sent is not.
  const bool was_sent = about == nullptr || about->si_code <= 0;
  if (was_sent && handler_before.sa_handler == SIG_IGN) return;
  std::signal(signal, SIG_DFL);
  if (was_sent) (void)::raise(signal);
}

void on_bus_error(int signal, siginfo_t* about, void* context) noexcept {
  const int error = errno;
  const auto* const inner = innermost_guard;
  if (inner == nullptr || about == nullptr || about->si_code != BUS_ADRERR) return hand_on(signal, about, context);
  // First, so that another thread that reads the zeros finds the mark.
  for (const auto* one = inner; one != nullptr; one = one->outer()) one->what()->tear();
  if (!put_zeros_at(about->si_addr)) return hand_on(signal, about, context);
  errno = error;
}

int install() noexcept {
  const long size = ::sysconf(_SC_PAGESIZE);
  if (size <= 0) return EINVAL;
  size_of_page = static_cast<std::uintptr_t>(size);
  // Read first, because our handler may run as soon as it is installed.
  if (::sigaction(SIGBUS, nullptr, &handler_before) != 0) return errno;
  struct sigaction ours{};
  ours.sa_sigaction = on_bus_error;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&ours.sa_mask);
  return ::sigaction(SIGBUS, &ours, nullptr) == 0 ? 0 : errno;
}

template <class T>
struct named_marks {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<T>, std::less<>> by_folder;
};

}  // namespace

result<void> catch_torn_pages() {
  static const int error = install();
  if (error == 0) return {};
  return fail(errc::source_unavailable,
              "git repositories cannot be read: the handler for files that are truncated while being read (SIGBUS) cannot be "
              "installed. Ask the operator of the server to check its log.",
              std::strerror(error));
}

result<std::shared_ptr<const mapped_folders>> mapped_folders::of(const std::vector<std::string>& folders) {
  // Never destroyed: abandoned calls may still use it when the process ends.
  static auto& known = *new named_marks<mark>();
  auto all = std::make_shared<mapped_folders>();
  // Read before any of it is mapped, and without the lock.
  std::vector<std::shared_ptr<mark>> fresh;
  for (const auto& one : folders) {
    fresh.push_back(std::make_shared<mark>());
    fresh.back()->folder = one;
    fresh.back()->packs = stamps_of_packs(one);
  }
  const std::lock_guard lock(known.mutex);
  for (auto& one : fresh) {
    auto& slot = known.by_folder[one->folder];
    auto there = slot.lock();
    if (there && there->is_torn.load()) return torn();
    if (!there) slot = there = std::move(one);
    all->marks_.push_back(std::move(there));
  }
  std::erase_if(known.by_folder, [](const auto& one) { return one.second.expired(); });
  return all;
}

bool mapped_folders::is_torn() const noexcept {
  return std::any_of(marks_.begin(), marks_.end(), [](const auto& one) { return one->is_torn.load(); });
}

void mapped_folders::tear() const noexcept {
  for (const auto& one : marks_) one->is_torn.store(true);
}

bool mapped_folders::is_outdated() const {
  return std::any_of(marks_.begin(), marks_.end(), [](const auto& one) {
    const auto now = stamps_of_packs(one->folder);
    return one->packs && now && have_changed(*one->packs, *now);
  });
}

bool mapped_folders::shares_with(const mapped_folders& other) const noexcept {
  return std::find_first_of(marks_.begin(), marks_.end(), other.marks_.begin(), other.marks_.end()) != marks_.end();
}

tl::unexpected<failure> torn() {
  return fail(errc::source_unavailable, "The repository's files changed while they were being read. Retry.",
              "a mapped file was truncated");
}

torn_page_guard::torn_page_guard(std::shared_ptr<const mapped_folders> what) noexcept
    : what_(std::move(what)), outer_(innermost_guard) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  innermost_guard = this;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

torn_page_guard::~torn_page_guard() {
  // Leases, and so guards, end in any order.
  auto** above = &innermost_guard;
  while (*above != nullptr && *above != this) above = &(*above)->outer_;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (*above != nullptr) *above = outer_;
}

}  // namespace hondana::git
