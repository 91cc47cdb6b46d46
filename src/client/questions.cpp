/// From a question to its handler and back.
#include "client/questions.hpp"

#include <exception>
#include <variant>

namespace hondana::outbound {
namespace {

using asking::reply;
using asking::reply_of;
using asking::unanswered;

/// Asks the handler for its kind of question.
struct asks {
  const client_handlers& by;
  const value& params;

  reply operator()(const form_request& what) const {
    return by.form ? reply_of(by.form(what, params), what) : unanswered("this client does not show forms");
  }
  reply operator()(const link_request& what) const {
    return by.link ? reply_of(by.link(what, params), what) : unanswered("this client does not open links");
  }
  reply operator()(const sampling_request& what) const {
    return by.sampling ? reply_of(by.sampling(what, params)) : unanswered("this client does not support sampling");
  }
  reply operator()(const asking::roots_request&) const {
    return by.roots ? reply_of(by.roots()) : unanswered("this client has no roots");
  }
};

}  // namespace

bool questions::has_handler(std::string_view method) const noexcept {
  const auto kind = asking::kind_of_question(method);
  if (!kind) return false;
  switch (*kind) {
    case asking::question_kind::elicitation:
      return by_.form || by_.link;
    case asking::question_kind::sampling:
      return static_cast<bool>(by_.sampling);
    case asking::question_kind::roots:
      break;
  }
  return static_cast<bool>(by_.roots);
}

bool questions::takes_time(std::string_view method) noexcept {
  return asking::kind_of_question(method) != asking::question_kind::roots;
}

reply questions::answer(std::string_view method, const value& params) {
  // What nobody answers need not be well-formed.
  if (!has_handler(method)) return unanswered("this client does not support the method " + std::string(method.substr(0, 100)));
  const auto what = asking::question_of(method, params);
  if (!what) return what.error();
  try {
    return std::visit(asks{by_, params}, *what);
  } catch (const std::exception&) {
    // A handler is the application's; what went wrong there is none of the server's business.
    return asking::failed("the client failed to answer");
  }
}

}  // namespace hondana::outbound
