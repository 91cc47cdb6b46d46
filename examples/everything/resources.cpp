/// Resources: a text, a picture, one that is watched, and a template.
#include <memory>

#include <hondana/memory.hpp>

#include "everything.hpp"

namespace everything {

result<void> add_resources(server& to) {
  auto shelf = std::make_shared<hondana::memory_provider>("test", "test://");
  const auto add = [&shelf](const char* uri, const char* title, const char* mime_type, std::string bytes) {
    return shelf->add({.uri = uri, .name = title, .title = title, .description = title, .mimeType = mime_type},
                      std::move(bytes));
  };
  if (auto added = add("test://static-text", "A text", "text/plain", "This is the content of the static text resource.");
      !added) {
    return added;
  }
  if (auto added = add("test://static-binary", "A picture", "image/png", picture()); !added) return added;
  if (auto added = add("test://watched-resource", "Something to watch", "text/plain", "Nothing has happened yet."); !added) {
    return added;
  }
  auto added = shelf->add_template(
      {.uriTemplate = "test://template/{id}/data",
       .name = "Data by id",
       .description = "Tells its id",
       .mimeType = "application/json"},
      [](const hondana::read_request& request) -> result<hondana::reading> {
        std::string id;
        if (request.match) {
          for (const auto& [name, chosen] : request.match->variables) {
            if (const auto* text = std::get_if<std::string>(&chosen); text != nullptr && name == "id") id = *text;
          }
        }
        const hondana::value data = hondana::value::object{{"id", id}, {"templateTest", true}, {"data", "Data for ID: " + id}};
        return hondana::text_reading(data.to_text(), "application/json");
      });
  if (!added) return added;
  return to.add(std::move(shelf));
}

}  // namespace everything
