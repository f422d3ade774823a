#include "crisp/report/html.h"

#include "crisp/report/page.h"
#include "tests/report/markup.h"

namespace crisp::report {
namespace {

using test::fault_in;
using test::has;

TEST(ReportHtml, TextIsAlwaysEscaped) {
  EXPECT_EQ(Html("<b>&\"'").str(), "&lt;b&gt;&amp;&quot;&#39;");
  EXPECT_EQ(tag("p", {{"title", "a\"><script>"}}, {"x < y"}).str(),
            "<p title=\"a&quot;&gt;&lt;script&gt;\">x &lt; y</p>");
  EXPECT_EQ(tag("p", {}, {tag("b", {}, {"in"}), " out"}).str(), "<p><b>in</b> out</p>");
  EXPECT_EQ(tag("img", {{"alt", "photo"}}).str(), "<img alt=\"photo\">");
}

TEST(ReportHtml, ForeignLettersStayAndBrokenBytesAreReplaced) {
  EXPECT_EQ(escape("zwölf Äpfel 猫 🐈"), "zwölf Äpfel 猫 🐈");
  const std::string mark = "\xEF\xBF\xBD";
  EXPECT_EQ(escape("a\xFFz"), "a" + mark + "z");
  EXPECT_EQ(escape("cut \xC3"), "cut " + mark);
  EXPECT_EQ(escape("\xC0\xAF"), mark + mark) << "an overlong slash";
  EXPECT_EQ(escape("\xED\xA0\x80"), mark + mark + mark) << "half of a surrogate pair";
  EXPECT_EQ(escape(std::string("a\0b\x1B", 4)), "a" + mark + "b" + mark);
  EXPECT_EQ(escape("two\nlines"), "two\nlines");
}

TEST(ReportHtml, Base64OfTheStandard) {  // RFC 4648, section 10
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xFF\xFE\xFD"), "//79");
}

TEST(ReportPage, IsWholeAndFilledOnce) {
  const std::string text = page("a <title> & <!--body-->", tag("p", {}, {"<!--title--> /*style*/"}));
  EXPECT_EQ(fault_in(text), "");
  EXPECT_TRUE(text.starts_with("<!DOCTYPE html>"));
  EXPECT_TRUE(has(text, "<title>a &lt;title&gt; &amp; &lt;!--body--&gt;</title>"));
  EXPECT_TRUE(has(text, "<p>&lt;!--title--&gt; /*style*/</p>")) << "what is filled in is not filled again";
  EXPECT_TRUE(has(text, "prefers-color-scheme: dark"));
  EXPECT_TRUE(has(text, "name=\"viewport\""));
  EXPECT_FALSE(has(text, "http")) << "a page needs nothing but itself";
}

TEST(ReportMarkup, TheCheckerFindsFaults) {
  EXPECT_NE(fault_in("<p><b></p></b>"), "");
  EXPECT_NE(fault_in("<p>"), "");
  EXPECT_NE(fault_in("a < b"), "");
  EXPECT_EQ(fault_in("<p a=\"x > y\">t<img b=\"c\"></p>"), "");
}

}  // namespace
}  // namespace crisp::report
