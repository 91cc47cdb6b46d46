/// Counting open readers.
#include "sources/files/reader_set.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace hondana::files {
namespace {

constexpr std::size_t fewest = 16;
constexpr std::size_t most_of_all = 16'384;

/// Asked anew each time: a program may raise the limit after this was first asked for.
std::size_t allowed_by_descriptors() noexcept {
  rlimit now{};
  if (::getrlimit(RLIMIT_NOFILE, &now) != 0) return fewest;
  return static_cast<std::size_t>(std::clamp<rlim_t>(now.rlim_cur / 8, fewest, most_of_all));
}

/// Nobody but this machine's own users, who may be many behind a proxy.
bool is_local(std::string_view address) noexcept {
  return address.empty() || address == "unix" || address == "::1" || address.starts_with("127.");
}

/// What counts as one address: of IPv6 a network, since its owner has all of it.
std::string counted(const std::string& address) {
  std::array<unsigned char, sizeof(in6_addr)> bytes{};
  if (::inet_pton(AF_INET6, address.c_str(), bytes.data()) != 1) return address;
  return {bytes.begin(), bytes.begin() + 8};
}

}  // namespace

struct reader_set::state {
  std::size_t most = 0;
  std::mutex mutex;
  std::size_t open = 0;
  std::unordered_map<std::string, std::size_t> of_address;
};

reader_set::reader_set(std::size_t most) : state_(std::make_shared<state>()) { state_->most = most; }

result<std::shared_ptr<void>> reader_set::enter(const std::string& address) {
  auto& s = *state_;
  const auto most = s.most != 0 ? s.most : allowed_by_descriptors();
  const auto allowed = is_local(address) ? most : std::max<std::size_t>(most / 4, 1);
  auto key = counted(address);
  {
    const std::lock_guard lock(s.mutex);
    auto& mine = s.of_address[key];
    if (s.open >= most || mine >= allowed) {
      if (mine == 0) s.of_address.erase(key);
      return fail(errc::overloaded,
                  "Too many large files are being sent at once. Finish reading the pending responses first, or request a part "
                  "of at most 64 KiB.");
    }
    ++s.open;
    ++mine;
  }
  return std::shared_ptr<void>(nullptr, [of = state_, key = std::move(key)](void*) {
    const std::lock_guard lock(of->mutex);
    --of->open;
    if (const auto mine = of->of_address.find(key); --mine->second == 0) of->of_address.erase(mine);
  });
}

}  // namespace hondana::files
