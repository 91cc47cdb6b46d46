# The Debian package.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME hondana)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The hondana authors <hondana@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "serves folders and other sources as MCP resources")
set(CPACK_PACKAGE_DESCRIPTION
    "hondana turns what a machine or a team knows into resources of the Model\nContext Protocol, over standard input and output or HTTP. This package holds\nthe program and the C++ library with its headers.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/package)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Loaded when it is used, which the linker does not know.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libcurl4 | libcurl4t64")
# For charts: Pango, which brings Cairo, and letters of Japanese and of most other scripts; both are loaded when one is drawn, and
# everything else works without them.
# Likewise MeCab and its dictionary for searching in Japanese, what reads PDF and Office files, and the names of time zones in logs.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
    "libpangocairo-1.0-0, fonts-noto-cjk, libmecab2, mecab-ipadic-utf8, poppler-utils, poppler-data, libarchive13, libxml2, tzdata")
# The first two are for log-ins: the keyring and the browser; the third is for journals. Only who compiles against the library needs the others.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS
    "libsecret-1-0, xdg-utils, libsystemd0, libpq5, g++, libexpected-dev, libsimdjson-dev, libmagic-dev, libssl-dev, nettle-dev, libre2-dev, libseccomp-dev, libyaml-dev, libgit2-dev, zlib1g-dev, libjsoncpp-dev, libzstd-dev, liblzma-dev, libsqlite3-dev, libuchardet-dev, libutf8proc-dev, libgumbo-dev, libstemmer-dev")
include(CPack)
