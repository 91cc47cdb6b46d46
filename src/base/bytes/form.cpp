/// Text or blob, decided by content.
#include "base/bytes/form.hpp"

namespace hondana::bytes {
namespace {

// What is validated before ASCII is tried again.
constexpr std::size_t looked_at_once = std::size_t{4} << 10;

}  // namespace

void form_detector::feed(std::string_view piece) {
  while (!binary_ && !piece.empty()) {
    if (utf8_.is_between()) piece.remove_prefix(json::ascii_run(piece));
    const auto part = piece.substr(0, looked_at_once);
    binary_ = json::has_nul(part) || !utf8_.feed(part);
    piece.remove_prefix(part.size());
  }
}

content_form form_detector::value() const noexcept {
  return !binary_ && utf8_.finish() ? content_form::text : content_form::blob;
}

content_form form_of(std::string_view bytes) noexcept {
  form_detector form;
  form.feed(bytes);
  return form.value();
}

}  // namespace hondana::bytes
