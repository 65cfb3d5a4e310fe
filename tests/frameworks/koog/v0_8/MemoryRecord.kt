// Long-term memory is experimental here: without an opt-in the code of the page is not compiled.

package ai.koog.agents.longtermmemory.model

import ai.koog.agents.core.annotation.ExperimentalAgentsApi
import ai.koog.rag.base.TextDocument

@ExperimentalAgentsApi
data class MemoryRecord(
    override val content: String,
    override val id: String? = null,
    override val metadata: Map<String, Any> = emptyMap(),
) : TextDocument
