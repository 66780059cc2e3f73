"""The scripts of the repository, which import each other: `python3 -m scripts.FOLDER.NAME` runs one from the root."""
