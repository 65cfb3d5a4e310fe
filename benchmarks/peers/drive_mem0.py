"""mem0's open source Memory as its README sets it up, with its default store, model and embedder at another address."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.peers import drivers
from benchmarks.peers.conversation import batches


def drive(url: str, turns: int) -> list[str]:
    """Add *turns* at a time."""
    with tempfile.TemporaryDirectory() as directory:
        os.environ["MEM0_DIR"] = directory
        from mem0 import Memory  # imported here: it reads MEM0_DIR when it is imported

        with Memory.from_config(_config(url, Path(directory))) as memory:
            for batch in batches(turns):
                memory.add([{"role": one.role, "content": one.text} for one in batch], user_id="u1")
            memories = memory.get_all(filters={"user_id": "u1"}, top_k=1_000)
        return [row["memory"] for row in memories["results"]]


def _config(url: str, directory: Path) -> dict[str, Any]:
    here = {"openai_base_url": f"{url}/v1", "api_key": "none"}
    embedder = {**here, "model": drivers.EMBEDDER, "embedding_dims": drivers.DIMENSIONS}
    vectors = {"path": str(directory / "qdrant"), "embedding_model_dims": drivers.DIMENSIONS}
    return {
        "llm": {"provider": "openai", "config": {**here, "model": drivers.MODEL}},
        "embedder": {"provider": "openai", "config": embedder},
        "vector_store": {"provider": "qdrant", "config": vectors},
        "history_db_path": str(directory / "history.db"),
    }


if __name__ == "__main__":
    drivers.run(drive, "mem0ai")
