"""Parts of scripts/check_layers.py: the table of layers and how source text is read."""
