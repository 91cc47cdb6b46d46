/// One call of a tool or prompt, and the rounds it takes when it needs the client's input.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include <hondana/input.hpp>

#include "server/session/asked.hpp"
#include "server/session/log_line.hpp"
#include "server/session/pending.hpp"

namespace hondana::session {

/// What a call needs of the conversation it belongs to.
struct surroundings {
  client_abilities client;
  std::shared_ptr<log_line> log;  ///< Null when the peer wants no messages.
  std::shared_ptr<rpc::outlet> out;
  std::shared_ptr<asked> requests_of_ours;
  std::chrono::milliseconds time;              ///< For each round.
  std::chrono::steady_clock::time_point last;  ///< For all of them, with what the client takes in between.
};

/// Calls a handler; when it returns `input_required`, a modern peer gets that as its answer, and a legacy peer gets requests of
/// ours, after whose answers the handler is called again. No thread waits meanwhile. Owned by what it waits for: a handler's
/// completion, or entries of the table of requests of ours.
class rounds : public std::enable_shared_from_this<rounds> {
 public:
  using target = std::variant<model::call_tool, model::get_prompt>;

  /// Starts the first round. Answers through `of`, exactly once.
  static void begin(std::shared_ptr<pending> of, call by, target what, surroundings around);

 private:
  rounds(std::shared_ptr<pending> of, call by, target what, surroundings around);

  void run();
  template <class Outcome>
  void take(result<Outcome> outcome);
  void require(input_required what);
  void answer_with_requirement(const input_required& what);
  void ask_peer(input_required what);
  void take_answer(const std::string& key, peer_answer what);
  void give_up(const failure& why);
  void give_up_asking(rpc::sending how);
  /// Forgets what is asked, and tells the peer; false when nothing was.
  bool withdraw();
  void refuse_lacking(std::string lacking);
  [[nodiscard]] std::string method() const;
  [[nodiscard]] std::string parameters() const;

  std::shared_ptr<pending> of_;
  call by_;
  target what_;
  surroundings around_;
  std::optional<value> state_;
  input_answers answers_;
  int round_ = 0;

  std::mutex mutex_;  // guards what follows: answers, the timer and a cancellation come on threads of their own
  std::map<std::string, std::string> waiting_for_;  // key to our id
  value::object arrived_;
  std::vector<std::pair<std::string, std::string>> refused_;
  std::optional<executor::timers::id> timer_;
  std::optional<std::stop_callback<std::function<void()>>> on_stop_;
};

}  // namespace hondana::session
