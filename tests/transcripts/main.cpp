/// Plays the transcripts of one area in every manner, and writes down what the server said.
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>

#include "transcripts/pattern.hpp"
#include "transcripts/player.hpp"
#include "transcripts/transcript.hpp"

namespace {

namespace fs = std::filesystem;
using transcripts::transcript;

std::vector<transcripts::manner> manners_of(const transcript& script) {
  std::vector<transcripts::manner> all;
  for (const auto& transport : script.transports) {
    all.push_back({transport, false});
    // In memory a message is handed over whole.
    if (script.bytewise && transport != "memory") all.push_back({transport, true});
  }
  return all;
}

/// What the server said, by revision, one JSON object a line: {"method", "message"}.
class record {
 public:
  record(fs::path folder, std::string area) : folder_(std::move(folder)), area_(std::move(area)) {}

  void add(const std::vector<transcripts::emitted>& messages) {
    for (const auto& one : messages) {
      const auto message = transcripts::read_json(one.message);
      if (message)
        lines_[one.revision] +=
            boost::json::serialize(boost::json::object{{"method", one.method}, {"message", *message}}) + "\n";
    }
  }

  /// Replaces what an earlier run of this area wrote.
  bool write() const {
    bool good = true;
    std::error_code none;  // before the first run there is nothing to remove
    for (const auto& revision : fs::directory_iterator(folder_, none)) fs::remove(revision.path() / (area_ + ".jsonl"), none);
    for (const auto& [revision, text] : lines_) {
      std::error_code error;
      fs::create_directories(folder_ / revision, error);
      std::ofstream out(folder_ / revision / (area_ + ".jsonl"), std::ios::binary | std::ios::trunc);
      out << text;
      good = good && out.flush().good();
    }
    return good;
  }

 private:
  fs::path folder_;
  std::string area_;
  std::map<std::string, std::string> lines_;
};

struct tally {
  std::size_t played = 0;
  std::size_t failed = 0;
};

void play_all(const transcript& script, const fs::path& program, record& said, tally& count) {
  for (const auto& revision : script.revisions) {
    std::string last;  // the same fault over every transport is told once
    for (const auto& how : manners_of(script)) {
      auto done = transcripts::play(script, revision, how, program);
      ++count.played;
      said.add(done.messages);
      if (!done.fault) continue;
      ++count.failed;
      const bool is_told = std::exchange(last, *done.fault) == *done.fault;
      std::printf("FAILED over %s%s, revision %s\n  %s\n", how.transport.c_str(), how.bytewise ? " one byte at a time" : "",
                  revision.c_str(), is_told ? "the same" : done.fault->c_str());
    }
  }
}

int usage() {
  std::fprintf(stderr, "usage: transcripts STDIO_SERVER EMITTED_FOLDER AREA_FOLDER [CASE]\n");
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 4 && count != 5) return usage();
  std::signal(SIGPIPE, SIG_IGN);
  const fs::path program = arguments[1];
  const fs::path area = arguments[3];
  const std::string only = count == 5 ? arguments[4] : "";

  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(area)) {
    if (entry.path().filename().string().starts_with(only)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());

  record said(arguments[2], area.filename().string());
  tally total;
  for (const auto& file : files) {
    const auto script = transcripts::read_transcript(file);
    if (script) {
      play_all(*script, program, said, total);
    } else {
      ++total.failed;
      std::printf("FAILED %s\n", script.error().c_str());
    }
  }
  std::printf("%s: %zu transcripts, played %zu times, %zu failed\n", area.filename().c_str(), files.size(), total.played,
              total.failed);
  if (only.empty() && !said.write()) {
    std::printf("FAILED: cannot write below %s\n", arguments[2]);
    return 1;
  }
  return total.failed == 0 && !files.empty() ? 0 : 1;
}
