package ai.koog.agents.longtermmemory.ingestion.extraction

import ai.koog.prompt.message.Message
import ai.koog.rag.base.TextDocument

fun interface DocumentExtractor {
    suspend fun extract(messages: List<Message>): List<TextDocument>
}
