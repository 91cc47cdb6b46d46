/// A record of requests and an outlet that note in one line what happened in which order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "server/session/session.hpp"

namespace hondana::session {

/// Keeps everything in order, or takes nothing.
class kept_record final : public auditor {
 public:
  result<std::uint64_t> record_decision(const audit_decision& what) override {
    if (is_full) return fail(errc::overloaded, "The record is full.");
    decisions.push_back(what);
    order += what.is_allowed ? 'd' : 'r';
    return decisions.size();
  }
  void record_completion(std::uint64_t decision, const audit_completion& how) override {
    completions.emplace_back(decision, how);
    order += 'c';
  }
  bool is_full = false;
  std::string order;
  std::vector<audit_decision> decisions;
  std::vector<std::pair<std::uint64_t, audit_completion>> completions;
};

/// Takes every answer at once, and says so. Notes an `a` for each in its record's order.
class outlet_of_texts final : public rpc::response_writer {
 public:
  explicit outlet_of_texts(kept_record& record) : record_(record) {}
  void answer(rpc::outgoing_response what) override {
    record_.order += 'a';
    if (!what.content) return;
    answers.push_back(what.content->extract_text());
    what.content->attached_receipts().report(rpc::delivery_outcome::sent);
  }
  void stream(std::shared_ptr<rpc::message_source>) override {}
  rpc::send_outcome send(std::string) override { return rpc::send_outcome::accepted; }
  std::vector<std::string> answers;

 private:
  kept_record& record_;
};

}  // namespace hondana::session
