/// Landlock rules for files, TCP and other processes. Uses the kernel's numbers directly.
///
/// The headers of Debian 12 only have the second version of Landlock.
/// Source: Documentation/userspace-api/landlock.rst of Linux 6.15.

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "os/disk/file_descriptor.hpp"
#include "os/sandbox/sandbox.hpp"

namespace hondana::sandbox {
namespace {

#ifdef SYS_landlock_create_ruleset
constexpr long create_ruleset = SYS_landlock_create_ruleset;
constexpr long add_rule = SYS_landlock_add_rule;
constexpr long restrict_self = SYS_landlock_restrict_self;
#else
constexpr long create_ruleset = 444;
constexpr long add_rule = 445;
constexpr long restrict_self = 446;
#endif

constexpr std::uint32_t ask_for_version = 1;
enum class rule_type : int { path_beneath = 1, net_port = 2 };

struct ruleset {
  std::uint64_t files = 0;
  std::uint64_t net = 0;
  std::uint64_t scopes = 0;
};
struct [[gnu::packed]] path_rule {
  std::uint64_t allowed = 0;
  std::int32_t folder = -1;
};
struct port_rule {
  std::uint64_t allowed = 0;
  std::uint64_t port = 0;
};

constexpr std::uint64_t bit(unsigned number) { return std::uint64_t{1} << number; }

constexpr std::uint64_t run_file = bit(0);
constexpr std::uint64_t write_file = bit(1);
constexpr std::uint64_t read_file = bit(2);
constexpr std::uint64_t read_folder = bit(3);
constexpr std::uint64_t remove_folder = bit(4);
constexpr std::uint64_t remove_file = bit(5);
constexpr std::uint64_t make_folder = bit(7);
constexpr std::uint64_t make_file = bit(8);
constexpr std::uint64_t make_socket = bit(9);
constexpr std::uint64_t make_link = bit(12);
constexpr std::uint64_t refer = bit(13);
constexpr std::uint64_t truncate = bit(14);
constexpr std::uint64_t use_ioctl = bit(15);
constexpr std::uint64_t bind_tcp = bit(0);
constexpr std::uint64_t connect_tcp = bit(1);
constexpr std::uint64_t scope_abstract_sockets = bit(0);
constexpr std::uint64_t scope_signals = bit(1);

/// Number of file rights in each version. The last entry also applies to later versions.
constexpr std::array<unsigned, 6> rights_of_version{0, 13, 14, 15, 15, 16};
/// The rights that apply to files other than folders.
constexpr std::uint64_t on_files = run_file | write_file | read_file | truncate | use_ioctl;

std::uint64_t rights_for(access may) {
  switch (may) {
    case access::read:
      return read_file | read_folder;
    case access::read_named:
      return read_file;
    case access::write:
      return read_file | read_folder | write_file | truncate | make_file | make_folder | make_link | remove_file |
             remove_folder | refer;
    case access::use_device:
      return read_file | write_file | truncate | use_ioctl;
    case access::listen:
      return read_folder | make_socket | remove_file;
    case access::execute:
      return read_file | read_folder | run_file;
  }
  return 0;
}

ruleset handled(int version, const permissions& to) {
  ruleset all;
  const auto known = rights_of_version[std::min<std::size_t>(static_cast<std::size_t>(version), rights_of_version.size() - 1)];
  all.files = bit(known) - 1;
  if (version >= 4) all.net = bind_tcp | (to.connects ? connect_tcp : 0);
  if (version >= 6) all.scopes = scope_signals | (to.abstract_sockets ? 0 : scope_abstract_sockets);
  return all;
}

tl::unexpected<failure> refused(const std::string& what, int error) {
  return fail(errc::source_unavailable, "the kernel's Landlock rejected " + what + ": " + std::strerror(error));
}

result<void> allow_path(int rules, std::uint64_t known, const path_permission& one) {
  const disk::handle at(::open(one.path.c_str(), O_PATH | O_CLOEXEC));
  if (!at.is_open()) {
    // A path that this process cannot reach anyway needs no rule.
    if (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP) return {};
    return refused("a rule for " + one.path, errno);
  }
  struct stat facts{};
  if (::fstat(at.get(), &facts) != 0) return refused("a rule for " + one.path, errno);
  path_rule rule{rights_for(one.may) & known, at.get()};
  if (!S_ISDIR(facts.st_mode)) rule.allowed &= on_files;
  if (rule.allowed == 0) return {};
  if (::syscall(add_rule, rules, static_cast<int>(rule_type::path_beneath), &rule, 0) != 0)
    return refused("a rule for " + one.path, errno);
  return {};
}

result<void> allow_port(int rules, std::uint64_t right, std::uint16_t port) {
  const port_rule rule{right, port};
  if (::syscall(add_rule, rules, static_cast<int>(rule_type::net_port), &rule, 0) != 0)
    return refused("a rule for TCP port " + std::to_string(port), errno);
  return {};
}

result<void> add_rules(int rules, const ruleset& all, const permissions& to) {
  for (const auto& one : to.paths) {
    HONDANA_TRY(allow_path(rules, all.files, one));
  }
  if ((all.net & bind_tcp) != 0) {
    for (const auto port : to.listens) {
      HONDANA_TRY(allow_port(rules, bind_tcp, port));
    }
  }
  if ((all.net & connect_tcp) == 0) return {};
  for (const auto port : *to.connects) {
    HONDANA_TRY(allow_port(rules, connect_tcp, port));
  }
  return {};
}

}  // namespace

int landlock_version() noexcept {
  return static_cast<int>(std::max(::syscall(create_ruleset, nullptr, 0, ask_for_version), 0l));
}

result<void> apply_landlock(int version, const permissions& to) {
  const auto all = handled(version, to);
  // Older kernels only accept a shorter struct with the first members.
  const auto size = version < 4 ? sizeof all.files : version < 6 ? sizeof all.files + sizeof all.net : sizeof all;
  const disk::handle rules(static_cast<int>(::syscall(create_ruleset, &all, size, 0)));
  if (!rules.is_open()) return refused("a ruleset", errno);
  HONDANA_TRY(add_rules(rules.get(), all, to));
  if (::syscall(restrict_self, rules.get(), 0) != 0) return refused("the activation of the ruleset", errno);
  return {};
}

}  // namespace hondana::sandbox
