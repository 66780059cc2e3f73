"""The scripts of the repository. They import each other: `python3 -m scripts.FOLDER.NAME` runs one from the root."""
