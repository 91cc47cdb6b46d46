/// How a message finds the sink for its content.
#include "channel/routed_intake.hpp"

#include <utility>

namespace hondana::channel {
namespace {

constexpr std::size_t max_begun_bytes = 64u << 10;

}  // namespace

routed_intake::routed_intake(const limits& most, content_sink sink)
    : most_(most), plain_(most, std::move(sink)), is_decided_(true) {}

routed_intake::routed_intake(const limits& most, route chooses, late_route chooses_late)
    : most_(most), chooses_(std::move(chooses)), chooses_late_(std::move(chooses_late)), plain_(most, {}) {}

result<void> routed_intake::feed(std::string_view piece) {
  if (chosen_) return chosen_->feed(piece);
  auto taken = plain_.feed(piece);
  if (is_decided_ || !taken) return taken;
  const auto named = plain_.id();
  if (!named) {
    is_decided_ = begun_.size() + piece.size() > max_begun_bytes;
    if (!is_decided_) {
      begun_ += piece;
      return taken;
    }
    const auto begun = std::exchange(begun_, {});
    const auto sink = chooses_late_ ? chooses_late_() : content_sink();
    return sink ? hand_over(sink, begun, piece) : taken;
  }
  is_decided_ = true;
  const auto begun = std::exchange(begun_, {});
  const auto sink = chooses_(*named);
  if (!sink) return taken;
  id_ = named;
  return hand_over(sink, begun, piece);
}

result<void> routed_intake::hand_over(const content_sink& sink, std::string_view begun, std::string_view piece) {
  plain_.reset();
  chosen_.emplace(most_, sink);
  if (auto taken = chosen_->feed(begun); !taken) return taken;
  return chosen_->feed(piece);
}

result<std::string> routed_intake::finish() {
  if (chosen_) return chosen_->finish();
  auto whole = plain_.finish();
  const auto named = plain_.id();
  if (!whole || !named || !chooses_) return whole;
  const auto sink = chooses_(*named);
  if (!sink) return whole;
  id_ = named;
  if (auto taken = hand_over(sink, *whole, {}); !taken) return tl::unexpected(std::move(taken.error()));
  return chosen_->finish();
}

void routed_intake::reset() {
  plain_.reset();
  chosen_.reset();
  id_.reset();
  begun_.clear();
  is_decided_ = !chooses_;
}

}  // namespace hondana::channel
