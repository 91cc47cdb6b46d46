/// Writing through stdio, and remembering why that failed.
#include "app/cli/output.hpp"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

#include "app/cli/exit_codes.hpp"
#include "app/cli/visible.hpp"

namespace hondana::cli {
namespace {

// The first error of standard output; 0: none.
std::atomic<int> output_error{0};

void note_error() {
  int none = 0;
  output_error.compare_exchange_strong(none, errno == 0 ? EIO : errno);
}

}  // namespace

void print(std::string_view text) {
  if (output_error.load() != 0) return;
  // Where each line is sent at once, only the stream's state says that it was not.
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::ferror(stdout) != 0) note_error();
}

void print_json(std::string_view text) { print(visible_json(text) + '\n'); }

void flush_output() {
  if (output_error.load() == 0 && std::fflush(stdout) != 0) note_error();
}

bool output_is_gone() { return output_error.load() == EPIPE; }

int finish_output(int code) {
  flush_output();
  const int error = output_error.load();
  if (error == 0) return code;
  if (error == EPIPE) return exit_broken_pipe;
  complain({errc::source_unavailable, "The output could not be written. Check the disk, or the program that reads the output.",
            std::strerror(error)});
  return exit_server;
}

void complain(const failure& why) {
  // What was said already is not said again.
  const bool is_news = !why.private_text.empty() && why.public_text.find(why.private_text) == std::string::npos;
  say(why.public_text + (is_news ? " (" + why.private_text + ')' : ""));
}

void say(std::string_view line) {
  // Servers have a say in many of these.
  auto text = "hondana: " + visible_lines(line);
  if (!text.ends_with('\n')) text += '\n';
  std::fputs(text.c_str(), stderr);
}

}  // namespace hondana::cli
