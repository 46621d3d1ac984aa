"""Figures, as PNG and SVG."""
