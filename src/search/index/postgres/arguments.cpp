/// Writing and reading big-endian numbers and arrays.
#include "search/index/postgres/arguments.hpp"

#include <bit>
#include <cstddef>

namespace hondana::search {
namespace {

// Of pg_type, where these never change.
constexpr std::uint32_t oid_of_text = 25;
constexpr std::uint32_t oid_of_bytea = 17;
constexpr std::uint32_t oid_of_bigint = 20;
constexpr std::uint32_t oid_of_tsvector = 3614;

template <class Number>
void append_number(std::string& to, Number number) {
  for (int i = sizeof(Number) - 1; i >= 0; --i) to += static_cast<char>(number >> (8 * i) & 0xFF);
}

void append_head(std::string& to, std::uint32_t element, std::size_t count) {
  append_number<std::uint32_t>(to, count == 0 ? 0 : 1);  // dimensions
  append_number<std::uint32_t>(to, 0);                   // none is NULL
  append_number(to, element);
  if (count == 0) return;
  append_number(to, static_cast<std::uint32_t>(count));
  append_number<std::uint32_t>(to, 1);  // the first has this number
}

std::string array_of(std::uint32_t element, std::span<const std::string> values) {
  std::string out;
  std::size_t size = 20;
  for (const auto& one : values) size += 4 + one.size();
  out.reserve(size);
  append_head(out, element, values.size());
  for (const auto& one : values) {
    append_number(out, static_cast<std::uint32_t>(one.size()));
    out += one;
  }
  return out;
}

}  // namespace

arguments& arguments::text(std::string_view value) { return bytes(value); }
arguments& arguments::bytes(std::string_view value) {
  all_.push_back({std::string(value), false});
  return *this;
}
arguments& arguments::number(std::int64_t value) {
  std::string out;
  append_number(out, static_cast<std::uint64_t>(value));
  all_.push_back({std::move(out), false});
  return *this;
}
arguments& arguments::real(double value) { return number(std::bit_cast<std::int64_t>(value)); }
arguments& arguments::null() {
  all_.push_back({{}, true});
  return *this;
}
arguments& arguments::texts(std::span<const std::string> values) { return bytes(array_of(oid_of_text, values)); }
arguments& arguments::blobs(std::span<const std::string> values) { return bytes(array_of(oid_of_bytea, values)); }
arguments& arguments::vectors(std::span<const std::string> values) { return bytes(array_of(oid_of_tsvector, values)); }
arguments& arguments::numbers(std::span<const std::int64_t> values) {
  std::string out;
  out.reserve(20 + 12 * values.size());
  append_head(out, oid_of_bigint, values.size());
  for (const auto one : values) {
    append_number<std::uint32_t>(out, 8);
    append_number(out, static_cast<std::uint64_t>(one));
  }
  return bytes(out);
}

std::int64_t number_of(std::string_view bytes) noexcept {
  if (bytes.size() != 8) return 0;
  std::uint64_t out = 0;
  for (const char one : bytes) out = out << 8 | static_cast<unsigned char>(one);
  return static_cast<std::int64_t>(out);
}

double real_of(std::string_view bytes) noexcept { return std::bit_cast<double>(number_of(bytes)); }

}  // namespace hondana::search
