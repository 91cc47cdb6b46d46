/// Reads a JSON object member by member, with errors that name the place.
#include "sources/analyses/cache/object_reader.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/json/utf8.hpp"
#include "protocol/model/iso_8601.hpp"

namespace hondana::analyses {
namespace {

bool is_control(char c) noexcept {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 0x20 || byte == 0x7f;
}

/// A rejected value as errors quote it, at most 40 bytes.
std::string quoted(const value& what) {
  auto text = what.to_text();
  if (text.size() <= 40) return text;
  text.resize(40);
  text.resize(text.size() - json::incomplete_tail(text));
  return text + "…";
}

}  // namespace

members::members(const value& from, std::string path, fault& to, std::initializer_list<std::string_view> named)
    : all_(from.as_object()), path_(std::move(path)), to_(to) {
  if (all_ == nullptr) {
    to_.say((path_.empty() ? std::string("the analysis") : path_) + ": expected an object, got " +
            std::string(hondana::name_of(from.type())));
    return;
  }
  for (const auto& [name, what] : *all_) {
    if (std::find(named.begin(), named.end(), name) == named.end()) {
      const auto shown = name.size() <= 64 ? name : name.substr(0, 64 - json::incomplete_tail(name.substr(0, 64))) + "…";
      to_.say(path_of(shown) + ": unknown member");
      return;
    }
  }
}

std::string members::path_of(std::string_view name) const { return (path_.empty() ? "" : path_ + '.') + std::string(name); }

std::string members::path_of(std::string_view name, std::size_t index) const {
  return path_of(name) + '[' + std::to_string(index) + ']';
}

const value* members::find(std::string_view name, bool is_required) {
  if (to_.is_there() || all_ == nullptr) return nullptr;
  const auto found = std::find_if(all_->begin(), all_->end(), [name](const auto& one) { return one.first == name; });
  if (found != all_->end()) return &found->second;
  if (is_required) refuse(name, "missing");
  return nullptr;
}

std::string text_of(const value& from, const std::string& path, const text_rule& by, fault& to) {
  const auto* const text = from.as_string();
  if (text == nullptr) {
    to.say(path + ": expected a string, got " + std::string(hondana::name_of(from.type())));
  } else if (text->size() > by.most) {
    to.say(path + ": it has " + std::to_string(text->size()) + " bytes; at most " + std::to_string(by.most) + " are allowed");
  } else if (!json::is_utf8(*text)) {
    to.say(path + ": it is not valid UTF-8");
  } else if (by.is_one_line && (text->empty() || std::any_of(text->begin(), text->end(), is_control))) {
    to.say(path + ": expected one line of text without control characters, got " + quoted(from));
  } else {
    return *text;
  }
  return {};
}

std::string members::text(std::string_view name, const text_rule& by, bool is_required) {
  const auto* const found = find(name, is_required);
  if (found == nullptr) return {};
  // An optional text may be empty, which equals a missing one.
  if (const auto* const text = found->as_string(); !is_required && text != nullptr && text->empty()) return {};
  return text_of(*found, path_of(name), by, to_);
}

std::optional<double> members::number(std::string_view name, bool is_required, std::string_view range) {
  const auto* const found = find(name, is_required);
  if (found == nullptr) return std::nullopt;
  if (const auto number = found->as_number(); number && std::isfinite(*number)) return number;
  refuse(name, "expected a number " + std::string(range) + ", got " + quoted(*found));
  return std::nullopt;
}

double members::share(std::string_view name, bool is_required) {
  const auto got = number(name, is_required, "from 0 to 1");
  if (!got) return 0;
  if (*got >= 0 && *got <= 1) return *got;
  refuse(name, "expected a number from 0 to 1, got " + quoted(*find(name, is_required)));
  return 0;
}

double members::amount(std::string_view name) {
  const auto got = number(name, false, "of 0 or more");
  if (!got) return 0;
  if (*got >= 0 && *got <= 1e15) return *got;
  refuse(name, "expected a number from 0 to 1e15, got " + quoted(*find(name, false)));
  return 0;
}

std::int64_t members::count(std::string_view name, std::int64_t least, std::int64_t most, std::int64_t otherwise) {
  const auto* const found = find(name, false);
  if (found == nullptr) return otherwise;
  if (const auto got = found->as_integer(); got && *got >= least && *got <= most) return *got;
  refuse(name, "expected an integer from " + std::to_string(least) + " to " + std::to_string(most) + ", got " + quoted(*found));
  return otherwise;
}

std::optional<instant> members::time(std::string_view name) {
  const auto* const found = find(name, false);
  if (found == nullptr) return std::nullopt;
  const auto* const text = found->as_string();
  const auto got = text == nullptr ? std::nullopt : model::parse_time(*text);
  if (!got) refuse(name, "expected a time such as 2025-01-12T15:00:58Z, got " + quoted(*found));
  return got;
}

const value* members::object(std::string_view name) {
  const auto* const found = find(name, false);
  if (found == nullptr || found->is_null()) return nullptr;
  if (found->as_object() != nullptr) return found;
  refuse(name, "expected an object, got " + std::string(hondana::name_of(found->type())));
  return nullptr;
}

const value::array* members::array(std::string_view name, std::size_t most) {
  const auto* const found = find(name, false);
  if (found == nullptr) return nullptr;
  const auto* const all = found->as_array();
  if (all == nullptr) {
    refuse(name, "expected an array, got " + std::string(hondana::name_of(found->type())));
  } else if (all->size() > most) {
    refuse(name, "it has " + std::to_string(all->size()) + " elements; at most " + std::to_string(most) + " are allowed");
  } else {
    return all;
  }
  return nullptr;
}

}  // namespace hondana::analyses
