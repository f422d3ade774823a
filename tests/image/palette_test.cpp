#include "crisp/image/palette.h"

#include <gtest/gtest.h>

#include <set>

namespace crisp::image {

TEST(Palette, HasTheColoursOfVoc) {
  const Palette& voc = voc_palette();
  EXPECT_EQ(voc[0], (Colour{0, 0, 0}));
  EXPECT_EQ(voc[1], (Colour{128, 0, 0}));
  EXPECT_EQ(voc[7], (Colour{128, 128, 128}));
  EXPECT_EQ(voc[15], (Colour{192, 128, 128}));
  EXPECT_EQ(voc[20], (Colour{0, 64, 128}));
  EXPECT_EQ(voc[255], (Colour{224, 224, 192}));
  EXPECT_EQ(std::set<Colour>(voc.begin(), voc.end()).size(), 256u);
}

TEST(Palette, ViridisGrowsSteadilyLighter) {
  const Palette& map = viridis();
  EXPECT_EQ(map[0], (Colour{0x44, 0x01, 0x54}));
  EXPECT_EQ(map[128], (Colour{0x21, 0x91, 0x8C}));
  EXPECT_EQ(map[255], (Colour{0xFD, 0xE7, 0x25}));
  const auto luma = [](const Colour& c) { return 0.2126 * c[0] + 0.7152 * c[1] + 0.0722 * c[2]; };
  for (size_t i = 8; i < 256; ++i) EXPECT_GT(luma(map[i]), luma(map[i - 8]) + 1) << i;
}

}  // namespace crisp::image
