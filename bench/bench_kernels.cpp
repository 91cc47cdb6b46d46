/// Speed of the JSON kernels against memcpy, and of reading and writing one small message.
///
/// Texts are this project's kinds of content: `prose` has a newline every 80 bytes, `code` an escape about every 20, `clean`
/// none.
#include <cstring>
#include <string>
#include <string_view>

#include <benchmark/benchmark.h>

#include "base/json/base64.hpp"
#include "base/json/escape.hpp"
#include "base/json/reader.hpp"
#include "base/json/utf8.hpp"
#include "base/json/writer.hpp"

namespace {

namespace json = hondana::json;

std::string repeated(std::string_view line, std::int64_t size) {
  std::string text;
  while (static_cast<std::int64_t>(text.size()) < size) text += line;
  text.resize(static_cast<std::size_t>(size));
  return text;
}
constexpr std::string_view clean = "The shelf holds every book that a machine or a team knows, ordered by its address.. ";
constexpr std::string_view prose = "The shelf holds every book that a machine or a team knows, in order of address.\n";
constexpr std::string_view code =
    "  const auto found = shelf.find(\"name\");\n  if (!found) return unexpected(found.error());\n"
    "  order(found->address);\n";
constexpr std::string_view japanese = "本棚は、機械やチームが知っているすべての本を並べる。";

void count_bytes(benchmark::State& state, std::size_t bytes) {
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes) * state.iterations());
}

void memcpy_reused(benchmark::State& state) {
  const std::string text = repeated(clean, state.range(0));
  std::string out(text.size(), ' ');
  for (auto _ : state) {
    std::memcpy(out.data(), text.data(), text.size());
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  count_bytes(state, text.size());
}
BENCHMARK(memcpy_reused)->Arg(64 << 10)->Arg(1 << 20);

using append = void(std::string&, std::string_view);

void appending(benchmark::State& state, append* kernel, std::string_view line) {
  const std::string text = repeated(line, state.range(0));
  std::string out;
  for (auto _ : state) {
    out.clear();
    kernel(out, text);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  count_bytes(state, text.size());
}
#define SIZES Arg(24)->Arg(200)->Arg(64 << 10)->Arg(1 << 20)
BENCHMARK_CAPTURE(appending, escape_clean, json::append_escaped, clean)->SIZES;
BENCHMARK_CAPTURE(appending, escape_prose, json::append_escaped, prose)->SIZES;
BENCHMARK_CAPTURE(appending, escape_code, json::append_escaped, code)->SIZES;
BENCHMARK_CAPTURE(appending, escape_portable_clean, json::append_escaped_portable, clean)->SIZES;
BENCHMARK_CAPTURE(appending, escape_portable_code, json::append_escaped_portable, code)->SIZES;
BENCHMARK_CAPTURE(appending, base64, json::append_base64, code)->SIZES;
BENCHMARK_CAPTURE(appending, base64_portable, json::append_base64_portable, code)->SIZES;

void base64_decode(benchmark::State& state) {
  std::string text;
  json::append_base64(text, repeated(code, state.range(0)));
  for (auto _ : state) benchmark::DoNotOptimize(json::decode_base64(text));
  count_bytes(state, text.size());
}
BENCHMARK(base64_decode)->SIZES;

void utf8(benchmark::State& state, std::string_view line) {
  const std::string text = repeated(line, state.range(0) / 3 * 3);
  for (auto _ : state) benchmark::DoNotOptimize(json::is_utf8(text));
  count_bytes(state, text.size());
}
BENCHMARK_CAPTURE(utf8, ascii, code)->SIZES;
BENCHMARK_CAPTURE(utf8, japanese, japanese)->SIZES;

constexpr std::string_view request =
    R"({"jsonrpc":"2.0","id":1234,"method":"resources/read","params":{"uri":"file:///project/src/json/reader.cpp",)"
    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":)"
    R"({"name":"bench","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}}}})";

void parse_request(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(json::document::parse(request));
  count_bytes(state, request.size());
}
BENCHMARK(parse_request);

void parse_and_decode_envelope(benchmark::State& state) {
  for (auto _ : state) {
    const auto message = json::document::parse(request);
    const auto envelope = message->root().as_object("");
    benchmark::DoNotOptimize(envelope->get_string("jsonrpc"));
    benchmark::DoNotOptimize(envelope->get_string("method"));
    benchmark::DoNotOptimize(envelope->get("id")->as_integer("id"));
    const auto params = envelope->get_object("params");
    benchmark::DoNotOptimize(params->get_string("uri"));
    const auto meta = params->get_object("_meta");
    benchmark::DoNotOptimize(meta->get_string("io.modelcontextprotocol/protocolVersion"));
  }
  count_bytes(state, request.size());
}
BENCHMARK(parse_and_decode_envelope);

void write_hundred_resources(benchmark::State& state) {
  std::string out;
  for (auto _ : state) {
    out.clear();
    json::writer to(out);
    to.begin_array();
    for (int i = 0; i < 100; ++i) {
      to.begin_object()
          .member("uri", "file:///project/src/json/reader.cpp")
          .member("name", "src/json/reader.cpp")
          .member("mimeType", "text/x-c++src")
          .member("description", "Reads JSON with simdjson's DOM parser and hands its values out with our errors.")
          .key("size")
          .integer(11000 + i)
          .end_object();
    }
    to.end_array();
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  count_bytes(state, out.size());
}
BENCHMARK(write_hundred_resources);

}  // namespace
