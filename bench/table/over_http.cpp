/// Small reads, reads of 1 MiB and lists over HTTP, beside nginx, a bare loop and the SDKs.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "../http/bare_loop.hpp"
#include "../http/contestant.hpp"
#include "../http/generator.hpp"
#include "../http/nginx.hpp"
#include "../http/workload.hpp"
#include "works.hpp"

namespace table_bench {
namespace {

using bench::aim;
using bench::figures;
using http_bench::contestant;

constexpr unsigned crowds[] = {1, 32};

const char* const own = "hondana";
const char* const own_afresh = "hondana, nothing kept";
const char* const own_kept = "hondana, unchanged";
const char* const bare = "a bare loop, as many bytes";
const char* const plain = "nginx `return 200`";
const char* const file = "nginx, the same bytes";
const char* const sdk2 = "SDK 2.4";
const char* const sdk1 = "SDK 1.32";

/// What is asked of whom.
struct work {
  std::string name;
  std::string method;
  std::string uri;
};

/// One server at one work.
struct entrant {
  std::string who;
  std::shared_ptr<const contestant> server;
  std::string request;
  std::size_t body;
  figures got{};
};

std::string in_session(const work& what, const std::string& session) {
  const auto message = R"({"jsonrpc":"2.0","id":)" + std::string(http_bench::same_width_id) + R"(,"method":")" + what.method +
                       R"(","params":{)" + (what.uri.empty() ? "" : R"("uri":")" + what.uri + '"') + "}}";
  return http_bench::legacy_post(message, session);
}

class servers {
 public:
  servers(const setting& at, bench::report& to) : at_(at), works_(all_works(at)) {
    ours_ = start_own("hondana", "");
    // What is read afresh: with no content kept, each request reads its file. Touching files between reads would also measure
    // whoever touches and the watching of the folder.
    afresh_ = start_own("afresh", "read_cache_bytes = 0\n");
    for (const auto& one : works_) {
      bodies_.push_back(http_bench::settled(ours_->port(), request_for(one)));
      if (bodies_.back().find("\"result\"") == std::string::npos) {
        throw std::runtime_error(one.name + ": " + bodies_.back().substr(0, 300));
      }
    }
    nginx_ = http_bench::start_nginx(at.in, bodies_, bodies_.front().size(), at.on.of_server);
    if (!nginx_) to.leave_out("nginx is not here");
    sdk2_ = start_peer("sdk2.mjs");
    sdk1_ = start_peer("sdk1.mjs");
    if (!sdk2_ || !sdk1_) {
      to.leave_out("the servers of the TypeScript SDK, whose npm packages are not in " + at.peers);
      return;
    }
    session_ = http_bench::fetch(
                   sdk1_->port(),
                   http_bench::legacy_post(R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":)"
                                           R"("2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}})",
                                           {}))
                   .session;
  }

  [[nodiscard]] const std::vector<work>& works() const noexcept { return works_; }

  /// Everybody who takes part in a work.
  [[nodiscard]] std::vector<entrant> entrants(std::size_t number) const {
    const auto& what = works_[number];
    const auto& body = bodies_[number];
    const auto request = request_for(what);
    const bool is_big = body.size() > mebibyte;
    std::vector<entrant> out{{is_big ? own_kept : own, ours_, request, body.size()}};
    if (is_big) out.push_back({own_afresh, afresh_, request, body.size()});
    const auto answer = http_bench::fixed_answer(body.size());
    const auto port = http_bench::free_port();
    out.push_back(
        {bare,
         std::make_shared<contestant>([&] { http_bench::serve_bare(port, request.size(), answer); }, at_.on.of_server, port),
         request, body.size()});
    // Only small answers are like an answer without content.
    if (nginx_ && number == 0) out.push_back({plain, nginx_, http_bench::post("/return", what.method, what.uri), body.size()});
    if (nginx_) out.push_back({file, nginx_, http_bench::get("/static/" + std::to_string(number)), body.size()});
    if (sdk2_) out.push_back({sdk2, sdk2_, request, size_by(*sdk2_, request)});
    if (sdk1_) out.push_back({sdk1, sdk1_, in_session(what, session_), size_by(*sdk1_, in_session(what, session_))});
    return out;
  }

 private:
  static std::vector<work> all_works(const setting& at) {
    return {{"small read over HTTP", "resources/read", at.uri_of("small.txt")},
            {"1 MiB text over HTTP", "resources/read", at.uri_of("text.txt")},
            {"1 MiB blob over HTTP", "resources/read", at.uri_of("blob.bin")},
            {"list of 100 over HTTP", "resources/list", {}}};
  }
  static std::string request_for(const work& what) { return http_bench::post("/mcp", what.method, what.uri); }
  static std::size_t size_by(const contestant& by, const std::string& request) {
    const auto body = http_bench::fetch(by.port(), request).body;
    if (body.find("\"result\"") == std::string::npos) throw std::runtime_error("a peer: " + body.substr(0, 300));
    return body.size();
  }
  [[nodiscard]] std::shared_ptr<const contestant> start_own(const std::string& name, const std::string& settings) const {
    const auto port = http_bench::free_port();
    return std::make_shared<contestant>(
        std::vector<std::string>{at_.program, "serve", "--config", at_.config(name + ".toml", port, settings)},
        at_.on.of_server, port, at_.in.path(name + ".log"));
  }
  [[nodiscard]] std::shared_ptr<const contestant> start_peer(const std::string& script) const {
    const auto port = http_bench::free_port();
    const auto command = at_.peer(script, {at_.in.path("served"), std::to_string(port)});
    if (command.empty()) return nullptr;
    return std::make_shared<contestant>(command, at_.on.of_server, port, at_.in.path(script + ".log"));
  }

  const setting& at_;
  std::vector<work> works_;
  std::vector<std::string> bodies_;
  std::shared_ptr<const contestant> ours_;
  std::shared_ptr<const contestant> afresh_;
  std::shared_ptr<const contestant> nginx_;
  std::shared_ptr<const contestant> sdk2_;
  std::shared_ptr<const contestant> sdk1_;
  std::string session_;
};

