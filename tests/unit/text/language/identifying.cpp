/// Languages of short and long texts.
#include <string>

#include <gtest/gtest.h>

#include "text/language/language.hpp"

namespace hondana::language {
namespace {

TEST(languages, of_latin_script_are_told_by_frequent_words) {
  EXPECT_EQ(detect_language("The server reads the configuration when it is started."), "en");
  EXPECT_EQ(detect_language("Der Server liest die Konfiguration, wenn er gestartet wird."), "de");
  EXPECT_EQ(detect_language("Le serveur lit la configuration au démarrage et les fichiers dans le dossier."), "fr");
  EXPECT_EQ(detect_language("El servidor lee la configuración cuando se inicia y los archivos del directorio."), "es");
  EXPECT_EQ(detect_language("Il server legge la configurazione quando è avviato e i file della cartella."), "it");
  EXPECT_EQ(detect_language("O servidor lê a configuração quando é iniciado e os arquivos da pasta não mudam."), "pt");
  EXPECT_EQ(detect_language("De server leest het bestand van de gebruiker als hij wordt gestart."), "nl");
  EXPECT_EQ(detect_language("Servern läser inställningarna när den startas och det är inte så svårt."), "sv");
}

TEST(languages, of_other_scripts_are_told_by_their_letters) {
  EXPECT_EQ(detect_language("サーバーは起動時に設定を読み込みます。"), "ja");
  EXPECT_EQ(detect_language("서버는 시작할 때 설정을 읽습니다."), "ko");
  EXPECT_EQ(detect_language("Сервер читает настройки при запуске."), "ru");
  EXPECT_EQ(detect_language("Сервер читає налаштування під час запуску і її файли."), "uk");
  EXPECT_EQ(detect_language("Ο διακομιστής διαβάζει τις ρυθμίσεις."), "el");
  EXPECT_EQ(detect_language("يقرأ الخادم الإعدادات عند التشغيل"), "ar");
  EXPECT_EQ(detect_language("השרת קורא את ההגדרות"), "he");
  EXPECT_EQ(detect_language("เซิร์ฟเวอร์อ่านการตั้งค่า"), "th");
  EXPECT_EQ(detect_language("सर्वर सेटिंग पढ़ता है"), "hi");
}

TEST(languages, of_han_alone_are_told_by_characters_that_one_of_them_writes) {
  EXPECT_EQ(detect_language("服务器在启动时读取设置，这是我们的文件。"), "zh");
  EXPECT_EQ(detect_language("伺服器啟動時會讀取設定，這個檔案是我們的。"), "zh");
  EXPECT_EQ(detect_language("会議議事録"), "ja");
  EXPECT_EQ(detect_language("売上図表"), "ja");
  EXPECT_EQ(detect_language("人々"), "ja");
  EXPECT_EQ(detect_language("資料"), "ja");
}

TEST(languages, of_two_are_that_with_more_letters_where_a_japanese_one_counts_three) {
  EXPECT_EQ(detect_language("設定ファイルを読みます (the file is read)"), "ja");
  EXPECT_EQ(detect_language("The word 本棚 is what this is called in the language of the house, and it is not a name."), "en");
}

TEST(languages, are_not_guessed_from_too_little) {
  EXPECT_EQ(detect_language(""), "");
  EXPECT_EQ(detect_language("12345 --- !!"), "");
  EXPECT_EQ(detect_language("x"), "");
  EXPECT_EQ(detect_language("int main(int argc, char** argv) { return run(argc, argv); }"), "");
  EXPECT_EQ(detect_language("\xff\xfe\xfd"), "");
}

TEST(languages, of_long_texts_are_told_by_parts_even_where_they_cut_characters) {
  std::string text;
  while (text.size() < 300'001) text += "これは長い文章です。";
  EXPECT_EQ(detect_language(text), "ja");
  EXPECT_EQ(detect_language("x" + text), "ja");
}

}  // namespace
}  // namespace hondana::language
