/// watch: changes as they happen.
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "cli/exit_codes.hpp"
#include "cli/flags/client_flags.hpp"
#include "cli/output.hpp"
#include "cli/terminal/quantities.hpp"
#include "cli/verbs/entries.hpp"
#include "cli/verbs/verbs.hpp"
#include "cli/visible.hpp"
#include "json/writer.hpp"

namespace hondana::cli {
namespace {

using clock = std::chrono::steady_clock;

std::string_view name_of(change_kind kind) {
  switch (kind) {
    case change_kind::resource:
      return "resource";
    case change_kind::resource_list:
      return "resourceList";
    case change_kind::tool_list:
      return "toolList";
    case change_kind::prompt_list:
      return "promptList";
    case change_kind::connection_lost:
      return "connectionLost";
    case change_kind::connection_back:
      return "connectionBack";
  }
  return "unknown";
}

auto now() { return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()); }

std::string json_of(const change& news) {
  std::string text;
  json::writer to(text);
  to.begin_object().member("change", name_of(news.kind)).member("time", iso_time(now()));
  to.member_if("uri", news.uri).member_if("title", news.title);
  if (news.was_missed) to.key("mayHaveBeenMissed").boolean(true);
  to.member_if("text", news.text);
  if (news.entry) {
    to.key("resource");
    write_entry(to, *news.entry);
  }
  to.end_object();
  return visible_json(text) + '\n';
}

std::string words_of(const change& news) {
  const auto what = [&news]() -> std::string {
    switch (news.kind) {
      case change_kind::resource:
        return "changed  " + visible(news.uri) + (news.title.empty() ? "" : "  " + visible(news.title));
      case change_kind::resource_list:
        return "the list of resources has changed";
      case change_kind::tool_list:
        return "the list of tools has changed";
      case change_kind::prompt_list:
        return "the list of prompts has changed";
      case change_kind::connection_lost:
        return "connection lost: " + visible(news.text);
      case change_kind::connection_back:
        return "connected again";
    }
    return "something has changed";
  };
  return iso_time(now()) + "  " + what() + (news.was_missed ? "  (while nothing was heard)" : "") + '\n';
}

bool is_change(const change& news) {
  return news.kind != change_kind::connection_lost && news.kind != change_kind::connection_back;
}

/// Readable once there is no reason to go on.
class enough {
 public:
  enough() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  ~enough() { ::close(event_); }
  enough(const enough&) = delete;
  enough& operator=(const enough&) = delete;
  void now() const { ::eventfd_write(event_, 1); }
  [[nodiscard]] int descriptor() const noexcept { return event_; }

 private:
  int event_;
};

/// Until the interruption, the time given with `--for`, or `done`.
void wait_for(const task& what, const enough& done) {
  const auto seconds = what.line.number(for_flag);
  const auto until =
      clock::now() + std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(seconds.value_or(0)));
  for (;;) {
    int left = -1;
    if (seconds) {
      const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(until - clock::now()).count();
      if (rest <= 0) return;
      left = static_cast<int>(std::min<std::int64_t>(rest, 3'600'000));
    }
    // Of the output only its end is of interest: nobody reads any more.
    std::array<pollfd, 3> watched{
        {{what.interrupted.descriptor(), POLLIN, 0}, {done.descriptor(), POLLIN, 0}, {STDOUT_FILENO, 0, 0}}};
    if (::poll(watched.data(), watched.size(), left) <= 0) continue;
    if ((watched[2].revents & POLLERR) != 0) print("\n");  // which fails, as every later line would
    return;
  }
}

}  // namespace

int watch_changes(const task& what) {
  watch_request wanted;
  for (const auto& word : what.line.words()) {
    auto uri = what.with.uri_of(word);
    if (!uri) return what.with.explain(uri.error());
    wanted.uris.push_back(std::move(*uri));
  }
  if (const auto file = what.with.file_uri(); !file.empty() && wanted.uris.empty()) wanted.uris.push_back(file);
  wanted.resource_list = wanted.uris.empty();
  wanted.entries = what.line.has(json_flag);
  const bool as_json = what.line.has(json_flag);
  const bool is_once = what.line.has(once_flag);
  const enough done;
  bool has_told = false;
  auto watching = what.with.server().watch(
      wanted,
      [&](const change& news) {
        if (has_told && is_once) return;
        if (as_json || is_change(news)) {
          print(as_json ? json_of(news) : words_of(news));
          flush_output();
        } else if (!what.line.has(quiet_flag)) {
          say(words_of(news).substr(0, words_of(news).size() - 1));
        }
        has_told = has_told || is_change(news);
        if ((has_told && is_once) || output_is_gone()) done.now();
      },
      what.with.how());
  if (!watching) return what.with.explain(watching.error());
  const auto taken = watching->honoured();
  for (const auto& uri : wanted.uris) {
    if (std::find(taken.uris.begin(), taken.uris.end(), uri) == taken.uris.end()) say("the server does not watch " + uri);
  }
  // A program that started this one waits for it, too.
  if (!what.line.has(quiet_flag)) say(what.shown.shows_errors ? "watching; Ctrl-C ends it" : "watching");
  wait_for(what, done);
  return exit_ok;
}

}  // namespace hondana::cli
