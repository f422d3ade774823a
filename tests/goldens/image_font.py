"""Prints the glyph tables of crisp/image/font.cpp.

The letters are Aileron Regular by Sora Sagano (CC0), which Pillow carries as its default font, drawn at 28 pixels
with 8 levels of grey. One character of text holds two pixels: '0' + 8 * left + right.
"""

import numpy as np
from PIL import Image, ImageDraw, ImageFont

SIZE = 28
font = ImageFont.load_default(SIZE)
ascent, descent = font.getmetrics()
characters = [chr(c) for c in range(32, 127)]

glyphs, pixels = [], []
for character in characters:
    left, top, right, bottom = font.getbbox(character)
    # Even boxes on even offsets, so that halving the size averages whole pixels.
    left, top = left - left % 2, top - top % 2
    right, bottom = right + (right - left) % 2, bottom + (bottom - top) % 2
    if character == " ":
        left = top = right = bottom = 0
    canvas = Image.new("L", (64, 64))
    ImageDraw.Draw(canvas).text((16, 0), character, font=font, fill=255)
    box = np.asarray(canvas)[top:bottom, left + 16 : right + 16].astype(int)
    levels = (box * 7 + 127) // 255
    advance = round(font.getlength(character))
    glyphs.append(f"{{{left}, {top}, {right - left}, {bottom - top}, {advance}, {sum(len(p) for p in pixels)}}}")
    flat = levels.reshape(-1)
    pixels.append("".join(chr(48 + 8 * a + b) for a, b in zip(flat[::2], flat[1::2])))

print(f"// ascent {ascent}, descent {descent}, cap top {font.getbbox('H')[1]}")
print("\n".join("    " + ", ".join(glyphs[i : i + 5]) + "," for i in range(0, len(glyphs), 5)))
print()
text = "".join(pixels)
print("\n".join(f'    R"({text[i : i + 108]})"' for i in range(0, len(text), 108)))
