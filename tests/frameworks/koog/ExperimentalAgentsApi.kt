package ai.koog.agents.core.annotation

@RequiresOptIn
@Retention(AnnotationRetention.BINARY)
annotation class ExperimentalAgentsApi
