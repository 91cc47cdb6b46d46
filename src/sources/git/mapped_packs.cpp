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

constexpr std::size_t max_stamps = 1000;

void add_stamp(pack_stamps& stamps, const std::string& object_folder, const std::string& name) {
  struct stat attributes{};
  if (::lstat((object_folder + '/' + name).c_str(), &attributes) == 0) stamps.emplace(name, disk::stamp_of(attributes));
}

}  // namespace

std::optional<pack_stamps> read_pack_stamps(const std::string& object_folder) {
  pack_stamps stamps;
  add_stamp(stamps, object_folder, "info/commit-graph");
  std::error_code error;
  std::filesystem::directory_iterator iterator(object_folder + "/pack", error);
  while (!error && iterator != std::filesystem::directory_iterator() && stamps.size() < max_stamps) {
    add_stamp(stamps, object_folder, "pack/" + iterator->path().filename().string());
    iterator.increment(error);
  }
  if (error && error != std::errc::no_such_file_or_directory) return std::nullopt;
  return stamps;
}

bool have_changed(const pack_stamps& previous, const pack_stamps& current) {
  return std::any_of(current.begin(), current.end(), [&previous](const auto& pack) {
    const auto match = previous.find(pack.first);
    return match == previous.end() || match->second != pack.second;
  });
}

namespace {

/// The innermost guard of this thread.
constinit thread_local truncation_guard* innermost_guard = nullptr;

// Set before our handler is installed, and then constant.
struct sigaction previous_handler{};
std::uintptr_t page_size = 0;

/// Async-signal-safe: mmap is only a system call.
bool map_zero_page(void* address) noexcept {
  const auto offset = reinterpret_cast<std::uintptr_t>(address) & (page_size - 1);
  auto* const page = static_cast<char*>(address) - offset;
  return ::mmap(page, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page;
}

void call_previous_handler(int signal, siginfo_t* info, void* context) noexcept {
  if ((previous_handler.sa_flags & SA_SIGINFO) != 0) return previous_handler.sa_sigaction(signal, info, context);
  if (previous_handler.sa_handler != SIG_DFL && previous_handler.sa_handler != SIG_IGN)
    return previous_handler.sa_handler(signal);
  // A fault is repeated when this returns, and then ends the process. A signal that was sent is not.
  const bool was_sent = info == nullptr || info->si_code <= 0;
  if (was_sent && previous_handler.sa_handler == SIG_IGN) return;
  std::signal(signal, SIG_DFL);
  if (was_sent) (void)::raise(signal);
}

void on_bus_error(int signal, siginfo_t* info, void* context) noexcept {
  const int error = errno;
  const auto* const inner = innermost_guard;
  if (inner == nullptr || info == nullptr || info->si_code != BUS_ADRERR) return call_previous_handler(signal, info, context);
  // First, so that another thread that reads the zeros finds the mark.
  for (const auto* guard = inner; guard != nullptr; guard = guard->outer()) guard->folders()->mark_truncated();
  if (!map_zero_page(info->si_addr)) return call_previous_handler(signal, info, context);
  errno = error;
}

int install_handler() noexcept {
  const long size = ::sysconf(_SC_PAGESIZE);
  if (size <= 0) return EINVAL;
  page_size = static_cast<std::uintptr_t>(size);
  // Read first, because our handler may run as soon as it is installed.
  if (::sigaction(SIGBUS, nullptr, &previous_handler) != 0) return errno;
  struct sigaction action{};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  return ::sigaction(SIGBUS, &action, nullptr) == 0 ? 0 : errno;
}

template <class T>
struct weak_registry {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<T>, std::less<>> by_folder;
};

}  // namespace

result<void> install_sigbus_handler() {
  static const int error = install_handler();
  if (error == 0) return {};
  return fail(errc::source_unavailable,
              "git repositories cannot be read: the handler for files that are truncated while being read (SIGBUS) cannot be "
              "installed. Ask the operator of the server to check its log.",
              std::strerror(error));
}

result<std::shared_ptr<const mapped_folders>> mapped_folders::create(const std::vector<std::string>& folders) {
  // Never destroyed: abandoned calls may still use it when the process ends.
  static auto& registry = *new weak_registry<folder_state>();
  auto mapped = std::make_shared<mapped_folders>();
  // Read before any of it is mapped, and without the lock.
  std::vector<std::shared_ptr<folder_state>> created;
  for (const auto& folder : folders) {
    created.push_back(std::make_shared<folder_state>());
    created.back()->folder = folder;
    created.back()->packs = read_pack_stamps(folder);
  }
  const std::lock_guard lock(registry.mutex);
  for (auto& state : created) {
    auto& slot = registry.by_folder[state->folder];
    auto existing = slot.lock();
    if (existing && existing->is_truncated.load()) return truncated_error();
    if (!existing) slot = existing = std::move(state);
    mapped->states_.push_back(std::move(existing));
  }
  std::erase_if(registry.by_folder, [](const auto& entry) { return entry.second.expired(); });
  return mapped;
}

bool mapped_folders::is_truncated() const noexcept {
  return std::any_of(states_.begin(), states_.end(), [](const auto& state) { return state->is_truncated.load(); });
}

void mapped_folders::mark_truncated() const noexcept {
  for (const auto& state : states_) state->is_truncated.store(true);
}

bool mapped_folders::is_outdated() const {
  return std::any_of(states_.begin(), states_.end(), [](const auto& state) {
    const auto current = read_pack_stamps(state->folder);
    return state->packs && current && have_changed(*state->packs, *current);
  });
}

bool mapped_folders::shares_folder_with(const mapped_folders& other) const noexcept {
  return std::find_first_of(states_.begin(), states_.end(), other.states_.begin(), other.states_.end()) != states_.end();
}

tl::unexpected<failure> truncated_error() {
  return fail(errc::source_unavailable, "The repository's files changed while they were being read. Retry.",
              "a mapped file was truncated");
}

truncation_guard::truncation_guard(std::shared_ptr<const mapped_folders> folders) noexcept
    : folders_(std::move(folders)), outer_(innermost_guard) {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  innermost_guard = this;
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

truncation_guard::~truncation_guard() {
  // Leases, and so guards, end in any order.
  auto** link = &innermost_guard;
  while (*link != nullptr && *link != this) link = &(*link)->outer_;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (*link != nullptr) *link = outer_;
}

}  // namespace hondana::git
