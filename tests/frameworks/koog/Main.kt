// What an agent does with the adapters, without an agent: Main URL USER store, later Main URL USER search.

@file:OptIn(ai.koog.agents.core.annotation.ExperimentalAgentsApi::class)

import ai.koog.rag.base.storage.search.SearchRequest
import ai.koog.rag.base.storage.search.SimilaritySearchRequest
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.addJsonObject
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlinx.serialization.json.putJsonArray

private object OtherRequest : SearchRequest

fun main(arguments: Array<String>): Unit = runBlocking {
    val (url, user, command) = arguments
    val bank = Streambank("$url/v1beta1/reasoningEngines/default", "local")
    val memories = StreambankStorage(bank, mapOf("user_id" to user), "chat-1")
    println(if (command == "store") store(bank, memories, user) else search(memories))
}

private suspend fun store(bank: Streambank, memories: StreambankStorage, user: String) = buildJsonObject {
    val history = StreambankHistory(bank, FORMAT)
    val conversationId = "$user/with:special@chars#1!&spaces + ü"
    put("unknown", history.load(conversationId).size)
    history.store(conversationId, conversation())
    put("isSame", history.load(conversationId) == conversation())
    val counts = ingestions().map { records -> memories.add(records, "travel").size }
    putJsonArray("counts") { counts.forEach { add(JsonPrimitive(it)) } }
    put("update", runCatching { memories.update(emptyMap(), null) }.exceptionOrNull()?.javaClass?.simpleName)
    put("other", runCatching { memories.search(OtherRequest, null) }.exceptionOrNull()?.javaClass?.simpleName)
    val refused = runCatching { StreambankStorage(bank, mapOf("user_id" to "*"), "s").add(ingestions().first(), null) }
    put("status", (refused.exceptionOrNull() as? StreambankException)?.status)
}

private suspend fun search(memories: StreambankStorage) = buildJsonObject {
    val request = SimilaritySearchRequest("Where does the user live?", limit = 3)
    val results = memories.search(request, "travel")
    putJsonArray("results") {
        results.forEach {
            addJsonObject {
                put("content", it.document.content)
                put("score", it.score.value)
            }
        }
    }
    put("elsewhere", memories.search(request, "work").size)
    put("strict", memories.search(request.copy(minScore = 1.0), "travel").size)
}
