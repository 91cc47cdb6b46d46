/// Operations to catalog and handlers, answers to their encoders.
#include "server/session/performer.hpp"

#include <utility>
#include <variant>

#include "server/session/granted.hpp"

namespace hondana::session {
namespace {

struct performer {
  std::shared_ptr<pending> of;
  const call& by;
  const rpc::facts& facts;
  const surroundings& around;

  void operator()(const model::list_resources& what) const {
    auto which = std::make_shared<const catalog::filter>(what.filter.value_or(model::resource_filter{}));
    of->with->catalog->list(by, what.cursor, std::move(which), [of = of](auto page) { of->finish_page(std::move(page)); });
  }
  void operator()(const model::list_templates& what) const {
    of->with->catalog->templates(by, what.cursor, [of = of](auto page) { of->finish_page(std::move(page)); });
  }
  void operator()(const model::read_resource& what) const {
    const auto done = [of = of](result<catalog::read_answer> answer) {
      if (answer && answer->is_unmodified) return unmodified(*of, *answer);
      of->finish(std::move(answer), [&of](catalog::read_answer one) {
        return of->codec.encode(std::move(one.reading), one.home, one.cache, of->with->self);
      });
    };
    of->with->catalog->read(by, what.uri, what.asked_uri, {what.if_version, false}, done);
  }
  void operator()(const model::get_resource& what) const {
    const auto done = [of = of](result<catalog::read_answer> answer) {
      if (answer && answer->is_unmodified) return unmodified(*of, *answer);
      of->finish(std::move(answer), [&of](catalog::read_answer one) {
        // Of a folder this is its listing: what it has besides are resources of their own.
        return of->codec.encode_got(*one.entry, std::move(one.reading.contents.front()), one.home, one.cache, of->with->self);
      });
    };
    of->with->catalog->read(by, what.uri, what.asked_uri, {what.if_version, true}, done);
  }
  void operator()(const model::read_directory& what) const {
    of->with->catalog->children(by, what.uri, what.cursor, [of = of](auto page) { of->finish(std::move(page)); });
  }
  void operator()(const model::list_skills& what) const {
    of->with->catalog->skills(by, what.cursor, [of = of](auto page) { of->finish(std::move(page)); });
  }
  void operator()(const model::get_skill& what) const {
    of->with->catalog->find_skill(by, what.uri, what.asked_uri, [of = of](auto one) { of->finish(std::move(one)); });
  }
  void operator()(const model::complete& what) const {
    if (what.prompt) {
      if (!is_there(of->with->handlers->find_prompt(*what.prompt))) {
        return of->fail(handlers::table::unknown_prompt_to_complete(*what.prompt));
      }
      of->with->handlers->complete(by, what, [of = of](auto values) { of->finish(std::move(values)); });
    } else {
      of->with->catalog->complete(by, what, [of = of](auto values) { of->finish(std::move(values)); });
    }
  }
  void operator()(const model::list_tools& what) const {
    handlers::table::tool_sight is_shown;
    if (const auto granted = by_rules()) {
      is_shown = [granted](const handlers::offered_tool& one) { return granted_of(*granted, one) >= grant::list; };
    }
    of->finish(of->with->handlers->tools(what.cursor, is_shown));
  }
  void operator()(const model::list_prompts& what) const {
    handlers::table::prompt_sight is_shown;
    if (const auto granted = by_rules()) {
      is_shown = [granted](const handlers::offered_prompt& one) { return granted_of(*granted, one) >= grant::list; };
    }
    of->finish(of->with->handlers->prompts(what.cursor, is_shown));
  }
  void operator()(model::call_tool& what) const {
    const auto* called = of->with->handlers->find_tool(what.name);
    if (!is_there(called)) return of->fail(handlers::table::unknown_tool(what.name));
    if (facts.http) {
      const auto refused = of->codec.refuse_mirrored(called->mirrored, what.arguments, *facts.http);
      if (refused) return of->refuse(*refused);
    }
    rounds::begin(of, by, std::move(what), around);
  }
  void operator()(model::get_prompt& what) const {
    if (!is_there(of->with->handlers->find_prompt(what.name))) {
      return of->fail(handlers::table::unknown_prompt(what.name));
    }
    rounds::begin(of, by, std::move(what), around);
  }
  void operator()(const model::set_log_level&) const { acknowledge(); }
  void operator()(const model::initialize&) const {
    rpc::body result(of->codec.encode_greeting(of->with->self));
    of->reply.send({200, wire::wrap_result(of->id, std::move(result)), true, of->codec.may_poll()});
  }
  void operator()(const model::discover&) const { of->succeed(rpc::body(of->codec.encode_greeting(of->with->self))); }
  void operator()(const model::ping&) const { acknowledge(); }
  template <class Other>
  void operator()(const Other&) const {
    of->fail({errc::internal, "Internal error", "an operation without an answer came as a request"});
  }

 private:
  /// What there is not and what may not be had have one answer, given here before anything else looks at the request.
  template <class Offered>
  [[nodiscard]] bool is_there(const Offered* one) const {
    return may_use(*of->with->gate, by.who, one);
  }
  [[nodiscard]] std::shared_ptr<const access::decisions> by_rules() const { return of->with->gate->decisions_of(by.who); }
  static void unmodified(pending& of, const catalog::read_answer& answer) {
    of.refuse(of.codec.encode_unmodified(of.uri, answer.reading.version));
  }
  void acknowledge() const { of->succeed(rpc::body(of->codec.encode_empty(of->with->self))); }
};

}  // namespace

void perform(std::shared_ptr<pending> of, const call& by, const rpc::facts& facts, model::operation what,
             const surroundings& around) {
  std::visit(performer{std::move(of), by, facts, around}, what);
}

}  // namespace hondana::session
