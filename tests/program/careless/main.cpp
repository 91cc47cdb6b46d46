/// The program with a defect: a server put together and confined as `hondana serve` does it, with sources that do with the
/// machine whatever a URI says. It shows that the sandbox alone prevents it.
///
/// careless CONFIG CANARY: serves CONFIG by HTTP and writes the port to its standard output; ends with its input. Each thread
/// tries to open CANARY when it begins.
#include <arpa/inet.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <hondana/server.hpp>
#include <hondana/uri.hpp>

#include "app/cli/assembly.hpp"
#include "app/cli/log.hpp"
#include "app/cli/sandbox/server_sandbox.hpp"
#include "app/cli/signals.hpp"
#include "os/disk/file_descriptor.hpp"

namespace {

using namespace hondana;

const char* canary = nullptr;
std::atomic<int> threads_begun{0};
std::atomic<int> canaries_opened{0};

int error_of(long outcome) { return outcome < 0 ? errno : 0; }

int connecting(const std::string& port) {
  sockaddr_in where{};
  std::uint16_t number = 0;
  std::from_chars(port.data(), port.data() + port.size(), number);
  where.sin_family = AF_INET;
  where.sin_port = htons(number);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const disk::handle to(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  return error_of(::connect(to.get(), reinterpret_cast<const sockaddr*>(&where), sizeof where));
}

/// The error number of what was tried, 0 for none.
int attempt(std::string_view what, const std::string& with) {
  if (what == "open") return error_of(disk::handle(::open(with.c_str(), O_RDONLY | O_CLOEXEC)).release());
  if (what == "write") return error_of(disk::handle(::open(with.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)).release());
  if (what == "remove") return error_of(::unlink(with.c_str()));
  if (what == "chmod") return error_of(::chmod(with.c_str(), 0777));
  if (what == "date") return error_of(::utimensat(AT_FDCWD, with.c_str(), nullptr, 0));
  if (what == "limit")
    return error_of(::prlimit(static_cast<pid_t>(std::stol(with)), RLIMIT_NOFILE, nullptr, std::make_unique<rlimit>().get()));
  if (what == "connect") return connecting(with);
  if (what == "signal") return error_of(::kill(static_cast<pid_t>(std::stol(with)), 0));
  if (what == "run") {
    std::array<char*, 1> none{nullptr};
    return error_of(::execve(with.c_str(), none.data(), none.data()));
  }
  return ENOSYS;
}

/// `SCHEME:///WHAT?PATH` answers with what came of it.
class careless_source final : public provider {
 public:
  careless_source(std::string scheme, bool is_inline) : scheme_(std::move(scheme)), is_inline_(is_inline) {}
  [[nodiscard]] std::string name() const override { return scheme_; }
  [[nodiscard]] std::vector<std::string> claims() const override { return {scheme_ + ":///"}; }
  [[nodiscard]] scheme_documentation documentation() const override { return {scheme_, "Does what it is told.", {}, {}}; }
  [[nodiscard]] result<list_result> list(const list_request&) override { return list_result{}; }
  [[nodiscard]] hondana::provider_traits traits() const noexcept override { return {.never_blocks = is_inline_}; }
  [[nodiscard]] result<read_result> read(const read_request& request) override {
    const auto parts = split_uri(request.uri);
    const auto what = std::string_view(parts.path).substr(1);
    if (what == "threads")
      return text_read_result(std::to_string(threads_begun) + " begun, " + std::to_string(canaries_opened) + " opened");
    const auto with = percent_decode(parts.query.value_or(""));
    return text_read_result(std::to_string(attempt(what, with.value_or(""))));
  }

 private:
  const std::string scheme_;
  const bool is_inline_;
};

int failed(const failure& why) {
  std::fprintf(stderr, "%s (%s)\n", why.public_text.c_str(), why.private_text.c_str());
  return 1;
}

int serve(const std::string& config) {
  const auto log = cli::standard_log();
  cli::assembly assembly({.paths = {}, .config_file = config, .allow = {}}, log);
  auto whole = assembly.assemble();
  if (!whole) return failed(whole.error());
  http_options http;
  http.port = 0;
  const auto sandbox = cli::server_sandbox::create(*whole, {.http = &http, .config_file = config, .token_file = {}}, log);
  if (!sandbox) return failed(sandbox.error());
  const cli::signals watch([] {}, [] {});
  whole->providers.push_back(std::make_shared<careless_source>("careless", false));
  whole->providers.push_back(std::make_shared<careless_source>("hasty", true));
  auto server = server::create();
  if (!server) return failed(server.error());
  if (auto done = server->replace(whole->options, whole->providers); !done) return failed(done.error());
  auto service = http_service::start(*server, http);
  if (!service) return failed(service.error());
  std::printf("%u\n", unsigned{service->port()});
  std::fflush(stdout);
  while (std::getchar() != EOF) {
  }
  return 0;
}

}  // namespace

#ifndef HONDANA_IS_SANITIZED
namespace {

void try_canary() {
  ++threads_begun;
  if (disk::handle(::open(canary, O_RDONLY | O_CLOEXEC)).is_open()) ++canaries_opened;
}

struct beginning {
  void* (*begin)(void*);
  void* with;
};

void* begin_with_canary(void* raw) {
  const std::unique_ptr<beginning> one(static_cast<beginning*>(raw));
  try_canary();
  return one->begin(one->with);
}

}  // namespace

/// Stands before the C library's, so that no thread begins without having tried.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*begin)(void*), void* with) noexcept {
  static const auto real = reinterpret_cast<decltype(&pthread_create)>(::dlsym(RTLD_NEXT, "pthread_create"));
  auto one = std::make_unique<beginning>(beginning{begin, with});
  const int error = real(thread, attributes, &begin_with_canary, one.get());
  if (error == 0) static_cast<void>(one.release());
  return error;
}
#endif

int main(int count, char** arguments) {
  if (count != 3) return 2;
  canary = arguments[2];
  return serve(arguments[1]);
}
