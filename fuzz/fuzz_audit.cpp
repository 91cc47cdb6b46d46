/// Records of an audit log, which anybody may have changed: read without harm, and only what was written follows.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/audit/audit_record.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace hondana;
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  (void)audit::read_record(input, nullptr);

  // Whatever a peer chose, what is written is a record, and one line.
  audit_decision what;
  what.identity = input.substr(0, size / 2);
  what.method = input.substr(size / 2);
  what.uris.emplace_back(input);
  audit::chain_position at;
  std::string out;
  audit::append_record(out, at, audit::decision_text(1, what));
  const auto line = std::string_view(out).substr(0, out.size() - 1);
  if (line.find('\n') != std::string_view::npos) std::abort();
  const audit::chain_position none;
  const auto back = audit::read_record(line, &none);
  if (!back || *back != at) std::abort();
  // Nothing that somebody else made follows it: a hash is not found by chance.
  if (audit::read_record(input, &at)) std::abort();
  return 0;
}
