// A run of an agent of Koog 1.x: its messages are extracted once, when it has ended.

import ai.koog.agents.longtermmemory.ingestion.extraction.DocumentExtractor
import ai.koog.agents.longtermmemory.model.MemoryRecord
import ai.koog.prompt.message.Message
import ai.koog.prompt.message.MessagePart
import ai.koog.prompt.message.MetaInfo
import ai.koog.rag.base.TextDocument
import java.time.Instant
import kotlinx.coroutines.runBlocking

const val FORMAT = "koog-1"

private fun at(second: Int) = MetaInfo("2026-01-02T03:04:%02dZ".format(second))

private fun text(text: String) = MessagePart.Text(text)

fun conversation(): List<Message> = listOf(
    Message.System(listOf(text("Be helpful.")), at(0)),
    Message.User(listOf(text("I live in Graz.")), at(1)),
    Message.Assistant(listOf(MessagePart.Tool.Call("call-1", "weather", "{\"city\":\"Graz\"}")), at(2)),
    Message.User(listOf(MessagePart.Tool.Result("call-1", "weather", listOf(text("sunny in Zell")))), at(3)),
    Message.Assistant(listOf(text("It is sunny.\n\n\"Noted\" ü")), at(4)),
)

// As Koog's own extractor: a message without a text becomes a blank record.
private val extractor = DocumentExtractor { messages ->
    messages.mapNotNull { message ->
        when (message) {
            is Message.User -> record("User", message.parts, message.metaInfo)
            is Message.Assistant -> record("Assistant", message.parts, message.metaInfo)
            is Message.System -> null
        }
    }
}

private fun record(role: String, parts: List<MessagePart>, metaInfo: MetaInfo): MemoryRecord {
    val metadata = mapOf("messageRole" to role, "timestampMs" to Instant.parse(metaInfo.timestamp).toEpochMilli())
    return MemoryRecord(parts.filterIsInstance<MessagePart.Text>().joinToString("\n") { it.text }, null, metadata)
}

// A run that is repeated, such as after a crash, ingests the same messages again.
fun ingestions(): List<List<TextDocument>> = runBlocking { List(2) { extractor.extract(conversation()) } }
