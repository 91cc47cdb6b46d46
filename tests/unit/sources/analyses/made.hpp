/// Analyses for tests.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hondana/value.hpp>

#include "sources/analyses/analyses_provider.hpp"
#include "sources/analyses/cache/analysis_json.hpp"
#include "sources/analyses/cache/cache.hpp"
#include "sources/analyses/cache/embedded/embedded_store.hpp"
#include "sources/analyses/cache/store.hpp"

namespace hondana::test {

/// A clock that stands still and goes on when it is told to.
struct moved_clock {
  analyses::instant begin = std::chrono::floor<analyses::milliseconds>(std::chrono::system_clock::now());
  std::shared_ptr<analyses::milliseconds> ahead = std::make_shared<analyses::milliseconds>(0);
  [[nodiscard]] analyses::instant now() const { return begin + *ahead; }
};

inline std::shared_ptr<analyses::cache> cache_in_memory(const moved_clock& at = {}, analyses::cache_policy by = {}) {
  auto opened = analyses::open_embedded({.path = {}, .log = {}, .clock = [at] { return at.now(); }});
  if (!opened) throw std::runtime_error(opened.error().public_text);
  analyses::cache_options how;
  how.policy = by;
  auto made = analyses::cache::create(std::move(*opened), std::move(how));
  if (!made) throw std::runtime_error(made.error().public_text);
  return std::move(*made);
}

inline std::shared_ptr<analyses_source::analyses_provider> provider_of(std::shared_ptr<analyses::cache> kept,
                                                                       std::function<void(std::string_view)> log = {}) {
  analyses_source::provider_options how;
  how.open_cache = [kept = std::move(kept)] { return result<std::shared_ptr<analyses::cache>>(kept); };
  how.check_interval = std::chrono::hours(1);
  how.log = std::move(log);
  return std::make_shared<analyses_source::analyses_provider>(std::move(how));
}

inline analyses::vote vote_by(std::string provider, double confidence = 0.9) {
  analyses::vote out;
  out.provider = std::move(provider);
  out.model = out.provider + "-large";
  out.content = "結論は**賛成**です。";
  out.confidence = confidence;
  out.reasoning = "三つの理由があります。";
  out.cost = 0.02;
  out.tokens = 900;
  out.agreement = 0.95;
  return out;
}

/// One that reaches its thresholds, unless its confidence is less than 0.7.
inline analyses::analysis made_analysis(std::string prompt, double confidence = 0.95, std::string session = {}) {
  analyses::analysis out;
  out.question.prompt = std::move(prompt);
  out.question.models = {"a-large", "b-large", "c-large", "d-large"};
  out.session = std::move(session);
  out.consensus = analyses::consensus_answer{"賛成\n\n# 見出しではない", confidence, "四者が一致"};
  for (const auto* name : {"a", "b", "c", "d"}) out.votes.push_back(vote_by(name));
  for (std::uint32_t i = 1; i <= 3; ++i) {
    analyses::voting_round round;
    round.number = i;
    round.votes = out.votes;
    round.consensus = out.consensus;
    round.duration = std::chrono::seconds(i);
    out.rounds.push_back(std::move(round));
  }
  out.flow.push_back({1, "a", "asked", {}, analyses::milliseconds(12), "初回"});
  out.errors.push_back({"d", 2, "timed out\n# not a heading", {}});
  out.total = {0.08, 3600, std::chrono::seconds(6)};
  return out;
}

/// Puts one; its id.
inline std::string put_into(analyses::cache& in, const analyses::analysis& what) {
  auto kept = in.put(what);
  if (!kept) throw std::runtime_error(kept.error().public_text);
  return kept->summary.id;
}

}  // namespace hondana::test
