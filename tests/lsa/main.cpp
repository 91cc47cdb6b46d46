/// embedding_server [option...] FOLDER: vectors by latent semantic analysis of the .md files of a folder, over HTTP.
///
/// Says `listening on PORT` when it does, and ends when its standard input does. Options, as `lsa::behaviour` has them:
/// --dimensions N, --model NAME, --token TOKEN, --dead, --delay MILLISECONDS, --status N, --message TEXT, --plain,
/// --retry-after TEXT, --base64, --out-of-order, --no-indexes, --short, --nan, --zero, --most-texts N, --most-bytes N,
/// --other-dimension-after N.
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <string>

#include "lsa/server.hpp"

namespace {

struct options {
  std::size_t dimensions = 128;
  std::string folder{};
  lsa::behaviour how{};
};

/// False: it says what it understands.
bool read(int count, char** words, options& into) {
  auto& how = into.how;
  const std::map<std::string, bool*> switches{{"--dead", &how.is_dead},     {"--plain", &how.is_plain},
                                              {"--base64", &how.is_base64}, {"--out-of-order", &how.is_out_of_order},
                                              {"--short", &how.is_short},   {"--nan", &how.has_no_number},
                                              {"--zero", &how.is_all_zero}};
  const std::map<std::string, std::string*> texts{
      {"--model", &how.model}, {"--token", &how.token}, {"--message", &how.message}, {"--retry-after", &how.retry_after}};
  const std::map<std::string, std::size_t*> numbers{{"--dimensions", &into.dimensions},
                                                    {"--most-texts", &how.most_texts},
                                                    {"--most-bytes", &how.most_bytes},
                                                    {"--other-dimension-after", &how.requests_until_other_dimension}};
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    const bool has_more = i + 1 < count;
    if (const auto found = switches.find(word); found != switches.end()) {
      *found->second = true;
    } else if (word == "--no-indexes") {
      how.has_indexes = false;
    } else if (const auto text = texts.find(word); text != texts.end() && has_more) {
      *text->second = words[++i];
    } else if (const auto number = numbers.find(word); number != numbers.end() && has_more) {
      *number->second = std::stoul(words[++i]);
    } else if (word == "--delay" && has_more) {
      how.delay = std::chrono::milliseconds(std::stoul(words[++i]));
    } else if (word == "--status" && has_more) {
      how.status = std::stoi(words[++i]);
    } else if (!word.starts_with("--") && into.folder.empty()) {
      into.folder = word;
    } else {
      return false;
    }
  }
  return !into.folder.empty();
}

}  // namespace

int main(int count, char** words) try {
  options from;
  if (!read(count, words, from)) {
    std::cerr << "usage: embedding_server [option...] FOLDER\n";
    return 2;
  }
  const auto model = lsa::model::of_folder(from.folder, from.dimensions);
  std::cerr << model->words() << " words, " << model->dimension() << " dimensions\n";
  lsa::server server(model, from.how);
  server.start();
  std::cout << "listening on " << server.port() << std::endl;
  while (std::getchar() != EOF) continue;
  return 0;
} catch (const std::exception& e) {
  std::cerr << "embedding_server: " << e.what() << '\n';
  return 1;
}
