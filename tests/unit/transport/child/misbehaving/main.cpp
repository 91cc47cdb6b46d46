/// A server of the child channel's tests: answers each line with an id in the way its first argument says.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

namespace {

std::string id_of(const std::string& line) {
  const auto from = line.find("\"id\":");
  if (from == std::string::npos) return {};
  return line.substr(from + 5, line.find_first_of(",}", from + 5) - from - 5);
}

std::string folder() {
  char where[4096];
  return ::getcwd(where, sizeof where) == nullptr ? std::string() : std::string(where);
}

void say(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

/// An answer whose content has so many bytes.
void say_large(const std::string& id, std::size_t bytes, bool is_id_last) {
  say(is_id_last ? std::string("{") : R"({"jsonrpc":"2.0","id":)" + id + ",");
  say(R"("result":{"contents":[{"uri":"x:a","text":")");
  const std::string piece(64u << 10, 'x');
  for (std::size_t at = 0; at < bytes; at += piece.size())
    std::fwrite(piece.data(), 1, std::min(piece.size(), bytes - at), stdout);
  say(R"("}]})" + (is_id_last ? R"(,"jsonrpc":"2.0","id":)" + id : std::string()) + "}\n");
}

}  // namespace

int main(int count, char** arguments) {
  const std::string mode = count > 1 ? arguments[1] : "echo";
  const std::string more = count > 2 ? arguments[2] : "";
  if (mode == "die") return std::atoi(more.c_str());
  if (mode == "complain") {
    std::fprintf(stderr, "no such database\nsee the manual\n");
    return 7;
  }
  if (mode == "flood") {
    for (int i = 0; i < 15'000; ++i) std::fprintf(stderr, "line %d of many that nobody asked for\n", i);
    std::fprintf(stderr, "%s\n", std::string(100'000, 'y').c_str());
  }
  if (mode == "stubborn") {
    ::signal(SIGTERM, SIG_IGN);
    say("\n");
    for (;;) ::pause();
  }
  if (mode == "lingers") {
    ::signal(SIGTERM, SIG_IGN);
    for (std::string line; std::getline(std::cin, line);) {
    }
    std::fprintf(stderr, "the input has ended\n");
    for (;;) ::pause();
  }
  // Out of reach of the signals that are meant for it.
  if (mode == "wanders" && ::setpgid(0, ::getpgid(::getppid())) != 0) return 1;
  if (mode == "deaf") {
    say("\n");
    for (;;) ::pause();
  }
  if (mode == "floods" || mode == "asks-much") {
    // The second reads the answers beside it, and then answers what it was asked.
    const std::size_t most = mode == "asks-much" ? std::stoul(more) : ~std::size_t{0};
    std::cin.tie(nullptr);  // reading does not wait for the one that writes
    std::string first;
    std::getline(std::cin, first);
    std::thread asking([most] {
      for (std::size_t id = 1; id <= most; ++id)
        say(R"({"jsonrpc":"2.0","method":"ping","id":"q)" + std::to_string(id) + "\"}\n");
    });
    std::string line;
    for (std::size_t got = 0; mode == "asks-much" && got < most && std::getline(std::cin, line);) ++got;
    asking.join();
    say(R"({"jsonrpc":"2.0","result":{},"id":)" + id_of(first) + "}\n");
  }
  const bool has_heir = mode == "heir" || mode == "noisy-heir";
  if (has_heir && ::fork() == 0) {
    // Holds everything open that its parent had.
    for (;;) mode == "heir" ? static_cast<void>(::pause()) : say("\n");
  }
  if (mode == "chatty") {
    // Not before it is asked something, so that nothing is asked of a second run.
    std::string first;
    std::getline(std::cin, first);
    for (int i = 0; i < 100; ++i) say("starting up, please wait...\n");
  }
  if (mode == "banner") say("\r\nWelcome!\n\n");
  for (std::string line; std::getline(std::cin, line);) {
    const auto id = id_of(line);
    if (id.empty()) continue;
    const auto result = R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"mode":")" + mode + R"(","folder":")" +
                        (mode == "where" ? folder() + '"' : std::string("\"")) + R"(,"variable":")" +
                        (std::getenv("HONDANA_TEST") != nullptr ? std::getenv("HONDANA_TEST") : "") + "\"}}";
    // Ways of never coming to an end of the first answer.
    if (id == "1" && mode == "endless") say_large(id, ~std::size_t{0}, false);
    if (id == "1" && mode == "half-silent") {
      say(result.substr(0, 26));
      for (;;) ::pause();
    }
    if (id == "1" && mode == "tells-on") {
      for (;;)
        say(R"({"jsonrpc":"2.0","method":"notifications/message"})"
            "\n");
    }
    if (mode == "talkative") say("working on " + id + "\n");
    if (mode == "half") {
      say(result.substr(0, 20));
      return 3;
    }
    // A question of the server's own has an id of the server's own, which may be the same number.
    if (mode == "asks") say(R"({"jsonrpc":"2.0","id":)" + id + R"(,"method":"ping"})" + "\n");
    if (mode == "asks-at-length") {
      say(R"({"jsonrpc":"2.0","method":"sampling/createMessage","params":{"a":")" + std::string(2u << 20, 'x') + R"("},"id":)" +
          id + "}\n");
    }
    if (mode == "notes") {
      say(R"({"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":")" + std::string(200'000, 'x') +
          "\"}}\n");
    }
    if (mode == "crlf") {
      say(result + "\r\n");
    } else if (mode == "twice") {
      say(result + "\n" + result + "\n");
    } else if (mode == "large" || mode == "large-late") {
      say_large(id, std::stoull(more), mode == "large-late");
    } else if (mode == "garbage-with-id") {
      say(R"({"jsonrpc":"2.0","id":)" + id + ",\"result\":{oops}}\n");
    } else if (mode == "grouping") {
      // All its answers but the first come together with a notification.
      if (id == "1") {
        say("[]\n");
      } else {
        say(R"([{"jsonrpc":"2.0","method":"notifications/message"},{"result":{"contents":[{"text":"two"}]},"id":)" + id +
            R"(},{"jsonrpc":"2.0","id":1,"result":{"contents":[{"text":"one"}]}}])" + "\n");
      }
    } else if (mode == "crash") {
      ::raise(SIGKILL);
    } else if (has_heir && !more.empty()) {
      say(result + std::string(40'000, ' ') + "\n");
      return std::atoi(more.c_str());
    } else if (mode == "closes-input") {
      ::close(STDIN_FILENO);
      say(result + "\n");
      for (;;) ::pause();
    } else if (mode != "silent") {
      say(result + "\n");
    }
  }
  if (mode == "wanders" && more == "on") {
    for (;;) ::pause();
  }
  return 0;
}
