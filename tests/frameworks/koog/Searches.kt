package ai.koog.rag.base.storage.search

enum class ScoreMetric { COSINE_SIMILARITY }

data class Score(val value: Double, val metric: ScoreMetric)

interface SearchRequest

data class SimilaritySearchRequest(
    val queryText: String,
    val limit: Int = 10,
    val minScore: Double? = null,
) : SearchRequest

data class SearchResult<out D>(val document: D, val score: Score)
