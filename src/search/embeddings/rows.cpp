/// Rows in blocks; the last one moves to where one has been removed.
#include "search/embeddings/rows.hpp"

#include <algorithm>

namespace hondana::embeddings {

rows::rows(std::size_t dimension) : dimension_(dimension) {}

void rows::put(std::int64_t number, std::span<const float> what) {
  const auto found = places_.find(number);
  std::size_t place = numbers_.size();
  if (found != places_.end()) {
    place = found->second;
  } else {
    if (place == blocks_.size() * in_a_block)
      blocks_.push_back(std::make_unique_for_overwrite<float[]>(in_a_block * dimension_));
    numbers_.push_back(number);
    places_.emplace(number, place);
  }
  std::copy(what.begin(), what.end(), at(place));
}

bool rows::remove(std::int64_t number) {
  const auto found = places_.find(number);
  if (found == places_.end()) return false;
  const auto place = found->second;
  const auto last = numbers_.size() - 1;
  places_.erase(found);
  if (place != last) {
    std::copy_n(at(last), dimension_, at(place));
    numbers_[place] = numbers_[last];
    places_[numbers_[place]] = place;
  }
  numbers_.pop_back();
  // One block more than needed is kept, so that one that comes and goes costs nothing.
  if (blocks_.size() * in_a_block >= numbers_.size() + 2 * in_a_block) blocks_.pop_back();
  return true;
}

const float* rows::find(std::int64_t number) const {
  const auto found = places_.find(number);
  return found == places_.end() ? nullptr : at(found->second);
}

void rows::offer_all(const float* to, best& into) const {
  for (std::size_t place = 0; place < numbers_.size(); ++place)
    into.offer({numbers_[place], product_(to, at(place), dimension_)});
}

std::size_t rows::bytes() const noexcept {
  constexpr std::size_t beside = 2 * sizeof(std::int64_t) + 40;  // numbers and places
  return blocks_.size() * in_a_block * dimension_ * sizeof(float) + numbers_.size() * beside;
}

}  // namespace hondana::embeddings
