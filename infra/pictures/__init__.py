"""The pictures of the documents, drawn as SVG; `python -m infra.pictures` writes docs/pictures."""
