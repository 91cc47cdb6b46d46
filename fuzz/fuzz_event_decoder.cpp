/// Bytes of a stream of server-sent events: the same events however they are cut, and the same as a plain reader finds.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "transport/http_client/event_stream.hpp"

namespace {

using hondana::transport::http_client::event_decoder;

void require(bool holds) {
  if (!holds) std::abort();
}

struct found {
  std::vector<std::pair<std::string, std::string>> events;  // type and data
  std::string last_id;
  std::optional<std::chrono::milliseconds> retry;
  friend bool operator==(const found&, const found&) = default;
};

class collector final : public event_decoder::listener {
 public:
  void on_data(std::string_view, std::string_view piece) override { data_ += piece; }
  void on_event(std::string_view type) override { out.events.emplace_back(type, std::exchange(data_, {})); }
  found out;

 private:
  std::string data_;
};

found decode(std::string_view bytes, const std::vector<std::size_t>& pieces) {
  collector heard;
  event_decoder decoder(heard);
  for (std::size_t i = 0; !bytes.empty(); ++i) {
    const auto piece = bytes.substr(0, pieces[i % pieces.size()]);
    decoder.feed(piece);
    require(decoder.last_id().size() <= event_decoder::max_id_bytes);
    require(decoder.last_id().find_first_of(std::string_view("\0\r\n", 3)) == std::string::npos);
    bytes.remove_prefix(piece.size());
  }
  heard.out.last_id = decoder.last_id();
  heard.out.retry = decoder.retry();
  return heard.out;
}

/// The same as the standard has it, line by line.
found decode_plainly(std::string_view bytes) {
  found out;
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  std::string type;
  std::string data;
  std::string id;
  bool has_data = false;
  for (;;) {
    const auto end = bytes.find_first_of("\r\n");
    if (end == std::string_view::npos) return out;
    const auto line = bytes.substr(0, end);
    bytes.remove_prefix(end + (bytes.substr(end).starts_with("\r\n") ? 2 : 1));
    if (line.empty()) {
      out.last_id = id;
      if (has_data) {
        data.pop_back();
        out.events.emplace_back(type, data);
      }
      type.clear();
      data.clear();
      has_data = false;
      continue;
    }
    const auto colon = line.find(':');
    const auto name = line.substr(0, colon);
    auto value = colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    if (value.starts_with(' ')) value.remove_prefix(1);
    if (name == "data") {
      data += value;
      data += '\n';
      has_data = true;
    } else if (name == "event") {
      type = value.substr(0, event_decoder::max_type_bytes);
    } else if (name == "id") {
      if (value.size() > event_decoder::max_id_bytes) {
        id.clear();
      } else if (value.find('\0') == std::string_view::npos) {
        id = value;
      }
    } else if (name == "retry" && !value.empty()) {
      const auto digits = value.substr(0, event_decoder::max_type_bytes);
      if (digits.find_first_not_of("0123456789") != std::string_view::npos) continue;
      out.retry = digits.size() > 8 && digits.find_first_not_of('0') < digits.size() - 8
                      ? event_decoder::max_retry
                      : std::min<std::chrono::milliseconds>(event_decoder::max_retry,
                                                            std::chrono::milliseconds(std::stoll(std::string(digits))));
      if (value.size() > event_decoder::max_type_bytes) out.retry = event_decoder::max_retry;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::vector<std::size_t> pieces{data[0] % 40 + 1u, data[1] % 40 + 1u, data[2] % 40 + 1u};
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 3, size - 3);
  const auto expected = decode_plainly(bytes);
  require(decode(bytes, {bytes.size() + 1}) == expected);
  require(decode(bytes, {1}) == expected);
  require(decode(bytes, pieces) == expected);
  return 0;
}
