package ai.koog.agents.longtermmemory.model

import ai.koog.rag.base.TextDocument

data class MemoryRecord(
    override val content: String,
    override val id: String? = null,
    override val metadata: Map<String, Any> = emptyMap(),
) : TextDocument
