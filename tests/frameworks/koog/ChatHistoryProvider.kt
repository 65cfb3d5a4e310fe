package ai.koog.agents.chatMemory.feature

import ai.koog.prompt.message.Message

interface ChatHistoryProvider {
    suspend fun store(conversationId: String, messages: List<Message>)

    suspend fun load(conversationId: String): List<Message>
}
