/// What a list of a million entries costs: memory an entry beyond its strings, and the time of a page wherever it begins, also
/// for a caller who may see one entry in a million.
///
/// Usage: list_bench [ENTRIES...]. Prints Markdown tables.
#include <malloc.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <hondana/entry_snapshot.hpp>
#include <hondana/memory_provider.hpp>
#include <hondana/server.hpp>

#include "base/executor/timers.hpp"
#include "entries.hpp"
#include "http_peer.hpp"
#include "server/catalog/catalog.hpp"

namespace {

using namespace hondana;
using list_bench::entry_of;
using list_bench::http_peer;
using list_bench::listing_of;
using list_bench::path_of;
using list_bench::strings_of;
using list_bench::uri_of;
using steady = std::chrono::steady_clock;

constexpr std::size_t page_size = 500;
constexpr int repetitions = 101;

[[noreturn]] void fail_with(const std::string& what) { throw std::runtime_error(what); }

/// Bytes that are allocated now.
std::size_t heap_bytes() {
  const auto now = ::mallinfo2();
  return now.uordblks + now.hblkhd;
}

/// Private memory of this process, of which the kernel knows.
std::size_t private_bytes() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("RssAnon:")) return 1024 * std::strtoul(line.c_str() + sizeof("RssAnon:"), nullptr, 10);
  }
  fail_with("no RssAnon");
}

/// Rows of the tables, of every number of entries.
struct tables {
  std::string memory;
  std::string pages;
  std::string searches;
};

template <class... Values>
void add_row(std::string& to, const char* format, Values... values) {
  std::array<char, 256> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  to += text.data();
}

struct timing {
  double median = 0;
  double slowest = 0;
};

double milliseconds(steady::duration spent) { return std::chrono::duration<double, std::milli>(spent).count(); }

timing timing_of(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return {times.at(times.size() / 2), times.back()};
}

template <class Work>
timing timed(Work work) {
  std::vector<double> times;
  for (int i = 0; i < repetitions; ++i) {
    const auto begin = steady::now();
    work();
    times.push_back(milliseconds(steady::now() - begin));
  }
  return timing_of(std::move(times));
}

/// Shows one URI.
class one_only final : public access_filter {
 public:
  explicit one_only(std::string uri) : uri_(std::move(uri)) {}
  std::uint64_t id() const noexcept override { return 1; }
  bool may_see(std::string_view uri) const override { return uri == uri_; }

 private:
  std::string uri_;
};

void print_memory(std::string& to, const char* name, std::size_t heap, std::size_t resident, std::size_t strings,
                  std::size_t count) {
  const auto each = [count](std::size_t bytes) { return static_cast<double>(bytes) / static_cast<double>(count); };
  add_row(to, "| %s | %zu | %.0f | %.0f | %.0f | %.0f |\n", name, count, each(heap), each(resident), each(strings),
          each(std::max(heap, resident)) - each(strings));
}

/// Memory that `fill` takes for `count` entries.
template <class Fill>
void measure_memory(std::string& to, const char* name, std::size_t count, std::size_t strings, Fill fill) {
  ::malloc_trim(0);
  const auto heap = heap_bytes();
  const auto resident = private_bytes();
  fill();
  ::malloc_trim(0);
  print_memory(to, name, heap_bytes() - heap, private_bytes() - resident, strings, count);
}

void print_pages(std::string& to, const char* name, std::size_t count, const timing& first, const timing& middle,
                 const timing& last) {
  add_row(to, "| %s | %zu | %.2f (%.2f) | %.2f (%.2f) | %.2f (%.2f) |\n", name, count, first.median, first.slowest,
          middle.median, middle.slowest, last.median, last.slowest);
}

