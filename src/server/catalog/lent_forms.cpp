/// Encoding once for many answers.
#include "server/catalog/lent_forms.hpp"

#include <string>
#include <utility>

#include "base/json/base64.hpp"
#include "base/json/buffer.hpp"
#include "base/json/escape.hpp"

namespace hondana::catalog {
namespace {

/// Bytes that say when they go.
struct counted {
  counted(std::string of, std::shared_ptr<std::atomic<std::size_t>> among) : bytes(std::move(of)), alive(std::move(among)) {
    alive->fetch_add(bytes.size(), std::memory_order_relaxed);
  }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;
  ~counted() { alive->fetch_sub(bytes.size(), std::memory_order_relaxed); }

  const std::string bytes;
  const std::shared_ptr<std::atomic<std::size_t>> alive;
};

}  // namespace

shared_bytes lent_forms::encode(std::string_view content, bool is_text) const {
  // What is kept has no room to spare.
  std::string inside;
  if (is_text) {
    json::buffer grown;
    grown.reserve(content.size() + content.size() / 8 + json::escape_room);
    json::append_escaped(grown, content);
    inside = grown.view();
  } else {
    inside.reserve(json::base64_size(content.size()));
    json::append_base64(inside, content);
  }
  const auto made = std::make_shared<const counted>(std::move(inside), alive_);
  return {made, &made->bytes};
}

}  // namespace hondana::catalog
