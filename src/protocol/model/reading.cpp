/// Readings of a single text or blob.
#include <memory>
#include <string>
#include <utility>

#include <hondana/resource.hpp>

namespace hondana::inline v0 {
namespace {

reading single(std::string bytes, std::string mime_type, content_form form) {
  content one;
  one.mimeType = std::move(mime_type);
  one.form = form;
  one.data = std::make_shared<const std::string>(std::move(bytes));
  reading whole;
  whole.contents.push_back(std::move(one));
  return whole;
}

}  // namespace

reading text_reading(std::string text, std::string mime_type) {
  if (mime_type.empty()) mime_type = "text/plain";
  return single(std::move(text), std::move(mime_type), content_form::text);
}

reading blob_reading(std::string bytes, std::string mime_type) {
  if (mime_type.empty()) mime_type = "application/octet-stream";
  return single(std::move(bytes), std::move(mime_type), content_form::blob);
}

}  // namespace hondana::inline v0