/// Goes through a list page by page; `page` takes a key or cursor and says how many entries it had and where it goes on.
struct page_outcome {
  std::size_t entries = 0;
  std::optional<std::string> next;
};
template <class Page>
void print_search(std::string& to, const char* name, std::size_t entries, Page page) {
  std::vector<double> times;
  std::size_t seen = 0;
  std::size_t empty = 0;
  std::optional<std::string> next = std::string();
  while (next) {
    const auto begin = steady::now();
    auto found = page(*next);
    times.push_back(milliseconds(steady::now() - begin));
    seen += found.entries;
    if (found.entries == 0 && found.next) ++empty;
    next = std::move(found.next);
  }
  if (seen != 1) fail_with("one entry was to be seen, not " + std::to_string(seen));
  const auto count = times.size();
  const auto taken = timing_of(std::move(times));
  add_row(to, "| %s | %zu | %zu | %zu | %.2f | %.2f |\n", name, entries, count, empty, taken.median, taken.slowest);
}

request_context call_of(std::shared_ptr<const access_filter> through = {}) {
  request_context by;
  by.caller.identity = "bench";
  by.caller.access_filter = std::move(through);
  by.deadline = steady::time_point::max();
  return by;
}

model::resource_page page_of(const catalog::catalog& from, const request_context& by,
                             const std::optional<std::string>& cursor) {
  std::promise<result<model::resource_page>> made;
  from.list(by, cursor, std::make_shared<const catalog::list_filter>(),
            [&made](result<model::resource_page> page) { made.set_value(std::move(page)); });
  auto page = made.get_future().get();
  if (!page) fail_with(page.error().public_text);
  return std::move(*page);
}

/// The cursor behind `number` entries, as a peer gets it who has paged so far.
std::string cursor_behind(const catalog::catalog& of, std::size_t number) {
  std::optional<std::string> cursor;
  for (std::size_t passed = 0; passed < number; passed += page_size) {
    cursor = page_of(of, call_of(), cursor).next_cursor;
    if (!cursor) fail_with("the list ended early");
  }
  return *cursor;
}

