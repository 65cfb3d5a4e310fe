// Stubs of what both versions have: the names and signatures of Koog that docs/koog.md uses, and nothing behind them.

package ai.koog.rag.base

interface TextDocument {
    val content: String
    val id: String?
    val metadata: Map<String, Any>
}
