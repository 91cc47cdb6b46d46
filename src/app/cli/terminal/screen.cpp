/// Asking the kernel and the environment about terminals.
#include "app/cli/terminal/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>
#include <cstdlib>
#include <string_view>

namespace hondana::cli {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

screen present_screen() {
  screen now;
  now.shows_output = ::isatty(STDOUT_FILENO) != 0;
  now.shows_errors = ::isatty(STDERR_FILENO) != 0;
  now.reads_answers = now.shows_errors && ::isatty(STDIN_FILENO) != 0;
  now.in_colour = now.shows_output && variable("NO_COLOR").empty() && variable("TERM") != "dumb";
  winsize size{};
  for (const int one : {STDOUT_FILENO, STDERR_FILENO}) {
    if (::ioctl(one, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
      now.width = size.ws_col;
      break;
    }
  }
  return now;
}

}  // namespace hondana::cli
