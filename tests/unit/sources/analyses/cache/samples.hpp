/// Analyses for tests.
#pragma once

#include <chrono>
#include <string>
#include <utility>

#include "sources/analyses/cache/analysis.hpp"
#include "sources/analyses/cache/analysis_json.hpp"
#include "sources/analyses/cache/analysis_key.hpp"
#include "sources/analyses/cache/store.hpp"

namespace hondana::analyses {

/// A vote of everything.
inline vote vote_of(const std::string& provider, double confidence = 0.9, double agreement = 0.85) {
  vote out;
  out.provider = provider;
  out.model = provider + "-large";
  out.content = "索引を分割し、書き込みを非同期にする。 (" + provider + ")";
  out.confidence = confidence;
  out.reasoning = "計測では\n読み取りが 92 % を占める。";
  out.cost = 0.0125;
  out.tokens = 1843;
  out.agreement = agreement;
  return out;
}

/// A whole one of so many providers and rounds, as large as real ones are: some paragraphs of Japanese a vote.
inline analysis whole_analysis(const std::string& prompt = "設計をどう直すべきか", int providers = 4, int rounds = 3) {
  analysis out;
  out.question.prompt = prompt;
  out.question.options = value::object{{"temperature", 0.2}, {"deep", true}};
  out.question.models = {"claude-large", "gemini-large", "gpt-large"};
  out.question.context = {{"file:///src/main.cpp", "v1"}, {"git://repo/blob/HEAD/README.md", "abc"}};
  out.task = task_type::premium;
  const std::string paragraph =
      "全体の処理時間のうち大半は索引の再構築に費やされており、差分だけを書き換える方式に改めれば短くなる。";
  std::string long_text;
  for (int i = 0; i < 12; ++i) long_text += paragraph + "\n";
  static constexpr const char* names[] = {"claude", "gemini", "gpt", "qwen", "llama", "mistral"};
  for (int i = 0; i < providers; ++i) {
    out.votes.push_back(vote_of(names[i % 6]));
    out.votes.back().content += long_text;
  }
  for (int i = 1; i <= rounds; ++i) {
    voting_round one;
    one.number = static_cast<std::uint32_t>(i);
    one.votes = out.votes;
    if (i == rounds) one.consensus = consensus_answer{"差分だけを書き換える。", 0.91, "四者が一致した。"};
    one.started_at = instant(milliseconds(1'764'000'000'123 + i));
    one.duration = milliseconds(4200);
    out.rounds.push_back(one);
    out.flow.push_back({static_cast<std::uint32_t>(i), "claude", "answered", one.started_at, milliseconds(2100), "一巡目"});
  }
  out.consensus = consensus_answer{"差分だけを書き換える。" + long_text, 0.91, "四者が一致した。"};
  out.errors.push_back({"qwen", 1, "429 Too Many Requests", instant(milliseconds(1'764'000'000'000))});
  out.total = {0.153, 22116, milliseconds(12'600)};
  out.session = "session-42";
  out.tags = {"design", "設計"};
  return out;
}

/// A small one.
inline analysis small_analysis(const std::string& prompt, const std::string& content = "yes") {
  analysis out;
  out.question.prompt = prompt;
  out.consensus = consensus_answer{content, 0.9, {}};
  out.votes = {vote_of("a"), vote_of("b")};
  out.total = {0.5, 100, milliseconds(2000)};
  return out;
}

inline claim_parameters wish_for(const analysis& what, milliseconds lease = std::chrono::hours(1)) {
  claim_parameters out;
  out.question = what.question;
  out.key = make_key(what.question);
  out.task = what.task;
  out.session = what.session;
  out.tags = what.tags;
  out.claimant = "test";
  out.lease_ttl = lease;
  return out;
}

inline put_parameters putting_of(const analysis& what, analysis_status how = analysis_status::complete,
                                 milliseconds fresh = std::chrono::hours(1), milliseconds stale = std::chrono::hours(1)) {
  auto out = prepare_put(what, how);
  out->lease_ttl = std::chrono::seconds(60);
  out->fresh_ttl = fresh;
  out->stale_ttl = stale;
  return *out;
}

}  // namespace hondana::analyses
