/// The index of a store: its series, and the search for those that match a selector.
#include "sources/metrics/samples/series_index.hpp"

#include <algorithm>

#include "sources/metrics/samples/bit_stream.hpp"

namespace hondana::samples {
namespace {

constexpr std::string_view name_label = "__name__";

/// The first `max_count` texts in order.
std::vector<std::string> first_sorted(std::vector<std::string_view> texts, std::size_t max_count) {
  const auto count = std::min(max_count, texts.size());
  std::partial_sort(texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(count), texts.end());
  return {texts.begin(), texts.begin() + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace

template <class Function>
void series_index::for_each_pair(slot slot_index, const Function& function) const {
  const auto& entry = series_[slot_index];
  function(symbol{0}, entry.symbols[0]);
  for (std::uint32_t i = 0; i < entry.label_count; ++i) function(entry.symbols[1 + 2 * i], entry.symbols[2 + 2 * i]);
}

std::uint64_t series_index::hash_of(const series::identity& identity) const {
  auto out = seeded_hash(identity.name, seed_);
  for (const auto& [name, value] : identity.labels) {
    out = seeded_hash(name, seed_ ^ out);
    out = seeded_hash(value, seed_ ^ out);
  }
  return out;
}

std::uint64_t series_index::hash_of(slot slot_index) const {
  const auto& entry = series_[slot_index];
  auto out = seeded_hash(texts_[entry.symbols[0]], seed_);
  for (std::uint32_t i = 1; i <= 2 * entry.label_count; ++i) out = seeded_hash(texts_[entry.symbols[i]], seed_ ^ out);
  return out;
}

std::uint64_t series_index::hash_of_pair(symbol label, symbol value) const noexcept {
  std::uint64_t key[]{std::uint64_t{label} << 32 | value};
  return seeded_hash({reinterpret_cast<const char*>(key), sizeof key}, seed_);
}

std::optional<series_index::symbol> series_index::find_symbol(std::string_view text) const {
  return by_text_.find(seeded_hash(text, seed_), [&](symbol id) { return texts_[id] == text; });
}

series_index::symbol series_index::acquire_symbol(std::string_view text) {
  if (texts_.empty()) {  // symbol 0 is the empty text, which stands for the label of the name
    texts_.emplace_back();
    reference_counts_.push_back(1);
    by_text_.add(seeded_hash({}, seed_), 0);
  }
  const auto hash = seeded_hash(text, seed_);
  if (const auto existing = by_text_.find(hash, [&](symbol id) { return texts_[id] == text; })) {
    ++reference_counts_[*existing];
    return *existing;
  }
  symbol out = 0;
  if (free_symbols_.empty()) {
    out = static_cast<symbol>(texts_.size());
    texts_.emplace_back(text);
    reference_counts_.push_back(1);
  } else {
    out = free_symbols_.back();
    free_symbols_.pop_back();
    texts_[out] = text;
    reference_counts_[out] = 1;
  }
  by_text_.add(hash, out);
  return out;
}

void series_index::release_symbol(symbol id) {
  if (--reference_counts_[id] > 0) return;
  by_text_.remove(seeded_hash(texts_[id], seed_), id);
  std::string().swap(texts_[id]);
  free_symbols_.push_back(id);
}

const series_index::posting* series_index::find_posting(symbol label, symbol value) const {
  const auto match = by_pair_.find(hash_of_pair(label, value), [&](std::uint32_t id) {
    return postings_[id].label == label && postings_[id].value == value;
  });
  return match ? &postings_[*match] : nullptr;
}

series_index::posting& series_index::posting_for(symbol label, symbol value) {
  const auto hash = hash_of_pair(label, value);
  if (const auto existing =
          by_pair_.find(hash, [&](std::uint32_t id) { return postings_[id].label == label && postings_[id].value == value; }))
    return postings_[*existing];
  std::uint32_t new_id = static_cast<std::uint32_t>(postings_.size());
  if (free_postings_.empty()) {
    postings_.emplace_back();
  } else {
    new_id = free_postings_.back();
    free_postings_.pop_back();
  }
  postings_[new_id] = {label, value, {}};
  by_pair_.add(hash, new_id);
  return postings_[new_id];
}

void series_index::remove_posting(std::uint32_t id) {
  auto& entry = postings_[id];
  by_pair_.remove(hash_of_pair(entry.label, entry.value), id);
  entry = {};
  free_postings_.push_back(id);
}

std::optional<slot> series_index::find(const series::identity& identity) const {
  return by_identity_.find(hash_of(identity), [&](slot candidate) {
    const auto& entry = series_[candidate];
    if (entry.label_count != identity.labels.size() || texts_[entry.symbols[0]] != identity.name) return false;
    for (std::uint32_t i = 0; i < entry.label_count; ++i) {
      if (texts_[entry.symbols[1 + 2 * i]] != identity.labels[i].first ||
          texts_[entry.symbols[2 + 2 * i]] != identity.labels[i].second)
        return false;
    }
    return true;
  });
}

slot series_index::add(const series::identity& identity) {
  slot slot_index = static_cast<slot>(series_.size());
  if (free_slots_.empty()) {
    series_.emplace_back();
  } else {
    slot_index = free_slots_.back();
    free_slots_.pop_back();
  }
  auto& entry = series_[slot_index];
  entry.label_count = static_cast<std::uint32_t>(identity.labels.size());
  entry.symbols = std::make_unique<symbol[]>(1 + 2 * identity.labels.size());
  entry.symbols[0] = acquire_symbol(identity.name);
  for (std::size_t i = 0; i < identity.labels.size(); ++i) {
    entry.symbols[1 + 2 * i] = acquire_symbol(identity.labels[i].first);
    entry.symbols[2 + 2 * i] = acquire_symbol(identity.labels[i].second);
  }
  for_each_pair(slot_index, [&](symbol label, symbol value) {
    auto& posting_slots = posting_for(label, value).slots;
    if (posting_slots.empty() || posting_slots.back() < slot_index) {
      posting_slots.push_back(slot_index);
    } else {
      posting_slots.insert(std::upper_bound(posting_slots.begin(), posting_slots.end(), slot_index), slot_index);
    }
  });
  by_identity_.add(hash_of(identity), slot_index);
  ++size_;
  return slot_index;
}

void series_index::remove(const std::vector<slot>& slots) {
  std::vector<std::uint32_t> affected;
  for (const auto removed : slots) {
    if (!has(removed)) continue;
    by_identity_.remove(hash_of(removed), removed);
    for_each_pair(removed, [&](symbol label, symbol value) {
      if (const auto match = by_pair_.find(hash_of_pair(label, value), [&](std::uint32_t id) {
            return postings_[id].label == label && postings_[id].value == value;
          }))
        affected.push_back(*match);
    });
  }
  std::vector<slot> removed_slots(slots);
  std::sort(removed_slots.begin(), removed_slots.end());
  std::sort(affected.begin(), affected.end());
  affected.erase(std::unique(affected.begin(), affected.end()), affected.end());
  for (const auto posting_id : affected) {
    auto& posting_slots = postings_[posting_id].slots;
    std::erase_if(posting_slots,
                  [&](slot candidate) { return std::binary_search(removed_slots.begin(), removed_slots.end(), candidate); });
    if (posting_slots.empty()) remove_posting(posting_id);
  }
  for (const auto freed : slots) {
    if (!has(freed)) continue;
    auto& entry = series_[freed];
    for (std::uint32_t i = 0; i <= 2 * entry.label_count; ++i) release_symbol(entry.symbols[i]);
    entry = {};
    free_slots_.push_back(freed);
    --size_;
  }
}

series::identity series_index::identity_of(slot slot_index) const {
  const auto& entry = series_[slot_index];
  series::identity out{texts_[entry.symbols[0]], {}};
  out.labels.reserve(entry.label_count);
  for (std::uint32_t i = 0; i < entry.label_count; ++i)
    out.labels.emplace_back(texts_[entry.symbols[1 + 2 * i]], texts_[entry.symbols[2 + 2 * i]]);
  return out;
}

std::optional<series_index::symbol> series_index::value_of(slot slot_index, symbol label) const {
  const auto& entry = series_[slot_index];
  if (label == 0) return entry.symbols[0];
  for (std::uint32_t i = 0; i < entry.label_count; ++i)
    if (entry.symbols[1 + 2 * i] == label) return entry.symbols[2 + 2 * i];
  return std::nullopt;
}

std::vector<slot> series_index::select(const series::selector& selector, const std::function<bool()>& should_stop) const {
  struct label_check {
    const series::matcher* matcher = nullptr;
    std::optional<symbol> label{};
    std::unordered_map<symbol, bool> cache{};
    std::optional<bool> matches_missing{};
  };
  const std::vector<slot>* smallest = nullptr;
  std::vector<label_check> checks;
  std::vector<std::pair<symbol, symbol>> equal;
  const auto require = [&](std::string_view label, std::string_view value) {
    const auto label_symbol = find_symbol(label == name_label ? std::string_view() : label);
    const auto value_symbol = find_symbol(value);
    const auto* postings = label_symbol && value_symbol ? find_posting(*label_symbol, *value_symbol) : nullptr;
    if (postings == nullptr) return false;
    equal.emplace_back(*label_symbol, *value_symbol);
    if (smallest == nullptr || postings->slots.size() < smallest->size()) smallest = &postings->slots;
    return true;
  };
  if (!selector.name.empty() && !require({}, selector.name)) return {};
  for (const auto& matcher : selector.matchers) {
    if (matcher.type() == series::matcher::match_type::equal && !matcher.value().empty()) {
      if (!require(matcher.label_name(), matcher.value())) return {};
    } else {
      checks.push_back(
          {&matcher, find_symbol(matcher.label_name() == name_label ? std::string_view() : matcher.label_name()), {}, {}});
    }
  }
  std::vector<slot> out;
  const auto check_slot = [&](slot slot_index) {
    for (const auto& [label, value] : equal)
      if (value_of(slot_index, label) != value) return;
    for (auto& check : checks) {
      const auto value = check.label ? value_of(slot_index, *check.label) : std::nullopt;
      if (!value) {
        if (!check.matches_missing) check.matches_missing = check.matcher->matches(std::string_view());
        if (!*check.matches_missing) return;
        continue;
      }
      auto cached = check.cache.find(*value);
      if (cached == check.cache.end())
        cached = check.cache.emplace(*value, check.matcher->matches(std::string_view(texts_[*value]))).first;
      if (!cached->second) return;
    }
    out.push_back(slot_index);
  };
  std::size_t examined = 0;
  const auto is_interrupted = [&] { return should_stop && ++examined % 16 == 0 && should_stop(); };
  if (smallest != nullptr) {
    for (const auto candidate : *smallest) {
      if (is_interrupted()) break;
      check_slot(candidate);
    }
  } else {
    for (slot candidate = 0; candidate < end_slot() && !is_interrupted(); ++candidate)
      if (has(candidate)) check_slot(candidate);
  }
  return out;
}

const std::vector<slot>* series_index::find_by_name(std::string_view name) const {
  const auto text = find_symbol(name);
  const auto* postings = text ? find_posting(0, *text) : nullptr;
  return postings == nullptr ? nullptr : &postings->slots;
}

std::vector<std::string> series_index::metric_names(std::string_view prefix) const {
  std::vector<std::string_view> names;
  for (const auto& entry : postings_)
    if (entry.label == 0 && !entry.slots.empty() && std::string_view(texts_[entry.value]).starts_with(prefix))
      names.push_back(texts_[entry.value]);
  const auto count = names.size();
  return first_sorted(std::move(names), count);
}

std::vector<std::string> series_index::label_names(const std::vector<slot>& slots, std::size_t max_count) const {
  std::vector<bool> is_seen(texts_.size());
  std::vector<std::string_view> texts;
  for (const auto slot_index : slots) {
    for_each_pair(slot_index, [&](symbol label, symbol) {
      if (label == 0 || is_seen[label]) return;
      is_seen[label] = true;
      texts.push_back(texts_[label]);
    });
  }
  return first_sorted(std::move(texts), max_count);
}

std::vector<std::string> series_index::label_values(const std::vector<slot>& slots, std::string_view label,
                                                    std::string_view prefix, std::size_t max_count) const {
  const auto label_symbol = find_symbol(label == name_label ? std::string_view() : label);
  if (!label_symbol) return {};
  std::vector<bool> is_seen(texts_.size());
  std::vector<std::string_view> texts;
  for (const auto slot_index : slots) {
    const auto value = value_of(slot_index, *label_symbol);
    if (!value || is_seen[*value]) continue;
    is_seen[*value] = true;
    if (std::string_view(texts_[*value]).starts_with(prefix)) texts.push_back(texts_[*value]);
  }
  return first_sorted(std::move(texts), max_count);
}

std::string encode_identity(const series::identity& identity) {
  std::string out;
  const auto append = [&](std::string_view text) {
    append_varint(out, text.size());
    out += text;
  };
  append(identity.name);
  for (const auto& [name, value] : identity.labels) {
    append(name);
    append(value);
  }
  return out;
}

std::optional<series::identity> decode_identity(std::string_view bytes) {
  series::identity out;
  const auto read_text = [&](std::string& text) {
    std::uint64_t size = 0;
    if (!read_varint(bytes, size) || size > bytes.size()) return false;
    text = bytes.substr(0, static_cast<std::size_t>(size));
    bytes.remove_prefix(text.size());
    return true;
  };
  if (!read_text(out.name)) return std::nullopt;
  while (!bytes.empty()) {
    series::label label;
    if (!read_text(label.first) || !read_text(label.second) || out.labels.size() >= series_index::max_labels)
      return std::nullopt;
    out.labels.push_back(std::move(label));
  }
  return out;
}

}  // namespace hondana::samples
