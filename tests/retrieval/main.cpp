/// Asks the questions of both languages of an index by trigrams, by MeCab and with vectors, and prints how well each does.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <hondana/memory_provider.hpp>
#include <hondana/search.hpp>
#include <hondana/server.hpp>
#include <hondana/uri.hpp>
#include <hondana/value.hpp>

#include "deadline.hpp"
#include "lsa/model.hpp"
#include "lsa/server.hpp"
#include "retrieval/judged.hpp"
#include "support/must.hpp"
#include "unit/search/index/postgres_server.hpp"

namespace {

using namespace hondana;

template <class T>
T good(result<T> from) {
  if (from) return std::move(*from);
  std::fprintf(stderr, "%s (%s)\n", from.error().public_text.c_str(), from.error().private_text.c_str());
  std::exit(2);
}
void good(const result<void>& from) {
  if (from) return;
  std::fprintf(stderr, "%s (%s)\n", from.error().public_text.c_str(), from.error().private_text.c_str());
  std::exit(2);
}

struct language {
  std::string name;
  retrieval::collection texts;
};

/// A server over all texts, with an index.
class library {
 public:
  library(const std::vector<language>& all, search_options how) {
    const auto index = good(open_search_index(std::move(how)));
    server_options options;
    options.search = index;
    options.call_timeout = hondana_test::event_deadline;
    server_ = std::make_unique<server>(must(server::create(options)));
    auto source = std::make_shared<memory_provider>("texts", "text:///");
    for (const auto& one : all) {
      for (std::size_t i = 0; i < one.texts.texts.size(); ++i) {
        const auto& text = one.texts.texts[i];
        resource entry;
        entry.uri = "text:///" + one.name + '/' + percent_encode(text.name);
        entry.name = text.name;
        entry.mime_type = "text/markdown";
        by_uri_[entry.uri] = i;
        good(source->add(entry, text.bytes));
      }
    }
    good(server_->add(source));
    const auto until = std::chrono::steady_clock::now() + hondana_test::event_deadline;
    good(wait_until_indexed(*index, until));
    const auto has_all = [&] {
      const auto state = search_state_of(*index);
      return state.vector_source.empty() || state.vectors == state.passages;
    };
    while (!has_all() && std::chrono::steady_clock::now() < until) good(wait_until_indexed(*index, until));
    if (!has_all()) good(fail(errc::timed_out, "not all vectors came: " + search_state_of(*index).problem));
    passages_ = search_state_of(*index).passages;
    peer_ = std::make_unique<memory_peer>(*server_);
  }
  [[nodiscard]] std::uint64_t passages() const { return passages_; }

  [[nodiscard]] std::vector<retrieval::found> ask(const std::string& in, const std::string& words) {
    const auto uri = "search:///?q=" + percent_encode(words) + "&limit=10&uriPrefix=" + percent_encode("text:///" + in + '/');
    const value asked = value::object{
        {"jsonrpc", "2.0"},
        {"id", ++id_},
        {"method", "resources/read"},
        {"params", value::object{{"uri", uri},
                                 {"_meta", value::object{{"io.modelcontextprotocol/protocolVersion", "2026-07-28"},
                                                         {"io.modelcontextprotocol/clientCapabilities", value::object{}}}}}}};
    peer_->send(asked.to_text());
    const auto answer = peer_->receive(std::chrono::steady_clock::now() + hondana_test::event_deadline);
    if (!answer) good(fail(errc::timed_out, "no answer"));
    const auto whole = good(value::parse(*answer));
    const auto text = whole.string_at("/result/contents/0/text");
    if (!text) good(fail(errc::internal, *answer));
    const auto results = good(good(value::parse(*text)).array_at("results"));
    std::vector<retrieval::found> out;
    for (const auto& one : results) {
      retrieval::found made;
      made.text = by_uri_.at(good(one.string_at("uri")));
      const auto range = good(one.string_at("range"));  // lines=3-7
      made.first_line = std::stoul(range.substr(6));
      made.last_line = std::stoul(range.substr(range.find('-') + 1));
      out.push_back(made);
    }
    return out;
  }

