/// Speed of the redactor on texts without secrets, against going through them with memchr.
///
/// `prose` has a newline every 80 bytes, `code` is a little program, `base64` is drawn, `lines` are those of a log. `settings`
/// looks for values by their names, too.
#include <stdlib.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <benchmark/benchmark.h>

#include "base/bytes/prepared_content.hpp"
#include "sources/files/files_provider.hpp"
#include "text/secrets/redactor.hpp"

namespace {

namespace secrets = hondana::secrets;

std::string repeated(std::string_view line, std::size_t size) {
  std::string text;
  while (text.size() < size) text += line;
  text.resize(size);
  return text;
}

constexpr std::string_view prose =
    "The shelf holds every book that a machine or a team knows, in order of address.\nWhoever asks for one gets it as it is; "
    "what has not changed since is not sent twice.\n";
constexpr std::string_view code =
    "  const auto found = shelf.find(\"name\", options_.limit_of(request));\n  if (!found) return "
    "tl::unexpected(found.error());\n"
    "  // The address is ours, whatever the peer says: https://example.com/docs\n  for (auto& one : found->contents) "
    "order(one);\n";
constexpr std::string_view log_lines =
    "2026-07-28T12:00:00.123Z INFO server: GET /mcp 200 in 1.2 ms from 127.0.0.1:50332 session=7f3a request_id=00000012\n";

std::string drawn(std::size_t size) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  std::uint64_t state = 88172645463325252u;
  while (text.size() < size) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    text += text.size() % 77 == 76 ? '\n' : digits[(state >> 32) % digits.size()];
  }
  return text;
}

void finding(benchmark::State& state, const std::string& text, secrets::masking_policy how) {
  std::vector<secrets::span> found;
  for (auto _ : state) {
    secrets::find(text, how, found);
    benchmark::DoNotOptimize(found.data());
  }
  if (!found.empty()) state.SkipWithError("there is a secret in a text without any");
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}

void searching(benchmark::State& state, const std::string& text) {
  for (auto _ : state) benchmark::DoNotOptimize(std::memchr(text.data(), '\x01', text.size()));
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}

constexpr std::size_t mebibyte = 1 << 20;

/// A file of a mebibyte as the catalog reads it when nothing is cached: read, masked or not, and told to be text.
void reading_a_file(benchmark::State& state, bool masks) {
  auto folder = (std::filesystem::temp_directory_path() / "bench-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) return state.SkipWithError("no folder can be made");
  std::ofstream(folder + "/a.txt") << repeated(code, mebibyte);
  hondana::files::options with;
  auto& root = with.roots.emplace_back();
  root.path = folder;
  root.redact = masks;
  auto opened = hondana::files::files_provider::open(std::move(with));
  if (!opened) return state.SkipWithError("the folder cannot be served");
  hondana::read_request asked;
  asked.uri = asked.requested_uri = (*opened)->claims().front() + "/a.txt";
  // A file that has just changed is read twice.
  for (bool is_racy = true; is_racy;) {
    const auto found = (*opened)->read(asked);
    if (!found) return state.SkipWithError("the file cannot be read");
    is_racy = found->is_racy;
  }
  for (auto _ : state) {
    auto found = (*opened)->read(asked);
    auto ready = hondana::bytes::prepare_content(std::move(*found), asked);
    benchmark::DoNotOptimize(ready);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(mebibyte) * state.iterations());
  std::filesystem::remove_all(folder);
}
using secrets::masking_policy;
BENCHMARK_CAPTURE(searching, prose, repeated(prose, mebibyte));
BENCHMARK_CAPTURE(finding, prose, repeated(prose, mebibyte), masking_policy::text);
BENCHMARK_CAPTURE(finding, code, repeated(code, mebibyte), masking_policy::text);
BENCHMARK_CAPTURE(finding, base64, drawn(mebibyte), masking_policy::text);
BENCHMARK_CAPTURE(finding, lines, repeated(log_lines, mebibyte), masking_policy::text);
BENCHMARK_CAPTURE(finding, prose_settings, repeated(prose, mebibyte), masking_policy::settings);
BENCHMARK_CAPTURE(finding, lines_settings, repeated(log_lines, mebibyte), masking_policy::settings);
BENCHMARK_CAPTURE(reading_a_file, masked, true);
BENCHMARK_CAPTURE(reading_a_file, as_it_is, false);
BENCHMARK_CAPTURE(finding, one_line, repeated(log_lines, 100), masking_policy::settings);

}  // namespace
