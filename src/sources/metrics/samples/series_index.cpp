/// The index of a store: its series, and the search for those that match a selector.
#include "sources/metrics/samples/series_index.hpp"

#include <algorithm>

#include "sources/metrics/samples/bit_stream.hpp"

namespace hondana::samples {
namespace {

constexpr std::string_view name_label = "__name__";

/// The first `most` texts in order.
std::vector<std::string> first_in_order(std::vector<std::string_view> all, std::size_t most) {
  const auto count = std::min(most, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end());
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

template <class Each>
void index::each_pair(slot which, const Each& each) const {
  const auto& what = series_[which];
  each(symbol{0}, what.symbols[0]);
  for (std::uint32_t i = 0; i < what.labels; ++i) each(what.symbols[1 + 2 * i], what.symbols[2 + 2 * i]);
}

std::uint64_t index::hash_of(const series::identity& what) const {
  auto out = seeded_hash(what.name, seed_);
  for (const auto& [name, value] : what.labels) {
    out = seeded_hash(name, seed_ ^ out);
    out = seeded_hash(value, seed_ ^ out);
  }
  return out;
}

std::uint64_t index::hash_of(slot which) const {
  const auto& what = series_[which];
  auto out = seeded_hash(texts_[what.symbols[0]], seed_);
  for (std::uint32_t i = 1; i <= 2 * what.labels; ++i) out = seeded_hash(texts_[what.symbols[i]], seed_ ^ out);
  return out;
}

std::uint64_t index::hash_of_pair(symbol label, symbol value) const noexcept {
  std::uint64_t both[]{std::uint64_t{label} << 32 | value};
  return seeded_hash({reinterpret_cast<const char*>(both), sizeof both}, seed_);
}

std::optional<index::symbol> index::symbol_of(std::string_view text) const {
  return by_text_.find(seeded_hash(text, seed_), [&](symbol one) { return texts_[one] == text; });
}

index::symbol index::take_symbol(std::string_view text) {
  if (texts_.empty()) {  // symbol 0 is the empty text, which stands for the label of the name
    texts_.emplace_back();
    uses_.push_back(1);
    by_text_.add(seeded_hash({}, seed_), 0);
  }
  const auto hash = seeded_hash(text, seed_);
  if (const auto known = by_text_.find(hash, [&](symbol one) { return texts_[one] == text; })) {
    ++uses_[*known];
    return *known;
  }
  symbol out = 0;
  if (free_texts_.empty()) {
    out = static_cast<symbol>(texts_.size());
    texts_.emplace_back(text);
    uses_.push_back(1);
  } else {
    out = free_texts_.back();
    free_texts_.pop_back();
    texts_[out] = text;
    uses_[out] = 1;
  }
  by_text_.add(hash, out);
  return out;
}

void index::drop_symbol(symbol which) {
  if (--uses_[which] > 0) return;
  by_text_.remove(seeded_hash(texts_[which], seed_), which);
  std::string().swap(texts_[which]);
  free_texts_.push_back(which);
}

const index::posting* index::find_posting(symbol label, symbol value) const {
  const auto found = by_pair_.find(hash_of_pair(label, value), [&](std::uint32_t one) {
    return postings_[one].label == label && postings_[one].value == value;
  });
  return found ? &postings_[*found] : nullptr;
}

index::posting& index::posting_of(symbol label, symbol value) {
  const auto hash = hash_of_pair(label, value);
  if (const auto found = by_pair_.find(
          hash, [&](std::uint32_t one) { return postings_[one].label == label && postings_[one].value == value; }))
    return postings_[*found];
  std::uint32_t at = static_cast<std::uint32_t>(postings_.size());
  if (free_postings_.empty()) {
    postings_.emplace_back();
  } else {
    at = free_postings_.back();
    free_postings_.pop_back();
  }
  postings_[at] = {label, value, {}};
  by_pair_.add(hash, at);
  return postings_[at];
}

void index::drop_posting(std::uint32_t which) {
  auto& what = postings_[which];
  by_pair_.remove(hash_of_pair(what.label, what.value), which);
  what = {};
  free_postings_.push_back(which);
}

std::optional<slot> index::find(const series::identity& what) const {
  return by_identity_.find(hash_of(what), [&](slot one) {
    const auto& there = series_[one];
    if (there.labels != what.labels.size() || texts_[there.symbols[0]] != what.name) return false;
    for (std::uint32_t i = 0; i < there.labels; ++i) {
      if (texts_[there.symbols[1 + 2 * i]] != what.labels[i].first || texts_[there.symbols[2 + 2 * i]] != what.labels[i].second)
        return false;
    }
    return true;
  });
}

slot index::add(const series::identity& what) {
  slot at = static_cast<slot>(series_.size());
  if (free_series_.empty()) {
    series_.emplace_back();
  } else {
    at = free_series_.back();
    free_series_.pop_back();
  }
  auto& into = series_[at];
  into.labels = static_cast<std::uint32_t>(what.labels.size());
  into.symbols = std::make_unique<symbol[]>(1 + 2 * what.labels.size());
  into.symbols[0] = take_symbol(what.name);
  for (std::size_t i = 0; i < what.labels.size(); ++i) {
    into.symbols[1 + 2 * i] = take_symbol(what.labels[i].first);
    into.symbols[2 + 2 * i] = take_symbol(what.labels[i].second);
  }
  each_pair(at, [&](symbol label, symbol value) {
    auto& slots = posting_of(label, value).slots;
    if (slots.empty() || slots.back() < at) {
      slots.push_back(at);
    } else {
      slots.insert(std::upper_bound(slots.begin(), slots.end(), at), at);
    }
  });
  by_identity_.add(hash_of(what), at);
  ++used_;
  return at;
}

void index::remove(const std::vector<slot>& which) {
  std::vector<std::uint32_t> touched;
  for (const auto one : which) {
    if (!has(one)) continue;
    by_identity_.remove(hash_of(one), one);
    each_pair(one, [&](symbol label, symbol value) {
      if (const auto at = by_pair_.find(hash_of_pair(label, value), [&](std::uint32_t other) {
            return postings_[other].label == label && postings_[other].value == value;
          }))
        touched.push_back(*at);
    });
  }
  std::vector<slot> gone(which);
  std::sort(gone.begin(), gone.end());
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  for (const auto one : touched) {
    auto& slots = postings_[one].slots;
    std::erase_if(slots, [&](slot other) { return std::binary_search(gone.begin(), gone.end(), other); });
    if (slots.empty()) drop_posting(one);
  }
  for (const auto one : which) {
    if (!has(one)) continue;
    auto& what = series_[one];
    for (std::uint32_t i = 0; i <= 2 * what.labels; ++i) drop_symbol(what.symbols[i]);
    what = {};
    free_series_.push_back(one);
    --used_;
  }
}

series::identity index::identity_of(slot which) const {
  const auto& what = series_[which];
  series::identity out{texts_[what.symbols[0]], {}};
  out.labels.reserve(what.labels);
  for (std::uint32_t i = 0; i < what.labels; ++i)
    out.labels.emplace_back(texts_[what.symbols[1 + 2 * i]], texts_[what.symbols[2 + 2 * i]]);
  return out;
}

std::optional<index::symbol> index::value_of(slot which, symbol label) const {
  const auto& what = series_[which];
  if (label == 0) return what.symbols[0];
  for (std::uint32_t i = 0; i < what.labels; ++i)
    if (what.symbols[1 + 2 * i] == label) return what.symbols[2 + 2 * i];
  return std::nullopt;
}

std::vector<slot> index::select(const series::selector& which, const std::function<bool()>& is_over) const {
  struct check {
    const series::matcher* by = nullptr;
    std::optional<symbol> label{};
    std::unordered_map<symbol, bool> known{};
    std::optional<bool> without{};
  };
  const std::vector<slot>* fewest = nullptr;
  std::vector<check> checks;
  std::vector<std::pair<symbol, symbol>> equal;
  const auto need = [&](std::string_view label, std::string_view value) {
    const auto first = symbol_of(label == name_label ? std::string_view() : label);
    const auto second = symbol_of(value);
    const auto* found = first && second ? find_posting(*first, *second) : nullptr;
    if (found == nullptr) return false;
    equal.emplace_back(*first, *second);
    if (fewest == nullptr || found->slots.size() < fewest->size()) fewest = &found->slots;
    return true;
  };
  if (!which.name.empty() && !need({}, which.name)) return {};
  for (const auto& one : which.matchers) {
    if (one.how() == series::matcher::relation::equal && !one.value().empty()) {
      if (!need(one.label_name(), one.value())) return {};
    } else {
      checks.push_back({&one, symbol_of(one.label_name() == name_label ? std::string_view() : one.label_name()), {}, {}});
    }
  }
  std::vector<slot> out;
  const auto consider = [&](slot at) {
    for (const auto& [label, value] : equal)
      if (value_of(at, label) != value) return;
    for (auto& one : checks) {
      const auto value = one.label ? value_of(at, *one.label) : std::nullopt;
      if (!value) {
        if (!one.without) one.without = one.by->admits(std::string_view());
        if (!*one.without) return;
        continue;
      }
      auto known = one.known.find(*value);
      if (known == one.known.end()) known = one.known.emplace(*value, one.by->admits(std::string_view(texts_[*value]))).first;
      if (!known->second) return;
    }
    out.push_back(at);
  };
  std::size_t looked_at = 0;
  const auto ends_here = [&] { return is_over && ++looked_at % 16 == 0 && is_over(); };
  if (fewest != nullptr) {
    for (const auto at : *fewest) {
      if (ends_here()) break;
      consider(at);
    }
  } else {
    for (slot at = 0; at < end() && !ends_here(); ++at)
      if (has(at)) consider(at);
  }
  return out;
}

const std::vector<slot>* index::with_name(std::string_view name) const {
  const auto text = symbol_of(name);
  const auto* found = text ? find_posting(0, *text) : nullptr;
  return found == nullptr ? nullptr : &found->slots;
}

std::vector<std::string> index::names(std::string_view prefix) const {
  std::vector<std::string_view> all;
  for (const auto& one : postings_)
    if (one.label == 0 && !one.slots.empty() && std::string_view(texts_[one.value]).starts_with(prefix))
      all.push_back(texts_[one.value]);
  const auto count = all.size();
  return first_in_order(std::move(all), count);
}

std::vector<std::string> index::label_names(const std::vector<slot>& of, std::size_t most) const {
  std::vector<bool> is_seen(texts_.size());
  std::vector<std::string_view> all;
  for (const auto at : of) {
    each_pair(at, [&](symbol label, symbol) {
      if (label == 0 || is_seen[label]) return;
      is_seen[label] = true;
      all.push_back(texts_[label]);
    });
  }
  return first_in_order(std::move(all), most);
}

std::vector<std::string> index::label_values(const std::vector<slot>& of, std::string_view label, std::string_view prefix,
                                             std::size_t most) const {
  const auto what = symbol_of(label == name_label ? std::string_view() : label);
  if (!what) return {};
  std::vector<bool> is_seen(texts_.size());
  std::vector<std::string_view> all;
  for (const auto at : of) {
    const auto value = value_of(at, *what);
    if (!value || is_seen[*value]) continue;
    is_seen[*value] = true;
    if (std::string_view(texts_[*value]).starts_with(prefix)) all.push_back(texts_[*value]);
  }
  return first_in_order(std::move(all), most);
}

std::string to_bytes(const series::identity& of) {
  std::string out;
  const auto put = [&](std::string_view text) {
    put_varint(out, text.size());
    out += text;
  };
  put(of.name);
  for (const auto& [name, value] : of.labels) {
    put(name);
    put(value);
  }
  return out;
}

std::optional<series::identity> identity_in(std::string_view bytes) {
  series::identity out;
  const auto take = [&](std::string& into) {
    std::uint64_t size = 0;
    if (!take_varint(bytes, size) || size > bytes.size()) return false;
    into = bytes.substr(0, static_cast<std::size_t>(size));
    bytes.remove_prefix(into.size());
    return true;
  };
  if (!take(out.name)) return std::nullopt;
  while (!bytes.empty()) {
    series::label one;
    if (!take(one.first) || !take(one.second) || out.labels.size() >= index::most_labels) return std::nullopt;
    out.labels.push_back(std::move(one));
  }
  return out;
}

}  // namespace hondana::samples
