// Koog 0.8: a tool's call and its result are messages of their own.

package ai.koog.prompt.message

import kotlinx.serialization.Serializable

@Serializable
data class MetaInfo(val timestamp: String)

@Serializable
data class ContentPart(val text: String)

@Serializable
sealed interface Message {
    val parts: List<ContentPart>
    val metaInfo: MetaInfo

    @Serializable
    data class System(override val parts: List<ContentPart>, override val metaInfo: MetaInfo) : Message

    @Serializable
    data class User(override val parts: List<ContentPart>, override val metaInfo: MetaInfo) : Message

    @Serializable
    data class Assistant(override val parts: List<ContentPart>, override val metaInfo: MetaInfo) : Message

    @Serializable
    sealed interface Tool : Message {
        @Serializable
        data class Call(
            val id: String?,
            val tool: String,
            override val parts: List<ContentPart>,
            override val metaInfo: MetaInfo,
        ) : Tool

        @Serializable
        data class Result(
            val id: String?,
            val tool: String,
            override val parts: List<ContentPart>,
            override val metaInfo: MetaInfo,
        ) : Tool
    }
}
