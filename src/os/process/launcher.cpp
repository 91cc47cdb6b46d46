/// Our end: what is asked of the launcher.
#include "os/process/launcher.hpp"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <string_view>

#include "os/process/launching.hpp"

namespace hondana::process {
namespace {

struct current {
  std::mutex mutex;
  std::shared_ptr<launcher> one;
};

current& now() {
  static current kept;
  return kept;
}

tl::unexpected<failure> gone(int error) {
  return fail(errc::source_unavailable,
              "the process that starts programs for this server has ended, and the sandbox does not allow another one; restart "
              "this process",
              error == 0 ? "it closed its socket" : std::strerror(error));
}

/// What is said of `like.variables`; nothing when it is another command.
std::optional<std::string> variables_of(const known_command& like, const child_target& what) {
  if (like.command != what.command || like.folder != what.folder) return {};
  if (what.environment.size() < like.environment.size()) return {};
  const auto own = what.environment.begin() + static_cast<std::ptrdiff_t>(like.environment.size());
  if (!std::equal(like.environment.begin(), like.environment.end(), what.environment.begin(), own)) return {};
  std::string text;
  for (auto one = own; one != what.environment.end(); ++one) {
    if (std::find(like.variables.begin(), like.variables.end(), one->first) == like.variables.end()) return {};
    (text += one->first + '=' + one->second) += '\0';
  }
  return text;
}

}  // namespace

result<std::shared_ptr<launcher>> launcher::begin(std::vector<known_command> commands) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0)
    return fail(errc::source_unavailable,
                std::string("cannot create a socket to the process that starts programs: ") + std::strerror(errno));
  disk::handle ours(ends[0]);
  const disk::handle theirs(ends[1]);
  const auto pid = ::fork();
  if (pid < 0)
    return fail(errc::source_unavailable,
                std::string("cannot start the process that starts programs: ") + std::strerror(errno));
  if (pid == 0) serve_launches(theirs.get(), commands);
  return std::shared_ptr<launcher>(new launcher(std::move(commands), std::move(ours), pid));
}

void launcher::use(std::shared_ptr<launcher> one) {
  auto& kept = now();
  const std::lock_guard lock(kept.mutex);
  kept.one.swap(one);
}

std::shared_ptr<launcher> launcher::in_use() {
  auto& kept = now();
  const std::lock_guard lock(kept.mutex);
  return kept.one;
}

launcher::~launcher() {
  to_ = disk::handle();  // which ends it
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

std::size_t launcher::number_of(const child_target& what) const {
  const auto found = std::find_if(commands_.begin(), commands_.end(),
                                  [&what](const auto& one) { return variables_of(one, what).has_value(); });
  return static_cast<std::size_t>(found - commands_.begin());
}

bool launcher::knows(const child_target& what) const { return number_of(what) != commands_.size(); }

result<launcher::attempt> launcher::start(const child_target& what, const std::array<int, 3>& descriptors) {
  const auto number = number_of(what);
  if (number == commands_.size()) {
    return fail(errc::access_denied, "the sandbox allows only programs that were configured when the server was started, and " +
                                         what.command.front() + " was not among them; restart the server");
  }
  const auto text = *variables_of(commands_[number], what);
  launch_request asked{.number = static_cast<std::uint32_t>(number)};
  const std::lock_guard lock(mutex_);
  if (const int error = send_request(to_.get(), asked, text, descriptors); error == EMSGSIZE || error == ENOBUFS) {
    return attempt{.error = E2BIG};
  } else if (error != 0) {
    return gone(error);
  }
  launch_answer got;
  attempt made;
  if (const int error = receive_answer(to_.get(), got, &made.tie); error != 0) return gone(error < 0 ? 0 : error);
  made.pid = got.pid;
  made.error = got.error;
  return made;
}

int launcher::signal(pid_t group, int number) noexcept {
  const launch_request asked{.number = signal_request, .group = group, .signal = number};
  const std::lock_guard lock(mutex_);
  launch_answer got;
  // When it has gone, what it started is out of reach: the kernel bars signals of ours that leave the sandbox.
  if (const int error = send_request(to_.get(), asked, {}, {}); error != 0) return error;
  if (const int error = receive_answer(to_.get(), got); error != 0) return error < 0 ? EPIPE : error;
  return got.error;
}

}  // namespace hondana::process
