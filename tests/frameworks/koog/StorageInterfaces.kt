package ai.koog.rag.base.storage

import ai.koog.rag.base.storage.search.SearchRequest
import ai.koog.rag.base.storage.search.SearchResult

interface WriteStorage<D> {
    suspend fun add(documents: List<D>, namespace: String? = null): List<String>

    suspend fun update(documents: Map<String, D>, namespace: String? = null): List<String>
}

interface SearchStorage<D, in R : SearchRequest> {
    suspend fun search(request: R, namespace: String? = null): List<SearchResult<D>>
}