const figures* by(const std::vector<entrant>& all, const char* who) {
  const auto at = std::find_if(all.begin(), all.end(), [who](const entrant& one) { return one.who == who; });
  return at == all.end() ? nullptr : &at->got;
}

/// What has to be shown of one work at so many connections.
void judge(std::size_t number, const std::string& name, unsigned connections, const std::vector<entrant>& all,
           bench::report& to) {
  const aim half_text{aim::sense::at_least, 0.55};
  const aim half_blob{aim::sense::at_least, 0.5};
  const aim nearly{aim::sense::at_least, 0.9};
  const auto& first = all.front().got;
  if (number == 0 && connections == 1) {
    to.compare(name, "p99, µs", first, plain, by(all, plain), &figures::p99, {aim::sense::at_most, 1.5});
  } else if (number == 0) {
    to.compare(name, "µs CPU a request", first, plain, by(all, plain), &figures::costs, {aim::sense::at_most, 1.25});
    to.compare(name, "µs CPU a request", first, sdk2, by(all, sdk2), &figures::costs, {aim::sense::at_most, 0.04, "≤ 1/25"});
  } else if (number == 3) {
    if (connections > 1) to.compare(name, "requests/s", first, file, by(all, file), &figures::rates, nearly);
  } else if (connections > 1) {
    to.compare(name + ", afresh", "requests/s", *by(all, own_afresh), bare, by(all, bare), &figures::rates,
               number == 1 ? half_text : half_blob);
    to.compare(name + ", unchanged", "requests/s", first, bare, by(all, bare), &figures::rates, nearly);
  }
}

}  // namespace

void run_over_http(const setting& at, bench::report& to) {
  const servers among(at, to);
  for (std::size_t number = 0; number < among.works().size(); ++number) {
    const auto everybody = among.entrants(number);
    for (const unsigned connections : crowds) {
      const auto name =
          among.works()[number].name + ", " + std::to_string(connections) + (connections == 1 ? " connection" : " connections");
      std::fprintf(stderr, "%s\n", name.c_str());
      auto all = everybody;
      for (int turn = 0; turn < at.repetitions; ++turn) {
        for (auto& one : all) {
          http_bench::measure(*one.server, one.request, one.body, static_cast<int>(connections), at.time, one.got);
        }
      }
      for (const auto& one : all) to.add(among.works()[number].name, one.who, one.body, connections, one.got);
      judge(number, name, connections, all, to);
    }
  }
}

}  // namespace table_bench
