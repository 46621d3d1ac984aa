"""The measured figures that the README and docs/ quote: one file holds them, and the pages are written from it."""
