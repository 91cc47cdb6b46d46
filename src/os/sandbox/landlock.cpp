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

constexpr std::uint32_t query_version = 1;
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

constexpr std::uint64_t execute_file = bit(0);
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
constexpr std::uint64_t file_rights = execute_file | write_file | read_file | truncate | use_ioctl;

std::uint64_t rights_for(access mode) {
  switch (mode) {
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
      return read_file | read_folder | execute_file;
  }
  return 0;
}

ruleset make_ruleset(int version, const permissions& granted) {
  ruleset result;
  const auto right_count =
      rights_of_version[std::min<std::size_t>(static_cast<std::size_t>(version), rights_of_version.size() - 1)];
  result.files = bit(right_count) - 1;
  if (version >= 4) result.net = bind_tcp | (granted.connect_ports ? connect_tcp : 0);
  if (version >= 6) result.scopes = scope_signals | (granted.allows_abstract_sockets ? 0 : scope_abstract_sockets);
  return result;
}

tl::unexpected<failure> rejection(const std::string& subject, int error) {
  return fail(errc::source_unavailable, "the kernel's Landlock rejected " + subject + ": " + std::strerror(error));
}

result<void> allow_path(int rules, std::uint64_t supported, const path_permission& permission) {
  const disk::handle file(::open(permission.path.c_str(), O_PATH | O_CLOEXEC));
  if (!file.is_open()) {
    // A path that this process cannot reach anyway needs no rule.
    if (errno == ENOENT || errno == ENOTDIR || errno == EACCES || errno == ELOOP) return {};
    return rejection("a rule for " + permission.path, errno);
  }
  struct stat attributes{};
  if (::fstat(file.get(), &attributes) != 0) return rejection("a rule for " + permission.path, errno);
  path_rule rule{rights_for(permission.mode) & supported, file.get()};
  if (!S_ISDIR(attributes.st_mode)) rule.allowed &= file_rights;
  if (rule.allowed == 0) return {};
  if (::syscall(add_rule, rules, static_cast<int>(rule_type::path_beneath), &rule, 0) != 0)
    return rejection("a rule for " + permission.path, errno);
  return {};
}

result<void> allow_port(int rules, std::uint64_t right, std::uint16_t port) {
  const port_rule rule{right, port};
  if (::syscall(add_rule, rules, static_cast<int>(rule_type::net_port), &rule, 0) != 0)
    return rejection("a rule for TCP port " + std::to_string(port), errno);
  return {};
}

result<void> add_rules(int rules, const ruleset& handled, const permissions& granted) {
  for (const auto& permission : granted.paths) {
    HONDANA_TRY(allow_path(rules, handled.files, permission));
  }
  if ((handled.net & bind_tcp) != 0) {
    for (const auto port : granted.listen_ports) {
      HONDANA_TRY(allow_port(rules, bind_tcp, port));
    }
  }
  if ((handled.net & connect_tcp) == 0) return {};
  for (const auto port : *granted.connect_ports) {
    HONDANA_TRY(allow_port(rules, connect_tcp, port));
  }
  return {};
}

}  // namespace

int landlock_version() noexcept { return static_cast<int>(std::max(::syscall(create_ruleset, nullptr, 0, query_version), 0l)); }

result<void> apply_landlock(int version, const permissions& granted) {
  const auto handled = make_ruleset(version, granted);
  // Older kernels only accept a shorter struct with the first members.
  const auto size = version < 4   ? sizeof handled.files
                    : version < 6 ? sizeof handled.files + sizeof handled.net
                                  : sizeof handled;
  const disk::handle rules(static_cast<int>(::syscall(create_ruleset, &handled, size, 0)));
  if (!rules.is_open()) return rejection("a ruleset", errno);
  HONDANA_TRY(add_rules(rules.get(), handled, granted));
  if (::syscall(restrict_self, rules.get(), 0) != 0) return rejection("the activation of the ruleset", errno);
  return {};
}

}  // namespace hondana::sandbox
