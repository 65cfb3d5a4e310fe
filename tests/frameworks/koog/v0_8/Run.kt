// A run of an agent of Koog 0.8: with ON_LLM_CALL it ingests the whole prompt at each call of the model.

@file:OptIn(ExperimentalAgentsApi::class)

import ai.koog.agents.core.annotation.ExperimentalAgentsApi
import ai.koog.agents.longtermmemory.model.MemoryRecord
import ai.koog.prompt.message.ContentPart
import ai.koog.prompt.message.Message
import ai.koog.prompt.message.MetaInfo
import java.time.Instant

const val FORMAT = "koog-0.8"

private fun at(second: Int) = MetaInfo("2026-01-02T03:04:%02dZ".format(second))

private fun text(text: String) = listOf(ContentPart(text))

fun conversation(): List<Message> = listOf(
    Message.System(text("Be helpful."), at(0)),
    Message.User(text("I live in Graz."), at(1)),
    Message.Tool.Call("call-1", "weather", text("{\"city\":\"Graz\"}"), at(2)),
    Message.Tool.Result("call-1", "weather", text("sunny in Zell"), at(3)),
    Message.Assistant(text("It is sunny.\n\n\"Noted\" ü"), at(4)),
)

private fun records(messages: List<Message>): List<MemoryRecord> = messages.mapNotNull { message ->
    val role = when (message) {
        is Message.User -> "User"
        is Message.Assistant -> "Assistant"
        else -> null
    }
    role?.let {
        val timestampMs = Instant.parse(message.metaInfo.timestamp).toEpochMilli()
        val metadata = mapOf("messageRole" to role, "timestampMs" to timestampMs)
        MemoryRecord(message.parts.joinToString("\n") { part -> part.text }, null, metadata)
    }
}

fun ingestions(): List<List<MemoryRecord>> {
    val messages = conversation()
    return listOf(messages.take(2), messages.take(4), messages).map { records(it) }
}
