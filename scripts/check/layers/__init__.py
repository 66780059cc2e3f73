"""Parts of scripts/check/check_layers.py: the table of layers, and the reading of source text."""