void run(std::size_t count, tables& to) {
  if (count < 2 * page_size) fail_with("at least " + std::to_string(2 * page_size) + " entries");
  std::size_t strings = 0;
  std::size_t paths = 0;
  for (std::size_t i = 0; i < count; ++i) {
    strings += strings_of(entry_of(i));
    paths += path_of(i).size();
  }
  const auto memory = std::make_shared<memory_provider>("memo", "memo:///");
  measure_memory(to.memory, "memory provider", count, strings, [&] {
    const memory_provider::read_handler make = [](const read_request&) -> result<read_result> {
      return text_read_result("a text");
    };
    for (std::size_t i = 0; i < count; ++i) {
      if (const auto added = memory->add(entry_of(i), make); !added) fail_with(added.error().public_text);
    }
  });
  {
    const auto fixed = std::make_shared<memory_provider>("fixed", "memo:///");
    constexpr std::string_view content = "a text of thirty bytes or so..";
    measure_memory(to.memory, "memory provider, with fixed content", count, strings + count * content.size(), [&] {
      for (std::size_t i = 0; i < count; ++i) {
        if (const auto added = fixed->add(entry_of(i), std::string(content)); !added) fail_with(added.error().public_text);
      }
    });
  }
  std::unique_ptr<entry_snapshot> snapshot;
  {
    std::vector<resource> entries;
    for (std::size_t i = 0; i < count; ++i) entries.push_back(entry_of(i));
    // What it is built from stays meanwhile, so that the difference is its own.
    ::malloc_trim(0);
    const auto heap = heap_bytes();
    const auto resident = private_bytes();
    snapshot = std::make_unique<entry_snapshot>(entries);
    ::malloc_trim(0);
    print_memory(to.memory, "snapshot, for providers that publish one", heap_bytes() - heap, private_bytes() - resident,
                 strings, count);
  }
  std::string pattern =
      (std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "/tmp") + std::string("/hondana-bench-XXXXXX");
  if (::mkdtemp(pattern.data()) == nullptr) fail_with("mkdtemp");
  files::root_options served;
  served.path = pattern;
  auto folder = files::served_root::open(served, {});
  std::filesystem::remove(pattern);
  if (!folder) fail_with(folder.error().public_text);
  std::shared_ptr<files::listing> listing;
  measure_memory(to.memory, "files, listed and not described yet", count, paths, [&] { listing = listing_of(*folder, count); });

  const auto all = catalog::catalog::make({std::make_shared<catalog::source>(memory, 1000)}, {page_size},
                                          std::make_shared<executor::timers>());
  if (!all) fail_with(all.error().public_text);
  const auto of_catalog = [&](const std::optional<std::string>& cursor) {
    return timed([&] {
      if (page_of(**all, call_of(), cursor).resources.empty()) fail_with("an empty page");
    });
  };
  const auto middle = cursor_behind(**all, count / 2);
  const auto last = cursor_behind(**all, count - page_size);
  print_pages(to.pages, "memory provider, through the catalog", count, of_catalog({}), of_catalog(middle), of_catalog(last));
  {
    server_options options;
    options.page_size = page_size;
    auto serving = server::create(options);
    if (!serving) fail_with(serving.error().public_text);
    if (const auto added = serving->add(memory); !added) fail_with(added.error().public_text);
    http_options where;
    where.port = 0;
    const auto http = http_service::start(*serving, where);
    if (!http) fail_with(http.error().public_text);
    http_peer peer(http->port());
    print_pages(to.pages, "the same over HTTP", count, timed([&] { peer.list({}); }), timed([&] { peer.list(middle); }),
                timed([&] { peer.list(last); }));
  }
  const auto of_snapshot = [&](const std::string& after) {
    return timed([&] {
      if (snapshot->page({call_of(), after, page_size}).entries.empty()) fail_with("an empty page");
    });
  };
  print_pages(to.pages, "snapshot", count, of_snapshot({}), of_snapshot(uri_of(count / 2)),
              of_snapshot(uri_of(count - page_size - 1)));
  const auto of_files = [&](const std::string& after) {
    return timed([&] {
      const auto page = listing->page(after, page_size, call_of());
      if (!page || page->records.empty()) fail_with("an empty page");
    });
  };
  const auto file = [&](std::size_t number) { return (*folder)->uri_of(path_of(number)); };
  print_pages(to.pages, "files, places of a page", count, of_files({}), of_files(file(count / 2)),
              of_files(file(count - page_size - 1)));

  const auto sought = call_of(std::make_shared<one_only>(uri_of(count / 3)));
  print_search(to.searches, "memory provider, through the catalog", count, [&](const std::string& cursor) {
    auto page = page_of(**all, sought, cursor.empty() ? std::nullopt : std::optional(cursor));
    return page_outcome{page.resources.size(), std::move(page.next_cursor)};
  });
  const auto through_snapshot = [&](const std::string& after) {
    auto page = snapshot->page({sought, after, page_size});
    return page_outcome{page.entries.size(), std::move(page.next_key)};
  };
  print_search(to.searches, "snapshot, the first time", count, through_snapshot);
  print_search(to.searches, "snapshot, once it is known", count, through_snapshot);
  const auto sought_file = call_of(std::make_shared<one_only>(file(count / 3)));
  print_search(to.searches, "files", count, [&](const std::string& after) {
    auto page = listing->page(after, page_size, sought_file);
    if (!page) fail_with(page.error().public_text);
    return page_outcome{page->records.size(), std::move(page->next_key)};
  });
}

}  // namespace

int main(int count, char** arguments) {
  std::vector<std::size_t> sizes;
  for (int i = 1; i < count; ++i) sizes.push_back(std::strtoul(arguments[i], nullptr, 10));
  if (sizes.empty()) sizes.push_back(1'000'000);
  try {
    tables all;
    for (const auto entries : sizes) run(entries, all);
    std::printf("%zu entries a page\n\n", page_size);
    std::printf("| memory, bytes an entry | entries | allocated | resident | its strings | beyond them |\n");
    std::printf("| --- | --- | --- | --- | --- | --- |\n%s", all.memory.c_str());
    std::printf("\n| a page, ms, median (slowest of %d) | entries | first | middle | last |\n", repetitions);
    std::printf("| --- | --- | --- | --- | --- |\n%s", all.pages.c_str());
    std::printf(
        "\n| a view that shows one entry of all | entries | pages | of them empty with a cursor | a page, ms, median | slowest "
        "|\n");
    std::printf("| --- | --- | --- | --- | --- | --- |\n%s", all.searches.c_str());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "list_bench: %s\n", error.what());
    return 1;
  }
  return 0;
}
