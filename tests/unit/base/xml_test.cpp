#include "reconciler/base/xml.h"

#include <gtest/gtest.h>

namespace reconciler {
namespace {

TEST(EscapeXml, WhatXmlHasNoFormForDoesNotComeOut) {
  EXPECT_EQ(EscapeXml("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
  EXPECT_EQ(EscapeXml("a\x1b\n\xff"), "a\\x1b\\x0a\\xff");
  EXPECT_EQ(EscapeXml("\xEF\xBF\xBE, \xEF\xBF\xBF, µ"), "\xEF\xBF\xBD, \xEF\xBF\xBD, µ");
}

}  // namespace
}  // namespace reconciler
