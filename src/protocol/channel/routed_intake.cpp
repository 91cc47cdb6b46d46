/// How a message finds the sink for its content.
#include "protocol/channel/routed_intake.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/json/scanner.hpp"

namespace hondana::channel {
namespace {

constexpr std::size_t read_back_bytes = 64u << 10;
constexpr std::size_t most_together = 1'000;

/// The elements of an array, which has been checked, as they are written.
struct elements {
  std::vector<std::string_view> first;  ///< As many as are taken together.
  std::size_t count = 0;
};

/// No more is held back than could be taken: a byte of content is six characters at the most.
patience within(patience waits, const limits& most) {
  constexpr auto end = std::numeric_limits<std::uint64_t>::max();
  const auto text = most.content_bytes > (end - most.message_bytes) / 6 ? end : 6 * most.content_bytes + most.message_bytes;
  waits.held_bytes = std::min(waits.held_bytes, text);
  return waits;
}

elements elements_of(std::string_view array) {
  elements out;
  json::scanner scanner;
  std::size_t depth = 0;
  const char* from = nullptr;
  const auto end_at = [&](const char* end) {
    constexpr std::string_view space = " \t\r\n";
    const std::string_view one(from, static_cast<std::size_t>(end - from));
    const auto begin = one.find_first_not_of(space);
    if (begin != std::string_view::npos && ++out.count <= most_together)
      out.first.push_back(one.substr(begin, one.find_last_not_of(space) + 1 - begin));
    from = end + 1;
  };
  for (auto rest = array; !rest.empty();) {
    const auto part = scanner.next(rest);
    if (part.what != json::scanner::kind::mark) continue;
    for (const char& c : part.raw) {
      if ((c == ']' || c == '}') && --depth == 0) end_at(&c);
      if (c == ',' && depth == 1) end_at(&c);
      if ((c == '[' || c == '{') && depth++ == 0) from = &c + 1;
    }
  }
  return out;
}

}  // namespace

routed_intake::routed_intake(const limits& most, content_sink sink)
    : most_(most), plain_(most, std::move(sink)), is_decided_(true) {}

routed_intake::routed_intake(const limits& most, route chooses, late_route chooses_late, const patience& waits)
    : most_(most),
      waits_(within(waits, most)),
      chooses_(std::move(chooses)),
      chooses_late_(std::move(chooses_late)),
      plain_(most, {}) {}

result<void> routed_intake::feed(std::string_view piece) {
  if (chosen_) return chosen_->feed(piece);
  auto taken = plain_.feed(piece);
  if (trouble_) return tl::unexpected(*trouble_);
  if (is_decided_ || !taken) return taken;
  if (const auto named = plain_.id()) return decide(chooses_(*named), piece);
  if (is_held_) return plain_.has_method() ? decide({}, piece) : hold(piece);
  if (begun_.size() + piece.size() <= waits_.unnamed_bytes) return begun_.append(piece);
  // What is no answer, or several, has no content for anybody.
  if (plain_.has_method() || plain_.is_array()) return decide({}, piece);
  if (const auto sink = chooses_late_ ? chooses_late_() : std::nullopt) return decide(*sink, piece);
  is_held_ = true;
  plain_.only_look();
  return hold(piece);
}

result<void> routed_intake::hold(std::string_view piece) {
  if (piece.size() > waits_.held_bytes - begun_.size()) {
    return give_up({errc::response_too_large,
                    "an answer is longer than the " + std::to_string(waits_.held_bytes) +
                        " bytes that are buffered until its id arrives; request less at a time, or one thing at a time",
                    {}});
  }
  auto held = begun_.append(piece);
  return held ? held : give_up(std::move(held.error()));
}

result<void> routed_intake::give_up(failure why) {
  if (why.code == errc::source_unavailable) {
    why.public_text = "an answer has its id after its content, and there is no space to buffer the content (" +
                      why.private_text + "); free some space in the folder of TMPDIR, or in /tmp";
  }
  trouble_ = std::move(why);
  begun_ = {};
  chosen_.reset();
  return tl::unexpected(*trouble_);
}

result<void> routed_intake::decide(const content_sink& sink, std::string_view piece) {
  auto begun = std::exchange(begun_, {});
  is_decided_ = true;
  if (!sink && !is_held_) return {};
  plain_.only_look();  // for another id it is too late
  HONDANA_TRY(hand_over(sink, std::move(begun)));
  return chosen_->feed(piece);
}

/// A failure of the content is final, but the rest is looked through all the same.
result<void> routed_intake::hand_over(const content_sink& sink, disk::spool from) {
  auto data = from.take();
  if (!data) return give_up(std::move(data.error()));
  chosen_.emplace(most_, sink);
  if (const auto* small = std::get_if<shared_bytes>(&*data)) return chosen_->feed(**small);
  const auto& reader = std::get<std::shared_ptr<byte_reader>>(*data);
  std::string buffer(read_back_bytes, '\0');
  for (;;) {
    const auto got = reader->read(std::span(buffer));
    if (!got) return give_up(got.error());
    if (*got == 0) return {};
    // Nobody wants the rest of what failed, and there may be much of it.
    HONDANA_TRY(chosen_->feed(std::string_view(buffer).substr(0, *got)));
  }
}

result<std::string> routed_intake::finish() {
  if (is_holding() && !trouble_) {
    HONDANA_TRY(plain_.feed({}));
    static_cast<void>(decide({}, {}));  // told again below
  }
  if (trouble_) return tl::unexpected(*trouble_);
  return chosen_ ? chosen_->finish() : plain_.finish();
}

void routed_intake::finish_each(const std::function<void(result<std::string>)>& takes) {
  auto whole = finish();
  if (!whole || !plain_.is_array()) return takes(std::move(whole));
  const auto all = elements_of(*whole);
  if (all.count == 0) return takes(fail(errc::broken_protocol, "an empty array is not a message"));
  if (all.count > most_together) {
    return takes(fail(errc::broken_protocol, "an array of " + std::to_string(all.count) +
                                                 " messages is longer than the limit of " + std::to_string(most_together)));
  }
  for (const auto one : all.first) {
    reset();
    static_cast<void>(feed(one));  // told again by the next
    takes(finish());
  }
}

std::optional<std::string> routed_intake::id() const {
  auto named = plain_.id();
  return named || !chosen_ ? named : chosen_->id();
}

void routed_intake::reset() {
  plain_.reset();
  chosen_.reset();
  begun_ = {};
  is_held_ = false;
  is_decided_ = !chooses_;
  trouble_.reset();
}

}  // namespace hondana::channel
