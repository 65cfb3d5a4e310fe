"""Local mode: the whole service in one process, on an emulator in memory."""
