/// Schemas and instances: compiling and checking end, and agree with themselves.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "protocol/schema/schema.hpp"

/// The input is a schema, a line feed and an instance.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hondana;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const auto cut = input.find('\n');
  const value::parse_limits small{.max_bytes = 64 * 1024, .max_values = 5'000};
  const auto document = value::parse(input.substr(0, cut), small);
  const auto instance = value::parse(cut == std::string_view::npos ? "null" : input.substr(cut + 1), small);
  if (!document || !instance) return 0;

  const auto compiled = schema::schema::compile(*document);
  if (!compiled) {
    if (compiled.error().code != errc::invalid_argument || compiled.error().public_text.empty()) std::abort();
    return 0;
  }
  const auto first = compiled->validate(*instance);
  const auto second = compiled->validate(*instance);
  if (first.has_value() != second.has_value()) std::abort();
  if (first && (first->message.empty() || first->text() != second->text())) std::abort();
  // Members in another order, and numbers in another spelling, are the same instance.
  const auto respelled = value::parse(instance->to_canonical_text());
  if (!respelled || compiled->validate(*respelled).has_value() != first.has_value()) std::abort();
  return 0;
}
