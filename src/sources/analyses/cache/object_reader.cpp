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
std::string quote(const value& input) {
  auto text = input.to_text();
  if (text.size() <= 40) return text;
  text.resize(40);
  text.resize(text.size() - json::incomplete_tail(text));
  return text + "…";
}

}  // namespace

object_reader::object_reader(const value& input, std::string path, decode_error& error,
                             std::initializer_list<std::string_view> known_names)
    : object_(input.as_object()), path_(std::move(path)), error_(error) {
  if (object_ == nullptr) {
    error_.report((path_.empty() ? std::string("the analysis") : path_) + ": expected an object, got " +
                  std::string(hondana::name_of(input.type())));
    return;
  }
  for (const auto& [name, member] : *object_) {
    if (std::find(known_names.begin(), known_names.end(), name) == known_names.end()) {
      const auto display_name = name.size() <= 64 ? name : name.substr(0, 64 - json::incomplete_tail(name.substr(0, 64))) + "…";
      error_.report(path_of(display_name) + ": unknown member");
      return;
    }
  }
}

std::string object_reader::path_of(std::string_view name) const {
  return (path_.empty() ? "" : path_ + '.') + std::string(name);
}

std::string object_reader::path_of(std::string_view name, std::size_t index) const {
  return path_of(name) + '[' + std::to_string(index) + ']';
}

const value* object_reader::find(std::string_view name, bool is_required) {
  if (error_.has_occurred() || object_ == nullptr) return nullptr;
  const auto position =
      std::find_if(object_->begin(), object_->end(), [name](const auto& member) { return member.first == name; });
  if (position != object_->end()) return &position->second;
  if (is_required) reject(name, "missing");
  return nullptr;
}

std::string read_text(const value& input, const std::string& path, const text_rule& rule, decode_error& error) {
  const auto* const text = input.as_string();
  if (text == nullptr) {
    error.report(path + ": expected a string, got " + std::string(hondana::name_of(input.type())));
  } else if (text->size() > rule.max_bytes) {
    error.report(path + ": it has " + std::to_string(text->size()) + " bytes; at most " + std::to_string(rule.max_bytes) +
                 " are allowed");
  } else if (!json::is_utf8(*text)) {
    error.report(path + ": it is not valid UTF-8");
  } else if (rule.is_single_line && (text->empty() || std::any_of(text->begin(), text->end(), is_control))) {
    error.report(path + ": expected one line of text without control characters, got " + quote(input));
  } else {
    return *text;
  }
  return {};
}

std::string object_reader::text(std::string_view name, const text_rule& rule, bool is_required) {
  const auto* const member = find(name, is_required);
  if (member == nullptr) return {};
  // An optional text may be empty, which equals a missing one.
  if (const auto* const text = member->as_string(); !is_required && text != nullptr && text->empty()) return {};
  return read_text(*member, path_of(name), rule, error_);
}

std::optional<double> object_reader::number(std::string_view name, bool is_required, std::string_view range) {
  const auto* const member = find(name, is_required);
  if (member == nullptr) return std::nullopt;
  if (const auto number = member->as_number(); number && std::isfinite(*number)) return number;
  reject(name, "expected a number " + std::string(range) + ", got " + quote(*member));
  return std::nullopt;
}

double object_reader::fraction(std::string_view name, bool is_required) {
  const auto input = number(name, is_required, "from 0 to 1");
  if (!input) return 0;
  if (*input >= 0 && *input <= 1) return *input;
  reject(name, "expected a number from 0 to 1, got " + quote(*find(name, is_required)));
  return 0;
}

double object_reader::amount(std::string_view name) {
  const auto input = number(name, false, "of 0 or more");
  if (!input) return 0;
  if (*input >= 0 && *input <= 1e15) return *input;
  reject(name, "expected a number from 0 to 1e15, got " + quote(*find(name, false)));
  return 0;
}

std::int64_t object_reader::count(std::string_view name, std::int64_t min, std::int64_t max, std::int64_t default_value) {
  const auto* const member = find(name, false);
  if (member == nullptr) return default_value;
  if (const auto integer = member->as_integer(); integer && *integer >= min && *integer <= max) return *integer;
  reject(name, "expected an integer from " + std::to_string(min) + " to " + std::to_string(max) + ", got " + quote(*member));
  return default_value;
}

std::optional<instant> object_reader::time(std::string_view name) {
  const auto* const member = find(name, false);
  if (member == nullptr) return std::nullopt;
  const auto* const text = member->as_string();
  const auto time_point = text == nullptr ? std::nullopt : model::parse_time(*text);
  if (!time_point) reject(name, "expected a time such as 2025-01-12T15:00:58Z, got " + quote(*member));
  return time_point;
}

const value* object_reader::object(std::string_view name) {
  const auto* const member = find(name, false);
  if (member == nullptr || member->is_null()) return nullptr;
  if (member->as_object() != nullptr) return member;
  reject(name, "expected an object, got " + std::string(hondana::name_of(member->type())));
  return nullptr;
}

const value::array* object_reader::array(std::string_view name, std::size_t max_elements) {
  const auto* const member = find(name, false);
  if (member == nullptr) return nullptr;
  const auto* const elements = member->as_array();
  if (elements == nullptr) {
    reject(name, "expected an array, got " + std::string(hondana::name_of(member->type())));
  } else if (elements->size() > max_elements) {
    reject(name, "it has " + std::to_string(elements->size()) + " elements; at most " + std::to_string(max_elements) +
                     " are allowed");
  } else {
    return elements;
  }
  return nullptr;
}

}  // namespace hondana::analyses
