/// Starts Prometheus, asks it over HTTP, and reads its answers.
#include "unit/sources/metrics/series/prometheus_server.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "deadline.hpp"
#include "unit/started/program.hpp"

namespace hondana::series {
namespace {

sockaddr_in loopback(int port) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  out.sin_port = htons(static_cast<std::uint16_t>(port));
  return out;
}

std::string percent_encoded(std::string_view text) {
  std::string out;
  constexpr std::string_view digits = "0123456789ABCDEF";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      out += c;
      continue;
    }
    out.append(1, '%').append(1, digits[byte >> 4]).append(1, digits[byte & 15]);
  }
  return out;
}

/// As much of JSON as Prometheus' answers have.
class answer_reader {
 public:
  explicit answer_reader(std::string_view text) : text_(text) {}

  query_answer read() {
    query_answer out;
    each_member([&](const std::string& name) {
      if (name == "error")
        out.error = string();
      else if (name == "data")
        each_member(
            [&](const std::string& inner) { inner == "result" ? each([&] { out.result.push_back(series_of()); }) : skip(); });
      else
        skip();
    });
    if (is_broken_) out.error = "no answer: " + std::string(text_.substr(0, 300));
    return out;
  }

 private:
  char peek() {
    if (at_ < text_.size()) return text_[at_];
    is_broken_ = true;
    return '\0';
  }
  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void need(char c) {
    if (!take(c)) is_broken_ = true;
  }
  template <class Function>
  void each(Function one) {
    need('[');
    if (take(']')) return;
    do one();
    while (!is_broken_ && take(','));
    need(']');
  }
  template <class Function>
  void each_member(Function one) {
    need('{');
    if (take('}')) return;
    do {
      const auto name = string();
      need(':');
      one(name);
    } while (!is_broken_ && take(','));
    need('}');
  }
  std::string string() {
    std::string out;
    need('"');
    while (!is_broken_ && !take('"')) {
      if (!take('\\')) {
        out += text_[at_++];
        continue;
      }
      const char letter = peek();
      ++at_;
      constexpr std::string_view letters = "nrtbf", meant = "\n\r\t\b\f";
      if (letter == 'u') {
        const auto point = std::stoul(std::string(text_.substr(at_, 4)), nullptr, 16);
        at_ += 4;
        if (point >= 0x80) out += point == 0xfffd ? "\xef\xbf\xbd" : point == 0x2028 ? "\xe2\x80\xa8" : "?";
        if (point < 0x80) out += static_cast<char>(point);
      } else {
        const auto found = letters.find(letter);
        out += found == std::string_view::npos ? letter : meant[found];
      }
    }
    return out;
  }
  double number() {
    const auto begin = at_;
    while (std::string_view("+-.eE0123456789").find(peek()) != std::string_view::npos) ++at_;
    return std::strtod(std::string(text_.substr(begin, at_ - begin)).c_str(), nullptr);
  }
  void skip() {
    if (peek() == '"') return void(string());
    if (peek() == '[') return each([this] { skip(); });
    if (peek() == '{') return each_member([this](const std::string&) { skip(); });
    while (!is_broken_ && std::string_view(",]}").find(peek()) == std::string_view::npos) ++at_;
  }
  time_series series_of() {
    time_series out;
    each_member([&](const std::string& name) {
      if (name == "metric") {
        each_member([&](const std::string& label) {
          auto value = string();
          if (label == "__name__")
            out.id.name = std::move(value);
          else
            out.id.labels.emplace_back(label, std::move(value));
        });
      } else {
        each([&] {
          sample one;
          need('[');
          one.time = std::llround(number() * 1000);
          need(',');
          one.value = std::strtod(string().c_str(), nullptr);
          need(']');
          out.samples.push_back(one);
        });
      }
    });
    EXPECT_TRUE(normalize(out.id));
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool is_broken_ = false;
};

}  // namespace

prometheus_server::prometheus_server(const std::string& open_metrics) {
  folder_ = (std::filesystem::temp_directory_path() / "series_XXXXXX").string();
  if (::mkdtemp(folder_.data()) == nullptr) {
    ADD_FAILURE() << "no temporary folder";
    return;
  }
  std::ofstream(folder_ + "/samples") << open_metrics;
  std::ofstream(folder_ + "/settings.yml") << "global: {}\n";
  int said = -1;
  const pid_t making = started::start_program(
      {"promtool", "tsdb", "create-blocks-from", "openmetrics", "--quiet", folder_ + "/samples", folder_ + "/data"}, said);
  const auto messages = started::read_until(said, {}, hondana_test::event_deadline);
  ::close(said);
  int status = -1;
  if (making > 0) ::waitpid(making, &status, 0);
  if (status != 0) {
    ADD_FAILURE() << "promtool: " << messages;
    return;
  }
  port_ = started::free_port();
  child_ = started::start_program(
      {"prometheus", "--config.file=" + folder_ + "/settings.yml", "--storage.tsdb.path=" + folder_ + "/data",
       "--storage.tsdb.retention.time=50y", "--web.listen-address=127.0.0.1:" + std::to_string(port_)},
      messages_);
  const auto log = started::read_until(messages_, "Server is ready to receive web requests", hondana_test::event_deadline);
  is_ready_ = get("/-/ready").find(" 200 ") != std::string::npos;
  EXPECT_TRUE(is_ready_) << log;
}

prometheus_server::~prometheus_server() {
  if (child_ > 0) {
    ::kill(child_, SIGKILL);
    ::waitpid(child_, nullptr, 0);
  }
  if (messages_ >= 0) ::close(messages_);
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string prometheus_server::get(const std::string& target) const {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const auto address = loopback(port_);
  std::string all;
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    const auto request = "GET " + target + " HTTP/1.0\r\nHost: localhost\r\n\r\n";
    if (::send(socket, request.data(), request.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(request.size()))
      all = started::read_until(socket, {}, hondana_test::event_deadline);
  }
  ::close(socket);
  return all;
}

query_answer prometheus_server::range(std::string_view promql, instant start, instant end, duration step) const {
  const auto seconds = [](std::int64_t milliseconds) {
    const auto rest = std::to_string(1000 + milliseconds % 1000);
    return std::to_string(milliseconds / 1000) + "." + rest.substr(1);
  };
  const auto all = get("/api/v1/query_range?query=" + percent_encoded(promql) + "&start=" + seconds(start) +
                       "&end=" + seconds(end) + "&step=" + seconds(step));
  const auto body = std::min(all.find("\r\n\r\n"), all.size());
  return answer_reader(std::string_view(all).substr(std::min(body + 4, all.size()))).read();
}

}  // namespace hondana::series
