// Koog 1.x: the parts of messages have types, and the result of a tool is a part of a message of the user.

package ai.koog.prompt.message

import kotlinx.serialization.Serializable

@Serializable
data class MetaInfo(val timestamp: String)

@Serializable
sealed interface MessagePart {
    @Serializable
    data class Text(val text: String) : MessagePart

    @Serializable
    sealed interface Tool : MessagePart {
        @Serializable
        data class Call(val id: String?, val tool: String, val args: String) : Tool

        @Serializable
        data class Result(val id: String?, val tool: String, val parts: List<Text>) : Tool
    }
}

@Serializable
sealed interface Message {
    val metaInfo: MetaInfo

    @Serializable
    data class System(val parts: List<MessagePart.Text>, override val metaInfo: MetaInfo) : Message

    @Serializable
    data class User(val parts: List<MessagePart>, override val metaInfo: MetaInfo) : Message

    @Serializable
    data class Assistant(val parts: List<MessagePart>, override val metaInfo: MetaInfo) : Message
}
