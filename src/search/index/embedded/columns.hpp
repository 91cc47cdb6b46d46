/// What is shown of a document, as a statement gives it.
#pragma once

namespace hondana::search {

/// Of the table `documents`, called d.
inline constexpr const char* columns_of_document =
    "d.uri, d.version, d.name, d.title, d.description, d.mime_type, d.kind, d.language, d.problem, d.priority, d.audience, "
    "d.modified, d.size, (SELECT way FROM ways WHERE id=d.way), d.owners";

}  // namespace hondana::search
