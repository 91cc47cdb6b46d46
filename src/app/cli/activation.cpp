/// Reading the environment of socket activation.
#include "app/cli/activation.hpp"

#include <unistd.h>

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

namespace hondana::cli {
namespace {

constexpr int first_descriptor = 3;
constexpr int most_descriptors = 64;

std::string take_variable(const char* name) {
  const char* value = std::getenv(name);
  std::string text = value == nullptr ? "" : value;
  ::unsetenv(name);
  return text;
}

/// -1 when it is no number.
long number_in(std::string_view text) {
  long value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : -1;
}

}  // namespace

result<inherited_sockets> take_inherited_sockets() {
  const auto pid = take_variable("LISTEN_PID");
  const auto count_text = take_variable("LISTEN_FDS");
  const auto names = take_variable("LISTEN_FDNAMES");
  inherited_sockets out;
  // Variables left over from a parent are for that parent.
  if (number_in(pid) != ::getpid() || count_text.empty()) return out;
  const auto count = number_in(count_text);
  if (count < 0 || count > most_descriptors) {
    return fail(errc::invalid_argument, "Cannot take over sockets: LISTEN_FDS=" + count_text + " is not a number up to " +
                                            std::to_string(most_descriptors) +
                                            ". systemd, or the program that started hondana, sets it.");
  }
  std::string_view rest = names;
  for (int i = 0; i < count; ++i) {
    const auto colon = rest.find(':');
    const auto name = rest.substr(0, colon);
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
    if (name == "admin" && out.admin < 0) {
      out.admin = first_descriptor + i;
    } else {
      out.messages.push_back(first_descriptor + i);
    }
  }
  return out;
}

}  // namespace hondana::cli
