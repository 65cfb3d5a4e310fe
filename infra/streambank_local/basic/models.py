"""The basic models behind the ports, as the composition root takes them."""

from streambank_local.basic.consolidator import BasicConsolidator
from streambank_local.basic.embedder import WordLlamaEmbedder
from streambank_local.basic.extractor import BasicExtractor


class BasicModels:
    """Builds them."""

    def extractor(self) -> BasicExtractor:
        """Return the extractor by rules."""
        return BasicExtractor()

    def consolidator(self) -> BasicConsolidator:
        """Return the consolidator by rules."""
        return BasicConsolidator()

    def embedder(self) -> WordLlamaEmbedder:
        """Return the embedder with the small English word model."""
        return WordLlamaEmbedder()
