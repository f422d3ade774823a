"""Prints the table of crisp/image/viridis.cpp from matplotlib's viridis (CC0): 256 colours as 0xRRGGBB."""

from matplotlib import colormaps

colours = ["0x" + "".join(f"{round(c * 255):02X}" for c in colour) for colour in colormaps["viridis"].colors]
print(",\n".join("    " + ", ".join(colours[i : i + 12]) for i in range(0, 256, 12)))
