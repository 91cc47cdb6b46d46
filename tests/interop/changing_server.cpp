/// A server for the tests of subscriptions: notes that change when asked to, and reads that wait for one another.
///
/// Usage: changing_server stdio | changing_server PORT (0: a free one). What a client may read:
///   note:///N         text and version of note N
///   change:///N       changes note N;  change:///all changes every note, one right after the other
///   change:///list    adds one more note
///   held:///NAME      reports progress with its name, and answers its own URI once somebody has read release:///NAME
///   release:///NAME   answers when somebody was waiting at held:///NAME and may go
/// Its tool `count` sends 64 log messages, one right after the other, before it answers.
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <hondana/memory_provider.hpp>
#include <hondana/server.hpp>

#include "support/must.hpp"

namespace {

constexpr int notes_at_first = 32;

std::string note_uri(int number) { return "note:///" + std::to_string(number); }

/// The notes and their versions. Threads: any.
class notebook {
 public:
  notebook() {
    for (int number = 0; number < notes_at_first; ++number) add_one();
  }

  void add_one() {
    const std::scoped_lock lock(mutex_);
    const int number = static_cast<int>(versions_.size());
    versions_.push_back(1);
    must(notes->add({.uri = note_uri(number), .name = "note " + std::to_string(number), .mime_type = "text/plain"},
                    [this, number](const hondana::read_request&) -> hondana::result<hondana::read_result> {
                      return hondana::text_read_result(text_of(number));
                    }));
  }

  /// Changes a note and returns how many there are; 0 when it is none of them.
  int change(int number) {
    const std::scoped_lock lock(mutex_);
    if (number < 0 || number >= static_cast<int>(versions_.size())) return 0;
    ++versions_[static_cast<std::size_t>(number)];
    return static_cast<int>(versions_.size());
  }

  const std::shared_ptr<hondana::memory_provider> notes = std::make_shared<hondana::memory_provider>("notes", "note:///");

 private:
  std::string text_of(int number) {
    const std::scoped_lock lock(mutex_);
    return "note " + std::to_string(number) + ", version " + std::to_string(versions_[static_cast<std::size_t>(number)]);
  }

  std::mutex mutex_;
  std::vector<std::uint64_t> versions_;
};

/// Lets one call wait until another has come. Threads: any.
class gate {
 public:
  /// Waits for `release` with this name. False when it gave up.
  bool hold(const std::string& name, const hondana::request_context& how) {
    if (how.report_progress) how.report_progress({1, std::nullopt, name});
    std::unique_lock lock(mutex_);
    ++places_[name].waiting;
    changed_.notify_all();
    const bool freed = changed_.wait_until(lock, how.stop, how.deadline, [&] { return places_[name].free > 0; });
    auto& mine = places_[name];
    --mine.waiting;
    if (freed) --mine.free;
    return freed;
  }

  /// Waits until a call that is not freed yet holds here, and frees it. False when it gave up.
  bool release(const std::string& name, const hondana::request_context& how) {
    std::unique_lock lock(mutex_);
    const bool there =
        changed_.wait_until(lock, how.stop, how.deadline, [&] { return places_[name].waiting > places_[name].free; });
    if (there) ++places_[name].free;
    changed_.notify_all();
    return there;
  }

 private:
  struct place {
    int waiting = 0;
    int free = 0;
  };
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::map<std::string, place> places_;
};

hondana::result<hondana::read_result> said(bool in_time, const std::string& text) {
  if (!in_time) return hondana::fail(hondana::errc::timed_out, "Nobody came in time");
  return hondana::text_read_result(text);
}

std::shared_ptr<hondana::memory_provider> changes(notebook& book, hondana::server& server) {
  auto provider = std::make_shared<hondana::memory_provider>("changes", "change:///");
  must(provider->add_template({.uri_template = "change:///{what}", .name = "change"},
                              [&](const hondana::read_request& request) -> hondana::result<hondana::read_result> {
                                const auto what = request.uri.substr(std::string_view("change:///").size());
                                if (what == "list") {
                                  book.add_one();
                                  server.notify_resources_changed();
                                  return hondana::text_read_result("added");
                                }
                                int first = 0;
                                if (what != "all") std::from_chars(what.data(), what.data() + what.size(), first);
                                const int after = what == "all" ? notes_at_first : first + 1;
                                for (int number = first; number < after; ++number) {
                                  if (book.change(number) == 0)
                                    return hondana::fail(hondana::errc::resource_not_found, "There is no such note");
                                  if (auto told = server.notify_resource_updated(note_uri(number)); !told)
                                    return tl::unexpected(told.error());
                                }
                                return hondana::text_read_result("changed");
                              }));
  return provider;
}

/// A provider whose every URI is answered by `answer`, which gets what stands behind the prefix.
std::shared_ptr<hondana::memory_provider> answering(
    const std::string& scheme, std::function<bool(const std::string& name, const hondana::request_context& how)> answer) {
  auto provider = std::make_shared<hondana::memory_provider>(scheme, scheme + ":///");
  must(provider->add_template({.uri_template = scheme + ":///{name}", .name = scheme},
                              [scheme, answer = std::move(answer)](const hondana::read_request& request) {
                                return said(answer(request.uri.substr(scheme.size() + 4), request), request.uri);
                              }));
  return provider;
}

hondana::result<hondana::tool_outcome> count_up(const hondana::tool_call& call) {
  for (std::int64_t number = 1; number <= 64; ++number) call.log(hondana::log_level::info, number, "count");
  return hondana::text_result("64");
}

/// Serves until SIGTERM or SIGINT, which this thread waits for.
int serve_http(hondana::server& server, std::uint16_t port, const sigset_t& signals) {
  auto service = hondana::http_service::start(server, {.port = port});
  if (!service) {
    std::fprintf(stderr, "changing_server: %s\n", service.error().public_text.c_str());
    return 1;
  }
  std::fprintf(stderr, "http://127.0.0.1:%d/mcp\n", static_cast<int>(service->port()));
  int signal = 0;
  sigwait(&signals, &signal);
  service->drain(std::chrono::seconds(5));
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view how = count == 2 ? arguments[1] : "";
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(how.data(), how.data() + how.size(), port);
  if (how != "stdio" && (how.empty() || error != std::errc() || end != how.data() + how.size())) {
    std::fputs("usage: changing_server stdio | changing_server PORT\n", stderr);
    return 2;
  }
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  if (how != "stdio") pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  notebook book;
  const auto waiting = std::make_shared<gate>();  // a call may outlive the server
  auto server =
      must(hondana::server::create({.name = "changing", .version = "1.0.0", .call_timeout = std::chrono::minutes(3)}));
  for (const auto& source :
       {book.notes, changes(book, server),
        answering("held", [waiting](const std::string& name,
                                    const hondana::request_context& call) { return waiting->hold(name, call); }),
        answering("release", [waiting](const std::string& name, const hondana::request_context& call) {
          return waiting->release(name, call);
        })}) {
    must(server.add(source));
  }
  must(server.add_tool({.name = "count"}, count_up));
  return how == "stdio" ? hondana::serve_stdio(server) : serve_http(server, port, signals);
}
