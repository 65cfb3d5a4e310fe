"""The basic models, in the form that the composition root expects."""

from streambank_local.basic.consolidator import BasicConsolidator
from streambank_local.basic.embedder import WordLlamaEmbedder
from streambank_local.basic.extractor import BasicExtractor


class BasicModels:
    """Builds the basic models."""

    def extractor(self) -> BasicExtractor:
        """Return the rule-based extractor."""
        return BasicExtractor()

    def consolidator(self) -> BasicConsolidator:
        """Return the rule-based consolidator."""
        return BasicConsolidator()

    def embedder(self) -> WordLlamaEmbedder:
        """Return the embedder with the small English word model."""
        return WordLlamaEmbedder()
