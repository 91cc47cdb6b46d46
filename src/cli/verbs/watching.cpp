/// watch: changes as they happen.
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <utility>

#include "cli/exit_codes.hpp"
#include "cli/flags/client_flags.hpp"
#include "cli/output.hpp"
#include "cli/terminal/quantities.hpp"
#include "cli/verbs/entries.hpp"
#include "cli/verbs/verbs.hpp"
#include "cli/visible.hpp"
#include "disk/handle.hpp"
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

/// What the thread that hears changes tells the one that waits.
class news_for_waiter {
 public:
  enum class kind : std::uint8_t { nothing, is_back, is_over };

  news_for_waiter() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  /// The connection is back.
  void back() { tell(is_back_); }
  /// There is no reason to go on.
  void over() { tell(is_over_); }
  [[nodiscard]] kind take() {
    eventfd_t count = 0;
    ::eventfd_read(event_.get(), &count);
    if (is_over_) return kind::is_over;
    return is_back_.exchange(false) ? kind::is_back : kind::nothing;
  }
  [[nodiscard]] int descriptor() const noexcept { return event_.get(); }

 private:
  void tell(std::atomic<bool>& what) {
    what = true;
    ::eventfd_write(event_.get(), 1);
  }
  disk::handle event_;
  std::atomic<bool> is_back_{false};
  std::atomic<bool> is_over_{false};
};

/// Asks for the first page: a server may look after its list only once somebody has asked for it.
result<void> ask_for_list(const task& what) {
  auto how = what.with.how();
  how.afresh = true;
  for (const auto& one : what.with.server().resources({}, how)) {
    if (!one) return tl::unexpected(one.error());
    break;
  }
  return {};
}

/// Until the interruption, the time given with `--for`, or the news that it is over. `of_list`: the list is watched.
void wait_for(const task& what, news_for_waiter& news, bool of_list) {
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
        {{what.interrupted.descriptor(), POLLIN, 0}, {news.descriptor(), POLLIN, 0}, {STDOUT_FILENO, 0, 0}}};
    if (::poll(watched.data(), watched.size(), left) <= 0) continue;
    if ((watched[2].revents & POLLERR) != 0) print("\n");  // which fails, as every later line would
    if (watched[0].revents != 0 || watched[2].revents != 0) return;
    const auto told = news.take();
    if (told == news_for_waiter::kind::is_over) return;
    // A server that restarted knows nothing of who asked its forerunner. One that is gone again comes back with more news.
    if (told == news_for_waiter::kind::is_back && of_list) {
      if (auto asked = ask_for_list(what); !asked && !what.line.has(quiet_flag)) say(asked.error().public_text);
    }
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
  news_for_waiter heard;
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
        if ((has_told && is_once) || output_is_gone()) heard.over();
        if (news.kind == change_kind::connection_back) heard.back();
      },
      what.with.how());
  if (!watching) return what.with.explain(watching.error());
  const auto taken = watching->honoured();
  for (const auto& uri : wanted.uris) {
    if (std::find(taken.uris.begin(), taken.uris.end(), uri) == taken.uris.end()) say("the server does not watch " + uri);
  }
  if (wanted.resource_list) {
    if (auto asked = ask_for_list(what); !asked) return what.with.explain(asked.error());
  }
  // A program that started this one waits for it, too.
  if (!what.line.has(quiet_flag)) say(what.shown.shows_errors ? "watching; Ctrl-C ends it" : "watching");
  wait_for(what, heard, wanted.resource_list);
  return exit_ok;
}

}  // namespace hondana::cli
