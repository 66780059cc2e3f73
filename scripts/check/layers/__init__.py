"""Parts of scripts/check/check_layers.py: the table of layers and how source text is read."""
