/// One request on its way through gate, catalog and handlers.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "protocol/rpc/in_flight.hpp"
#include "protocol/wire/choose.hpp"
#include "server/session/kept_pages.hpp"
#include "server/session/request_figures.hpp"
#include "server/session/session.hpp"

namespace hondana::session {

/// An error answer to a request, or without an id to what was none.
[[nodiscard]] inline rpc::delivery refusal(const std::optional<rpc::request_id>& id, const wire::protocol_error& why,
                                           const wire::codec& manners) {
  rpc::delivery out{why.http_status, rpc::body(wire::wrap_error(id, why, manners))};
  out.error = why.code;
  return out;
}

/// Everything a request's answer needs, shared with the completions.
struct pending {
  rpc::reply reply;
  rpc::request_id id;
  const wire::codec& codec;
  std::shared_ptr<const context> with;
  std::string uri;                 // what errors are about
  std::optional<page_key> page{};  // what it asks for, where that may be kept

  void succeed(rpc::body result) { reply.send({200, wire::wrap_result(id, std::move(result))}); }
  void refuse(const wire::protocol_error& why) { reply.send(refusal(id, why, codec)); }
  void fail(const failure& why) {
    if (!why.private_text.empty()) note(std::string(name_of(why.code)) + about() + ": " + why.private_text);
    auto answer = refusal(id, codec.encode_failure(why, uri), codec);
    if (why.code == errc::scope_missing && why.scopes) {
      answer.http_status = 403;
      answer.scopes = why.scopes;
    }
    if (why.code == errc::too_many_requests || why.code == errc::overloaded) answer.retry = why.retry;
    request_figures::here().refused(why.code);
    reply.send(std::move(answer));
  }
  void note(std::string_view line) const {
    if (with->log) with->log(line);
  }
  /// The URI for the log, which a peer must not fill with a long one.
  [[nodiscard]] std::string about() const {
    constexpr std::size_t shown = 300;
    return uri.empty() ? uri : ' ' + (uri.size() <= shown ? uri : uri.substr(0, shown) + "...");
  }
  /// Encodes an answer with `encode` and sends it. What is thrown on the way, such as no memory for it, is an internal error.
  template <class Answer, class Encode>
  void finish(result<Answer> answer, Encode&& encode) {
    if (!answer) return fail(answer.error());
    try {
      succeed(rpc::body(encode(std::move(*answer))));
    } catch (const std::exception& error) {
      fail({errc::internal, "Internal error", std::string("an answer could not be encoded: ") + error.what()});
    }
  }
  template <class Answer>
  void finish(result<Answer> answer) {
    finish(std::move(answer), [this](const Answer& one) { return codec.encode(one, with->self); });
  }
  /// The same of a page, which is kept for the next who asks for it.
  template <class Page>
  void finish_page(result<Page> answer) {
    finish(std::move(answer), [this](const Page& one) {
      auto text = codec.encode(one, with->self);
      if (page && one.valid) with->pages->keep(*page, text, one.valid);
      return text;
    });
  }
};

}  // namespace hondana::session
