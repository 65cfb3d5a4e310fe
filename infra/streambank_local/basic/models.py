"""The basic models behind the ports, as the composition root takes them."""

from streambank_local.basic.consolidator import EmbeddedConsolidator
from streambank_local.basic.embedder import WordLlamaEmbedder
from streambank_local.basic.extractor import EmbeddedExtractor


class BasicModels:
    """Builds them."""

    def extractor(self) -> EmbeddedExtractor:
        """Return the extractor by rules."""
        return EmbeddedExtractor()

    def consolidator(self) -> EmbeddedConsolidator:
        """Return the consolidator by rules."""
        return EmbeddedConsolidator()

    def embedder(self) -> WordLlamaEmbedder:
        """Return the embedder with the small English word model."""
        return WordLlamaEmbedder()
