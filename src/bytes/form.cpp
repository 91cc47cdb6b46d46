/// Text or blob, decided by content.
#include "bytes/form.hpp"

namespace hondana::bytes {

void form_detector::feed(std::string_view piece) {
  if (binary_) return;
  binary_ = json::has_nul(piece) || !utf8_.feed(piece);
}

content_form form_detector::value() const noexcept {
  return !binary_ && utf8_.finish() ? content_form::text : content_form::blob;
}

content_form form_of(std::string_view bytes) noexcept {
  return !json::has_nul(bytes) && json::is_utf8(bytes) ? content_form::text : content_form::blob;
}

}  // namespace hondana::bytes