 private:
  std::unique_ptr<server> server_;
  std::unique_ptr<memory_peer> peer_;
  std::map<std::string, std::size_t> by_uri_;
  std::uint64_t passages_ = 0;
  int id_ = 0;
};

struct mean {
  double ndcg = 0;
  double recall = 0;
};

/// What was found for each question.
using answers = std::vector<std::vector<retrieval::found>>;

mean ask_all(library& of, const language& in, answers& into) {
  mean out;
  for (const auto& one : in.texts.questions) {
    into.push_back(of.ask(in.name, one.words));
    const auto got = retrieval::judge(in.texts, one, into.back());
    out.ndcg += got.ndcg;
    out.recall += got.recall;
  }
  const auto count = static_cast<double>(in.texts.questions.size());
  return {out.ndcg / count, out.recall / count};
}

/// Which part of the first ten of one is among the first ten of the other, of all questions that found something.
double overlap(const answers& one, const answers& other) {
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    if (one[i].empty()) continue;
    std::size_t shared = 0;
    for (const auto& mine : one[i]) {
      shared += std::any_of(other[i].begin(), other[i].end(), [&mine](const auto& theirs) {
        return theirs.text == mine.text && theirs.first_line == mine.first_line;
      });
    }
    sum += static_cast<double>(shared) / static_cast<double>(one[i].size());
    ++count;
  }
  return count == 0 ? 0 : sum / static_cast<double>(count);
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: retrieval FOLDER, which has ja/ and en/\n");
    return 2;
  }
  std::vector<language> all;
  std::vector<std::string> sections;
  for (const auto* name : {"ja", "en"}) {
    all.push_back({name, retrieval::load(std::string(arguments[1]) + '/' + name)});
    for (const auto& text : all.back().texts.texts) {
      for (auto& one : lsa::sections_of(text.bytes)) sections.push_back(std::move(one));
    }
  }
  lsa::server service(lsa::model::of(sections));
  service.start();
  const auto options = [&](tokenizer_kind words, bool has_vectors) {
    search_options how;
    how.tokenizer = words;
    if (has_vectors) {
      how.embeddings.emplace();
      how.embeddings->url = service.url();
      how.embeddings->model = "lsa";
      how.embeddings->query_timeout = std::chrono::minutes(1);
      how.embeddings->timeout = hondana_test::event_deadline;
    }
    return how;
  };
  const hondana::search::postgres_server database;
  if (!database.is_ready()) good(fail(errc::source_unavailable, "PostgreSQL cannot be started"));
  auto in_postgres = options(tokenizer_kind::mecab, false);
  in_postgres.postgres_url = database.url();
  struct way {
    const char* name;
    search_options how;
  };
  const std::vector<way> ways{{"trigrams", options(tokenizer_kind::trigrams, false)},
                              {"MeCab", options(tokenizer_kind::mecab, false)},
                              {"hybrid (MeCab and vectors)", options(tokenizer_kind::mecab, true)},
                              {"PostgreSQL (MeCab)", in_postgres}};
  std::printf(
      "%zu texts in Japanese with %zu questions, %zu in English with %zu; vectors by latent semantic analysis of these "
      "texts\n\n",
      all[0].texts.texts.size(), all[0].texts.questions.size(), all[1].texts.texts.size(), all[1].texts.questions.size());
  std::printf("%-28s %8s  %-7s %9s %9s\n", "", "passages", "", "nDCG@10", "recall@10");
  std::vector<std::vector<mean>> means;
  std::vector<std::vector<answers>> found;
  for (const auto& one : ways) {
    library of(all, one.how);
    means.emplace_back();
    found.emplace_back();
    for (const auto& in : all) {
      found.back().emplace_back();
      means.back().push_back(ask_all(of, in, found.back().back()));
      std::printf("%-28s %8llu  %-7s %9.3f %9.3f\n", one.name, static_cast<unsigned long long>(of.passages()), in.name.c_str(),
                  means.back().back().ndcg, means.back().back().recall);
    }
  }
  // What is promised: vectors never make it much worse, and each way finds most of what it should.
  int code = 0;
  for (std::size_t in = 0; in < all.size(); ++in) {
    const double better = std::max(means[0][in].ndcg, means[1][in].ndcg);
    if (means[2][in].ndcg < better - 0.02) {
      std::fprintf(stderr, "%s: hybrid has %.3f, and the better of the others %.3f\n", all[in].name.c_str(), means[2][in].ndcg,
                   better);
      code = 1;
    }
    if (better < 0.5) code = 1;
    const double shared = overlap(found[1][in], found[3][in]);
    std::printf("%s: %.3f of the first ten of SQLite are among those of PostgreSQL\n", all[in].name.c_str(), shared);
    if (shared < 0.8) code = 1;
  }
  return code;
}
