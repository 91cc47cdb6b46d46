/// Lines, many of them.
#include "log_file.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>

#include "../process/child.hpp"

namespace logs_bench {
namespace {

constexpr std::size_t piece_size = std::size_t{4} << 20;

void write_whole(int to, const std::string& text) {
  for (std::size_t done = 0; done < text.size();) {
    const auto count = ::write(to, text.data() + done, text.size() - done);
    if (count < 0) bench::fail("write");
    done += static_cast<std::size_t>(count);
  }
}

int opened_for_writing(const std::string& path, int how) {
  const int to = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0644);
  if (to < 0) bench::fail("open " + path);
  return to;
}

}  // namespace

std::string time_text(std::int64_t milliseconds) {
  const auto seconds = static_cast<time_t>(milliseconds / 1000);
  struct tm parts{};
  ::gmtime_r(&seconds, &parts);
  char out[64];
  std::snprintf(out, sizeof out, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday,
                parts.tm_hour, parts.tm_min, parts.tm_sec, static_cast<int>(milliseconds % 1000));
  return out;
}

std::string log_line(std::int64_t first_millisecond, std::uint64_t number) {
  const auto* const level = number % 1000 == 0 ? "ERROR" : number % 50 == 0 ? "WARN" : "INFO";
  return time_text(first_millisecond + static_cast<std::int64_t>(number)) + ' ' + level + " [worker-" +
         std::to_string(number % 16) + "] shelf.requests: seq=" + std::to_string(number) + " GET /books/" +
         std::to_string(number * 7919 % 100'000) + " answered in " + std::to_string(number % 97) + " ms for 203.0.113." +
         std::to_string(number % 250) + ", which is a line as long as most are\n";
}

written_log write_log(const std::string& path, std::uint64_t bytes) {
  written_log out;
  const auto now =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  // The number of lines is only known afterwards; all begin long enough ago.
  out.lines = bytes / (log_line(now, 10'000'000).size()) + 1;
  out.first_millisecond = now - static_cast<std::int64_t>(out.lines);
  const int to = opened_for_writing(path, O_TRUNC);
  std::string piece;
  for (std::uint64_t i = 0; i < out.lines; ++i) {
    piece += log_line(out.first_millisecond, i);
    if (piece.size() < piece_size) continue;
    write_whole(to, piece);
    piece.clear();
  }
  write_whole(to, piece);
  if (::fsync(to) != 0) bench::fail("fsync");
  ::close(to);
  return out;
}

void forget_pages(const std::string& path) {
  const int of = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (of < 0) bench::fail("open " + path);
  (void)::posix_fadvise(of, 0, 0, POSIX_FADV_DONTNEED);
  ::close(of);
}

void append_to(const std::string& path, const std::string& text) {
  const int to = opened_for_writing(path, O_APPEND);
  write_whole(to, text);
  ::close(to);
}

}  // namespace logs_bench
