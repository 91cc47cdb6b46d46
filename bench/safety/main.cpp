/// What safety costs: small reads over HTTP of the real program with each part of it on alone and with all of them, in the same
/// run as without.
///
/// Usage: safety_bench PROGRAM [MILLISECONDS [REPETITIONS]]. Prints a Markdown table.
#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "../http/comparison.hpp"

namespace {

/// One part of safety: what of the configuration turns it on, and what turns it off.
struct part {
  std::string_view name;
  std::string_view on;
  std::string_view off;
  std::string_view off_for_source;  ///< Among the members of the source.
};

/// "PORT" stands for something that no other server has.
constexpr std::array parts{
    part{"access rules",
         "[[access.rule]]\nuris = [\"file:///\"]\nallow = [\"list\", \"read\"]\n"
         "[[access.rule]]\npatterns = [\"file:///**/private/**\"]\ndeny = true\n"
         "[[access.rule]]\ngroups = [\"staff\"]\nuris = [\"file:///\"]\nallow = [\"list\", \"read\"]\n",
         "", ""},
    part{"limits",
         "[limits]\ninclude_loopback = true\n"
         "[limits.address]\nrequests_per_second = 10000000\nbytes_per_second = \"100GiB\"\n"
         "[limits.identity]\nrequests_per_second = 10000000\nbytes_per_second = \"100GiB\"\n",
         "", ""},
    part{"audit", "[audit]\npath = \"record-PORT/audit.jsonl\"\nmax_file_bytes = \"16MiB\"\nmax_old_files = 2\n", "", ""},
    part{"redaction", "", "", "redact = false\n"},
    part{"sandbox", "[sandbox]\nmode = \"required\"\n", "[sandbox]\nmode = \"off\"\n", ""},
};

std::string with_port(std::string_view text, std::uint16_t port) {
  std::string out(text);
  for (auto at = out.find("PORT"); at != std::string::npos; at = out.find("PORT")) out.replace(at, 4, std::to_string(port));
  return out;
}

/// `is_on`: by part.
void enter(http_bench::comparison& among, const std::string& name, const std::array<bool, parts.size()>& is_on) {
  const auto port = http_bench::free_port();
  http_bench::configuration how;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    how.tables += with_port(is_on[i] ? parts[i].on : parts[i].off, port);
    if (!is_on[i]) how.of_source += parts[i].off_for_source;
  }
  among.enter(name, port, how);
}

void run(const std::string& program, std::chrono::milliseconds time, int repetitions) {
  http_bench::comparison among(program);
  enter(among, "nothing", {});
  for (std::size_t i = 0; i < parts.size(); ++i) {
    std::array<bool, parts.size()> alone{};
    alone[i] = true;
    enter(among, std::string(parts[i].name), alone);
  }
  std::array<bool, parts.size()> whole{};
  whole.fill(true);
  enter(among, "all of them", whole);
  among.run("what is on", time, repetitions);
}

}  // namespace

int main(int count, char** arguments) { return http_bench::run_with(count, arguments, "safety_bench", run); }
